package sql

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strconv"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// copyReader takes COPY data apart.
type copyReader struct {
	s   *Session
	src *copySource
	o   *copyOptions
	ins *copyInsert
	rel *catalog.Relation

	buf    []byte // unread data
	pos    int
	eof    bool
	line   int64
	column string // being converted, for the error's context
	value  []byte
	inLine []byte
	fields []copyField
	text   []byte // unescaped values of a line
	plain  plainReader
}

// copyField is a value of a line; ends in r.text where it was unescaped.
type copyField struct {
	raw    []byte
	quoted bool
}

func (r *copyReader) run() error {
	r.preparePlain()
	if r.o.format == copyBinary {
		return r.binary()
	}
	for {
		if ok, err := r.plainRow(); ok {
			if err != nil {
				return r.context(err)
			}
			continue
		}
		line, err := r.nextLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return r.context(err)
		}
		if r.line == 1 && r.o.header {
			if err := r.header(line); err != nil {
				return err
			}
			continue
		}
		if err := r.addLine(line); err != nil {
			return r.context(err)
		}
	}
}

// context adds where in the data an error was met.
func (r *copyReader) context(err error) error {
	e := pgerr.From(err)
	if e.Code == pgerr.QueryCanceled { // while the next line was read
		return e.AppendWhere("COPY %s, line %d", r.rel.Name, r.line+1)
	}
	if line := r.ins.failedLine; line != 0 { // of a row that was read before
		return e.AppendWhere("COPY %s, line %d", r.rel.Name, line)
	}
	where := "COPY " + r.rel.Name + ", line " + strconv.FormatInt(r.line, 10)
	switch {
	case r.column != "" && r.value != nil:
		where += ", column " + r.column + ": \"" + shorten(r.value) + "\""
	case r.column != "":
		where += ", column " + r.column + ": null input"
	case r.inLine != nil && r.o.format != copyBinary:
		where += ": \"" + shorten(r.inLine) + "\""
	}
	return e.AppendWhere("%s", where)
}

func shorten(b []byte) string {
	const most = 100
	if len(b) <= most {
		return string(b)
	}
	return string(b[:most]) + "..."
}

// fill reads more data behind what is unread.
func (r *copyReader) fill() error {
	if r.eof {
		return io.EOF
	}
	if r.pos > 0 {
		r.buf = append(r.buf[:0], r.buf[r.pos:]...)
		r.pos = 0
	}
	data, err := r.src.next()
	if errors.Is(err, io.EOF) {
		r.eof = true
		return io.EOF
	}
	if err != nil {
		return err
	}
	r.buf = append(r.buf, data...)
	r.plain.forget()
	return nil
}

// maxCopyLine bounds a line, as PostgreSQL's buffers do.
const maxCopyLine = 1 << 30

// nextLine returns the next line without its end, io.EOF at the end of the data.
func (r *copyReader) nextLine() ([]byte, error) {
	r.column, r.value, r.inLine = "", nil, nil
	from := 0
	inQuote := false
	for {
		rest := r.buf[r.pos:]
		i := from
		if r.o.format == copyCSV {
			i, inQuote = r.scanCSV(rest, from, inQuote)
		} else {
			i = scanText(rest, from)
		}
		if i < len(rest) {
			if rest[i] == '\r' && i+1 == len(rest) && !r.eof {
				if err := r.fill(); err != nil && !errors.Is(err, io.EOF) {
					return nil, err
				}
				from = i
				continue
			}
			r.line++
			line := rest[:i]
			r.pos += i + 1
			if rest[i] == '\r' && i+1 < len(rest) && rest[i+1] == '\n' {
				r.pos++
			}
			return r.endOfData(line)
		}
		from = len(rest)
		if len(rest) > maxCopyLine {
			return nil, pgerr.New(pgerr.ProgramLimitExceeded, "line of COPY data is too long")
		}
		err := r.fill()
		if errors.Is(err, io.EOF) {
			rest = r.buf[r.pos:]
			if inQuote {
				r.line++
				r.inLine = rest
				return nil, pgerr.New(pgerr.BadCopyFileFormat, "unterminated CSV quoted field")
			}
			if len(rest) == 0 {
				return nil, io.EOF
			}
			r.line++
			r.pos = len(r.buf)
			return r.endOfData(rest)
		}
		if err != nil {
			return nil, err
		}
	}
}

