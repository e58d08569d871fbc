package sql

import (
	"bufio"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"syscall"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/exec"
	"github.com/minipg/minipg/types"
)

// copyWriter formats rows for COPY TO.
type copyWriter struct {
	s     *Session
	w     ResultWriter
	file  *os.File
	out   *bufio.Writer
	o     *copyOptions
	cols  []Column
	buf   []byte
	value []byte
	rows  int64
}

// copyTo writes a table or a query's rows and returns how many.
func (u *utility) copyTo(n *pg_query.CopyStmt, o *copyOptions) (int64, error) {
	c, err := u.copyQuery(n)
	if err != nil {
		return 0, err
	}
	var rel *catalog.Relation
	if n.Query == nil {
		if rel, err = u.s.relationByName(n.Relation.Schemaname, n.Relation.Relname); err != nil {
			return 0, err
		}
	}
	copied := make([]string, len(c.cols))
	for i := range c.cols {
		copied[i] = c.cols[i].Name
	}
	if err := o.checkForced(rel, copied); err != nil {
		return 0, err
	}
	cw := &copyWriter{s: u.s, w: u.w, o: o, cols: c.cols}
	if n.Filename != "" {
		if cw.file, err = u.copyFile(n); err != nil {
			return 0, err
		}
		defer cw.file.Close() //nolint:errcheck // Flush reported what matters
		cw.out = bufio.NewWriterSize(cw.file, 256<<10)
	} else {
		format := int16(0)
		if o.format == copyBinary {
			format = 1
		}
		formats := make([]int16, len(c.cols))
		for i := range formats {
			formats[i] = format
		}
		u.w.CopyOut(format, formats)
	}
	if err := cw.begin(); err != nil {
		return 0, err
	}
	st := exec.ExecState{Session: u.s.eng, Fn: &u.s.fn, Clock: u.s.srv.now, Temp: u.s.state0.Temp}
	u.s.prepareState(&st)
	u.s.block.used = true
	st.Snapshot = u.s.eng.TakeSnapshot()
	defer u.s.eng.ReleaseSnapshot(st.Snapshot)
	if _, err := c.prog.Run(u.ctx, &st, cw); err != nil {
		return 0, err
	}
	return cw.rows, cw.end()
}

// copyQuery compiles the query of COPY (query) TO, or SELECT columns FROM the table.
func (u *utility) copyQuery(n *pg_query.CopyStmt) (*compiled, error) {
	s := u.s
	query := n.Query
	text := u.text
	if query == nil {
		rel, atts, err := u.copyRelation(n, locks.AccessShare)
		if err != nil {
			return nil, err
		}
		switch rel.Kind {
		case catalog.KindTable, catalog.KindToast:
		case catalog.KindView:
			return nil, pgerr.New(pgerr.WrongObjectType, "cannot copy from view \"%s\"", rel.Name).
				WithHint("Try the COPY (SELECT ...) TO variant.")
		default:
			return nil, pgerr.New(pgerr.WrongObjectType, "cannot copy from %s \"%s\"", relkindNames[rel.Kind], rel.Name)
		}
		if text, err = s.selectFrom(rel, atts); err != nil {
			return nil, err
		}
		if query, err = parseOne(text); err != nil {
			return nil, err
		}
	} else if !hasPlan(query) {
		return nil, pgerr.New(pgerr.FeatureNotSupported, "COPY (SELECT INTO) is not supported")
	}
	c, err := s.compile(u.ctx, query, text, nil, nil)
	if err != nil {
		return nil, err
	}
	if !c.rows {
		return nil, pgerr.New(pgerr.FeatureNotSupported, "COPY query must have a RETURNING clause")
	}
	_, err = s.lockAll(u.ctx, c)
	return c, err
}

// selectFrom is the SELECT that reads some columns of a table alone.
func (s *Session) selectFrom(rel *catalog.Relation, atts []int) (string, error) {
	ns, err := s.eng.Catalog().NamespaceByOID(rel.Namespace)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("select ")
	for i, att := range atts {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoteAlways(rel.Attrs[att].Name))
	}
	b.WriteString(" from only ")
	b.WriteString(quoteAlways(ns.Name))
	b.WriteByte('.')
	b.WriteString(quoteAlways(rel.Name))
	return b.String(), nil
}

