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

// indexScanNode is an IndexScan.
type indexScanNode struct {
	scanNode
	index     *catalog.Index
	keys      *indexKeys
	backward  bool
	indexOnly bool
	unique    bool
}

func (c *compiler) indexScan(n *plan.IndexScan, info nodeInfo) (node, error) {
	s := &indexScanNode{
		scanNode: scanNode{nodeInfo: info, rti: n.RT, rel: n.Relation}, index: n.Index,
		backward: n.Backward, indexOnly: n.IndexOnly, unique: n.Unique,
	}
	var err error
	if s.keys, err = c.indexConds(n.Index, n.Conds); err != nil {
		return nil, err
	}
	if err := c.tableScan(&s.scanNode, s.keys.all, s.keys.extra); err != nil {
		return nil, err
	}
	s.indexOnly = s.indexOnly && s.covered()
	return s, nil
}

// covered tells whether the index has every attribute wanted.
func (n *indexScanNode) covered() bool {
	for _, a := range n.wanted {
		if !slices.ContainsFunc(n.index.Keys, func(k catalog.IndexKey) bool { return int(k.AttNum) == a+1 }) {
			return false
		}
	}
	return true
}

func (n *indexScanNode) build(rt *runtime) operator {
	capacity := 16
	if n.unique {
		capacity = 1
	}
	op := &indexScanOp{tableOp: newTableOp(rt, &n.scanNode, capacity), n: n, ranges: newKeyRanges(rt, n.keys)}
	op.room = capacity
	return op
}

type indexScanOp struct {
	tableOp
	n      *indexScanNode
	scan   IndexScan
	ranges *keyRanges
	room   int // rows the engine sees room for
	tried  int
	seek   bool // the next range is to be begun
}

func (op *indexScanOp) open() error {
	op.tried, op.seek = 0, true
	replaced, err := op.begin()
	if replaced || err != nil {
		return err
	}
	if op.scan == nil {
		op.scan, err = op.table.NewIndexScan(op.n.index.OID, engine.IndexScanOptions{
			Columns: op.n.wanted, Backward: op.n.backward, IndexOnly: op.n.indexOnly, TIDs: op.n.needsHeaders(),
		})
		if err != nil {
			return err
		}
	}
	return op.ranges.start(op.n.backward)
}

func (op *indexScanOp) next(max int) (*types.Batch, error) {
	for {
		b, err := op.pr.emit(max)
		if b != nil || err != nil || op.done {
			return b, err
		}
		if op.seek {
			if err := op.rt.ctx.Err(); err != nil {
				return nil, err
			}
			r := op.ranges.next()
			if r == nil {
				op.end()
				return nil, nil
			}
			if err := op.scan.Seek(op.rt.st.Snapshot, r); err != nil {
				return nil, err
			}
			op.seek = false
		}
		op.setRoom(op.pr.want(max, op.tried, op.n.volatile))
		op.tried++
		ok, err := op.scan.Next(op.rt.ctx, &op.rows.table)
		if err != nil {
			return nil, err
		}
		if !ok {
			op.seek = true
			continue
		}
		if err := op.pr.start(op.rows.fill(op.scan), nil); err != nil {
			return nil, err
		}
		if op.n.unique && len(op.ranges.lists) > 0 && op.ranges.last() {
			op.done = true
			op.noteRemoved()
			if b, err := op.pr.emit(max); b != nil || err != nil {
				return b, err
			}
			return nil, nil
		}
	}
}

// last tells whether there is no range after the present one.
func (kr *keyRanges) last() bool {
	for i, p := range kr.pick {
		if p+1 < len(kr.lists[i]) {
			return false
		}
	}
	return true
}

// setRoom lets the engine fill at most n rows; the vectors grow with what is asked for.
func (op *indexScanOp) setRoom(n int) {
	n = min(n, maxBatch)
	if op.n.unique {
		n = 1
	}
	if have := op.rows.capacity(); n > have {
		if op.rows.table.N < have && op.tried > 0 || op.tried == 0 {
			n = have
		} else {
			op.rows.init(op.n.scan(), min(n, 4*have))
			op.room = op.rows.capacity()
			n = min(n, op.room)
		}
	}
	if n != op.room {
		op.rows.limit(n)
		op.room = n
	}
}

func (n *indexScanNode) scan() *scanNode { return &n.scanNode }

func (op *indexScanOp) end() {
	op.done = true
	op.noteRemoved()
	if st := op.rt.nodeStats(&op.n.nodeInfo); st != nil && op.n.indexOnly {
		st.HeapFetches = op.scan.HeapFetches()
	}
}

func (op *indexScanOp) close() {
	if op.scan != nil {
		op.scan.Close()
	}
}

// bitmapNode is a BitmapScan.
type bitmapNode struct {
	scanNode
	source *bitmapSource
}