// endOfData recognises the line \. that ends the data.
func (r *copyReader) endOfData(line []byte) ([]byte, error) {
	if len(line) == 2 && line[0] == '\\' && line[1] == '.' {
		for !r.eof { // what follows is thrown away
			r.pos = len(r.buf)
			if err := r.fill(); err != nil && !errors.Is(err, io.EOF) {
				return nil, err
			}
		}
		r.pos = len(r.buf)
		return nil, io.EOF
	}
	r.inLine = line
	return line, nil
}

// scanText finds the end of a line of text format: a newline after a backslash is data.
func scanText(b []byte, from int) int {
	for from < len(b) {
		// A carriage return counts only before the newline: the rest of the buffer is not searched for
		// one again with every line.
		end := len(b)
		if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
			end = from + i
		}
		i := end
		if j := bytes.IndexByte(b[from:end], '\r'); j >= 0 {
			i = from + j
		}
		if i == len(b) {
			return len(b)
		}
		n := 0
		for k := i - 1; k >= 0 && b[k] == '\\'; k-- {
			n++
		}
		if n%2 == 0 {
			return i
		}
		from = i + 1
	}
	return from
}

func (r *copyReader) scanCSV(b []byte, from int, inQuote bool) (int, bool) {
	for i := from; i < len(b); i++ {
		c := b[i]
		switch {
		case inQuote && c == r.o.escape && r.o.escape != r.o.quote:
			i++
		case c == r.o.quote:
			inQuote = !inQuote
		case !inQuote && (c == '\n' || c == '\r'):
			return i, false
		}
	}
	return len(b), inQuote
}

// split takes a line apart into r.fields.
func (r *copyReader) split(line []byte) error {
	r.fields = r.fields[:0]
	r.text = r.text[:0]
	if cap(r.text) < len(line) {
		r.text = make([]byte, 0, 2*len(line))
	}
	if r.o.format == copyCSV {
		return r.splitCSV(line)
	}
	for {
		i := bytes.IndexByte(line, r.o.delim)
		if i > 0 && line[i-1] == '\\' || i < 0 && bytes.IndexByte(line, '\\') >= 0 || i > 0 && bytes.IndexByte(line[:i], '\\') >= 0 {
			var field []byte
			field, line, i = r.escapedField(line)
			r.fields = append(r.fields, copyField{raw: field})
		} else if i < 0 {
			r.fields = append(r.fields, copyField{raw: line})
		} else {
			r.fields = append(r.fields, copyField{raw: line[:i]})
			line = line[i+1:]
		}
		if i < 0 {
			return nil
		}
	}
}

// nullMarker is what escapedField returns for the null string, which is compared before escapes are taken out.
var nullMarker = []byte{0}

// escapedField unescapes the first field of a line with backslashes; more is -1 for the last.
func (r *copyReader) escapedField(line []byte) (field, rest []byte, more int) {
	end := len(line)
	more = -1
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
			continue
		}
		if line[i] == r.o.delim {
			end, more = i, 0
			break
		}
	}
	raw := line[:end]
	if more == 0 {
		rest = line[end+1:]
	}
	if string(raw) == r.o.null {
		return nullMarker, rest, more
	}
	at := len(r.text)
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\\' || i+1 == len(raw) {
			r.text = append(r.text, c)
			continue
		}
		i++
		var n int
		c, n = unescape(raw[i:])
		i += n - 1
		r.text = append(r.text, c)
	}
	return r.text[at:len(r.text):len(r.text)], rest, more
}

