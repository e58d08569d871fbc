package catalog

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/types"
)

// Row is a row of a catalog relation in the order of its attributes. The constants of
// columns_gen.go name the positions: row[catalog.ClassRelname]. Rows of pg_class have one
// hidden column more than attributes.
type Row = []types.Datum

// Eq is the condition that a column (its position in Row) equals a value.
type Eq struct {
	Col   int
	Value types.Datum
}

// Txn is a transaction's view of the catalog: the committed rows with its own changes
// over them. It belongs to one session. Lookups return nil without an error for what
// does not exist; an error is a failed read.
type Txn struct {
	cat  *Catalog
	db   OID
	over overlay
	// changed are the catalogs, touched the relations whose descriptors, this transaction
	// changed. A savepoint's rollback leaves them: they only choose the slower way.
	changed map[OID]struct{}
	touched map[OID]struct{}
	// local holds descriptors of touched relations, till the next change.
	local map[OID]*Relation
	state struct{ seen, number uint64 }
}

// Mark is a savepoint of a Txn.
type Mark struct{ undo int }

// DB is the database.
func (t *Txn) DB() OID { return t.db }

// Catalog is what the transaction was begun on.
func (t *Txn) Catalog() *Catalog { return t.cat }

// Changed tells whether there is anything to commit.
func (t *Txn) Changed() bool { return t.over.n > 0 }

// Version changes whenever what the transaction sees may have: by commits and by its own changes.
func (t *Txn) Version() uint64 {
	v := t.cat.version.Load()
	if t.changed == nil {
		return v
	}
	if t.state.seen != v || t.state.number == 0 {
		t.state.seen = v
		t.state.number = 1<<63 | t.cat.local.Add(1)
	}
	return t.state.number
}

// Savepoint marks the present state for RollbackTo. Releasing a savepoint needs no call.
func (t *Txn) Savepoint() Mark { return Mark{t.over.mark()} }

// RollbackTo undoes the changes made since the mark.
func (t *Txn) RollbackTo(m Mark) {
	assert.That(m.undo <= t.over.mark(), "catalog savepoint %d of %d", m.undo, t.over.mark())
	if m.undo == t.over.mark() {
		return
	}
	t.over.rollback(m.undo)
	t.dirty()
}

// Reset forgets all changes and starts anew in the same database: after commit or abort.
func (t *Txn) Reset() {
	if t.changed == nil {
		return
	}
	t.dirty()
	t.over.reset()
	t.changed, t.touched, t.local = nil, nil, nil
}

// dirty ends what was derived from the rows before.
func (t *Txn) dirty() {
	t.state.number = 0
	for _, r := range t.local {
		r.stale.Store(true)
	}
	clear(t.local)
}

func (t *Txn) hasChanged(rel OID) bool {
	_, ok := t.changed[rel]
	return ok
}

// defOf returns how a catalog is keyed.
func defOf(rel OID) *relDef {
	i, ok := slices.BinarySearchFunc(catalogDefs[:], rel, func(d relDef, o OID) int { return cmp.Compare(d.oid, o) })
	if !ok {
		return nil
	}
	return &catalogDefs[i]
}

// IsCatalog tells whether rel's rows are read with Scan.
func IsCatalog(rel OID) bool { return defOf(rel) != nil }

func mustDef(rel OID) *relDef {
	d := defOf(rel)
	assert.That(d != nil, "relation %d is not a catalog", rel)
	return d
}

// raw reads a key from the overlay or the committed rows. The value may be kept.
func (t *Txn) raw(key []byte) ([]byte, bool, error) {
	if t.over.n > 0 {
		if e, ok := t.over.get(string(key)); ok {
			return e.val, e.op == opPut, nil
		}
	}
	v, closer, err := t.cat.db.Get(key)
	if err == pebble.ErrNotFound {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read catalog: %w", err)
	}
	v = bytes.Clone(v)
	return v, true, closer.Close()
}

type kv struct{ key, val []byte }

