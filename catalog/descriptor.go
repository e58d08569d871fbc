package catalog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// RelationByOID returns the relation's descriptor.
func (t *Txn) RelationByOID(oid OID) (*Relation, error) {
	if _, own := t.touched[oid]; own {
		if r := t.local[oid]; r != nil {
			return r, nil
		}
		r, err := t.buildRelation(oid)
		if err != nil || r == nil {
			return nil, err
		}
		r.version = t.Version()
		if t.local == nil {
			t.local = map[OID]*Relation{}
		}
		t.local[oid] = r
		return r, nil
	}
	k := relKey{t.db, oid}
	if r := t.cat.cache.relation(k); r != nil {
		return r, nil
	}
	// Invariant 2. The version is read before the first row.
	v := t.cat.version.Load()
	r, err := t.buildRelation(oid)
	if err != nil || r == nil {
		return nil, err
	}
	r.version = v
	return t.cat.cache.putRelation(t.cat, k, r, v), nil
}

// Current tells whether the transaction would get the very descriptor r again, so that what
// was derived from it still holds. It costs an atomic load.
func (t *Txn) Current(r *Relation) bool {
	if r.stale.Load() {
		return false
	}
	if len(t.touched) == 0 {
		return true
	}
	if _, own := t.touched[r.OID]; own {
		return t.local[r.OID] == r
	}
	return true
}

// RelationOID is RelationByName without the descriptor, 0 if there is none.
func (t *Txn) RelationOID(ns OID, name string) (OID, error) {
	def := mustDef(PgClass)
	k := keyPrefix(t.db, def, classNameSlot)
	k = appendKey(k, types.Name, types.TextDatum(name))
	k = appendKey(k, types.Oid, oidDatum(ns))
	own := t.hasChanged(PgClass)
	if !own {
		if oid, ok := t.cat.cache.name(string(k)); ok {
			return oid, nil
		}
	}
	v := t.cat.version.Load()
	var oid OID
	err := t.Scan(PgClass, []Eq{{ClassRelname, types.TextDatum(name)}, {ClassRelnamespace, oidDatum(ns)}}, func(r Row) error {
		oid = r[ClassOid].OID()
		return nil
	})
	if err == nil && !own {
		t.cat.cache.putName(t.cat, string(k), oid, v)
	}
	return oid, err
}

// RelationByName looks in one schema.
func (t *Txn) RelationByName(ns OID, name string) (*Relation, error) {
	oid, err := t.RelationOID(ns, name)
	if err != nil || oid == 0 {
		return nil, err
	}
	return t.RelationByOID(oid)
}

// IndexByOID returns an index's descriptor.
func (t *Txn) IndexByOID(oid OID) (*Index, error) {
	r, err := t.RelationByOID(oid)
	if err != nil || r == nil {
		return nil, err
	}
	return r.Index, nil
}

// fileOf is where a relation's row says its storage is.
func (t *Txn) fileOf(row Row) storage.RelFile {
	n := row[ClassFileNumber]
	if n.Null || n.W == 0 {
		return storage.RelFile{}
	}
	f := storage.RelFile{
		Tablespace: uint32(row[ClassReltablespace].W), Database: uint32(t.db), Number: storage.FileNumber(n.W),
	}
	if f.Tablespace == 0 {
		f.Tablespace = uint32(TablespaceDefault)
	}
	return f
}

