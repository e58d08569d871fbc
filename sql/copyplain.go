package sql

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/types"
)

// plainReader is the short way through data: rows of the binary format, and lines of the text format without escapes,
// that lie in the buffer as a whole and have as many fields as there are columns. What it does not understand, and what
// is wrong, it leaves to the long way, which starts over with the row.
type plainReader struct {
	on       bool
	nullable bool // the null string can be in such a line
	cols     []plainColumn
	// The next backslash, carriage return, and byte that is not ASCII or is 0: where in the buffer, its length if
	// none; meaningless before the position read. So none is looked for more than once.
	escape, cr, odd int
}

type plainColumn struct {
	att    int
	a      *catalog.Attribute
	digits int // integers of up to so many digits cannot be out of range; 0: no integer
	bytes  int // of an integer in the binary format
	text   int // text and varchar: the longest value in bytes that needs no look at its characters
	blanks int // char(n): n
}

// forget is for when the buffer has other contents.
func (p *plainReader) forget() { p.escape, p.cr, p.odd = -1, -1, -1 }

// preparePlain decides whether there are plain rows. A row that takes defaults has to be begun once only.
func (r *copyReader) preparePlain() {
	p := &r.plain
	p.on = r.o.format != copyCSV && r.ins.alone && len(r.ins.atts) > 0
	p.nullable = bytes.IndexByte([]byte(r.o.null), '\\') < 0
	p.forget()
	for _, att := range r.ins.atts {
		a := &r.rel.Attrs[att]
		c := plainColumn{att: att, a: a}
		switch a.Type {
		case types.Int2:
			c.digits, c.bytes = 4, 2
		case types.Int4:
			c.digits, c.bytes = 9, 4
		case types.Int8:
			c.digits, c.bytes = 18, 8
		case types.Text:
			c.text = math.MaxInt
		case types.Varchar:
			if c.text = int(a.Typmod) - typmodLength; a.Typmod < 0 {
				c.text = math.MaxInt
			}
		case types.Bpchar:
			c.blanks = int(a.Typmod) - typmodLength
		}
		p.cols = append(p.cols, c)
	}
}

// plainRow adds the row of the next line; false, with nothing done, if the line is not plain.
func (r *copyReader) plainRow() (ok bool, err error) {
	p := &r.plain
	if !p.on || r.line == 0 && r.o.header {
		return false, nil
	}
	n := bytes.IndexByte(r.buf[r.pos:], '\n')
	if n < 0 {
		return false, nil
	}
	end := r.pos + n
	if p.escape < r.pos {
		p.escape = indexFrom(r.buf, r.pos, '\\')
	}
	if p.cr < r.pos {
		p.cr = indexFrom(r.buf, r.pos, '\r')
	}
	if p.escape < end || p.cr < end {
		return false, nil
	}
	if p.odd < r.pos {
		p.odd = oddFrom(r.buf, r.pos)
	}
	line := r.buf[r.pos:end]
	row, err := r.ins.row()
	if err != nil {
		return true, err
	}
	if !r.plainFields(line, row, p.odd >= end) {
		return false, nil
	}
	r.line++
	r.pos = end + 1
	r.column, r.value, r.inLine = "", nil, line
	return true, r.ins.add(row, len(line), r.line)
}

// plainFields converts the fields of a line; false if they are more or fewer than columns, or one is wrong.
func (r *copyReader) plainFields(line []byte, row []types.Datum, ascii bool) bool {
	p := &r.plain
	delim := r.o.delim
	at := 0
	for i := range p.cols {
		c := &p.cols[i]
		if at > len(line) {
			return false
		}
		rest := line[at:]
		if c.digits > 0 && !p.nullable {
			if v, n := leadingInt(rest, c.digits, delim); n > 0 {
				row[c.att].W, row[c.att].Null = uint64(v), false
				at += n + 1
				continue
			}
		}
		n := bytes.IndexByte(rest, delim)
		if n < 0 {
			n = len(rest)
		}
		raw := rest[:n]
		at += n + 1
		switch {
		case p.nullable && string(raw) == r.o.null:
			row[c.att] = types.NullDatum
		case ascii && n > 0 && (c.text >= n || c.blanks == n):
			row[c.att] = types.Datum{B: r.ins.keepLine(raw)}
		case ascii && c.blanks > n:
			row[c.att] = types.Datum{B: r.ins.padded(raw, c.blanks)}
		default:
			d, err := r.convert(c.a, raw)
			if err != nil {
				return false
			}
			row[c.att] = d
		}
	}
	return at == len(line)+1
}

// plainBinaryRow adds the next row of the binary format; false, with nothing done, if it is not plain.
func (r *copyReader) plainBinaryRow() (ok bool, err error) {
	p := &r.plain
	b := r.buf[r.pos:]
	if !p.on || len(b) < 2 || int(binary.BigEndian.Uint16(b)) != len(p.cols) {
		return false, nil
	}
	row, err := r.ins.row()
	if err != nil {
		return true, err
	}
	at, size := 2, 0
	for i := range p.cols {
		c := &p.cols[i]
		if len(b)-at < 4 {
			return false, nil
		}
		n := int(int32(binary.BigEndian.Uint32(b[at:])))
		at += 4
		if n == -1 {
			row[c.att] = types.NullDatum
			continue
		}
		if n < 0 || len(b)-at < n {
			return false, nil
		}
		raw := b[at : at+n : at+n]
		at += n
		size += n
		switch {
		case c.bytes > 0 && c.bytes == n:
			row[c.att].W, row[c.att].Null = uint64(bigEndianInt(raw)), false
		case n > 0 && (c.text >= n || c.blanks == n) && oddFrom(raw, 0) == n:
			row[c.att] = types.Datum{B: r.ins.keepLine(raw)}
		default:
			d, err := types.Recv(c.a.Type, c.a.Typmod, raw, &r.s.env)
			if err != nil {
				return false, nil //nolint:nilerr // the long way meets it again
			}
			if d.B != nil {
				d.B = r.ins.keep(d.B)
			}
			row[c.att] = d
		}
	}
	r.line++
	r.pos += at
	r.column = ""
	return true, r.ins.add(row, size, r.line)
}

// bigEndianInt reads an int2, int4 or int8.
func bigEndianInt(b []byte) int64 {
	switch len(b) {
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	}
	return int64(binary.BigEndian.Uint64(b))
}

// leadingInt reads an integer of up to most digits that ends at delim or with b, and tells its length; 0 if there is none.
func leadingInt(b []byte, most int, delim byte) (v int64, n int) {
	i := 0
	neg := len(b) > 0 && b[0] == '-' && delim != '-'
	if neg {
		i = 1
	}
	first := i
	for i < len(b) && b[i]-'0' <= 9 {
		v = v*10 + int64(b[i]-'0')
		i++
	}
	if i == first || i-first > most || i < len(b) && b[i] != delim {
		return 0, 0
	}
	if neg {
		v = -v
	}
	return v, i
}

func indexFrom(b []byte, from int, c byte) int {
	if i := bytes.IndexByte(b[from:], c); i >= 0 {
		return from + i
	}
	return len(b)
}

// oddFrom finds the next byte that is 0 or not ASCII.
func oddFrom(b []byte, from int) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; from+8 <= len(b); from += 8 {
		// In a word of ASCII only a zero byte, and what borrows from it, has its high bit set after this.
		if w := binary.LittleEndian.Uint64(b[from:]); (w|(w-ones))&high != 0 {
			break
		}
	}
	for from < len(b) && b[from] != 0 && b[from] < 0x80 {
		from++
	}
	return from
}
