package exec

import (
	"math"
	"slices"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

func tidOf(block uint32, offset uint16) engine.TID {
	return engine.TID{Block: storage.BlockNumber(block), Offset: offset}
}

// keyCond is one condition on an index column that makes the range.
type keyCond struct {
	strategy plan.IndexStrategy
	value    *expr // nil for null tests
	typ      types.OID
}

// indexKeys is the compiled range of an index scan: conditions on the leading columns, one column after the other.
type indexKeys struct {
	spec *frameSpec
	// eq has one entry per leading column held equal, bounds those on the next.
	eq      []keyCond
	keys    []*catalog.IndexKey
	bounds  []keyCond
	bound   *catalog.IndexKey
	compare []func(a, b types.Datum) int // per eq column, where it takes an array
	// extra are conditions that the range cannot express.
	extra []analyze.Expr
	all   []analyze.Expr
}

// indexConds splits conditions into a range and what must be looked at row by row.
func (c *compiler) indexConds(x *catalog.Index, conds []plan.IndexCond) (*indexKeys, error) {
	k := &indexKeys{}
	s := newScope()
	k.spec = s.spec
	err := c.in(s, func() error {
		at := 0 // the column that a range condition may be on
		for i := range conds {
			cond := &conds[i]
			if cond.Source != nil {
				k.all = append(k.all, cond.Source)
			}
			ok, err := c.indexCond(k, x, cond, &at)
			if err != nil {
				return err
			}
			if !ok {
				k.extra = append(k.extra, cond.Source)
			}
		}
		return nil
	})
	return k, err
}

// indexCond adds one condition to the range, if it fits.
func (c *compiler) indexCond(k *indexKeys, x *catalog.Index, cond *plan.IndexCond, at *int) (bool, error) {
	key := &x.Keys[cond.Key]
	equality := cond.Strategy == plan.IndexEqual || cond.Strategy == plan.IndexEqAny || cond.Strategy == plan.IndexIsNull
	if cond.Key != *at || equality && k.bounds != nil {
		return false, nil
	}
	kc := keyCond{strategy: cond.Strategy}
	if cond.Value != nil {
		v, err := c.expr(cond.Value)
		if err != nil {
			return false, err
		}
		kc.value, kc.typ = v, v.typ
		if cond.Strategy == plan.IndexEqAny {
			kc.typ = c.elementType(v.typ)
		}
		if !comparableKeys(key.Type, kc.typ) {
			return false, nil
		}
	}
	if equality {
		k.eq = append(k.eq, kc)
		k.keys = append(k.keys, key)
		k.compare = append(k.compare, types.Comparer(key.Type, key.Collation, c.types()))
		*at++
		return true, nil
	}
	k.bounds = append(k.bounds, kc)
	k.bound = key
	return true, nil
}

// keyFamily groups types whose values an index key can be made of, one from the other.
func keyFamily(t types.OID) types.OID {
	switch t {
	case types.Int2, types.Int4, types.Int8:
		return types.Int8
	case types.Text, types.Varchar, types.Name, types.Unknown:
		return types.Text
	case types.Oid, types.Regclass, types.Regtype, types.Regproc, types.Regprocedure, types.Regoper,
		types.Regoperator, types.Regnamespace, types.Regrole, types.Regcollation, types.Regconfig, types.Regdictionary:
		return types.Oid
	case types.Bit, types.Varbit:
		return types.Varbit
	}
	return t
}

// comparableKeys tells whether a value of one type can bound an index column of another.
func comparableKeys(key, value types.OID) bool {
	return key == value || keyFamily(key) == keyFamily(value)
}

func (c *compiler) elementType(array types.OID) types.OID {
	if e := types.ElemOf(array); e != 0 {
		return e
	}
	if t := types.Lookup(array, c.types()); t != nil {
		return t.Elem
	}
	return 0
}

// intBounds are the limits of an integer type.
func intBounds(t types.OID) (lo, hi int64, ok bool) {
	switch t {
	case types.Int2:
		return math.MinInt16, math.MaxInt16, true
	case types.Int4:
		return math.MinInt32, math.MaxInt32, true
	}
	return 0, 0, false
}

// keyRanges are the ranges that the present values of an index scan's conditions make.
type keyRanges struct {
	k *indexKeys
	f *frame
	// lists are the values of each leading column, in the order of the scan.
	lists [][]types.Datum
	pick  []int
	r     engine.KeyRange
	none  bool
	begun bool
}

func newKeyRanges(rt *runtime, k *indexKeys) *keyRanges {
	kr := &keyRanges{k: k, f: newFrame(rt, k.spec)}
	kr.lists = make([][]types.Datum, len(k.eq))
	kr.pick = make([]int, len(k.eq))
	kr.r.Eq = make([]types.Datum, len(k.eq))
	return kr
}

// start evaluates the conditions.
func (kr *keyRanges) start(backward bool) error {
	kr.none, kr.begun = false, false
	kr.f.begin()
	for i := range kr.k.eq {
		if err := kr.equal(i, backward); err != nil {
			return err
		}
		if len(kr.lists[i]) == 0 {
			kr.none = true
			return nil
		}
		kr.pick[i] = 0
	}
	r := &kr.r
	r.HasLo, r.HasHi, r.NotNull, r.LoExclusive, r.HiExclusive = false, false, false, false, false
	for i := range kr.k.bounds {
		if err := kr.bound(&kr.k.bounds[i]); err != nil || kr.none {
			return err
		}
	}
	return nil
}

// equal lists the values of leading column i.
func (kr *keyRanges) equal(i int, backward bool) error {
	c, list := &kr.k.eq[i], kr.lists[i][:0]
	key := kr.k.keys[i]
	defer func() { kr.lists[i] = list }()
	if c.strategy == plan.IndexIsNull {
		list = append(list, types.NullDatum)
		return nil
	}
	d, err := kr.f.scalar(c.value)
	if err != nil || d.Null {
		return err
	}
	if c.strategy == plan.IndexEqual {
		if inRange(key.Type, d) {
			list = append(list, d)
		}
		return nil
	}
	a := d.Array()
	it := a.Iter()
	for d, ok := it.Next(); ok; d, ok = it.Next() {
		if !d.Null && inRange(key.Type, d) {
			list = append(list, d)
		}
	}
	compare := kr.k.compare[i]
	slices.SortFunc(list, compare)
	list = slices.CompactFunc(list, func(a, b types.Datum) bool { return compare(a, b) == 0 })
	if key.Desc != backward {
		slices.Reverse(list)
	}
	return nil
}

// inRange tells whether an integer is one of the key's type; other types always are.
func inRange(key types.OID, d types.Datum) bool {
	lo, hi, ok := intBounds(key)
	return !ok || d.Int64() >= lo && d.Int64() <= hi
}

// bound adds a bound, of which the tighter one stays.
func (kr *keyRanges) bound(c *keyCond) error {
	kr.r.NotNull = true
	if c.strategy == plan.IndexIsNotNull {
		return nil
	}
	d, err := kr.f.scalar(c.value)
	if err != nil {
		return err
	}
	if d.Null {
		kr.none = true
		return nil
	}
	lower := c.strategy == plan.IndexGreater || c.strategy == plan.IndexGreaterEqual
	exclusive := c.strategy == plan.IndexGreater || c.strategy == plan.IndexLess
	if lo, hi, ok := intBounds(kr.k.bound.Type); ok {
		v := d.Int64()
		switch {
		case lower && v > hi, !lower && v < lo:
			kr.none = true
			return nil
		case lower && v < lo, !lower && v > hi:
			return nil
		}
	}
	r := &kr.r
	if lower {
		r.Lo, r.HasLo, r.LoExclusive = d, true, exclusive
	} else {
		r.Hi, r.HasHi, r.HiExclusive = d, true, exclusive
	}
	return nil
}

// next gives the next range, nil when there is none.
func (kr *keyRanges) next() *engine.KeyRange {
	if kr.none {
		return nil
	}
	if kr.begun {
		i := len(kr.pick) - 1
		for ; i >= 0; i-- {
			if kr.pick[i]++; kr.pick[i] < len(kr.lists[i]) {
				break
			}
			kr.pick[i] = 0
		}
		if i < 0 {
			kr.none = true
			return nil
		}
	}
	kr.begun = true
	for i, p := range kr.pick {
		kr.r.Eq[i] = kr.lists[i][p]
	}
	return &kr.r
}
