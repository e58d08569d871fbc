package fn

import (
	"github.com/minipg/minipg/types"
)

// jsonAgg is json_agg and jsonb_agg: an array of the values.
type jsonAgg struct {
	typ    types.OID
	binary bool
	buf    []byte // the array without its brackets
	set    bool
}

func (s *jsonAgg) Step(c *Context, args []types.Datum) error {
	if s.set {
		s.buf = append(s.buf, ", "...)
	}
	if class, _ := jsonClassOf(s.typ, c.Env.Types); s.set && !args[0].Null && (class == jsonArray || class == jsonComposite) {
		s.buf = append(s.buf, "\n "...)
	}
	s.set = true
	start := len(s.buf)
	if err := checkGrow(start, textSize(s.typ, args[0])); err != nil {
		return err
	}
	s.buf = newJSONWriter(c).append(s.buf, s.typ, args[0], false)
	return checkOut(s.buf, start)
}

func (s *jsonAgg) Final(*Context) (types.Datum, error) {
	if !s.set {
		return types.NullDatum, nil
	}
	return asJSONB(s.binary, bracket('[', s.buf, ']'))
}

func (s *jsonAgg) Combine(_ *Context, other AggState) error {
	s.buf, s.set = joinJSON(s.buf, s.set, other.(*jsonAgg).buf, other.(*jsonAgg).set)
	return nil
}

func (s *jsonAgg) Size() int { return 64 + cap(s.buf) }

func joinJSON(a []byte, hasA bool, b []byte, hasB bool) ([]byte, bool) {
	if hasA && hasB {
		a = append(a, ", "...)
	}
	return append(a, b...), hasA || hasB
}

func bracket(open byte, s []byte, shut ...byte) []byte {
	out := make([]byte, 0, len(s)+1+len(shut))
	return append(append(append(out, open), s...), shut...)
}

// jsonObjectAgg is json_object_agg and jsonb_object_agg.
type jsonObjectAgg struct {
	key, val types.OID
	binary   bool
	buf      []byte
	set      bool
}

func (s *jsonObjectAgg) Step(c *Context, args []types.Datum) error {
	if args[0].Null {
		return errParameter("field name must not be null")
	}
	if s.set {
		s.buf = append(s.buf, ", "...)
	}
	s.set = true
	start := len(s.buf)
	if err := checkGrow(start, textSize(s.key, args[0])+textSize(s.val, args[1])); err != nil {
		return err
	}
	w := newJSONWriter(c)
	buf, err := w.key(s.buf, s.key, args[0])
	if err != nil {
		return err
	}
	buf = append(buf, " : "...)
	s.buf = w.append(buf, s.val, args[1], false)
	return checkOut(s.buf, start)
}

func (s *jsonObjectAgg) Final(*Context) (types.Datum, error) {
	if !s.set {
		return types.NullDatum, nil
	}
	return asJSONB(s.binary, bracket('{', append([]byte{' '}, s.buf...), ' ', '}'))
}

func (s *jsonObjectAgg) Combine(_ *Context, other AggState) error {
	s.buf, s.set = joinJSON(s.buf, s.set, other.(*jsonObjectAgg).buf, other.(*jsonObjectAgg).set)
	return nil
}

func (s *jsonObjectAgg) Size() int { return 64 + cap(s.buf) }

func registerJSONAggregates(r *registry) {
	array := func(oid types.OID, name string, binary bool) {
		r.aggs[oid] = stateful(name, false, func(call *AggCall) AggState { return &jsonAgg{typ: call.Args[0], binary: binary} })
	}
	array(3175, "json_agg", false)
	array(3267, "jsonb_agg", true)
	object := func(oid types.OID, name string, binary bool) {
		r.aggs[oid] = stateful(name, false, func(call *AggCall) AggState {
			return &jsonObjectAgg{key: call.Args[0], val: call.Args[1], binary: binary}
		})
	}
	object(3197, "json_object_agg", false)
	object(3270, "jsonb_object_agg", true)
}