// unescape reads what follows a backslash and how many bytes of it.
func unescape(b []byte) (byte, int) {
	switch c := b[0]; c {
	case 'b':
		return '\b', 1
	case 'f':
		return '\f', 1
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'v':
		return '\v', 1
	case 'x':
		n := 1
		var v int
		for n < len(b) && n <= 2 && hexDigit(b[n]) >= 0 {
			v = v*16 + hexDigit(b[n])
			n++
		}
		if n == 1 {
			return 'x', 1
		}
		return byte(v), n
	default:
		if c < '0' || c > '7' {
			return c, 1
		}
		n, v := 0, 0
		for n < len(b) && n < 3 && b[n] >= '0' && b[n] <= '7' {
			v = v*8 + int(b[n]-'0')
			n++
		}
		return byte(v), n
	}
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func (r *copyReader) splitCSV(line []byte) error {
	for i := 0; ; {
		at := len(r.text)
		quoted := false
		inQuote := false
		for ; i < len(line); i++ {
			c := line[i]
			if inQuote {
				if c == r.o.escape && i+1 < len(line) && (line[i+1] == r.o.quote || line[i+1] == r.o.escape) {
					i++
					r.text = append(r.text, line[i])
					continue
				}
				if c == r.o.quote {
					inQuote = false
					continue
				}
				r.text = append(r.text, c)
				continue
			}
			if c == r.o.quote {
				inQuote, quoted = true, true
				continue
			}
			if c == r.o.delim {
				break
			}
			r.text = append(r.text, c)
		}
		if inQuote {
			return pgerr.New(pgerr.BadCopyFileFormat, "unterminated CSV quoted field")
		}
		r.fields = append(r.fields, copyField{raw: r.text[at:len(r.text):len(r.text)], quoted: quoted})
		if i >= len(line) {
			return nil
		}
		i++
	}
}

// header passes the first line, or compares it with the columns.
func (r *copyReader) header(line []byte) error {
	if !r.o.matchNames {
		return nil
	}
	if err := r.split(line); err != nil {
		return r.context(err)
	}
	if len(r.fields) != len(r.ins.atts) {
		return r.context(pgerr.New(pgerr.BadCopyFileFormat,
			"wrong number of fields in header line: got %d, expected %d", len(r.fields), len(r.ins.atts)))
	}
	for i, att := range r.ins.atts {
		if name := r.rel.Attrs[att].Name; string(r.fields[i].raw) != name {
			return r.context(pgerr.New(pgerr.BadCopyFileFormat,
				"column name mismatch in header line field %d: got \"%s\", expected \"%s\"", i+1, r.fields[i].raw, name))
		}
	}
	return nil
}

// addLine converts a line's values and adds the row.
func (r *copyReader) addLine(line []byte) error {
	if err := r.split(line); err != nil {
		return err
	}
	atts := r.ins.atts
	if len(r.fields) > len(atts) && !(len(atts) == 0 && len(line) == 0) {
		return pgerr.New(pgerr.BadCopyFileFormat, "extra data after last expected column")
	}
	row, err := r.ins.row()
	if err != nil {
		return err
	}
	for i, att := range atts {
		a := &r.rel.Attrs[att]
		if i >= len(r.fields) {
			return pgerr.New(pgerr.BadCopyFileFormat, "missing data for column \"%s\"", a.Name)
		}
		f := &r.fields[i]
		if r.isNull(f, a.Name) {
			row[att] = types.NullDatum
			continue
		}
		d, err := r.convert(a, f.raw)
		if err != nil {
			r.column, r.value = a.Name, f.raw
			return err
		}
		row[att] = d
	}
	return r.ins.add(row, len(line), r.line)
}

func (r *copyReader) isNull(f *copyField, name string) bool {
	if r.o.format != copyCSV {
		return len(f.raw) == len(nullMarker) && len(f.raw) > 0 && &f.raw[0] == &nullMarker[0] || string(f.raw) == r.o.null && r.o.null != `\N`
	}
	if f.quoted && !r.o.forceNull[name] || r.o.notNull[name] {
		return false
	}
	return string(f.raw) == r.o.null
}

// convert turns a field into a value; small integers and text, of which there are many, take a short way.
func (r *copyReader) convert(a *catalog.Attribute, raw []byte) (types.Datum, error) {
	switch a.Type {
	case types.Int4:
		if v, ok := smallInt(raw); ok {
			return types.Int64Datum(v), nil
		}
	case types.Text:
		if err := checkEncoding(raw); err != nil {
			return types.Datum{}, err
		}
		return types.Datum{B: r.ins.keepLine(raw)}, nil
	case types.Bpchar:
		if d, ok := r.padded(a, raw); ok {
			return d, nil
		}
	}
	if err := checkEncoding(raw); err != nil {
		return types.Datum{}, err
	}
	d, err := types.In(a.Type, a.Typmod, raw, &r.s.env)
	if err == nil && d.B != nil {
		d.B = r.ins.keep(d.B)
	}
	return d, err
}

// padded is a char(n) of ASCII with its blanks.
func (r *copyReader) padded(a *catalog.Attribute, raw []byte) (types.Datum, bool) {
	n := int(a.Typmod) - typmodLength
	if n < len(raw) || oddFrom(raw, 0) < len(raw) {
		return types.Datum{}, false
	}
	return types.Datum{B: r.ins.padded(raw, n)}, true
}

// typmodLength is what the type modifier of char(n) is greater than n by.
const typmodLength = 4

// smallInt reads up to nine digits.
func smallInt(b []byte) (int64, bool) {
	neg := len(b) > 1 && b[0] == '-'
	if neg {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 9 {
		return 0, false
	}
	var v int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	if neg {
		v = -v
	}
	return v, true
}

var copySignature = []byte("PGCOPY\n\xff\r\n\x00")

// need makes n unread bytes available.
func (r *copyReader) need(n int) error {
	for len(r.buf)-r.pos < n {
		if err := r.fill(); err != nil {
			return err
		}
	}
	return nil
}

func (r *copyReader) take(n int) []byte {
	b := r.buf[r.pos : r.pos+n]
	r.pos += n
	return b
}

// binary reads the binary format.
func (r *copyReader) binary() error {
	if err := r.binaryHeader(); err != nil {
		return err
	}
	for {
		if ok, err := r.plainBinaryRow(); ok {
			if err != nil {
				return r.context(err)
			}
			continue
		}
		r.line++
		r.column = ""
		if err := r.need(2); err != nil {
			if errors.Is(err, io.EOF) && len(r.buf) == r.pos {
				return nil // an old file without trailer
			}
			return r.context(binaryEOF(err))
		}
		n := int16(binary.BigEndian.Uint16(r.take(2)))
		if n == -1 {
			r.pos = len(r.buf)
			if err := r.fill(); err == nil && len(r.buf) > r.pos {
				return r.context(pgerr.New(pgerr.BadCopyFileFormat, "received copy data after EOF marker"))
			} else if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			return nil
		}
		if int(n) != len(r.ins.atts) {
			return r.context(pgerr.New(pgerr.BadCopyFileFormat,
				"row field count is %d, expected %d", n, len(r.ins.atts)))
		}
		if err := r.binaryRow(); err != nil {
			return r.context(err)
		}
	}
}

func binaryEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return pgerr.New(pgerr.BadCopyFileFormat, "unexpected EOF in COPY data")
	}
	return err
}

