package types

import (
	"math"
	"strconv"

	"github.com/minipg/minipg/pgerr"
)

func errArray(s []byte, detail string, args ...any) error {
	return pgerr.New(pgerr.InvalidTextRepresentation, "malformed array literal: \"%s\"", s).WithDetail(detail, args...)
}

// States of reading an array's braces.
type arrayState uint8

const (
	arrNoLevel arrayState = iota
	arrLevelStarted
	arrElemStarted
	arrElemCompleted
	arrQuotedStarted
	arrQuotedCompleted
	arrElemDelimited
	arrLevelCompleted
	arrLevelDelimited
)

// arrayShape finds dimensions from the braces and checks the syntax, as PostgreSQL 15 does before it reads elements.
type arrayShape struct {
	all   []byte
	delim byte
	state arrayState
	nest  int
	ndim  int
	temp  [MaxArrayDims]int
	nelem [MaxArrayDims]int
	last  [MaxArrayDims]int
	empty bool
}

func (p *arrayShape) in(states ...arrayState) bool {
	for _, s := range states {
		if p.state == s {
			return true
		}
	}
	return false
}

func (p *arrayShape) unexpected(c byte) error {
	return errArray(p.all, "Unexpected \"%c\" character.", c)
}

// scan reads one array from its left brace to the end of s and returns its dimensions, none if it is empty.
func (p *arrayShape) scan(s []byte) ([]int, error) {
	p.ndim, p.empty = 1, true
	for i := range p.temp {
		p.temp[i], p.nelem[i], p.last[i] = 1, 1, 1
	}
	i := 0
	quoted := false
	for done := false; !done; {
		for item := false; !item; {
			if p.in(arrElemStarted, arrQuotedStarted) {
				p.empty = false
			}
			if i >= len(s) {
				return nil, errArray(p.all, "Unexpected end of input.")
			}
			c := s[i]
			switch {
			case c == '\\':
				if !p.in(arrLevelStarted, arrElemStarted, arrQuotedStarted, arrElemDelimited) {
					return nil, p.unexpected(c)
				}
				if p.state != arrQuotedStarted {
					p.state = arrElemStarted
				}
				if i++; i >= len(s) {
					return nil, errArray(p.all, "Unexpected end of input.")
				}
			case c == '"':
				if !p.in(arrLevelStarted, arrQuotedStarted, arrElemDelimited) {
					return nil, errArray(p.all, "Unexpected array element.")
				}
				quoted = !quoted
				p.state = arrQuotedCompleted
				if quoted {
					p.state = arrQuotedStarted
				}
			case quoted:
			case c == '{':
				if err := p.open(); err != nil {
					return nil, err
				}
			case c == '}':
				var err error
				if done, err = p.close(); err != nil {
					return nil, err
				}
				item = done
			case c == p.delim:
				if !p.in(arrElemStarted, arrElemCompleted, arrQuotedCompleted, arrLevelCompleted) {
					return nil, p.unexpected(c)
				}
				if p.state == arrLevelCompleted {
					p.state = arrLevelDelimited
				} else {
					p.state = arrElemDelimited
				}
				item = true
				p.nelem[p.nest-1]++
			case !isSpace(c):
				if !p.in(arrLevelStarted, arrElemStarted, arrElemDelimited) {
					return nil, errArray(p.all, "Unexpected array element.")
				}
				p.state = arrElemStarted
			}
			if !item {
				i++
			}
		}
		p.temp[p.ndim-1]++
		i++
	}
	for ; i < len(s); i++ {
		if !isSpace(s[i]) {
			return nil, errArray(p.all, "Junk after closing right brace.")
		}
	}
	if p.empty {
		return nil, nil
	}
	return p.temp[:p.ndim], nil
}

func (p *arrayShape) open() error {
	if !p.in(arrNoLevel, arrLevelStarted, arrLevelDelimited) {
		return p.unexpected('{')
	}
	p.state = arrLevelStarted
	if p.nest >= MaxArrayDims {
		return errArrayDims(p.nest + 1)
	}
	p.temp[p.nest] = 0
	p.nest++
	p.ndim = max(p.ndim, p.nest)
	return nil
}

func (p *arrayShape) close() (done bool, err error) {
	if !p.in(arrElemStarted, arrElemCompleted, arrQuotedCompleted, arrLevelCompleted) && !(p.nest == 1 && p.state == arrLevelStarted) {
		return false, p.unexpected('}')
	}
	p.state = arrLevelCompleted
	if p.nest == 0 {
		return false, errArray(p.all, "Unmatched \"%c\" character.", '}')
	}
	p.nest--
	n := p.nest
	if p.last[n] != 1 && p.nelem[n] != p.last[n] {
		return false, errArray(p.all, "Multidimensional arrays must have sub-arrays with matching dimensions.")
	}
	p.last[n], p.nelem[n] = p.nelem[n], 1
	if n == 0 {
		return true, nil
	}
	p.temp[n-1]++
	return false, nil
}

