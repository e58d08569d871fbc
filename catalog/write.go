package catalog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/types"
)

// Insert adds a row. A row with the same unique key is 23505 naming the catalog's index.
func (t *Txn) Insert(rel OID, row Row) error {
	def := mustDef(rel)
	row = normalize(def, row)
	for i := range def.indexes {
		if !def.indexes[i].unique {
			continue
		}
		if dup, err := t.taken(def, i, row, nil); err != nil {
			return err
		} else if dup {
			return errDuplicate(def, i)
		}
	}
	return t.write(def, nil, row)
}

// Update replaces the row with the same primary key (for built-in rows it makes an override).
func (t *Txn) Update(rel OID, row Row) error {
	def := mustDef(rel)
	assert.That(!def.wholeRow(), "update of %s, which has no key", def.name)
	row = normalize(def, row)
	old, err := t.oldRow(def, row)
	if err != nil {
		return err
	}
	if old == nil {
		return errNoRow(def)
	}
	for i := range def.indexes {
		if i == 0 || !def.indexes[i].unique || sameCols(def, i, old, row) {
			continue
		}
		if dup, err := t.taken(def, i, row, old); err != nil {
			return err
		} else if dup {
			return errDuplicate(def, i)
		}
	}
	return t.write(def, old, row)
}

// Delete removes the row with row's primary key; only the key columns of row are read.
func (t *Txn) Delete(rel OID, row Row) error {
	def := mustDef(rel)
	old, err := t.oldRow(def, row)
	if err != nil {
		return err
	}
	if old == nil {
		return errNoRow(def)
	}
	return t.write(def, old, nil)
}

// DeleteWhere removes the rows that meet the conditions and returns how many.
func (t *Txn) DeleteWhere(rel OID, eq ...Eq) (int, error) {
	def := mustDef(rel)
	n := 0
	err := t.Scan(rel, eq, func(r Row) error {
		n++
		return t.write(def, slices.Clone(r), nil)
	})
	return n, err
}

func errNoRow(def *relDef) error {
	return pgerr.New(pgerr.InternalError, "could not find tuple in catalog %q", def.name)
}

// normalize gives a row all columns, and pg_class the visible half of its file number.
func normalize(def *relDef, row Row) Row {
	if len(row) < len(def.cols) {
		row = slices.Grow(slices.Clone(row), len(def.cols)-len(row))
		for len(row) < len(def.cols) {
			row = append(row, types.NullDatum)
		}
	}
	assert.That(len(row) == len(def.cols), "row of %d columns for %s", len(row), def.name)
	if def.oid == PgClass && !row[ClassFileNumber].Null {
		if low := uint64(uint32(row[ClassFileNumber].W)); row[ClassRelfilenode].W != low {
			row = slices.Clone(row)
			row[ClassRelfilenode] = types.Uint64Datum(low)
		}
	}
	return row
}

func (t *Txn) oldRow(def *relDef, row Row) (Row, error) {
	if !def.wholeRow() {
		key := make([]types.Datum, len(def.indexes[0].cols))
		for i, c := range def.indexes[0].cols {
			key[i] = row[c]
		}
		return t.Get(def.oid, key...)
	}
	row = normalize(def, row)
	v, ok, err := t.raw(t.rowKey(def, row))
	if err != nil {
		return nil, err
	}
	if ok {
		if v[0] == rowDeleted {
			return nil, nil
		}
		return row, nil
	}
	if builtin, err := t.cat.isBuiltin(def, row); err != nil || !builtin {
		return nil, err
	}
	return row, nil
}