// rawPrefix collects the keys with a prefix from overlay and committed rows, in order.
// Collecting, rather than iterating, lets callers change rows while they go through them.
func (t *Txn) rawPrefix(prefix []byte) ([]kv, error) {
	var own []*entry
	if t.over.n > 0 {
		t.over.ascend(string(prefix), func(e *entry) { own = append(own, e) })
	}
	it, err := t.cat.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: prefixEnd(prefix)})
	if err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	var out []kv
	take := func(e *entry) {
		if e.op == opPut {
			out = append(out, kv{[]byte(e.key), e.val})
		}
	}
	for ok := it.First(); ok; ok = it.Next() {
		k := it.Key()
		for len(own) > 0 && own[0].key < string(k) {
			take(own[0])
			own = own[1:]
		}
		if len(own) > 0 && own[0].key == string(k) {
			continue
		}
		v, err := it.ValueAndErr()
		if err != nil {
			_ = it.Close()
			return nil, fmt.Errorf("read catalog: %w", err)
		}
		out = append(out, kv{bytes.Clone(k), bytes.Clone(v)})
	}
	for _, e := range own {
		take(e)
	}
	if err := it.Close(); err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	return out, nil
}

func prefixEnd(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// rowKey is the key of row.
func (t *Txn) rowKey(def *relDef, row Row) []byte {
	return def.appendRowKey(keyPrefix(t.db, def, 0), row)
}

// Get returns the row of a catalog relation with that primary key.
func (t *Txn) Get(rel OID, key ...types.Datum) (Row, error) {
	def := mustDef(rel)
	assert.That(!def.wholeRow() && len(key) == len(def.indexes[0].cols), "key of %s has %d columns", def.name, len(key))
	k := keyPrefix(t.db, def, 0)
	eq := make([]Eq, len(key))
	for i, c := range def.indexes[0].cols {
		k = appendKey(k, def.cols[c], key[i])
		eq[i] = Eq{int(c), key[i]}
	}
	v, ok, err := t.raw(k)
	if err != nil {
		return nil, err
	}
	row := make(Row, len(def.cols))
	if ok {
		if v[0] == rowDeleted {
			return nil, nil
		}
		return row, decodeRow(def, v, row)
	}
	found := false
	err = t.cat.builtinScan(def, eq, row, func(r Row) error {
		if !matches(def, r, eq) {
			return nil
		}
		found = true
		row = slices.Clone(r)
		return nil
	})
	if err != nil || !found {
		return nil, err
	}
	return row, nil
}

// Scan calls fn for each row that meets all conditions, in no particular order, until
// it returns an error. The row may be reused after fn returns; its bytes may not change.
// fn may change rows; Scan does not see that.
func (t *Txn) Scan(rel OID, eq []Eq, fn func(Row) error) error {
	def := mustDef(rel)
	for _, e := range eq {
		if e.Value.Null {
			return nil
		}
	}
	stored, index, err := t.storedRows(def, eq)
	if err != nil {
		return err
	}
	row := make(Row, len(def.cols))
	mask := t.newMask(def, stored, index >= 0)
	for i := range stored {
		if stored[i].val[0] == rowDeleted {
			continue
		}
		if err := decodeRow(def, stored[i].val, row); err != nil {
			return err
		}
		if matches(def, row, eq) {
			if err := fn(row); err != nil {
				return err
			}
		}
	}
	return t.cat.builtinScan(def, eq, row, func(r Row) error {
		if !matches(def, r, eq) {
			return nil
		}
		hidden, err := mask.hides(r)
		if err != nil || hidden {
			return err
		}
		return fn(r)
	})
}

// storedRows reads the stored rows that eq may select, through the index that fits best.
func (t *Txn) storedRows(def *relDef, eq []Eq) (rows []kv, index int, err error) {
	index, n := def.chooseIndex(eq)
	if index < 0 {
		rows, err = t.rawPrefix(keyPrefix(t.db, def, 0))
		return rows, index, err
	}
	k := keyPrefix(t.db, def, def.slot(index))
	for _, c := range def.indexes[index].cols[:n] {
		k = appendKey(k, def.cols[c], eqValue(eq, int(c)))
	}
	if def.slot(index) == 0 {
		if n == len(def.indexes[index].cols) {
			v, ok, err := t.raw(k)
			if ok {
				rows = []kv{{k, v}}
			}
			return rows, index, err
		}
		rows, err = t.rawPrefix(k)
		return rows, index, err
	}
	entries, err := t.rawPrefix(k)
	if err != nil {
		return nil, index, err
	}
	for _, e := range entries {
		rk := append(keyPrefix(t.db, def, 0), e.val...)
		v, ok, err := t.raw(rk)
		if err != nil {
			return nil, index, err
		}
		// Between the reads another transaction's commit may have removed the row.
		if ok {
			rows = append(rows, kv{rk, v})
		}
	}
	return rows, index, nil
}

// chooseIndex returns the index with the longest prefix among eq, and that length; -1 for none.
func (def *relDef) chooseIndex(eq []Eq) (index, n int) {
	index = -1
	for i := range def.indexes {
		k := 0
		for _, c := range def.indexes[i].cols {
			if !hasEq(eq, int(c)) {
				break
			}
			k++
		}
		if k > n {
			index, n = i, k
		}
	}
	return index, n
}

func hasEq(eq []Eq, col int) bool {
	for i := range eq {
		if eq[i].Col == col {
			return true
		}
	}
	return false
}

func eqValue(eq []Eq, col int) types.Datum {
	for i := range eq {
		if eq[i].Col == col {
			return eq[i].Value
		}
	}
	return types.NullDatum
}

func matches(def *relDef, row Row, eq []Eq) bool {
	for i := range eq {
		e := &eq[i]
		d := &row[e.Col]
		if d.Null {
			return false
		}
		if types.ClassOf(def.cols[e.Col]) == types.Word {
			if d.W != e.Value.W {
				return false
			}
		} else if !bytes.Equal(d.B, e.Value.B) {
			return false
		}
	}
	return true
}

// rowMask tells which built-in rows are overridden or deleted. See invariant 5.
type rowMask struct {
	t    *Txn
	def  *relDef
	keys map[string]struct{} // of stored rows; nil: ask for each
}

func (t *Txn) newMask(def *relDef, stored []kv, byIndex bool) rowMask {
	m := rowMask{t: t, def: def}
	if byIndex || builtinCount(def.oid) < len(stored) {
		return m
	}
	m.keys = make(map[string]struct{}, len(stored))
	for i := range stored {
		m.keys[string(stored[i].key)] = struct{}{}
	}
	return m
}

func (m *rowMask) hides(row Row) (bool, error) {
	k := m.t.rowKey(m.def, row)
	if m.keys != nil {
		_, ok := m.keys[string(k)]
		return ok, nil
	}
	_, ok, err := m.t.raw(k)
	return ok, err
}

// Rows collects what Scan yields.
func (t *Txn) Rows(rel OID, eq ...Eq) ([]Row, error) {
	var out []Row
	err := t.Scan(rel, eq, func(r Row) error {
		out = append(out, slices.Clone(r))
		return nil
	})
	return out, err
}

// NewOID allocates an OID that no row of rel (a catalog with an oid column) has.
func (t *Txn) NewOID(rel OID) (OID, error) {
	for {
		oid, err := t.cat.nextOID()
		if err != nil {
			return 0, err
		}
		row, err := t.Get(rel, types.OIDDatum(oid))
		if err != nil {
			return 0, err
		}
		if row == nil {
			return oid, nil
		}
	}
}

// errDuplicate is what PostgreSQL reports when two transactions raced to make an object.
func errDuplicate(def *relDef, index int) error {
	x := &def.indexes[index]
	return pgerr.New(pgerr.UniqueViolation, "duplicate key value violates unique constraint \"%s\"", x.name).
		WithTable("pg_catalog", def.name).WithConstraint(x.name)
}