// arrayBounds reads [l:u][l:u]...= if it is there.
func arrayBounds(all []byte) (dims []ArrayDim, rest []byte, err error) {
	s := all
	number := func() (string, bool) {
		n := 0
		for n < len(s) && (isDigit(s[n]) || s[n] == '-' || s[n] == '+') {
			n++
		}
		t := string(s[:n])
		s = s[n:]
		return t, n > 0
	}
	for {
		s = trimSpaceLeft(s)
		if len(s) == 0 || s[0] != '[' {
			break
		}
		s = s[1:]
		if len(dims) >= MaxArrayDims {
			return nil, nil, errArrayDims(len(dims) + 1)
		}
		num, ok := number()
		if !ok {
			return nil, nil, errArray(all, "\"[\" must introduce explicitly-specified array dimensions.")
		}
		lower := 1
		if len(s) > 0 && s[0] == ':' {
			s = s[1:]
			lower = atoi(num)
			if num, ok = number(); !ok {
				return nil, nil, errArray(all, "Missing array dimension value.")
			}
		}
		if len(s) == 0 || s[0] != ']' {
			return nil, nil, errArray(all, "Missing \"%s\" after array dimensions.", "]")
		}
		s = s[1:]
		upper := atoi(num)
		if upper < lower {
			return nil, nil, pgerr.New(pgerr.ArraySubscriptError, "upper bound cannot be less than lower bound")
		}
		if upper-lower+1 > math.MaxInt32 {
			return nil, nil, errArraySize()
		}
		dims = append(dims, ArrayDim{int32(upper - lower + 1), int32(lower)})
	}
	if len(dims) == 0 {
		return nil, s, nil
	}
	if len(s) == 0 || s[0] != '=' {
		return nil, nil, errArray(all, "Missing \"%s\" after array dimensions.", "=")
	}
	return dims, trimSpaceLeft(s[1:]), nil
}

func parseArray(elem OID, typmod int32, s []byte, env *Env) (Datum, error) {
	var ts Types
	if env != nil {
		ts = env.Types
	}
	info := Lookup(elem, ts)
	if info == nil {
		return Datum{}, pgerr.New(pgerr.UndefinedObject, "type with OID %d does not exist", elem)
	}
	dims, rest, err := arrayBounds(s)
	if err != nil {
		return Datum{}, err
	}
	if len(rest) == 0 || rest[0] != '{' {
		if dims == nil {
			return Datum{}, errArray(s, "Array value must start with \"{\" or dimension information.")
		}
		return Datum{}, errArray(s, "Array contents must start with \"{\".")
	}
	shape := arrayShape{all: s, delim: info.Delim}
	lens, err := shape.scan(rest)
	if err != nil {
		return Datum{}, err
	}
	if dims == nil {
		for _, n := range lens {
			dims = append(dims, ArrayDim{int32(n), 1})
		}
	} else {
		same := len(dims) == len(lens)
		for i := 0; same && i < len(lens); i++ {
			same = int(dims[i].Len) == lens[i]
		}
		if !same {
			return Datum{}, errArray(s, "Specified array dimensions do not match array contents.")
		}
	}
	if err := CheckArrayDims(dims); err != nil {
		return Datum{}, err
	}
	n := 1
	for _, d := range dims {
		n *= int(d.Len)
	}
	if len(dims) == 0 || n == 0 {
		return EmptyArray(elem, ts), nil
	}
	r := arrayReader{all: s, delim: info.Delim, elem: elem, typmod: typmod, env: env, depth: len(dims)}
	elems, err := r.read(rest, n)
	if err != nil {
		return Datum{}, err
	}
	return MakeArrayDims(elem, elems, dims, ts), nil
}

// arrayReader reads the elements of an array whose shape is known to be sound.
type arrayReader struct {
	all    []byte
	delim  byte
	elem   OID
	typmod int32
	env    *Env
	depth  int
}

func (r *arrayReader) read(s []byte, n int) ([]Datum, error) {
	elems := make([]Datum, 0, min(n, 1024))
	nest := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '{':
			if nest++; nest > r.depth {
				return nil, pgerr.New(pgerr.InvalidTextRepresentation, "malformed array literal: \"%s\"", r.all)
			}
			i++
		case c == '}':
			nest--
			i++
		case c == r.delim || isSpace(c):
			i++
		default:
			if nest != r.depth {
				// A shallow element beside deeper ones: no rectangle.
				return nil, errArray(r.all, "Multidimensional arrays must have sub-arrays with matching dimensions.")
			}
			text, quoted, used := arrayElement(s[i:], r.delim)
			i += used
			d, err := r.value(text, quoted)
			if err != nil {
				return nil, err
			}
			elems = append(elems, d)
		}
	}
	if len(elems) != n {
		return nil, errArray(r.all, "Multidimensional arrays must have sub-arrays with matching dimensions.")
	}
	return elems, nil
}

