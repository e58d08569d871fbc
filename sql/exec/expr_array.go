package exec

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

func arrayOfRows(rt *runtime, array, elem types.OID, elems []types.Datum) (types.Datum, error) {
	ts := rt.fc.Env.Types
	if types.ElemOf(elem) == 0 && !isUserArray(elem, ts) || array == types.ArrayOf(elem) {
		return types.MakeArrayDims(elem, elems, []types.ArrayDim{{Len: int32(len(elems)), Lower: 1}}, ts), nil
	}
	return joinArrays(elem, elems, ts)
}

func isUserArray(t types.OID, ts types.Types) bool {
	info := types.Lookup(t, ts)
	return info != nil && info.IsArray()
}

// joinArrays makes an array with one more dimension out of arrays of the same shape.
func joinArrays(elem types.OID, parts []types.Datum, ts types.Types) (types.Datum, error) {
	var dims []types.ArrayDim
	var elems []types.Datum
	inner := types.OID(0)
	for i, d := range parts {
		if d.Null {
			return d, pgerr.New(pgerr.NullValueNotAllowed, "cannot accumulate null arrays")
		}
		a := d.Array()
		inner = a.Elem
		if i == 0 {
			dims = append([]types.ArrayDim{{Len: int32(len(parts)), Lower: 1}}, a.Dims...)
		} else if !sameDims(dims[1:], a.Dims) {
			return d, errArrayShape()
		}
		elems = a.Elems(elems)
	}
	if len(elems) == 0 {
		if inner == 0 {
			inner = types.ElemOf(elem)
		}
		return types.EmptyArray(inner, ts), nil
	}
	if err := types.CheckArrayDims(dims); err != nil {
		return types.Datum{}, err
	}
	return types.MakeArrayDims(inner, elems, dims, ts), nil
}

func errArrayShape() error {
	return pgerr.New(pgerr.ArraySubscriptError,
		"multidimensional arrays must have array expressions with matching dimensions")
}

func sameDims(a, b []types.ArrayDim) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// arrayExpr is ARRAY[...].
func (c *compiler) arrayExpr(e *analyze.ArrayExpr) (*expr, error) {
	args, err := c.exprs(e.Elems)
	if err != nil {
		return nil, err
	}
	x := c.newExpr(e)
	ts := c.types()
	build := func(elems []types.Datum) (types.Datum, error) {
		if e.MultiDims {
			return buildNested(e.Elem, elems, ts)
		}
		dims := []types.ArrayDim{{Len: int32(len(elems)), Lower: 1}}
		return types.MakeArrayDims(e.Elem, elems, dims, ts), nil
	}
	return c.perRow(x, args, build), nil
}

// buildNested makes an array of arrays. Empty and null ones may only come all together.
func buildNested(elem types.OID, parts []types.Datum, ts types.Types) (types.Datum, error) {
	var dims []types.ArrayDim
	var elems []types.Datum
	empty := false
	for _, d := range parts {
		if d.Null {
			empty = true
			continue
		}
		a := d.Array()
		if len(a.Dims) == 0 {
			empty = true
			continue
		}
		if dims == nil {
			dims = append([]types.ArrayDim{{Len: int32(len(parts)), Lower: 1}}, a.Dims...)
		} else if !sameDims(dims[1:], a.Dims) {
			return d, errArrayShape()
		}
		elems = a.Elems(elems)
	}
	if dims == nil {
		return types.EmptyArray(elem, ts), nil
	}
	if empty {
		return types.Datum{}, errArrayShape()
	}
	if err := types.CheckArrayDims(dims); err != nil {
		return types.Datum{}, err
	}
	return types.MakeArrayDims(elem, elems, dims, ts), nil
}

// perRow makes x the result of a Go function over the values of args, row by row, folded if all are constants. The
// function must not keep its argument.
func (c *compiler) perRow(x *expr, args []*expr, f func(args []types.Datum) (types.Datum, error)) *expr {
	c.merge(x, args...)
	constant := true
	for _, a := range args {
		constant = constant && a.konst != nil
	}
	if constant && !x.volatile {
		vals := make([]types.Datum, len(args))
		for i, a := range args {
			vals[i] = a.konst.Datum(0)
		}
		if d, err := f(vals); err == nil {
			return c.constant(x, d)
		}
	}
	slot, buf, vecs := c.spec.vec(x.typ, x.class), c.spec.args(len(args)), c.spec.argVecs(len(args))
	x.eval = func(fr *frame, rows types.Rows) (*types.Vector, error) {
		av := fr.avecs[vecs : vecs+len(args)]
		for i, a := range args {
			v, err := a.eval(fr, rows)
			if err != nil {
				return nil, err
			}
			av[i] = v
		}
		out := fr.vec(slot, rows.N)
		vals := fr.args[buf : buf+len(args)]
		for j := range rows.Len() {
			i := rows.At(j)
			for k, v := range av {
				vals[k] = v.Datum(i)
			}
			d, err := f(vals)
			if err != nil {
				return nil, err
			}
			out.Set(i, d)
		}
		return out, nil
	}
	return x
}

// hashArrayMin is from how many elements on a constant array is looked up by hash.
const hashArrayMin = 9

