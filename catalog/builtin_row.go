package catalog

import "github.com/minipg/minipg/types"

// Fillers of rows from the generated structs. Every column is set: row is a reused buffer.

func oidDatum(o OID) types.Datum { return types.OIDDatum(o) }

func charDatum(c byte) types.Datum { return types.Datum{W: uint64(c)} }

func intDatum[T ~int16 | ~int32 | ~int | ~int64](v T) types.Datum { return types.Int64Datum(int64(v)) }

func optText(s string) types.Datum {
	if s == "" {
		return types.NullDatum
	}
	return types.TextDatum(s)
}

func typeRow(t *Type, r Row) {
	r[TypeOid] = oidDatum(t.OID)
	r[TypeTypname] = types.TextDatum(t.Name)
	r[TypeTypnamespace] = oidDatum(t.Namespace)
	r[TypeTypowner] = oidDatum(t.Owner)
	r[TypeTyplen] = intDatum(t.Len)
	r[TypeTypbyval] = types.BoolDatum(t.ByVal)
	r[TypeTyptype] = charDatum(t.Kind)
	r[TypeTypcategory] = charDatum(t.Category)
	r[TypeTypispreferred] = types.BoolDatum(t.Preferred)
	r[TypeTypisdefined] = types.BoolDatum(t.Defined)
	r[TypeTypdelim] = charDatum(t.Delim)
	r[TypeTyprelid] = oidDatum(t.RelID)
	r[TypeTypsubscript] = oidDatum(t.Subscript)
	r[TypeTypelem] = oidDatum(t.Elem)
	r[TypeTyparray] = oidDatum(t.Array)
	r[TypeTypinput] = oidDatum(t.Input)
	r[TypeTypoutput] = oidDatum(t.Output)
	r[TypeTypreceive] = oidDatum(t.Receive)
	r[TypeTypsend] = oidDatum(t.Send)
	r[TypeTypmodin] = oidDatum(t.ModIn)
	r[TypeTypmodout] = oidDatum(t.ModOut)
	r[TypeTypanalyze] = oidDatum(t.Analyze)
	r[TypeTypalign] = charDatum(t.Align)
	r[TypeTypstorage] = charDatum(t.Storage)
	r[TypeTypnotnull] = types.BoolDatum(t.NotNull)
	r[TypeTypbasetype] = oidDatum(t.BaseType)
	r[TypeTyptypmod] = intDatum(t.Typmod)
	r[TypeTypndims] = intDatum(t.NDims)
	r[TypeTypcollation] = oidDatum(t.Collation)
	r[TypeTypdefaultbin] = types.NullDatum
	r[TypeTypdefault] = types.NullDatum
	if t.HasDefault {
		r[TypeTypdefault] = types.TextDatum(t.Default)
	}
	r[TypeTypacl] = ACLDatum(t.ACL)
}

func typeFromRow(r Row) (*Type, error) {
	t := &Type{
		OID:        r[TypeOid].OID(),
		Name:       r[TypeTypname].String(),
		Namespace:  r[TypeTypnamespace].OID(),
		Owner:      r[TypeTypowner].OID(),
		Len:        int16(r[TypeTyplen].W),
		ByVal:      r[TypeTypbyval].Bool(),
		Kind:       byte(r[TypeTyptype].W),
		Category:   byte(r[TypeTypcategory].W),
		Preferred:  r[TypeTypispreferred].Bool(),
		Defined:    r[TypeTypisdefined].Bool(),
		Delim:      byte(r[TypeTypdelim].W),
		RelID:      r[TypeTyprelid].OID(),
		Subscript:  r[TypeTypsubscript].OID(),
		Elem:       r[TypeTypelem].OID(),
		Array:      r[TypeTyparray].OID(),
		Input:      r[TypeTypinput].OID(),
		Output:     r[TypeTypoutput].OID(),
		Receive:    r[TypeTypreceive].OID(),
		Send:       r[TypeTypsend].OID(),
		ModIn:      r[TypeTypmodin].OID(),
		ModOut:     r[TypeTypmodout].OID(),
		Analyze:    r[TypeTypanalyze].OID(),
		Align:      byte(r[TypeTypalign].W),
		Storage:    byte(r[TypeTypstorage].W),
		NotNull:    r[TypeTypnotnull].Bool(),
		BaseType:   r[TypeTypbasetype].OID(),
		Typmod:     int32(r[TypeTyptypmod].W),
		NDims:      int32(r[TypeTypndims].W),
		Collation:  r[TypeTypcollation].OID(),
		Default:    r[TypeTypdefault].String(),
		HasDefault: !r[TypeTypdefault].Null,
	}
	var err error
	t.ACL, err = ParseACLDatum(r[TypeTypacl])
	return t, err
}