func (r *copyReader) binaryHeader() error {
	const header = 19
	if err := r.need(header); err != nil {
		if errors.Is(err, io.EOF) {
			return pgerr.New(pgerr.BadCopyFileFormat, "COPY file signature not recognized")
		}
		return err
	}
	if !bytes.Equal(r.take(len(copySignature)), copySignature) {
		return pgerr.New(pgerr.BadCopyFileFormat, "COPY file signature not recognized")
	}
	flags := binary.BigEndian.Uint32(r.take(4))
	if flags&(1<<16) != 0 {
		return pgerr.New(pgerr.BadCopyFileFormat, "invalid COPY file header (WITH OIDS)")
	}
	if flags>>16 != 0 {
		return pgerr.New(pgerr.BadCopyFileFormat, "unrecognized critical flags in COPY file header")
	}
	ext := int32(binary.BigEndian.Uint32(r.take(4)))
	if ext < 0 || ext > maxCopyLine {
		return pgerr.New(pgerr.BadCopyFileFormat, "invalid COPY file header (wrong length)")
	}
	if err := r.need(int(ext)); err != nil {
		return pgerr.New(pgerr.BadCopyFileFormat, "invalid COPY file header (wrong length)")
	}
	r.take(int(ext))
	return nil
}

func (r *copyReader) binaryRow() error {
	row, err := r.ins.row()
	if err != nil {
		return err
	}
	size := 0
	for _, att := range r.ins.atts {
		a := &r.rel.Attrs[att]
		if err := r.need(4); err != nil {
			return binaryEOF(err)
		}
		n := int32(binary.BigEndian.Uint32(r.take(4)))
		if n == -1 {
			row[att] = types.NullDatum
			continue
		}
		if n < 0 || n > maxCopyLine {
			return pgerr.New(pgerr.BadCopyFileFormat, "invalid field size")
		}
		if err := r.need(int(n)); err != nil {
			return binaryEOF(err)
		}
		raw := r.take(int(n))
		size += int(n)
		if a.Type == types.Int4 && n == 4 { // there are many
			row[att] = types.Int64Datum(int64(int32(binary.BigEndian.Uint32(raw))))
			continue
		}
		d, err := types.Recv(a.Type, a.Typmod, raw, &r.s.env)
		if err != nil {
			r.column, r.value = a.Name, nil
			e := pgerr.From(err)
			return e
		}
		if d.B != nil {
			d.B = r.ins.keep(d.B)
		}
		row[att] = d
	}
	return r.ins.add(row, size, r.line)
}
