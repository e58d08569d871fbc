package engine

import (
	"context"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/types"
)

// The families whose order is that of bytes whatever the collation.
const (
	textPatternOps   catalog.OID = 2095
	bpcharPatternOps catalog.OID = 2097
)

// tableIndex is an index as its table works it. It is immutable.
type tableIndex struct {
	idx  *catalog.Index
	tree *btree.Tree

	keys  []indexKey
	exprs []IndexExpr // per key, nil for plain columns; nil where there are none
	pred  IndexPredicate

	// attrs are the attributes (from 0) whose change changes the entry, where neither
	// expressions nor a predicate look at others.
	attrs []int
	// payload lays out what entries carry behind the key, nil for nothing: the key columns whose
	// encoding loses something, then the INCLUDE columns.
	payload    *types.RowDesc
	payloadAtt []payloadColumn
}

// indexKey is a key column.
type indexKey struct {
	att      int // attribute from 0, -1 for an expression
	typ      types.OID
	opt      types.KeyOptions
	lossless bool
}

// payloadColumn is where a column of the payload comes from.
type payloadColumn struct {
	key int // key column, or -1
	att int // attribute from 0, or -1
}

// openIndex makes the description of an index.
func (s *Session) openIndex(ctx context.Context, rel *catalog.Relation, idx *catalog.Index) (*tableIndex, error) {
	ti := &tableIndex{idx: idx}
	resolver := s.freezeTypes(idx)
	needsCompiler := idx.Predicate != ""
	var payload []types.Attr
	for i := range idx.Keys {
		k := &idx.Keys[i]
		if k.AttNum == 0 {
			needsCompiler = true
		} else {
			ti.attrs = append(ti.attrs, int(k.AttNum)-1)
		}
		if i >= idx.NKeyAtts {
			ti.payloadAtt = append(ti.payloadAtt, payloadColumn{key: -1, att: int(k.AttNum) - 1})
			payload = append(payload, rel.Row.Attrs[k.AttNum-1])
			continue
		}
		key := indexKey{
			att: int(k.AttNum) - 1, typ: k.Type, lossless: types.KeyLossless(k.Type, k.Collation),
			opt: types.KeyOptions{Desc: k.Desc, NullsFirst: k.NullsFirst, Collation: k.Collation, Types: resolver},
		}
		if k.Opfamily == textPatternOps || k.Opfamily == bpcharPatternOps {
			key.opt.Collation = catalog.CollationC
		}
		if !key.lossless {
			ti.payloadAtt = append(ti.payloadAtt, payloadColumn{key: i, att: -1})
			payload = append(payload, s.keyAttr(rel, k))
		}
		ti.keys = append(ti.keys, key)
	}
	if payload != nil {
		for i := range payload {
			payload[i].NotNull, payload[i].HasMissing = false, false
		}
		ti.payload = types.NewRowDesc(payload)
	}
	if needsCompiler {
		if err := ti.compile(ctx, s, rel); err != nil {
			return nil, err
		}
	}
	ti.tree = s.e.tables.tree(s.e, idx, payload != nil)
	return ti, nil
}

// keyAttr is how a key column's datum is kept in the payload.
func (s *Session) keyAttr(rel *catalog.Relation, k *catalog.IndexKey) types.Attr {
	if k.AttNum > 0 {
		return rel.Row.Attrs[k.AttNum-1]
	}
	a := types.Attr{Type: k.Type, Typmod: k.Typmod}
	if t := types.Lookup(k.Type, s.cat.Types()); t != nil {
		a.Phys, a.Len = t.Phys, t.Len
	}
	return a
}

func (ti *tableIndex) compile(ctx context.Context, s *Session, rel *catalog.Relation) error {
	c := s.e.indexExprs.Load()
	if c == nil || *c == nil {
		return errNoCompiler(ti.idx.Name)
	}
	var err error
	ti.exprs, ti.pred, err = (*c).CompileIndex(ctx, s, rel, ti.idx)
	return err
}

// computed tells whether an entry depends on more than ti.attrs.
func (ti *tableIndex) computed() bool { return ti.exprs != nil || ti.pred != nil }

// indexEntry is an entry on its way into an index.
type indexEntry struct {
	key     []byte
	payload []byte
	values  []types.Datum // of the key columns
	null    bool          // one of them is
}

// fill computes the entry of a row of plain values; false where a partial index leaves it out.
func (ti *tableIndex) fill(ctx context.Context, s *Session, row []types.Datum, e *indexEntry) (bool, error) {
	if ti.pred != nil {
		if ok, err := ti.pred(ctx, s, row); err != nil || !ok {
			return false, err
		}
	}
	e.key, e.payload, e.values, e.null = e.key[:0], e.payload[:0], e.values[:0], false
	for i := range ti.keys {
		k := &ti.keys[i]
		var d types.Datum
		if k.att >= 0 {
			d = row[k.att]
		} else {
			var err error
			if d, err = ti.exprs[i](ctx, s, row); err != nil {
				return false, err
			}
		}
		e.values = append(e.values, d)
		e.null = e.null || d.Null
		e.key = types.EncodeKey(e.key, k.typ, d, k.opt)
	}
	if ti.payload != nil {
		e.payload = ti.encodePayload(s, e, row)
	}
	return true, nil
}

func (ti *tableIndex) encodePayload(s *Session, e *indexEntry, row []types.Datum) []byte {
	vals := s.row.payload[:0]
	for _, c := range ti.payloadAtt {
		if c.key >= 0 {
			vals = append(vals, e.values[c.key])
		} else {
			vals = append(vals, row[c.att])
		}
	}
	s.row.payload = vals
	return ti.payload.Encode(e.payload, vals)
}

// unique tells whether e may not be there twice.
func (ti *tableIndex) unique(e *indexEntry) bool {
	return ti.idx.Unique && (!e.null || ti.idx.NullsNotDistinct)
}

// frozenTypes resolves the user-defined types an index needs as they were when it was opened: a
// change of them makes a new descriptor.
type frozenTypes map[types.OID]*types.TypeInfo

// TypeByOID implements types.Types.
func (f frozenTypes) TypeByOID(oid types.OID) *types.TypeInfo { return f[oid] }

func (s *Session) freezeTypes(idx *catalog.Index) types.Types {
	var f frozenTypes
	var add func(oid types.OID)
	add = func(oid types.OID) {
		if oid == 0 || types.Builtin(oid) != nil || f[oid] != nil {
			return
		}
		t := types.Lookup(oid, s.cat.Types())
		if t == nil {
			return
		}
		if f == nil {
			f = make(frozenTypes)
		}
		f[oid] = t
		add(t.Elem)
		add(t.Base)
	}
	for i := range idx.Keys {
		add(idx.Keys[i].Type)
	}
	if f == nil {
		return nil
	}
	return f
}