func procRow(p *Proc, r Row) {
	r[ProcOid] = oidDatum(p.OID)
	r[ProcProname] = types.TextDatum(p.Name)
	r[ProcPronamespace] = oidDatum(p.Namespace)
	r[ProcProowner] = oidDatum(p.Owner)
	r[ProcProlang] = oidDatum(p.Language)
	r[ProcProcost] = types.Float64Datum(float64(p.Cost))
	r[ProcProrows] = types.Float64Datum(float64(p.Rows))
	r[ProcProvariadic] = oidDatum(p.Variadic)
	r[ProcProsupport] = oidDatum(p.Support)
	r[ProcProkind] = charDatum(p.Kind)
	r[ProcProsecdef] = types.BoolDatum(p.SecDef)
	r[ProcProleakproof] = types.BoolDatum(p.Leakproof)
	r[ProcProisstrict] = types.BoolDatum(p.Strict)
	r[ProcProretset] = types.BoolDatum(p.RetSet)
	r[ProcProvolatile] = charDatum(p.Volatile)
	r[ProcProparallel] = charDatum(p.Parallel)
	r[ProcPronargs] = intDatum(len(p.Args))
	r[ProcPronargdefaults] = intDatum(len(p.Defaults))
	r[ProcProrettype] = oidDatum(p.RetType)
	r[ProcProargtypes] = OIDVectorDatum(p.Args)
	r[ProcProallargtypes] = OIDArrayDatum(p.AllArgs)
	r[ProcProargmodes] = CharArrayDatum(p.ArgModes)
	r[ProcProargnames] = TextArrayDatum(p.ArgNames)
	r[ProcProargdefaults] = types.NullDatum
	if len(p.Defaults) > 0 {
		r[ProcProargdefaults] = types.TextDatum(joinDefaults(p.Defaults))
	}
	r[ProcProtrftypes] = types.NullDatum
	r[ProcProsrc] = types.TextDatum(p.Src)
	r[ProcProbin] = optText(p.Bin)
	r[ProcProsqlbody] = optText(p.SQLBody)
	r[ProcProconfig] = TextArrayDatum(p.Config)
	r[ProcProacl] = ACLDatum(p.ACL)
}

func procFromRow(r Row) (*Proc, error) {
	p := &Proc{
		OID:       r[ProcOid].OID(),
		Name:      r[ProcProname].String(),
		Namespace: r[ProcPronamespace].OID(),
		Owner:     r[ProcProowner].OID(),
		Language:  r[ProcProlang].OID(),
		Cost:      float32(r[ProcProcost].Float64()),
		Rows:      float32(r[ProcProrows].Float64()),
		Variadic:  r[ProcProvariadic].OID(),
		Support:   r[ProcProsupport].OID(),
		Kind:      byte(r[ProcProkind].W),
		SecDef:    r[ProcProsecdef].Bool(),
		Leakproof: r[ProcProleakproof].Bool(),
		Strict:    r[ProcProisstrict].Bool(),
		RetSet:    r[ProcProretset].Bool(),
		Volatile:  byte(r[ProcProvolatile].W),
		Parallel:  byte(r[ProcProparallel].W),
		RetType:   r[ProcProrettype].OID(),
		Src:       r[ProcProsrc].String(),
		Bin:       r[ProcProbin].String(),
		SQLBody:   r[ProcProsqlbody].String(),
		Defaults:  splitDefaults(r[ProcProargdefaults].String()),
	}
	var d arrayDecoder
	p.Args = d.oids(r[ProcProargtypes])
	p.AllArgs = d.oids(r[ProcProallargtypes])
	p.ArgModes = d.chars(r[ProcProargmodes])
	p.ArgNames = d.texts(r[ProcProargnames])
	p.Config = d.texts(r[ProcProconfig])
	p.ACL = d.acl(r[ProcProacl])
	return p, d.err
}

