package sql

import (
	"context"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
)

// copyFormat is COPY's FORMAT.
type copyFormat uint8

const (
	copyText copyFormat = iota
	copyCSV
	copyBinary
)

// copyOptions are the options of COPY.
type copyOptions struct {
	format     copyFormat
	freeze     bool
	delim      byte
	null       string
	header     bool
	matchNames bool
	quote      byte
	escape     byte
	forceQuote map[string]bool
	forceAll   bool
	notNull    map[string]bool
	forceNull  map[string]bool
	set        map[string]bool
}

func (u *utility) copyOptions(n *pg_query.CopyStmt) (*copyOptions, error) {
	o := &copyOptions{set: make(map[string]bool)}
	for _, node := range n.Options {
		d := node.GetDefElem()
		if o.set[d.Defname] {
			return nil, pgerr.New(pgerr.SyntaxError, "conflicting or redundant options").
				WithPosition(int(d.Location) + 1)
		}
		o.set[d.Defname] = true
		if err := o.option(d); err != nil {
			return nil, err
		}
	}
	return o, o.complete(n.IsFrom)
}

func (o *copyOptions) option(d *pg_query.DefElem) error {
	value := defString(d.Arg)
	switch d.Defname {
	case "format":
		switch value {
		case "text":
		case "csv":
			o.format = copyCSV
		case "binary":
			o.format = copyBinary
		default:
			return pgerr.New(pgerr.InvalidParameterValue, "COPY format \"%s\" not recognized", value).
				WithPosition(int(d.Location) + 1)
		}
	case "freeze":
		return defBool(d, &o.freeze)
	case "delimiter":
		if len(value) != 1 {
			return pgerr.New(pgerr.FeatureNotSupported, "COPY delimiter must be a single one-byte character")
		}
		o.delim = value[0]
	case "null":
		o.null = value
	case "header":
		if strings.EqualFold(value, "match") {
			o.header, o.matchNames = true, true
			return nil
		}
		return defBool(d, &o.header)
	case "quote":
		if len(value) != 1 {
			return pgerr.New(pgerr.FeatureNotSupported, "COPY quote must be a single one-byte character")
		}
		o.quote = value[0]
	case "escape":
		if len(value) != 1 {
			return pgerr.New(pgerr.FeatureNotSupported, "COPY escape must be a single one-byte character")
		}
		o.escape = value[0]
	case "force_quote":
		o.forceQuote, o.forceAll = nameSet(d.Arg)
	case "force_not_null":
		o.notNull, _ = nameSet(d.Arg)
	case "force_null":
		o.forceNull, _ = nameSet(d.Arg)
	case "encoding":
		if !isUTF8(value) {
			return pgerr.New(pgerr.FeatureNotSupported, "COPY encoding \"%s\" is not supported", value)
		}
	default:
		return pgerr.New(pgerr.SyntaxError, "option \"%s\" not recognized", d.Defname).WithPosition(int(d.Location) + 1)
	}
	return nil
}

func defBool(d *pg_query.DefElem, to *bool) error {
	if d.Arg == nil {
		*to = true
		return nil
	}
	switch strings.ToLower(defString(d.Arg)) {
	case "true", "on", "1":
		*to = true
	case "false", "off", "0":
		*to = false
	default:
		return pgerr.New(pgerr.SyntaxError, "%s requires a Boolean value", d.Defname)
	}
	return nil
}

func nameSet(n *pg_query.Node) (set map[string]bool, all bool) {
	if n.GetAStar() != nil {
		return nil, true
	}
	set = make(map[string]bool)
	for _, item := range n.GetList().GetItems() {
		if item.GetAStar() != nil {
			return nil, true
		}
		set[item.GetString_().GetSval()] = true
	}
	return set, false
}

// checkForced refuses FORCE_QUOTE and its kin for columns that are not copied. rel is nil for a query.
func (o *copyOptions) checkForced(rel *catalog.Relation, copied []string) error {
	for _, list := range []struct {
		option string
		names  map[string]bool
	}{{"FORCE_QUOTE", o.forceQuote}, {"FORCE_NOT_NULL", o.notNull}, {"FORCE_NULL", o.forceNull}} {
		for _, name := range slices.Sorted(maps.Keys(list.names)) {
			switch {
			case slices.Contains(copied, name):
			case rel == nil:
				return pgerr.New(pgerr.UndefinedColumn, "column \"%s\" does not exist", name)
			case rel.AttrByName(name) == nil:
				return pgerr.New(pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, rel.Name)
			default:
				return pgerr.New(pgerr.InvalidColumnReference, "%s column \"%s\" not referenced by COPY", list.option, name)
			}
		}
	}
	return nil
}