// scalarArray is scalar op ANY|ALL (array).
func (c *compiler) scalarArray(e *analyze.ScalarArrayOpExpr) (*expr, error) {
	x := c.newExpr(e)
	scalar, err := c.expr(e.Scalar)
	if err != nil {
		return nil, err
	}
	array, err := c.expr(e.Array)
	if err != nil {
		return nil, err
	}
	c.merge(x, scalar, array)
	f, err := c.operator(e.Op, e.Func)
	if err != nil {
		return nil, err
	}
	elem := c.elementType(array.typ)
	if f.volatile() {
		x.volatile, c.scope.volatile = true, true
	}
	site, err := c.site(f, e.InputColl, types.Bool, scalar.typ, elem)
	if err != nil {
		return nil, err
	}
	s := &scalarArrayOp{scalar: scalar, array: array, site: site, or: e.UseOr, slot: c.spec.vec(types.Bool, types.Word)}
	info, direct := directComparison(f.proc.Src)
	if direct && info.accepts == isEqual && e.UseOr && !x.volatile &&
		(info.kind != compareBytes || c.deterministic(e.InputColl)) {
		s.set = c.spec.any()
		s.kind = info.kind
		x.eval = s.lookup
		return x, nil
	}
	x.eval = s.loop
	return x, nil
}

type scalarArrayOp struct {
	scalar, array *expr
	site          *callSite
	or            bool
	slot, set     int
	kind          compareKind
}

// loop applies the operator to one element after the other.
func (s *scalarArrayOp) loop(f *frame, rows types.Rows) (*types.Vector, error) {
	a, b, err := evalTwo(f, s.scalar, s.array, rows)
	if err != nil {
		return nil, err
	}
	out := f.vec(s.slot, rows.N)
	decisive := boolWord(s.or)
	for j := range rows.Len() {
		i := rows.At(j)
		arr := b.Datum(i)
		if arr.Null {
			out.Null[i] = true
			continue
		}
		if err := s.row(f, a.Datum(i), arr, out, i, decisive); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *scalarArrayOp) row(f *frame, v, arr types.Datum, out *types.Vector, i int, decisive uint64) error {
	array := arr.Array()
	out.W[i], out.Null[i] = decisive^1, false
	if array.N == 0 {
		return nil
	}
	if v.Null && s.site.strict {
		out.Null[i] = true
		return nil
	}
	it := array.Iter()
	for el, ok := it.Next(); ok; el, ok = it.Next() {
		d, err := s.site.value(f, v, el)
		if err != nil {
			return err
		}
		if decide(out, i, d, decisive) {
			break
		}
	}
	return nil
}

// elemSet is the elements of an array, for look-ups.
type elemSet struct {
	source []byte // the array it was made of
	words  map[uint64]struct{}
	text   map[string]struct{}
	list   []types.Datum // of few elements
	null   bool
	n      int
}

// build takes the elements of an array, unless it has.
func (s *elemSet) build(d types.Datum, kind compareKind) {
	if s.source != nil && string(s.source) == string(d.B) {
		return
	}
	*s = elemSet{source: append([]byte{}, d.B...), list: s.list[:0]}
	a := types.BytesDatum(s.source).Array()
	s.n = a.N
	if a.N >= hashArrayMin && kind == compareBytes {
		s.text = make(map[string]struct{}, a.N)
	} else if a.N >= hashArrayMin {
		s.words = make(map[uint64]struct{}, a.N)
	}
	it := a.Iter()
	for el, ok := it.Next(); ok; el, ok = it.Next() {
		switch {
		case el.Null:
			s.null = true
		case s.text != nil:
			s.text[el.Str()] = struct{}{}
		case s.words != nil:
			s.words[el.W] = struct{}{}
		default:
			s.list = append(s.list, el)
		}
	}
}

func (s *elemSet) has(d types.Datum, kind compareKind) bool {
	switch {
	case s.text != nil:
		_, ok := s.text[d.Str()]
		return ok
	case s.words != nil:
		_, ok := s.words[d.W]
		return ok
	}
	for i := range s.list {
		if kind == compareBytes {
			if string(s.list[i].B) == string(d.B) {
				return true
			}
		} else if s.list[i].W == d.W {
			return true
		}
	}
	return false
}

// lookup is = ANY where equality is that of words or bytes.
func (s *scalarArrayOp) lookup(f *frame, rows types.Rows) (*types.Vector, error) {
	a, b, err := evalTwo(f, s.scalar, s.array, rows)
	if err != nil {
		return nil, err
	}
	out := f.vec(s.slot, rows.N)
	if !b.Const {
		for j := range rows.Len() {
			i := rows.At(j)
			if b.Null[i] {
				out.Null[i] = true
				continue
			}
			if err := s.row(f, a.Datum(i), b.Datum(i), out, i, 1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	if b.Null[0] {
		for j := range rows.Len() {
			out.Null[rows.At(j)] = true
		}
		return out, nil
	}
	set, _ := f.any[s.set].(*elemSet)
	if set == nil {
		set = &elemSet{}
		f.any[s.set] = set
	}
	set.build(b.Datum(0), s.kind)
	for j := range rows.Len() {
		i := rows.At(j)
		d := a.Datum(i)
		out.W[i], out.Null[i] = 0, false
		switch {
		case set.n == 0:
		case d.Null:
			out.Null[i] = true
		case set.has(d, s.kind):
			out.W[i] = 1
		default:
			out.Null[i] = set.null
		}
	}
	return out, nil
}