func operatorRow(o *Operator, r Row) {
	r[OperatorOid] = oidDatum(o.OID)
	r[OperatorOprname] = types.TextDatum(o.Name)
	r[OperatorOprnamespace] = oidDatum(o.Namespace)
	r[OperatorOprowner] = oidDatum(o.Owner)
	r[OperatorOprkind] = charDatum(o.Kind)
	r[OperatorOprcanmerge] = types.BoolDatum(o.CanMerge)
	r[OperatorOprcanhash] = types.BoolDatum(o.CanHash)
	r[OperatorOprleft] = oidDatum(o.Left)
	r[OperatorOprright] = oidDatum(o.Right)
	r[OperatorOprresult] = oidDatum(o.Result)
	r[OperatorOprcom] = oidDatum(o.Commutator)
	r[OperatorOprnegate] = oidDatum(o.Negator)
	r[OperatorOprcode] = oidDatum(o.Code)
	r[OperatorOprrest] = oidDatum(o.Rest)
	r[OperatorOprjoin] = oidDatum(o.Join)
}

func operatorFromRow(r Row) (*Operator, error) {
	return &Operator{
		OID:        r[OperatorOid].OID(),
		Name:       r[OperatorOprname].String(),
		Namespace:  r[OperatorOprnamespace].OID(),
		Owner:      r[OperatorOprowner].OID(),
		Kind:       byte(r[OperatorOprkind].W),
		CanMerge:   r[OperatorOprcanmerge].Bool(),
		CanHash:    r[OperatorOprcanhash].Bool(),
		Left:       r[OperatorOprleft].OID(),
		Right:      r[OperatorOprright].OID(),
		Result:     r[OperatorOprresult].OID(),
		Commutator: r[OperatorOprcom].OID(),
		Negator:    r[OperatorOprnegate].OID(),
		Code:       r[OperatorOprcode].OID(),
		Rest:       r[OperatorOprrest].OID(),
		Join:       r[OperatorOprjoin].OID(),
	}, nil
}

func castRow(c *Cast, r Row) {
	r[CastOid] = oidDatum(c.OID)
	r[CastCastsource] = oidDatum(c.Source)
	r[CastCasttarget] = oidDatum(c.Target)
	r[CastCastfunc] = oidDatum(c.Func)
	r[CastCastcontext] = charDatum(c.Context)
	r[CastCastmethod] = charDatum(c.Method)
}

func castFromRow(r Row) (*Cast, error) {
	return &Cast{
		OID:     r[CastOid].OID(),
		Source:  r[CastCastsource].OID(),
		Target:  r[CastCasttarget].OID(),
		Func:    r[CastCastfunc].OID(),
		Context: byte(r[CastCastcontext].W),
		Method:  byte(r[CastCastmethod].W),
	}, nil
}