// complete checks the options against each other and fills in the defaults.
func (o *copyOptions) complete(from bool) error {
	bad := func(format string, args ...any) error {
		return pgerr.New(pgerr.FeatureNotSupported, format, args...)
	}
	if o.format == copyBinary {
		for _, name := range []string{"delimiter", "null"} {
			if o.set[name] {
				return pgerr.New(pgerr.SyntaxError, "cannot specify %s in BINARY mode", strings.ToUpper(name))
			}
		}
		if o.header {
			return bad("cannot specify HEADER in BINARY mode")
		}
	}
	csv := o.format == copyCSV
	if !o.set["delimiter"] {
		o.delim = '\t'
		if csv {
			o.delim = ','
		}
	}
	if !o.set["null"] && !csv {
		o.null = `\N`
	}
	if csv {
		if !o.set["quote"] {
			o.quote = '"'
		}
		if !o.set["escape"] {
			o.escape = o.quote
		}
	}
	if o.delim == '\n' || o.delim == '\r' {
		return pgerr.New(pgerr.InvalidParameterValue, "COPY delimiter cannot be newline or carriage return")
	}
	if strings.ContainsAny(o.null, "\r\n") {
		return pgerr.New(pgerr.InvalidParameterValue, "COPY null representation cannot use newline or carriage return")
	}
	if !csv && strings.IndexByte("\\.abcdefghijklmnopqrstuvwxyz0123456789", o.delim) >= 0 {
		return pgerr.New(pgerr.InvalidParameterValue, "COPY delimiter cannot be \"%c\"", o.delim)
	}
	for _, c := range []struct{ opt, name string }{
		{"quote", "quote"},
		{"escape", "escape"},
		{"force_quote", "force quote"},
		{"force_not_null", "force not null"},
		{"force_null", "force null"},
	} {
		if o.set[c.opt] && !csv {
			return bad("COPY %s available only in CSV mode", c.name)
		}
	}
	if csv && o.delim == o.quote {
		return pgerr.New(pgerr.InvalidParameterValue, "COPY delimiter and quote must be different")
	}
	if strings.IndexByte(o.null, o.delim) >= 0 {
		return bad("COPY delimiter must not appear in the NULL specification")
	}
	if csv && strings.IndexByte(o.null, o.quote) >= 0 {
		return bad("CSV quote character must not appear in the NULL specification")
	}
	if o.set["force_quote"] && from {
		return bad("COPY force quote only available using COPY TO")
	}
	if (o.set["force_not_null"] || o.set["force_null"]) && !from {
		return bad("COPY force not null only available using COPY FROM")
	}
	if o.matchNames && !from {
		return bad("cannot use \"match\" with HEADER in COPY TO")
	}
	return nil
}

// copy carries out COPY.
func (u *utility) copy(n *pg_query.CopyStmt) (string, error) {
	if n.IsProgram {
		return "", pgerr.New(pgerr.FeatureNotSupported, "COPY with PROGRAM is not supported")
	}
	o, err := u.copyOptions(n)
	if err != nil {
		return "", err
	}
	if n.Filename != "" && !u.s.role.Super {
		return "", pgerr.New(pgerr.InsufficientPrivilege,
			"must be superuser or have privileges of the pg_read_server_files role to COPY from a file")
	}
	var rows int64
	if n.IsFrom {
		rows, err = u.copyFrom(n, o)
	} else {
		rows, err = u.copyTo(n, o)
	}
	return countTag("COPY", rows), err
}

// copyRelation finds and locks the table of COPY and the columns named.
func (u *utility) copyRelation(n *pg_query.CopyStmt, mode locks.Mode) (*catalog.Relation, []int, error) {
	s := u.s
	rv := n.Relation
	rel, err := s.relationByName(rv.Schemaname, rv.Relname)
	if err != nil {
		return nil, nil, err
	}
	if rel == nil {
		return nil, nil, undefinedRelation(rv.Schemaname, rv.Relname)
	}
	if !rel.System {
		if err := s.lockRelation(u.ctx, rel.OID, mode); err != nil {
			return nil, nil, err
		}
		if rel, err = s.eng.Catalog().RelationByOID(rel.OID); err != nil {
			return nil, nil, err
		}
		if rel == nil {
			return nil, nil, undefinedRelation(rv.Schemaname, rv.Relname)
		}
	}
	var atts []int
	seen := make(map[string]bool)
	for _, c := range n.Attlist {
		name := c.GetString_().GetSval()
		a := rel.AttrByName(name)
		if a == nil {
			return nil, nil, pgerr.New(pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, rel.Name)
		}
		if a.Generated != 0 {
			return nil, nil, pgerr.New(pgerr.InvalidColumnReference, "column \"%s\" is a generated column", name).
				WithDetail("Generated columns cannot be used in COPY.")
		}
		if seen[name] {
			return nil, nil, pgerr.New(pgerr.DuplicateColumn, "column \"%s\" specified more than once", name)
		}
		seen[name] = true
		atts = append(atts, int(a.Num)-1)
	}
	if len(n.Attlist) == 0 {
		for i := range rel.Attrs {
			if a := &rel.Attrs[i]; !a.Dropped && a.Generated == 0 {
				atts = append(atts, i)
			}
		}
	}
	return rel, atts, nil
}

// copySource hands out the bytes of COPY FROM.
type copySource struct {
	ctx  context.Context //nolint:containedctx // lives as long as the statement
	w    ResultWriter
	file *os.File
	mem  *copyMemory
}