func quoteAlways(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (c *copyWriter) begin() error {
	c.buf = c.buf[:0]
	if c.o.format == copyBinary {
		c.buf = append(c.buf, copySignature...)
		c.buf = append(c.buf, 0, 0, 0, 0, 0, 0, 0, 0)
		return nil // it goes with what follows
	}
	if !c.o.header {
		return nil
	}
	for i := range c.cols {
		if i > 0 {
			c.buf = append(c.buf, c.o.delim)
		}
		c.appendValue([]byte(c.cols[i].Name), false)
	}
	c.buf = append(c.buf, '\n')
	return c.send()
}

func (c *copyWriter) send() error {
	if c.out != nil {
		_, err := c.out.Write(c.buf)
		c.buf = c.buf[:0]
		return copyWriteError(err)
	}
	err := c.w.CopyData(c.buf)
	c.buf = c.buf[:0]
	return err
}

func copyWriteError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC):
		return pgerr.Wrap(err, pgerr.DiskFull, "could not write to COPY file: No space left on device")
	}
	return pgerr.Wrap(err, pgerr.IoError, "could not write to COPY file: %v", err)
}

// Batch writes rows.
func (c *copyWriter) Batch(b *types.Batch) error {
	rows := b.Rows()
	for k := range rows.Len() {
		c.row(b, rows.At(k))
		c.rows++
		if err := c.send(); err != nil {
			return err
		}
	}
	return nil
}

func (c *copyWriter) row(b *types.Batch, i int) {
	if c.o.format == copyBinary {
		c.buf = binary.BigEndian.AppendUint16(c.buf, uint16(len(c.cols)))
		for col := range c.cols {
			d := b.Cols[col].Datum(i)
			if d.Null {
				c.buf = append(c.buf, 0xFF, 0xFF, 0xFF, 0xFF)
				continue
			}
			at := len(c.buf)
			c.buf = append(c.buf, 0, 0, 0, 0)
			c.buf = types.Send(c.cols[col].Type, d, c.buf, &c.s.env)
			binary.BigEndian.PutUint32(c.buf[at:], uint32(len(c.buf)-at-4))
		}
		return
	}
	for col := range c.cols {
		if col > 0 {
			c.buf = append(c.buf, c.o.delim)
		}
		d := b.Cols[col].Datum(i)
		if d.Null {
			c.buf = append(c.buf, c.o.null...)
			continue
		}
		c.value = types.Out(c.cols[col].Type, d, c.value[:0], &c.s.env)
		c.appendValue(c.value, c.o.forceAll || c.o.forceQuote[c.cols[col].Name])
	}
	c.buf = append(c.buf, '\n')
}

func (c *copyWriter) appendValue(v []byte, force bool) {
	if c.o.format == copyCSV {
		c.appendCSV(v, force)
		return
	}
	for _, b := range v {
		switch b {
		case '\b':
			c.buf = append(c.buf, '\\', 'b')
		case '\f':
			c.buf = append(c.buf, '\\', 'f')
		case '\n':
			c.buf = append(c.buf, '\\', 'n')
		case '\r':
			c.buf = append(c.buf, '\\', 'r')
		case '\t':
			c.buf = append(c.buf, '\\', 't')
		case '\v':
			c.buf = append(c.buf, '\\', 'v')
		case '\\':
			c.buf = append(c.buf, '\\', '\\')
		default:
			if b == c.o.delim {
				c.buf = append(c.buf, '\\')
			}
			c.buf = append(c.buf, b)
		}
	}
}

func (c *copyWriter) appendCSV(v []byte, force bool) {
	quote := force || string(v) == c.o.null
	if !quote {
		if len(c.cols) == 1 && string(v) == `\.` {
			quote = true
		}
		for _, b := range v {
			if b == c.o.delim || b == c.o.quote || b == '\n' || b == '\r' {
				quote = true
				break
			}
		}
	}
	if !quote {
		c.buf = append(c.buf, v...)
		return
	}
	c.buf = append(c.buf, c.o.quote)
	for _, b := range v {
		if b == c.o.quote || b == c.o.escape {
			c.buf = append(c.buf, c.o.escape)
		}
		c.buf = append(c.buf, b)
	}
	c.buf = append(c.buf, c.o.quote)
}

func (c *copyWriter) end() error {
	if c.o.format == copyBinary {
		c.buf = append(c.buf, 0xFF, 0xFF)
		if err := c.send(); err != nil {
			return err
		}
	}
	if c.out == nil {
		c.w.CopyDone()
		return nil
	}
	return copyWriteError(c.out.Flush())
}