func aggregateRow(a *Aggregate, r Row) {
	r[AggregateAggfnoid] = oidDatum(a.OID)
	r[AggregateAggkind] = charDatum(a.Kind)
	r[AggregateAggnumdirectargs] = intDatum(a.NumDirect)
	r[AggregateAggtransfn] = oidDatum(a.Trans)
	r[AggregateAggfinalfn] = oidDatum(a.Final)
	r[AggregateAggcombinefn] = oidDatum(a.Combine)
	r[AggregateAggserialfn] = oidDatum(a.Serial)
	r[AggregateAggdeserialfn] = oidDatum(a.Deserial)
	r[AggregateAggmtransfn] = oidDatum(a.MTrans)
	r[AggregateAggminvtransfn] = oidDatum(a.MInvTrans)
	r[AggregateAggmfinalfn] = oidDatum(a.MFinal)
	r[AggregateAggfinalextra] = types.BoolDatum(a.FinalExtra)
	r[AggregateAggmfinalextra] = types.BoolDatum(a.MFinalExtra)
	r[AggregateAggfinalmodify] = charDatum(a.FinalModify)
	r[AggregateAggmfinalmodify] = charDatum(a.MFinalModify)
	r[AggregateAggsortop] = oidDatum(a.SortOp)
	r[AggregateAggtranstype] = oidDatum(a.TransType)
	r[AggregateAggtransspace] = intDatum(a.TransSpace)
	r[AggregateAggmtranstype] = oidDatum(a.MTransType)
	r[AggregateAggmtransspace] = intDatum(a.MTransSpace)
	r[AggregateAgginitval] = types.NullDatum
	if a.HasInitVal {
		r[AggregateAgginitval] = types.TextDatum(a.InitVal)
	}
	r[AggregateAggminitval] = types.NullDatum
	if a.HasMInitVal {
		r[AggregateAggminitval] = types.TextDatum(a.MInitVal)
	}
}

func aggregateFromRow(r Row) (*Aggregate, error) {
	return &Aggregate{
		OID:          r[AggregateAggfnoid].OID(),
		Kind:         byte(r[AggregateAggkind].W),
		NumDirect:    int16(r[AggregateAggnumdirectargs].W),
		Trans:        r[AggregateAggtransfn].OID(),
		Final:        r[AggregateAggfinalfn].OID(),
		Combine:      r[AggregateAggcombinefn].OID(),
		Serial:       r[AggregateAggserialfn].OID(),
		Deserial:     r[AggregateAggdeserialfn].OID(),
		MTrans:       r[AggregateAggmtransfn].OID(),
		MInvTrans:    r[AggregateAggminvtransfn].OID(),
		MFinal:       r[AggregateAggmfinalfn].OID(),
		FinalExtra:   r[AggregateAggfinalextra].Bool(),
		MFinalExtra:  r[AggregateAggmfinalextra].Bool(),
		FinalModify:  byte(r[AggregateAggfinalmodify].W),
		MFinalModify: byte(r[AggregateAggmfinalmodify].W),
		SortOp:       r[AggregateAggsortop].OID(),
		TransType:    r[AggregateAggtranstype].OID(),
		TransSpace:   int32(r[AggregateAggtransspace].W),
		MTransType:   r[AggregateAggmtranstype].OID(),
		MTransSpace:  int32(r[AggregateAggmtransspace].W),
		InitVal:      r[AggregateAgginitval].String(),
		HasInitVal:   !r[AggregateAgginitval].Null,
		MInitVal:     r[AggregateAggminitval].String(),
		HasMInitVal:  !r[AggregateAggminitval].Null,
	}, nil
}

func classRow(c *builtinClass, r Row) {
	hasFile := RelKind(c.Kind).HasStorage()
	r[ClassOid] = oidDatum(c.OID)
	r[ClassRelname] = types.TextDatum(c.Name)
	r[ClassRelnamespace] = oidDatum(c.Namespace)
	r[ClassReltype] = oidDatum(c.Type)
	r[ClassReloftype] = oidDatum(0)
	r[ClassRelowner] = oidDatum(BootstrapRole)
	r[ClassRelam] = oidDatum(c.AM)
	r[ClassRelfilenode] = oidDatum(0)
	r[ClassReltablespace] = oidDatum(c.Tablespace)
	r[ClassRelpages] = intDatum(c.Pages)
	r[ClassReltuples] = types.Float64Datum(float64(c.Tuples))
	r[ClassRelallvisible] = intDatum(0)
	r[ClassReltoastrelid] = oidDatum(c.Toast)
	r[ClassRelhasindex] = types.BoolDatum(c.HasIndex)
	r[ClassRelisshared] = types.BoolDatum(c.Shared)
	r[ClassRelpersistence] = charDatum(Permanent)
	r[ClassRelkind] = charDatum(c.Kind)
	r[ClassRelnatts] = intDatum(len(c.Attrs))
	r[ClassRelchecks] = intDatum(0)
	r[ClassRelhasrules] = types.BoolDatum(c.HasRules)
	r[ClassRelhastriggers] = types.BoolDatum(false)
	r[ClassRelhassubclass] = types.BoolDatum(false)
	r[ClassRelrowsecurity] = types.BoolDatum(false)
	r[ClassRelforcerowsecurity] = types.BoolDatum(false)
	r[ClassRelispopulated] = types.BoolDatum(true)
	r[ClassRelreplident] = charDatum(c.ReplIdent)
	r[ClassRelispartition] = types.BoolDatum(false)
	r[ClassRelrewrite] = oidDatum(0)
	r[ClassRelfrozenxid] = oidDatum(0)
	r[ClassRelminmxid] = oidDatum(0)
	if hasFile && RelKind(c.Kind) != KindIndex {
		r[ClassRelfrozenxid] = oidDatum(3)
		r[ClassRelminmxid] = oidDatum(1)
	}
	r[ClassRelacl] = ACLDatum(c.ACL)
	r[ClassReloptions] = TextArrayDatum(c.Options)
	r[ClassRelpartbound] = types.NullDatum
	r[ClassFileNumber] = types.Datum{}
}