type bitmapSource struct {
	index *catalog.Index
	keys  *indexKeys
	or    bool
	parts []*bitmapSource
}

func (c *compiler) bitmapScan(n *plan.BitmapScan, info nodeInfo) (node, error) {
	b := &bitmapNode{scanNode: scanNode{nodeInfo: info, rti: n.RT, rel: n.Relation}}
	var err error
	if b.source, err = c.bitmapSource(n.Source); err != nil {
		return nil, err
	}
	return b, c.tableScan(&b.scanNode, nil, n.Recheck)
}

func (c *compiler) bitmapSource(p *plan.BitmapSource) (*bitmapSource, error) {
	s := &bitmapSource{index: p.Index, or: p.Or}
	if len(p.Parts) == 0 {
		var err error
		s.keys, err = c.indexConds(p.Index, p.Conds)
		return s, err
	}
	for _, part := range p.Parts {
		k, err := c.bitmapSource(part)
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, k)
	}
	return s, nil
}

func (n *bitmapNode) build(rt *runtime) operator {
	op := &bitmapOp{tableOp: newTableOp(rt, &n.scanNode, 1), n: n}
	op.ranges = map[*bitmapSource]*keyRanges{}
	op.scans = map[*bitmapSource]IndexScan{}
	return op
}

type bitmapOp struct {
	tableOp
	n      *bitmapNode
	ranges map[*bitmapSource]*keyRanges
	scans  map[*bitmapSource]IndexScan
	tids   []engine.TID
	at     int
	row    engine.Row
	one    oneRow
	buf    types.Batch
}

func (op *bitmapOp) open() error {
	op.tids, op.at = op.tids[:0], 0
	replaced, err := op.begin()
	if replaced || err != nil {
		return err
	}
	op.tids, err = op.collect(op.n.source)
	return err
}

// collect lists the rows of a source in table order.
func (op *bitmapOp) collect(s *bitmapSource) ([]engine.TID, error) {
	if len(s.parts) == 0 {
		return op.scanTIDs(s)
	}
	var tids []engine.TID
	for i, part := range s.parts {
		more, err := op.collect(part)
		if err != nil {
			return nil, err
		}
		switch {
		case i == 0:
			tids = more
		case s.or:
			tids = append(tids, more...)
		default:
			tids = intersect(tids, more)
		}
	}
	if s.or {
		sortTIDs(&tids)
	}
	return tids, nil
}

func sortTIDs(tids *[]engine.TID) {
	slices.SortFunc(*tids, engine.TID.Compare)
	*tids = slices.Compact(*tids)
}

func intersect(a, b []engine.TID) []engine.TID {
	out := a[:0]
	j := 0
	for _, t := range a {
		for j < len(b) && b[j].Compare(t) < 0 {
			j++
		}
		if j < len(b) && b[j] == t {
			out = append(out, t)
		}
	}
	return out
}

// scanTIDs reads the rows of one index condition.
func (op *bitmapOp) scanTIDs(s *bitmapSource) ([]engine.TID, error) {
	kr := op.ranges[s]
	if kr == nil {
		kr = newKeyRanges(op.rt, s.keys)
		op.ranges[s] = kr
	}
	scan := op.scans[s]
	if scan == nil {
		var err error
		if scan, err = op.table.NewIndexScan(s.index.OID, engine.IndexScanOptions{TIDs: true}); err != nil {
			return nil, err
		}
		op.scans[s] = scan
	}
	if err := kr.start(false); err != nil {
		return nil, err
	}
	var tids []engine.TID
	for r := kr.next(); r != nil; r = kr.next() {
		if err := scan.Seek(op.rt.st.Snapshot, r); err != nil {
			return nil, err
		}
		for {
			if err := op.rt.ctx.Err(); err != nil {
				return nil, err
			}
			ok, err := scan.Next(op.rt.ctx, &op.buf)
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			tids = append(tids, scan.TIDs()...)
		}
	}
	sortTIDs(&tids)
	return tids, nil
}

func (op *bitmapOp) next(max int) (*types.Batch, error) {
	for {
		b, err := op.pr.emit(max)
		if b != nil || err != nil || op.done {
			return b, err
		}
		if op.at == len(op.tids) {
			op.done = true
			op.noteRemoved()
			return nil, nil
		}
		if err := op.rt.ctx.Err(); err != nil {
			return nil, err
		}
		ok, err := op.table.FetchVersion(op.rt.ctx, op.tids[op.at], &op.row)
		op.at++
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		op.one.row = &op.row
		if err := op.pr.start(op.rows.take(&op.one), nil); err != nil {
			return nil, err
		}
	}
}

func (op *bitmapOp) close() {
	for _, s := range op.scans {
		s.Close()
	}
}