func (t *Txn) buildRelation(oid OID) (*Relation, error) {
	row, err := t.Get(PgClass, oidDatum(oid))
	if err != nil || row == nil {
		return nil, err
	}
	var d arrayDecoder
	r := &Relation{
		OID: oid, Name: row[ClassRelname].String(), Namespace: row[ClassRelnamespace].OID(),
		Kind: RelKind(row[ClassRelkind].W), Persistence: byte(row[ClassRelpersistence].W),
		Owner: row[ClassRelowner].OID(), Type: row[ClassReltype].OID(), OfType: row[ClassReloftype].OID(),
		AM: row[ClassRelam].OID(), Tablespace: row[ClassReltablespace].OID(), Shared: row[ClassRelisshared].Bool(),
		Pages: int32(row[ClassRelpages].W), Tuples: float32(row[ClassReltuples].Float64()),
		AllVisible: int32(row[ClassRelallvisible].W), Toast: row[ClassReltoastrelid].OID(),
		HasIndex: row[ClassRelhasindex].Bool(), HasRules: row[ClassRelhasrules].Bool(),
		HasTriggers: row[ClassRelhastriggers].Bool(), HasSubclass: row[ClassRelhassubclass].Bool(),
		RowSecurity: row[ClassRelrowsecurity].Bool(), ForceRowSecurity: row[ClassRelforcerowsecurity].Bool(),
		Populated: row[ClassRelispopulated].Bool(), ReplIdent: byte(row[ClassRelreplident].W),
		IsPartition: row[ClassRelispartition].Bool(), PartBound: row[ClassRelpartbound].String(),
		File: t.fileOf(row), ACL: d.acl(row[ClassRelacl]),
	}
	builtin := byOID(builtinClasses[:], classKey, oid)
	r.System = builtin != nil
	r.Options, r.FillFactor = parseOptions(d.texts(row[ClassReloptions]))
	if d.err != nil {
		return nil, d.err
	}
	for _, step := range []func(*Relation) error{
		t.buildAttrs, t.buildToast, t.buildConstraints, t.buildIndexes, t.buildKind,
	} {
		if err := step(r); err != nil {
			return nil, err
		}
	}
	if r.Type != 0 {
		r.typeInfo = r.rowType()
		typ, err := t.TypeByOID(r.Type)
		if err != nil {
			return nil, err
		}
		if typ != nil {
			r.typeInfo.Array = typ.Array
		}
	}
	return r, nil
}

// parseOptions splits reloptions, name=value each.
func parseOptions(opts []string) (map[string]string, int) {
	if len(opts) == 0 {
		return nil, 0
	}
	m := make(map[string]string, len(opts))
	for _, o := range opts {
		k, v, _ := strings.Cut(o, "=")
		m[k] = v
	}
	ff, err := strconv.Atoi(m["fillfactor"])
	if err != nil {
		ff = 0
	}
	return m, ff
}

