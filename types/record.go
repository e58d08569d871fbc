package types

import (
	"encoding/binary"

	"github.com/minipg/minipg/pgerr"
)

// RecordField is one field of a record value.
type RecordField struct {
	Name string // "" if the record does not know it
	Attr Attr
}

// RecordValue is a value of a row type taken apart. The form of the datum is: the row type's OID (Record if
// anonymous), the number of fields, for each its type, modifier, physical kind and width, and name with its length; then
// the values as a row.
type RecordValue struct {
	Type   OID
	Fields []RecordField
	row    []byte
}

// RecordDatum makes a value of a row type.
func RecordDatum(typ OID, fields []RecordField, values []Datum) Datum {
	desc := RowDesc{Attrs: make([]Attr, len(fields))}
	b := make([]byte, 0, 8+12*len(fields)+16*len(values))
	b = binary.LittleEndian.AppendUint32(b, uint32(typ))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(fields)))
	for i := range fields {
		f := &fields[i]
		desc.Attrs[i] = f.Attr
		b = binary.LittleEndian.AppendUint32(b, uint32(f.Attr.Type))
		b = binary.LittleEndian.AppendUint32(b, uint32(f.Attr.Typmod))
		b = append(b, byte(f.Attr.Phys))
		b = binary.LittleEndian.AppendUint16(b, uint16(f.Attr.Len))
		name := TruncateName(unsafeBytes(f.Name))
		b = append(append(b, byte(len(name))), name...)
	}
	return Datum{B: desc.Encode(b, values)}
}

// Record takes a record datum apart. Names and values alias it.
func (d Datum) Record() RecordValue {
	b := d.B
	r := RecordValue{Type: OID(binary.LittleEndian.Uint32(b))}
	r.Fields = make([]RecordField, binary.LittleEndian.Uint16(b[4:]))
	b = b[6:]
	for i := range r.Fields {
		f := &r.Fields[i]
		f.Attr.Type = OID(binary.LittleEndian.Uint32(b))
		f.Attr.Typmod = int32(binary.LittleEndian.Uint32(b[4:]))
		f.Attr.Phys = Phys(b[8])
		f.Attr.Len = int16(binary.LittleEndian.Uint16(b[9:]))
		n := int(b[11])
		f.Name = unsafeString(b[12 : 12+n])
		b = b[12+n:]
	}
	r.row = b
	return r
}

// Values decodes the fields' values; bytes alias the datum.
func (r *RecordValue) Values() []Datum {
	desc := RowDesc{Attrs: make([]Attr, len(r.Fields))}
	for i := range r.Fields {
		desc.Attrs[i] = r.Fields[i].Attr
	}
	out := make([]Datum, len(r.Fields))
	if err := desc.Decode(r.row, out, len(out)); err != nil {
		// The bytes were made by RecordDatum; a stored value was checked by its page's checksum.
		for i := range out {
			out[i] = NullDatum
		}
	}
	return out
}

func outRecord(d Datum, dst []byte, env *Env) []byte {
	r := d.Record()
	dst = append(dst, '(')
	for i, v := range r.Values() {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.Null {
			continue
		}
		at := len(dst)
		dst = Out(r.Fields[i].Attr.Type, v, dst, env)
		if recordNeedsQuotes(dst[at:]) {
			dst = quoteFrom(dst, at, true)
		}
	}
	return append(dst, ')')
}

func recordNeedsQuotes(s []byte) bool {
	if len(s) == 0 {
		return true
	}
	for _, c := range s {
		if c == '"' || c == '\\' || c == '(' || c == ')' || c == ',' || isSpace(c) {
			return true
		}
	}
	return false
}

func errRecord(s []byte, detail string) error {
	return pgerr.New(pgerr.InvalidTextRepresentation, "malformed record literal: \"%s\"", s).WithDetail("%s", detail)
}

// parseRecord reads (a,"b",...) as a value of a composite type.
func parseRecord(t *TypeInfo, s []byte, env *Env) (Datum, error) {
	ts := envTypes(env)
	rest := trimSpaceLeft(s)
	if len(rest) == 0 || rest[0] != '(' {
		return Datum{}, errRecord(s, "Missing left parenthesis.")
	}
	rest = rest[1:]
	fields := make([]RecordField, 0, len(t.Fields))
	values := make([]Datum, 0, len(t.Fields))
	first := true
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Dropped {
			continue
		}
		if !first {
			if len(rest) == 0 || rest[0] != ',' {
				return Datum{}, errRecord(s, "Too few columns.")
			}
			rest = rest[1:]
		}
		first = false
		fields = append(fields, RecordField{f.Name, AttrOf(f.Type, f.Typmod, ts)})
		if len(rest) > 0 && (rest[0] == ',' || rest[0] == ')') {
			values = append(values, NullDatum)
			continue
		}
		text, used, ok := recordElement(rest)
		if !ok {
			return Datum{}, errRecord(s, "Unexpected end of input.")
		}
		rest = rest[used:]
		v, err := In(f.Type, f.Typmod, text, env)
		if err != nil {
			return Datum{}, err
		}
		values = append(values, v)
	}
	if len(rest) == 0 || rest[0] != ')' {
		return Datum{}, errRecord(s, "Too many columns.")
	}
	if len(trimSpaceLeft(rest[1:])) > 0 {
		return Datum{}, errRecord(s, "Junk after right parenthesis.")
	}
	return RecordDatum(t.OID, fields, values), nil
}

func recordElement(s []byte) (text []byte, used int, ok bool) {
	text = []byte{}
	in := false
	for i := 0; ; i++ {
		if i >= len(s) {
			return nil, 0, false
		}
		c := s[i]
		switch {
		case !in && (c == ',' || c == ')'):
			return text, i, true
		case c == '\\':
			if i++; i >= len(s) {
				return nil, 0, false
			}
			text = append(text, s[i])
		case c == '"':
			if in && i+1 < len(s) && s[i+1] == '"' {
				text = append(text, '"')
				i++
			} else {
				in = !in
			}
		default:
			text = append(text, c)
		}
	}
}