func (c *Catalog) isBuiltin(def *relDef, row Row) (bool, error) {
	if builtinCount(def.oid) == 0 {
		return false, nil
	}
	var eq []Eq
	if def.wholeRow() {
		for i := range def.cols {
			eq = append(eq, Eq{i, row[i]})
		}
	} else {
		for _, c := range def.indexes[0].cols {
			eq = append(eq, Eq{int(c), row[c]})
		}
	}
	buf := make(Row, len(def.cols))
	found := false
	err := c.builtinScan(def, eq, buf, func(r Row) error {
		if matches(def, r, eq) {
			found = true
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return found, err
}

// errStop ends a scan early.
var errStop = errors.New("stop")

// taken tells whether another row than old has row's key in a unique index.
func (t *Txn) taken(def *relDef, index int, row, old Row) (bool, error) {
	var eq []Eq
	for _, c := range def.indexes[index].cols {
		if row[c].Null {
			return false, nil
		}
		eq = append(eq, Eq{int(c), row[c]})
	}
	var self []byte
	if old != nil {
		self = t.rowKey(def, old)
	}
	err := t.Scan(def.oid, eq, func(r Row) error {
		if self != nil && string(t.rowKey(def, r)) == string(self) {
			return nil
		}
		return errStop
	})
	if errors.Is(err, errStop) {
		return true, nil
	}
	return false, err
}

func sameCols(def *relDef, index int, a, b Row) bool {
	return string(def.appendIndexCols(nil, index, a)) == string(def.appendIndexCols(nil, index, b))
}

// write replaces old (nil: there is none) by row (nil: delete) in rows and indexes.
func (t *Txn) write(def *relDef, old, row Row) error {
	if t.changed == nil {
		t.changed, t.touched = map[OID]struct{}{}, map[OID]struct{}{}
	}
	t.changed[def.oid] = struct{}{}
	for _, r := range []Row{old, row} {
		if r == nil {
			continue
		}
		if err := t.touchRow(def, r); err != nil {
			return err
		}
	}
	t.dirty()

	any := old
	if row != nil {
		any = row
	}
	key := t.rowKey(def, any)
	pk := key[keyPrefixLen:]
	first, end := def.secondaries()
	for i := first; i < end; i++ {
		if old != nil && (row == nil || !sameCols(def, i, old, row)) {
			t.over.del(string(t.indexKey(def, i, old, pk)))
		}
		if row != nil {
			t.over.put(string(t.indexKey(def, i, row, pk)), pk)
		}
	}
	switch {
	case row != nil && old != nil:
		if cols := changedCols(def, old, row); cols != 0 {
			t.over.patch(string(key), appendRow(nil, def, row), cols)
		}
		return nil
	case row != nil:
		t.over.put(string(key), appendRow(nil, def, row))
		return nil
	}
	builtin, err := t.cat.isBuiltin(def, old)
	if err != nil {
		return err
	}
	if builtin {
		t.over.put(string(key), []byte{rowDeleted})
	} else {
		t.over.del(string(key))
	}
	return nil
}

// changedCols is the set of columns in which two rows differ.
func changedCols(def *relDef, a, b Row) uint64 {
	var cols uint64
	for i, typ := range def.cols {
		x, y := &a[i], &b[i]
		same := x.Null == y.Null
		if same && !x.Null {
			if types.ClassOf(typ) == types.Word {
				same = x.W == y.W
			} else {
				same = bytes.Equal(x.B, y.B)
			}
		}
		if !same {
			cols |= 1 << i
		}
	}
	return cols
}

func (t *Txn) indexKey(def *relDef, index int, row Row, pk []byte) []byte {
	k := def.appendIndexCols(keyPrefix(t.db, def, def.slot(index)), index, row)
	return append(k, pk...)
}

// touchRow notes the relations whose descriptors depend on a row.
func (t *Txn) touchRow(def *relDef, row Row) error {
	touch := func(col int) {
		if oid := row[col].OID(); oid != 0 {
			t.touched[oid] = struct{}{}
		}
	}
	switch def.oid {
	case PgClass:
		touch(ClassOid)
		switch RelKind(row[ClassRelkind].W) {
		case KindIndex, KindPartitionedIndex:
			return t.touchTableOf(row[ClassOid].OID())
		case KindToast:
			t.touchToastOwner(row[ClassRelname].Str())
		}
	case PgAttribute:
		touch(AttributeAttrelid)
	case PgAttrdef:
		touch(AttrdefAdrelid)
	case PgIndex:
		touch(IndexIndexrelid)
		touch(IndexIndrelid)
	case PgConstraint:
		touch(ConstraintConrelid)
		touch(ConstraintConfrelid)
		touch(ConstraintConindid)
	case PgSequence:
		touch(SequenceSeqrelid)
	case PgTrigger:
		touch(TriggerTgrelid)
	case PgInherits:
		touch(InheritsInhrelid)
		touch(InheritsInhparent)
	case PgPartitionedTable:
		touch(PartitionedTablePartrelid)
	case PgRewrite:
		touch(RewriteEvClass)
	}
	return nil
}

// touchTableOf notes the table of an index, whose descriptor includes the index's.
func (t *Txn) touchTableOf(index OID) error {
	row, err := t.Get(PgIndex, types.OIDDatum(index))
	if err != nil || row == nil {
		return err
	}
	t.touched[row[IndexIndrelid].OID()] = struct{}{}
	return nil
}

// touchToastOwner notes the table of a TOAST table by its name, pg_toast_<oid>.
func (t *Txn) touchToastOwner(name string) {
	if s, ok := strings.CutPrefix(name, "pg_toast_"); ok {
		if n, err := strconv.ParseUint(strings.TrimSuffix(s, "_index"), 10, 32); err == nil {
			t.touched[OID(n)] = struct{}{}
		}
	}
}

// CopyDatabase copies every row of database src's own catalogs to dst.
func (t *Txn) CopyDatabase(src, dst OID) error {
	var prefix [4]byte
	binary.BigEndian.PutUint32(prefix[:], uint32(src))
	rows, err := t.rawPrefix(prefix[:])
	if err != nil {
		return err
	}
	if len(rows) > 0 && t.changed == nil {
		t.changed, t.touched = map[OID]struct{}{}, map[OID]struct{}{}
	}
	for _, r := range rows {
		binary.BigEndian.PutUint32(r.key, uint32(dst))
		t.over.put(string(r.key), r.val)
	}
	t.dirty()
	return nil
}

// DropDatabase removes every row of database db's own catalogs.
func (t *Txn) DropDatabase(db OID) error {
	var prefix [4]byte
	binary.BigEndian.PutUint32(prefix[:], uint32(db))
	rows, err := t.rawPrefix(prefix[:])
	if err != nil {
		return err
	}
	if len(rows) > 0 && t.changed == nil {
		t.changed, t.touched = map[OID]struct{}{}, map[OID]struct{}{}
	}
	for _, r := range rows {
		t.over.del(string(r.key))
	}
	t.dirty()
	return nil
}