func (t *Txn) buildAttrs(r *Relation) error {
	var d arrayDecoder
	hasDefault := false
	err := t.Scan(PgAttribute, []Eq{{AttributeAttrelid, oidDatum(r.OID)}}, func(row Row) error {
		num := int16(row[AttributeAttnum].W)
		if num < 1 {
			return nil
		}
		a := Attribute{
			Name: row[AttributeAttname].String(), Type: row[AttributeAtttypid].OID(), Num: num,
			Typmod: int32(row[AttributeAtttypmod].W), NDims: int16(row[AttributeAttndims].W),
			Len: int16(row[AttributeAttlen].W), NotNull: row[AttributeAttnotnull].Bool(),
			Dropped: row[AttributeAttisdropped].Bool(), ByVal: row[AttributeAttbyval].Bool(),
			Align: byte(row[AttributeAttalign].W), Storage: byte(row[AttributeAttstorage].W),
			Compress: byte(row[AttributeAttcompression].W), Collation: row[AttributeAttcollation].OID(),
			HasDefault: row[AttributeAtthasdef].Bool(), Identity: byte(row[AttributeAttidentity].W),
			Generated: byte(row[AttributeAttgenerated].W), HasMissing: row[AttributeAtthasmissing].Bool(),
			IsLocal: row[AttributeAttislocal].Bool(), InhCount: int32(row[AttributeAttinhcount].W),
			StatTarget: int32(row[AttributeAttstattarget].W), Options: d.texts(row[AttributeAttoptions]),
			ACL: d.acl(row[AttributeAttacl]),
		}
		if a.HasMissing {
			if v := d.elems(row[AttributeAttmissingval]); len(v) == 1 {
				a.Missing = v[0]
			} else {
				a.HasMissing = false
			}
		}
		hasDefault = hasDefault || a.HasDefault
		r.Attrs = append(r.Attrs, a)
		return nil
	})
	if err = cmp.Or(err, d.err); err != nil {
		return err
	}
	slices.SortFunc(r.Attrs, func(a, b Attribute) int { return cmp.Compare(a.Num, b.Num) })
	for i := range r.Attrs {
		if r.Attrs[i].Num != int16(i+1) {
			return errCorrupt(mustDef(PgAttribute))
		}
	}
	if hasDefault {
		err := t.Scan(PgAttrdef, []Eq{{AttrdefAdrelid, oidDatum(r.OID)}}, func(row Row) error {
			if a := r.Attr(int16(row[AttrdefAdnum].W)); a != nil {
				a.Default = row[AttrdefAdbin].String()
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(r.Attrs) > 8 {
		r.attrByName = make(map[string]int16, len(r.Attrs))
		for i := range r.Attrs {
			if a := &r.Attrs[i]; !a.Dropped {
				r.attrByName[a.Name] = a.Num
			}
		}
	}
	return t.buildRowDesc(r)
}

func (t *Txn) buildRowDesc(r *Relation) error {
	attrs := make([]types.Attr, len(r.Attrs))
	for i := range r.Attrs {
		a := &r.Attrs[i]
		attrs[i] = types.Attr{
			Type: a.Type, Typmod: a.Typmod, NotNull: a.NotNull && !a.Dropped,
			HasMissing: a.HasMissing, Missing: a.Missing,
		}
		switch {
		case a.Dropped || a.Type == 0:
			attrs[i].Type = 0
			attrs[i].Phys, attrs[i].Len = droppedPhys(a)
		case types.Builtin(a.Type) == nil:
			phys, err := t.physOf(a.Type)
			if err != nil {
				return err
			}
			attrs[i].Phys = phys
		}
	}
	r.Row = types.NewRowDesc(attrs)
	return nil
}

// physOf is the physical kind of a type that package types does not know. A user-defined type never is
// of fixed length, but for a domain over one.
func (t *Txn) physOf(oid OID) (types.Phys, error) {
	typ, err := t.BaseType(oid)
	if err != nil || typ == nil {
		return types.PhysVarlena, err
	}
	if typ.Kind == 'e' {
		return types.PhysUint4, nil
	}
	return types.PhysOf(typ.OID), nil
}

// droppedPhys tells how the values of a dropped column, whose type is forgotten, lie in old rows.
func droppedPhys(a *Attribute) (types.Phys, int16) {
	switch {
	case a.Len < 0 || a.Len == 64 && a.Align == 'c': // name is stored with a length
		return types.PhysVarlena, -1
	case !a.ByVal:
		return types.PhysFixed, a.Len
	case a.Len == 1:
		return types.PhysChar, 1
	case a.Len == 2:
		return types.PhysInt2, 2
	case a.Len == 4:
		return types.PhysInt4, 4
	}
	return types.PhysWord8, 8
}

func (t *Txn) buildToast(r *Relation) error {
	if r.Toast == 0 {
		return nil
	}
	row, err := t.Get(PgClass, oidDatum(r.Toast))
	if err != nil || row == nil {
		return err
	}
	r.ToastFile = t.fileOf(row)
	return t.Scan(PgIndex, []Eq{{IndexIndrelid, oidDatum(r.Toast)}}, func(x Row) error {
		r.ToastIdx = x[IndexIndexrelid].OID()
		return nil
	})
}

func (t *Txn) buildConstraints(r *Relation) error {
	switch r.Kind {
	case KindTable, KindPartitionedTable, KindForeignTable, KindView, KindMatView, KindComposite:
	default:
		return nil
	}
	var err error
	byName := func(a, b *Constraint) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.OID, b.OID)) }
	if r.Constraints, err = all(t, PgConstraint, constraintFromRow, Eq{ConstraintConrelid, oidDatum(r.OID)}); err != nil {
		return err
	}
	slices.SortFunc(r.Constraints, byName)
	for _, c := range r.Constraints {
		if c.Kind == ConstraintCheck {
			r.Checks = append(r.Checks, c)
		}
	}
	if r.ReferencedBy, err = all(t, PgConstraint, constraintFromRow, Eq{ConstraintConfrelid, oidDatum(r.OID)}); err != nil {
		return err
	}
	slices.SortFunc(r.ReferencedBy, byName)
	if r.HasTriggers {
		if r.Triggers, err = all(t, PgTrigger, triggerFromRow, Eq{TriggerTgrelid, oidDatum(r.OID)}); err != nil {
			return err
		}
		slices.SortFunc(r.Triggers, func(a, b *Trigger) int { return cmp.Compare(a.Name, b.Name) })
	}
	return nil
}

func (t *Txn) buildIndexes(r *Relation) error {
	if !r.HasIndex {
		return nil
	}
	rows, err := t.Rows(PgIndex, Eq{IndexIndrelid, oidDatum(r.OID)})
	if err != nil {
		return err
	}
	for _, row := range rows {
		x, err := t.buildIndex(row)
		if err != nil {
			return err
		}
		if x == nil {
			continue
		}
		for _, c := range r.Constraints {
			if c.Index == x.OID && (c.Kind == ConstraintPrimary || c.Kind == ConstraintUnique || c.Kind == ConstraintExclusion) {
				x.Constraint = c.OID
			}
		}
		r.Indexes = append(r.Indexes, x)
	}
	slices.SortFunc(r.Indexes, func(a, b *Index) int { return cmp.Compare(a.OID, b.OID) })
	return nil
}

func (t *Txn) buildIndex(row Row) (*Index, error) {
	oid := row[IndexIndexrelid].OID()
	class, err := t.Get(PgClass, oidDatum(oid))
	if err != nil || class == nil {
		return nil, err
	}
	var d arrayDecoder
	x := &Index{
		OID: oid, Name: class[ClassRelname].String(), Namespace: class[ClassRelnamespace].OID(),
		Table: row[IndexIndrelid].OID(), File: t.fileOf(class), Tablespace: class[ClassReltablespace].OID(),
		Persistence: byte(class[ClassRelpersistence].W), AM: class[ClassRelam].OID(),
		NKeyAtts: int(row[IndexIndnkeyatts].W), Unique: row[IndexIndisunique].Bool(),
		NullsNotDistinct: row[IndexIndnullsnotdistinct].Bool(), Primary: row[IndexIndisprimary].Bool(),
		Exclusion: row[IndexIndisexclusion].Bool(), Immediate: row[IndexIndimmediate].Bool(),
		Clustered: row[IndexIndisclustered].Bool(), Valid: row[IndexIndisvalid].Bool(),
		Ready: row[IndexIndisready].Bool(), Live: row[IndexIndislive].Bool(), IsReplIdent: row[IndexIndisreplident].Bool(),
		Predicate: row[IndexIndpred].String(),
		Pages:     int32(class[ClassRelpages].W), Tuples: float32(class[ClassReltuples].Float64()),
	}
	x.Options, x.FillFactor = parseOptions(d.texts(class[ClassReloptions]))
	nums := d.int2s(row[IndexIndkey])
	classes := d.oids(row[IndexIndclass])
	colls := d.oids(row[IndexIndcollation])
	opts := d.int2s(row[IndexIndoption])
	if d.err != nil {
		return nil, d.err
	}
	exprs := splitDefaults(row[IndexIndexprs].String())
	x.Keys = make([]IndexKey, len(nums))
	for i, n := range nums {
		k := &x.Keys[i]
		k.AttNum, k.Typmod = n, -1
		if n == 0 && len(exprs) > 0 {
			k.Expr, exprs = exprs[0], exprs[1:]
		}
		if i >= x.NKeyAtts {
			continue
		}
		k.Opclass, k.Collation = classes[i], colls[i]
		k.Desc, k.NullsFirst = opts[i]&1 != 0, opts[i]&2 != 0
		c, err := t.OpclassByOID(k.Opclass)
		if err != nil {
			return nil, err
		}
		if c != nil {
			k.Opfamily, k.OpcInType = c.Family, c.InType
		}
	}
	return x, t.Scan(PgAttribute, []Eq{{AttributeAttrelid, oidDatum(oid)}}, func(a Row) error {
		if n := int(a[AttributeAttnum].W); n >= 1 && n <= len(x.Keys) {
			k := &x.Keys[n-1]
			k.Name, k.Type = a[AttributeAttname].String(), a[AttributeAtttypid].OID()
			k.Typmod, k.StatTarget = int32(a[AttributeAtttypmod].W), int32(a[AttributeAttstattarget].W)
		}
		return nil
	})
}

// buildKind reads what only some kinds of relations have.
func (t *Txn) buildKind(r *Relation) error {
	var err error
	switch r.Kind {
	case KindSequence:
		r.Sequence, err = one(t, PgSequence, sequenceFromRow, Eq{SequenceSeqrelid, oidDatum(r.OID)})
	case KindIndex, KindPartitionedIndex:
		row, err := t.Get(PgIndex, oidDatum(r.OID))
		if err != nil || row == nil {
			return err
		}
		if r.Index, err = t.buildIndex(row); err != nil || r.Index == nil {
			return err
		}
		return t.Scan(PgConstraint, []Eq{{ConstraintConrelid, oidDatum(r.Index.Table)}}, func(c Row) error {
			kind := ConstraintKind(c[ConstraintContype].W)
			if c[ConstraintConindid].OID() == r.OID && kind != ConstraintForeign {
				r.Index.Constraint = c[ConstraintOid].OID()
			}
			return nil
		})
	case KindView, KindMatView:
		err = t.Scan(PgRewrite, []Eq{{RewriteEvClass, oidDatum(r.OID)}}, func(row Row) error {
			if row[RewriteRulename].Str() == "_RETURN" {
				r.ViewDef = row[RewriteEvAction].String()
			}
			return nil
		})
		if err == nil && r.System && r.ViewDef == "" {
			r.ViewDef = builtinView(r.Namespace, r.Name)
		}
	case KindPartitionedTable:
		r.Partition, err = one(t, PgPartitionedTable, partitionKeyFromRow, Eq{PartitionedTablePartrelid, oidDatum(r.OID)})
		if err == nil {
			err = t.buildParents(r)
		}
	case KindTable, KindForeignTable:
		err = t.buildParents(r)
	}
	return err
}

func (t *Txn) buildParents(r *Relation) error {
	if r.System {
		return nil
	}
	type parent struct {
		oid OID
		seq int64
	}
	var ps []parent
	err := t.Scan(PgInherits, []Eq{{InheritsInhrelid, oidDatum(r.OID)}}, func(row Row) error {
		ps = append(ps, parent{row[InheritsInhparent].OID(), row[InheritsInhseqno].Int64()})
		return nil
	})
	slices.SortFunc(ps, func(a, b parent) int { return cmp.Compare(a.seq, b.seq) })
	for _, p := range ps {
		r.Parents = append(r.Parents, p.oid)
	}
	return err
}

// rowType describes the relation's row type for package types.
func (r *Relation) rowType() *types.TypeInfo {
	info := &types.TypeInfo{
		OID: r.Type, Name: r.Name, Len: -1, Phys: types.PhysVarlena, Align: 'd', Category: 'C', Kind: 'c', Delim: ',',
	}
	for i := range r.Attrs {
		a := &r.Attrs[i]
		info.Fields = append(info.Fields, types.Field{Name: a.Name, Type: a.Type, Typmod: a.Typmod, Dropped: a.Dropped})
	}
	return info
}

// Types resolves user-defined types for package types.
func (t *Txn) Types() types.Types { return typeResolver{t} }

type typeResolver struct{ t *Txn }

// TypeByOID returns nil for a type that does not exist or cannot be read.
func (v typeResolver) TypeByOID(oid OID) *types.TypeInfo {
	info, err := v.t.TypeInfo(oid)
	if err != nil {
		return nil
	}
	return info
}

// TypeInfo describes any type for package types, nil if there is none.
func (t *Txn) TypeInfo(oid OID) (*types.TypeInfo, error) {
	if info := types.Builtin(oid); info != nil {
		return info, nil
	}
	typ, err := t.TypeByOID(oid)
	if err != nil || typ == nil {
		return nil, err
	}
	switch typ.Kind {
	case 'c':
		r, err := t.RelationByOID(typ.RelID)
		if err != nil || r == nil {
			return nil, err
		}
		return r.typeInfo, nil
	case 'e':
		labels, err := t.EnumLabels(oid)
		if err != nil {
			return nil, err
		}
		return cached(t, objKey{rel: PgEnum, kind: typeInfoLookup, a: uint64(oid)}, func() (*types.TypeInfo, error) {
			info := t.baseInfo(typ)
			info.Phys = types.PhysUint4
			for _, l := range labels {
				info.Labels = append(info.Labels, types.EnumLabel{OID: l.OID, Label: l.Label})
			}
			return info, nil
		})
	}
	return cached(t, objKey{rel: PgType, kind: typeInfoLookup, a: uint64(oid)}, func() (*types.TypeInfo, error) {
		info := t.baseInfo(typ)
		if typ.Kind == 'd' {
			phys, err := t.physOf(oid)
			if err != nil {
				return nil, err
			}
			info.Phys, info.Base, info.BaseTypmod = phys, typ.BaseType, typ.Typmod
		}
		if typ.Kind == 'r' {
			rng, err := t.RangeByType(oid)
			if err != nil || rng == nil {
				return nil, err
			}
			info.Subtype = rng.Subtype
		}
		return info, nil
	})
}

func (t *Txn) baseInfo(typ *Type) *types.TypeInfo {
	return &types.TypeInfo{
		OID: typ.OID, Name: typ.Name, Len: typ.Len, Phys: types.PhysVarlena, Align: typ.Align, Category: typ.Category,
		Preferred: typ.Preferred, Kind: typ.Kind, Elem: typ.Elem, Array: typ.Array, Delim: typ.Delim,
	}
}