func attributeRow(rel OID, num int16, a *builtinAttr, r Row) {
	t := byOID(builtinTypes[:], typeKey, a.Type)
	coll, storage := t.Collation, t.Storage
	if a.Collation != 0 {
		coll = a.Collation
	}
	if a.Storage != 0 {
		storage = a.Storage
	}
	r[AttributeAttrelid] = oidDatum(rel)
	r[AttributeAttname] = types.TextDatum(a.Name)
	r[AttributeAtttypid] = oidDatum(a.Type)
	r[AttributeAttstattarget] = intDatum(-1)
	r[AttributeAttlen] = intDatum(t.Len)
	r[AttributeAttnum] = intDatum(num)
	r[AttributeAttndims] = intDatum(int32(a.NDims))
	r[AttributeAttcacheoff] = intDatum(-1)
	r[AttributeAtttypmod] = intDatum(a.TypmodPlus1 - 1)
	r[AttributeAttbyval] = types.BoolDatum(t.ByVal)
	r[AttributeAttalign] = charDatum(t.Align)
	r[AttributeAttstorage] = charDatum(storage)
	r[AttributeAttcompression] = charDatum(0)
	r[AttributeAttnotnull] = types.BoolDatum(a.NotNull)
	r[AttributeAtthasdef] = types.BoolDatum(false)
	r[AttributeAtthasmissing] = types.BoolDatum(false)
	r[AttributeAttidentity] = charDatum(0)
	r[AttributeAttgenerated] = charDatum(0)
	r[AttributeAttisdropped] = types.BoolDatum(false)
	r[AttributeAttislocal] = types.BoolDatum(true)
	r[AttributeAttinhcount] = intDatum(0)
	r[AttributeAttcollation] = oidDatum(coll)
	r[AttributeAttacl] = ACLDatum(a.ACL)
	r[AttributeAttoptions] = types.NullDatum
	r[AttributeAttfdwoptions] = types.NullDatum
	r[AttributeAttmissingval] = types.NullDatum
}

// systemAttrs are the columns every table has beside its own.
var systemAttrs = [...]struct {
	name string
	typ  OID
	num  int16
}{
	{"ctid", types.Tid, -1},
	{"xmin", types.Xid, -2},
	{"cmin", types.Cid, -3},
	{"xmax", types.Xid, -4},
	{"cmax", types.Cid, -5},
	{"tableoid", types.Oid, -6},
}

func systemAttributeRow(rel OID, s *struct {
	name string
	typ  OID
	num  int16
}, r Row,
) {
	attributeRow(rel, s.num, &builtinAttr{Name: s.name, Type: s.typ, NotNull: true}, r)
	r[AttributeAttstattarget] = intDatum(0)
}

// SystemAttr returns the type and number of a system column, 0 if there is none of the name.
func SystemAttr(name string) (typ OID, num int16) {
	for i := range systemAttrs {
		if systemAttrs[i].name == name {
			return systemAttrs[i].typ, systemAttrs[i].num
		}
	}
	return 0, 0
}
