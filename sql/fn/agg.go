package fn

import "github.com/minipg/minipg/types"

// Agg is one aggregate. New always works; Flat, where it is not nil, is the fast form for the same.
type Agg struct {
	Name string
	New  func(call *AggCall) AggState
	Flat *FlatAgg
	// Strict aggregates skip rows with a null argument. The caller sees to it before
	// AggState.Step; flat forms see to it themselves.
	Strict bool
	// Ordered-set aggregates get their aggregated arguments sorted, nulls included unless Strict, and the
	// direct ones in AggCall.Direct. Hypothetical ones too.
	OrderedSet   bool
	Hypothetical bool
}

// AggCall is a use of an aggregate in a query.
type AggCall struct {
	Args      []types.OID // types of the aggregated arguments
	Result    types.OID
	Collation types.OID
	Direct    []types.Datum // direct arguments of ordered-set aggregates, evaluated once a group
	DirectTyp []types.OID
	Types     types.Types
	Env       *types.Env
	// Desc says the sort of an ordered-set aggregate's input, one an argument.
	Desc       []bool
	NullsFirst []bool
}

// AggState is the state of one group.
type AggState interface {
	// Step takes one row. It copies what it keeps of the arguments' bytes.
	Step(c *Context, args []types.Datum) error
	// Final gives the result and may be called again after more steps.
	Final(c *Context) (types.Datum, error)
	// Combine adds another state of the same aggregate, from a parallel worker.
	Combine(c *Context, other AggState) error
	// Size is about how many bytes are held.
	Size() int
}

// FlatAgg is an aggregate whose state is a few words, all zero at first, so that the states of many groups lie in
// one slice. The state of group g is st[g*Words : (g+1)*Words].
type FlatAgg struct {
	Words int
	// Step takes the rows of args (nil for count(*)) into the states of their groups: the k-th row of rows goes to groups[k],
	// or all to group 0 if groups is nil.
	Step func(args []*types.Vector, rows types.Rows, groups []uint32, st []uint64) error
	// Final and Combine work on one group's words.
	Final   func(st []uint64) (types.Datum, error)
	Combine func(dst, src []uint64) error
}