// next returns the next piece of data, or io.EOF.
func (c *copySource) next() ([]byte, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	if c.file == nil {
		return c.w.CopyRead(c.ctx)
	}
	buf := c.mem.read()
	n, err := c.file.Read(buf)
	if n > 0 {
		return buf[:n], nil
	}
	return nil, err
}

func (u *utility) copyFile(n *pg_query.CopyStmt) (*os.File, error) {
	if !strings.HasPrefix(n.Filename, "/") {
		if n.IsFrom {
			return openForCopy(n.Filename)
		}
		return nil, pgerr.New(pgerr.InvalidName, "relative path not allowed for COPY to file")
	}
	if n.IsFrom {
		return openForCopy(n.Filename)
	}
	f, err := os.OpenFile(n.Filename, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fileError(err, "could not open file \"%s\" for writing: %s", n.Filename)
	}
	return f, nil
}

func openForCopy(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fileError(err, "could not open file \"%s\" for reading: %s", name).
			WithHint("COPY FROM instructs the PostgreSQL server process to read a file. You may want a client-side facility such as psql's \\copy.")
	}
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		err = pgerr.New(pgerr.WrongObjectType, "\"%s\" is a directory", name)
	}
	if err != nil {
		f.Close() //nolint:errcheck // the error at hand matters
		return nil, err
	}
	return f, nil
}

func fileError(err error, format, name string) *pgerr.Error {
	code, why := pgerr.SystemError, err.Error()
	switch {
	case os.IsNotExist(err):
		code, why = pgerr.UndefinedFile, "No such file or directory"
	case os.IsPermission(err):
		code, why = pgerr.InsufficientPrivilege, "Permission denied"
	}
	return pgerr.Wrap(err, code, format, name, why)
}

// copyFrom loads a table and returns how many rows.
func (u *utility) copyFrom(n *pg_query.CopyStmt, o *copyOptions) (int64, error) {
	rel, atts, err := u.copyRelation(n, locks.RowExclusive)
	if err != nil {
		return 0, err
	}
	switch {
	case rel.System:
		return 0, pgerr.New(pgerr.InsufficientPrivilege, "permission denied: \"%s\" is a system catalog", rel.Name)
	case rel.Kind == catalog.KindView:
		return 0, pgerr.New(pgerr.WrongObjectType, "cannot copy to view \"%s\"", rel.Name).
			WithHint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.")
	case rel.Kind != catalog.KindTable:
		return 0, pgerr.New(pgerr.WrongObjectType, "cannot copy to %s \"%s\"", relkindNames[rel.Kind], rel.Name)
	}
	copied := make([]string, len(atts))
	for i, a := range atts {
		copied[i] = rel.Attrs[a].Name
	}
	if err := o.checkForced(rel, copied); err != nil {
		return 0, err
	}
	ins, err := u.newCopyInsert(rel, atts, o)
	if err != nil {
		return 0, err
	}
	if n.WhereClause != nil {
		e, err := analyze.AnalyzeExpr(u.s.analyzeContext(u.ctx, nil), n.WhereClause, u.text, rel, analyze.ForCopyWhere)
		if err != nil {
			return 0, err
		}
		if ins.where, err = (ddlHost{u.s}).RowFunc(u.ctx, rel, e); err != nil {
			return 0, err
		}
	}
	ins.begin()
	src := &copySource{ctx: u.ctx, w: u.w, mem: ins.mem}
	if n.Filename != "" {
		if src.file, err = u.copyFile(n); err != nil {
			return 0, err
		}
		defer src.file.Close() //nolint:errcheck // only read
	} else {
		format := int16(0)
		if o.format == copyBinary {
			format = 1
		}
		formats := make([]int16, len(atts))
		for i := range formats {
			formats[i] = format
		}
		if err := u.w.CopyIn(format, formats); err != nil {
			return 0, err
		}
	}
	u.s.block.used = true
	defer ins.stop()
	r := &copyReader{src: src, o: o, ins: ins, rel: rel, s: u.s, buf: ins.mem.data}
	if err = ins.checkFreeze(); err == nil {
		err = r.run()
	}
	if ferr := ins.finish(err == nil); ferr != nil { // of rows before the one err is about
		err = r.context(ferr)
	}
	if err == nil {
		ins.mem.giveBack(r.buf, ins.made)
	} else if src.file == nil {
		err = drainCopy(src, err)
	}
	return ins.total, err
}

// drainCopy keeps what the client still sends from being taken for messages: the server
// discards CopyData until Sync, so nothing needs to be read here.
func drainCopy(_ *copySource, err error) error {
	if err == io.EOF {
		return pgerr.New(pgerr.BadCopyFileFormat, "unexpected EOF in COPY data")
	}
	return err
}

var relkindNames = map[catalog.RelKind]string{
	catalog.KindSequence: "sequence", catalog.KindMatView: "materialized view", catalog.KindIndex: "index",
	catalog.KindForeignTable: "foreign table", catalog.KindComposite: "composite type", catalog.KindToast: "TOAST table",
}
