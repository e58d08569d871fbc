package fn

import (
	"math"
	"unicode/utf8"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// variadicArgs spreads a VARIADIC array into arguments from position first. null is set when the array is null.
func (c *Context) variadicArgs(a []types.Datum, first int) (args []types.Datum, typ func(i int) types.OID, null bool) {
	if c.Call == nil || !c.Call.Variadic {
		return a, c.ArgType, false
	}
	last := a[len(a)-1]
	if last.Null {
		return nil, nil, true
	}
	arr := last.Array()
	args = append(append([]types.Datum(nil), a[:first]...), arr.Elems(nil)...)
	return args, func(i int) types.OID {
		if i < first {
			return c.ArgType(i)
		}
		return arr.Elem
	}, false
}

func (c *Context) concat(sep []byte, args []types.Datum, typ func(int) types.OID, first int) ([]byte, error) {
	var out []byte
	any := false
	for i := first; i < len(args); i++ {
		if args[i].Null {
			continue
		}
		start := len(out)
		// What is text already is not copied before it is known to fit.
		if err := checkGrow(start, len(sep)+textSize(typ(i), args[i])); err != nil {
			return nil, err
		}
		if any {
			out = append(out, sep...)
		}
		any = true
		out = types.Out(typ(i), args[i], out, c.Env)
		if err := checkOut(out, start); err != nil {
			return nil, err
		}
	}
	if out == nil {
		return []byte{}, nil
	}
	return out, nil
}

func registerConcat(r *registry) {
	r.fn("text_concat", func(c *Context, a []types.Datum) (types.Datum, error) {
		args, typ, null := c.variadicArgs(a, 0)
		if null {
			return types.NullDatum, nil
		}
		b, err := c.concat(nil, args, typ, 0)
		return types.Datum{B: b}, err
	})
	r.fn("text_concat_ws", func(c *Context, a []types.Datum) (types.Datum, error) {
		if a[0].Null {
			return types.NullDatum, nil
		}
		args, typ, null := c.variadicArgs(a, 1)
		if null {
			return types.NullDatum, nil
		}
		b, err := c.concat(a[0].B, args, typ, 1)
		return types.Datum{B: b}, err
	})
	r.fn("text_format_nv", format)
	r.fn("text_format", format)
	r.fn("pg_num_nulls", countNulls(true))
	r.fn("pg_num_nonnulls", countNulls(false))
}

func countNulls(want bool) Func {
	return func(c *Context, a []types.Datum) (types.Datum, error) {
		args, _, null := c.variadicArgs(a, 0)
		if null {
			return types.NullDatum, nil
		}
		n := int64(0)
		for i := range args {
			if args[i].Null == want {
				n++
			}
		}
		return types.Int64Datum(n), nil
	}
}

// formatter is the state of format().
type formatter struct {
	c    *Context
	f    []byte
	at   int
	args []types.Datum
	typ  func(int) types.OID
	next int
	out  []byte
}

func errFormatEnd() error {
	return pgerr.New(pgerr.InvalidParameterValue, "unterminated format() type specifier").WithHint("%s", "For a single \"%\" use \"%%\".")
}

func (f *formatter) peek() (byte, error) {
	if f.at >= len(f.f) {
		return 0, errFormatEnd()
	}
	return f.f[f.at], nil
}

// number reads digits; ok is false if there are none.
func (f *formatter) number() (n int64, ok bool, err error) {
	for f.at < len(f.f) && isDigit(f.f[f.at]) {
		n = n*10 + int64(f.f[f.at]-'0')
		if n > math.MaxInt32 {
			return 0, false, pgerr.New(pgerr.NumericValueOutOfRange, "number is out of range")
		}
		ok = true
		f.at++
	}
	if ok && f.at >= len(f.f) {
		return 0, false, errFormatEnd()
	}
	return n, ok, nil
}

// directive reads what stands between % and the type: position, flags and width; -1 means not given.
func (f *formatter) directive() (argpos, widthpos int64, minus bool, width int64, err error) {
	argpos, widthpos = -1, -1
	n, ok, err := f.number()
	if err != nil {
		return
	}
	if ok {
		if f.f[f.at] != '$' {
			// No position: it was the width.
			width = n
			return
		}
		if argpos = n; argpos == 0 {
			err = errParameter("format specifies argument 0, but arguments are numbered from 1")
			return
		}
		f.at++
		if _, err = f.peek(); err != nil {
			return
		}
	}
	for f.f[f.at] == '-' {
		minus = true
		f.at++
		if _, err = f.peek(); err != nil {
			return
		}
	}
	if f.f[f.at] == '*' {
		f.at++
		if _, err = f.peek(); err != nil {
			return
		}
		if n, ok, err = f.number(); err != nil {
			return
		}
		if ok {
			if f.f[f.at] != '$' {
				err = errParameter("width argument position must be ended by \"$\"")
				return
			}
			if widthpos = n; widthpos == 0 {
				err = errParameter("format specifies argument 0, but arguments are numbered from 1")
				return
			}
			f.at++
			_, err = f.peek()
		} else {
			widthpos = 0
		}
		return
	}
	if n, ok, err = f.number(); ok {
		width = n
	}
	return
}

// argument takes the argument at a position, or the next.
func (f *formatter) argument(pos int64) (int, error) {
	if pos > 0 {
		f.next = int(pos)
	} else {
		f.next++
	}
	if f.next >= len(f.args) {
		return 0, errParameter("too few arguments for format()")
	}
	return f.next, nil
}

func (f *formatter) width(pos int64) (int64, error) {
	i, err := f.argument(pos)
	if err != nil {
		return 0, err
	}
	d := f.args[i]
	if d.Null {
		return 0, nil
	}
	switch f.typ(i) {
	case types.Int4, types.Int2:
		return d.Int64(), nil
	}
	w, err := types.In(types.Int4, -1, types.Out(f.typ(i), d, nil, f.c.Env), nil)
	return w.Int64(), err
}

func (f *formatter) pad(s []byte, minus bool, width int64) error {
	if width < 0 {
		minus = true
		if width <= math.MinInt32 {
			return pgerr.New(pgerr.NumericValueOutOfRange, "number is out of range")
		}
		width = -width
	}
	fill := int(width) - utf8.RuneCount(s)
	if err := checkGrow(len(f.out), max(fill, 0)+len(s)); err != nil {
		return err
	}
	if !minus {
		for range max(fill, 0) {
			f.out = append(f.out, ' ')
		}
	}
	f.out = append(f.out, s...)
	if minus {
		for range max(fill, 0) {
			f.out = append(f.out, ' ')
		}
	}
	return nil
}

func (f *formatter) convert() error {
	argpos, widthpos, minus, width, err := f.directive()
	if err != nil {
		return err
	}
	kind := f.f[f.at]
	if kind != 's' && kind != 'I' && kind != 'L' {
		_, n := utf8.DecodeRune(f.f[f.at:])
		return pgerr.New(pgerr.InvalidParameterValue, "unrecognized format() type specifier \"%s\"", f.f[f.at:f.at+n]).
			WithHint("%s", "For a single \"%\" use \"%%\".")
	}
	if widthpos >= 0 {
		if width, err = f.width(widthpos); err != nil {
			return err
		}
	}
	i, err := f.argument(argpos)
	if err != nil {
		return err
	}
	d := f.args[i]
	if d.Null {
		switch kind {
		case 's':
			return f.pad(nil, minus, width)
		case 'L':
			return f.pad([]byte("NULL"), minus, width)
		}
		return pgerr.New(pgerr.NullValueNotAllowed, "null values cannot be formatted as an SQL identifier")
	}
	s := types.Out(f.typ(i), d, nil, f.c.Env)
	switch kind {
	case 'I':
		s = []byte(QuoteIdent(string(s)))
	case 'L':
		s = []byte(QuoteLiteral(string(s)))
	}
	return f.pad(s, minus, width)
}

func format(c *Context, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.NullDatum, nil
	}
	args, typ, null := c.variadicArgs(a, 1)
	if null {
		args, typ = a[:1], c.ArgType
	}
	f := formatter{c: c, f: a[0].B, args: args, typ: typ, out: []byte{}}
	for f.at < len(f.f) {
		ch := f.f[f.at]
		f.at++
		if ch != '%' {
			f.out = append(f.out, ch)
			continue
		}
		next, err := f.peek()
		if err != nil {
			return types.Datum{}, err
		}
		if next == '%' {
			f.out = append(f.out, '%')
			f.at++
			continue
		}
		if err := f.convert(); err != nil {
			return types.Datum{}, err
		}
		f.at++
	}
	return bytesResult(f.out)
}