func (r *arrayReader) value(text []byte, quoted bool) (Datum, error) {
	if !quoted && foldEqual(text, "null") {
		return NullDatum, nil
	}
	return In(r.elem, r.typmod, text, r.env)
}

// arrayElement takes one element off the front: its text, whether it was quoted or escaped, and the bytes used.
func arrayElement(s []byte, delim byte) (text []byte, quoted bool, used int) {
	plain := true
	for i, c := range s {
		if c == '"' || c == '\\' {
			plain = false
			break
		}
		if c == delim || c == '}' || c == '{' {
			return trimSpace(s[:i]), false, i
		}
	}
	if plain {
		return trimSpace(s), false, len(s)
	}
	in := false
	keep := 0 // trailing white space before this is part of the text
	i := 0
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\':
			quoted = true
			if i++; i < len(s) {
				text = append(text, s[i])
			}
			keep = len(text)
			continue
		case c == '"':
			in = !in
			quoted = true
			keep = len(text)
			continue
		case !in && (c == delim || c == '}' || c == '{'):
			return trimRightFrom(text, keep), quoted, i
		case !in && isSpace(c):
			text = append(text, c)
			continue
		}
		text = append(text, c)
		keep = len(text)
	}
	return trimRightFrom(text, keep), quoted, i
}

func trimRightFrom(text []byte, keep int) []byte {
	if text == nil {
		return []byte{}
	}
	return text[:keep]
}

func outArray(d Datum, dst []byte, env *Env) []byte {
	a := d.Array()
	if a.N == 0 {
		return append(dst, '{', '}')
	}
	delim := byte(',')
	if t := Lookup(a.Elem, envTypes(env)); t != nil {
		delim = t.Delim
	}
	bounds := false
	for _, dim := range a.Dims {
		if dim.Lower != 1 {
			bounds = true
		}
	}
	if bounds {
		for _, dim := range a.Dims {
			dst = strconv.AppendInt(append(dst, '['), int64(dim.Lower), 10)
			dst = strconv.AppendInt(append(dst, ':'), int64(dim.Lower)+int64(dim.Len)-1, 10)
			dst = append(dst, ']')
		}
		dst = append(dst, '=')
	}
	it := a.Iter()
	return outArrayLevel(&a, &it, 0, delim, dst, env)
}

func envTypes(env *Env) Types {
	if env == nil {
		return nil
	}
	return env.Types
}

func outArrayLevel(a *Array, it *ArrayIter, level int, delim byte, dst []byte, env *Env) []byte {
	dst = append(dst, '{')
	for i := range int(a.Dims[level].Len) {
		if i > 0 {
			dst = append(dst, delim)
		}
		if level < len(a.Dims)-1 {
			dst = outArrayLevel(a, it, level+1, delim, dst, env)
			continue
		}
		e, _ := it.Next()
		if e.Null {
			dst = append(dst, "NULL"...)
			continue
		}
		at := len(dst)
		dst = Out(a.Elem, e, dst, env)
		if arrayNeedsQuotes(dst[at:], delim) {
			dst = quoteFrom(dst, at, false)
		}
	}
	return append(dst, '}')
}

func arrayNeedsQuotes(s []byte, delim byte) bool {
	if len(s) == 0 || foldEqual(s, "null") {
		return true
	}
	for _, c := range s {
		switch c {
		case '"', '\\', '{', '}', ' ', '\t', '\n', '\r', '\v', '\f', delim:
			return true
		}
	}
	return false
}

// quoteFrom puts dst[at:] in double quotes, with " and \ inside escaped by a backslash, or doubled.
func quoteFrom(dst []byte, at int, double bool) []byte {
	extra := 2
	for _, c := range dst[at:] {
		if c == '"' || c == '\\' {
			extra++
		}
	}
	end := len(dst)
	for range extra {
		dst = append(dst, 0)
	}
	w := len(dst) - 1
	dst[w] = '"'
	w--
	for i := end - 1; i >= at; i-- {
		c := dst[i]
		dst[w] = c
		w--
		if c == '"' || c == '\\' {
			if double {
				dst[w] = c
			} else {
				dst[w] = '\\'
			}
			w--
		}
	}
	dst[w] = '"'
	return dst
}
