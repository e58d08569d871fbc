package analyze

import (
	"fmt"
	"strings"
	"testing"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/sql/parse"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// testCatalog is a catalog of built-in rows with user objects made by its own small DDL, which keeps them in memory.
type testCatalog struct {
	*catalog.Txn
	t        testing.TB
	next     types.OID
	ns       map[string]*catalog.Namespace
	rels     map[types.OID]*catalog.Relation
	typs     map[types.OID]*catalog.Type
	procs    []*catalog.Proc
	labels   map[types.OID][]catalog.EnumLabel
	checks   map[types.OID][]*catalog.Constraint
	sequence map[types.OID]types.OID // identity sequences by table
	path     []types.OID
}

func newTestCatalog(t testing.TB) *testCatalog {
	t.Helper()
	next := catalog.FirstNormalOID
	c, err := catalog.Open(catalog.Config{FS: storage.OSFS{}, Dir: t.TempDir(), NextOID: func() (types.OID, error) {
		next++
		return next, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &testCatalog{
		Txn: c.Begin(catalog.DatabasePostgres), t: t, next: 20000, ns: map[string]*catalog.Namespace{},
		rels: map[types.OID]*catalog.Relation{}, typs: map[types.OID]*catalog.Type{}, labels: map[types.OID][]catalog.EnumLabel{},
		checks: map[types.OID][]*catalog.Constraint{}, sequence: map[types.OID]types.OID{},
		path: []types.OID{catalog.NamespacePgCatalog, catalog.NamespacePublic},
	}
}

func (c *testCatalog) oid() types.OID { c.next++; return c.next }

func (c *testCatalog) context() *Context {
	env := types.DefaultEnv()
	env.Types = c.Types()
	ctx := &Context{Catalog: c, SearchPath: c.path, Database: "db", Parse: parseOne, UserOID: 10, Env: env}
	env.Names = regNames{ctx}
	return ctx
}

func parseOne(sql string) (*pg_query.Node, error) {
	stmts, err := parse.Parse(sql)
	if err != nil {
		return nil, err
	}
	if len(stmts) != 1 {
		return nil, fmt.Errorf("%d statements in %q", len(stmts), sql)
	}
	return stmts[0].Node, nil
}

// regNames resolves regclass literals, as far as the tests need them.
type regNames struct{ c *Context }

func (r regNames) RegIn(typ types.OID, s string) (types.OID, error) {
	a := newAnalysis(r.c, "")
	schema, name := "", s
	if i := strings.IndexByte(s, '.'); i >= 0 {
		schema, name = s[:i], s[i+1:]
	}
	switch typ {
	case types.Regclass:
		if rel := a.findRelation(schema, name); rel != nil {
			return rel.OID, nil
		}
	case types.Regtype:
		for _, ns := range r.c.SearchPath {
			if t, _ := r.c.Catalog.TypeByName(ns, name); t != nil {
				return t.OID, nil
			}
		}
	case types.Regnamespace:
		if ns, _ := r.c.Catalog.NamespaceByName(name); ns != nil {
			return ns.OID, nil
		}
	}
	return 0, fmt.Errorf("no %s", s)
}

func (r regNames) RegOut(typ, oid types.OID) (string, bool) {
	if typ == types.Regclass {
		if rel, _ := r.c.Catalog.RelationByOID(oid); rel != nil {
			return newAnalysis(r.c, "").relationName(rel), true
		}
	}
	if typ == types.Regtype {
		return newAnalysis(r.c, "").formatType(oid), true
	}
	if typ == types.Regnamespace {
		if ns, _ := r.c.Catalog.NamespaceByOID(oid); ns != nil {
			return QuoteIdent(ns.Name), true
		}
	}
	return "", false
}

func (c *testCatalog) RelationByOID(oid types.OID) (*catalog.Relation, error) {
	if r := c.rels[oid]; r != nil {
		return r, nil
	}
	return c.Txn.RelationByOID(oid)
}

func (c *testCatalog) RelationByName(ns types.OID, name string) (*catalog.Relation, error) {
	for _, r := range c.rels {
		if r.Namespace == ns && r.Name == name {
			return r, nil
		}
	}
	return c.Txn.RelationByName(ns, name)
}

func (c *testCatalog) IndexByOID(oid types.OID) (*catalog.Index, error) {
	for _, r := range c.rels {
		for _, x := range r.Indexes {
			if x.OID == oid {
				return x, nil
			}
		}
	}
	return c.Txn.IndexByOID(oid)
}

func (c *testCatalog) NamespaceByOID(oid types.OID) (*catalog.Namespace, error) {
	for _, n := range c.ns {
		if n.OID == oid {
			return n, nil
		}
	}
	return c.Txn.NamespaceByOID(oid)
}

func (c *testCatalog) NamespaceByName(name string) (*catalog.Namespace, error) {
	if n := c.ns[name]; n != nil {
		return n, nil
	}
	return c.Txn.NamespaceByName(name)
}

func (c *testCatalog) TypeByOID(oid types.OID) (*catalog.Type, error) {
	if t := c.typs[oid]; t != nil {
		return t, nil
	}
	return c.Txn.TypeByOID(oid)
}

func (c *testCatalog) TypeByName(ns types.OID, name string) (*catalog.Type, error) {
	for _, t := range c.typs {
		if t.Namespace == ns && t.Name == name {
			return t, nil
		}
	}
	return c.Txn.TypeByName(ns, name)
}

func (c *testCatalog) Types() types.Types { return testTypes{c} }

type testTypes struct{ c *testCatalog }

func (t testTypes) TypeByOID(oid types.OID) *types.TypeInfo {
	ty := t.c.typs[oid]
	if ty == nil {
		return t.c.Txn.Types().TypeByOID(oid)
	}
	info := &types.TypeInfo{
		OID: oid, Name: ty.Name, Len: ty.Len, Phys: types.PhysVarlena, Category: ty.Category, Kind: ty.Kind,
		Elem: ty.Elem, Array: ty.Array, Delim: ',', Base: ty.BaseType, BaseTypmod: ty.Typmod,
	}
	if ty.Kind == 'e' {
		info.Phys = types.PhysUint4
		for _, l := range t.c.labels[oid] {
			info.Labels = append(info.Labels, types.EnumLabel{OID: l.OID, Label: l.Label})
		}
	}
	if ty.RelID != 0 {
		for _, a := range t.c.rels[ty.RelID].Attrs {
			info.Fields = append(info.Fields, types.Field{Name: a.Name, Type: a.Type, Typmod: a.Typmod})
		}
	}
	return info
}

func (c *testCatalog) ProcByOID(oid types.OID) (*catalog.Proc, error) {
	for _, p := range c.procs {
		if p.OID == oid {
			return p, nil
		}
	}
	return c.Txn.ProcByOID(oid)
}

func (c *testCatalog) ProcsByName(name string) ([]*catalog.Proc, error) {
	out, err := c.Txn.ProcsByName(name)
	out = append([]*catalog.Proc(nil), out...)
	for _, p := range c.procs {
		if p.Name == name {
			out = append(out, p)
		}
	}
	return out, err
}

func (c *testCatalog) DomainConstraints(d types.OID) ([]*catalog.Constraint, error) {
	return c.checks[d], nil
}

func (c *testCatalog) ConstraintByOID(oid types.OID) (*catalog.Constraint, error) {
	for _, r := range c.rels {
		for _, k := range r.Constraints {
			if k.OID == oid {
				return k, nil
			}
		}
	}
	for _, l := range c.checks {
		for _, k := range l {
			if k.OID == oid {
				return k, nil
			}
		}
	}
	return c.Txn.ConstraintByOID(oid)
}

func (c *testCatalog) OwnedSequences(table types.OID, _ int16) ([]types.OID, error) {
	if s := c.sequence[table]; s != 0 {
		return []types.OID{s}, nil
	}
	return nil, nil
}

func (c *testCatalog) SequenceOwner(types.OID) (types.OID, int16, catalog.DepType, error) {
	return 0, 0, catalog.DepInternal, nil
}

// exec runs DDL.
func (c *testCatalog) exec(sql string) {
	c.t.Helper()
	stmts, err := parse.Parse(sql)
	if err != nil {
		c.t.Fatalf("%s: %v", sql, err)
	}
	for _, st := range stmts {
		if err := c.execOne(st.Node, sql); err != nil {
			c.t.Fatalf("%s: %v", sql[st.Start:st.End], err)
		}
	}
}

func (c *testCatalog) execOne(n *pg_query.Node, sql string) (err error) {
	defer caught(&err)
	switch v := n.Node.(type) {
	case *pg_query.Node_CreateSchemaStmt:
		c.ns[v.CreateSchemaStmt.Schemaname] = &catalog.Namespace{OID: c.oid(), Name: v.CreateSchemaStmt.Schemaname}
	case *pg_query.Node_CreateStmt:
		c.createTable(v.CreateStmt, sql)
	case *pg_query.Node_IndexStmt:
		c.createIndex(v.IndexStmt, sql)
	case *pg_query.Node_ViewStmt:
		c.createView(v.ViewStmt, sql)
	case *pg_query.Node_CreateDomainStmt:
		c.createDomain(v.CreateDomainStmt, sql)
	case *pg_query.Node_CreateEnumStmt:
		name := nameStrings(v.CreateEnumStmt.TypeName)
		t := c.addType(&catalog.Type{Name: name[0], Kind: 'e', Category: 'E', Len: 4})
		for i, l := range v.CreateEnumStmt.Vals {
			c.labels[t.OID] = append(c.labels[t.OID], catalog.EnumLabel{OID: c.oid(), Sort: float32(i), Label: l.GetString_().Sval})
		}
	case *pg_query.Node_CompositeTypeStmt:
		r := c.newRelation(v.CompositeTypeStmt.Typevar, catalog.KindComposite)
		for _, d := range v.CompositeTypeStmt.Coldeflist {
			c.addColumn(r, d.GetColumnDef(), sql)
		}
	case *pg_query.Node_CreateSeqStmt:
		c.newRelation(v.CreateSeqStmt.Sequence, catalog.KindSequence)
	case *pg_query.Node_CreateFunctionStmt:
		c.createFunction(v.CreateFunctionStmt, sql)
	default:
		c.t.Fatalf("unknown DDL %T", n.Node)
	}
	return nil
}

func (c *testCatalog) namespaceOf(rv *pg_query.RangeVar) types.OID {
	if rv.Schemaname == "" {
		return catalog.NamespacePublic
	}
	return c.ns[rv.Schemaname].OID
}

func (c *testCatalog) addType(t *catalog.Type) *catalog.Type {
	t.OID, t.Array, t.Defined = c.oid(), c.oid(), true
	if t.Namespace == 0 {
		t.Namespace = catalog.NamespacePublic
	}
	if t.Input == 0 {
		t.Input, t.Output = 46, 47
	}
	c.typs[t.OID] = t
	c.typs[t.Array] = &catalog.Type{
		OID: t.Array, Name: "_" + t.Name, Namespace: t.Namespace, Kind: 'b', Category: 'A', Elem: t.OID, Subscript: 6179, Len: -1,
		Defined: true, Collation: t.Collation, Input: 750, Output: 751,
	}
	return t
}

func (c *testCatalog) newRelation(rv *pg_query.RangeVar, k catalog.RelKind) *catalog.Relation {
	r := &catalog.Relation{OID: c.oid(), Name: rv.Relname, Namespace: c.namespaceOf(rv), Kind: k, Owner: 10, Persistence: 'p'}
	c.rels[r.OID] = r
	if k != catalog.KindSequence {
		r.Type = c.addType(&catalog.Type{Name: r.Name, Namespace: r.Namespace, Kind: 'c', Category: 'C', RelID: r.OID, Len: -1}).OID
	}
	return r
}

func (c *testCatalog) addColumn(r *catalog.Relation, d *pg_query.ColumnDef, sql string) *catalog.Attribute {
	a := newAnalysis(c.context(), sql)
	at := catalog.Attribute{Name: d.Colname, Num: int16(len(r.Attrs) + 1)}
	names := nameStrings(d.TypeName.Names)
	serial := len(names) == 1 && names[0] == "serial"
	if serial {
		at.Type, at.Typmod, at.NotNull = types.Int4, -1, true
		seq := c.newRelation(&pg_query.RangeVar{Relname: r.Name + "_" + d.Colname + "_seq"}, catalog.KindSequence)
		at.HasDefault, at.Default = true, "nextval('public."+seq.Name+"'::regclass)"
	} else {
		at.Type, at.Typmod = a.typeNameMod(d.TypeName)
	}
	at.Collation = a.columnCollation(d, at.Type)
	r.Attrs = append(r.Attrs, at)
	return &r.Attrs[len(r.Attrs)-1]
}

func (c *testCatalog) createTable(cs *pg_query.CreateStmt, sql string) {
	r := c.newRelation(cs.Relation, catalog.KindTable)
	var cons []*pg_query.Constraint
	column := map[*pg_query.Constraint]string{}
	for _, n := range cs.TableElts {
		if k := n.GetConstraint(); k != nil {
			cons = append(cons, k)
			continue
		}
		d := n.GetColumnDef()
		c.addColumn(r, d, sql)
		for _, cn := range d.Constraints {
			k := cn.GetConstraint()
			cons = append(cons, k)
			column[k] = d.Colname
		}
	}
	for _, k := range cons {
		c.constraint(r, k, column[k], sql)
	}
}

func (c *testCatalog) constraint(r *catalog.Relation, k *pg_query.Constraint, column, sql string) {
	ctx := c.context()
	at := r.AttrByName(column)
	keys := nameStrings(k.Keys)
	if column != "" {
		keys = []string{column}
	}
	con := &catalog.Constraint{OID: c.oid(), Name: k.Conname, Relation: r.OID, Validated: !k.SkipValidation, Deferrable: k.Deferrable, Deferred: k.Initdeferred}
	attnums := func(rel *catalog.Relation, names []string) []int16 {
		var out []int16
		for _, n := range names {
			out = append(out, rel.AttrByName(n).Num)
		}
		return out
	}
	switch k.Contype {
	case pg_query.ConstrType_CONSTR_NOTNULL:
		at.NotNull = true
		return
	case pg_query.ConstrType_CONSTR_DEFAULT:
		e := must(AnalyzeDefault(ctx, k.RawExpr, sql, r, at.Name, at.Type, at.Typmod, false))
		at.HasDefault, at.Default = true, must(StoredText(ctx, r, e))
		return
	case pg_query.ConstrType_CONSTR_GENERATED:
		e := must(AnalyzeDefault(ctx, k.RawExpr, sql, r, at.Name, at.Type, at.Typmod, true))
		at.Generated = 's'
		at.HasDefault, at.Default = true, must(StoredText(ctx, r, e))
		return
	case pg_query.ConstrType_CONSTR_IDENTITY:
		at.Identity = k.GeneratedWhen[0]
		at.NotNull = true
		c.sequence[r.OID] = c.newRelation(&pg_query.RangeVar{Relname: r.Name + "_" + column + "_seq"}, catalog.KindSequence).OID
		return
	case pg_query.ConstrType_CONSTR_CHECK:
		e := must(AnalyzeExpr(ctx, k.RawExpr, sql, r, ForCheck))
		con.Kind, con.Expr, con.NoInherit = catalog.ConstraintCheck, must(StoredText(ctx, r, e)), k.IsNoInherit
		if con.Name == "" {
			con.Name = r.Name + "_check"
		}
		r.Checks = append(r.Checks, con)
	case pg_query.ConstrType_CONSTR_PRIMARY, pg_query.ConstrType_CONSTR_UNIQUE:
		con.Kind, con.Key = catalog.ConstraintUnique, attnums(r, keys)
		suffix := "_" + strings.Join(keys, "_") + "_key"
		if k.Contype == pg_query.ConstrType_CONSTR_PRIMARY {
			con.Kind, suffix = catalog.ConstraintPrimary, "_pkey"
			for _, n := range con.Key {
				r.Attrs[n-1].NotNull = true
			}
		}
		if con.Name == "" {
			con.Name = r.Name + suffix
		}
		x := &catalog.Index{
			OID: c.oid(), Name: con.Name, Namespace: r.Namespace, Table: r.OID, AM: catalog.AMBtree, NKeyAtts: len(keys), Unique: true,
			Primary: con.Kind == catalog.ConstraintPrimary, Immediate: !k.Deferrable, Valid: true, Ready: true, Live: true, Constraint: con.OID, NullsNotDistinct: k.NullsNotDistinct,
		}
		for _, n := range con.Key {
			x.Keys = append(x.Keys, c.indexKey(ctx, r.Attrs[n-1].Type, r.Attrs[n-1].Collation, n, ""))
		}
		for _, n := range attnums(r, nameStrings(k.Including)) {
			x.Keys = append(x.Keys, catalog.IndexKey{AttNum: n, Type: r.Attrs[n-1].Type})
		}
		con.Index = x.OID
		r.Indexes = append(r.Indexes, x)
	case pg_query.ConstrType_CONSTR_FOREIGN:
		ref := newAnalysis(ctx, sql).findRelation(k.Pktable.Schemaname, k.Pktable.Relname)
		con.Kind, con.Key, con.RefRel = catalog.ConstraintForeign, attnums(r, nameStrings(k.FkAttrs)), ref.OID
		if column != "" {
			con.Key = attnums(r, []string{column})
		}
		con.RefKey = attnums(ref, nameStrings(k.PkAttrs))
		if con.RefKey == nil {
			con.RefKey = ref.Constraints[0].Key
		}
		con.OnUpdate, con.OnDelete, con.Match = k.FkUpdAction[0], k.FkDelAction[0], k.FkMatchtype[0]
		con.DelSet = attnums(r, nameStrings(k.FkDelSetCols))
		if con.Name == "" {
			con.Name = r.Name + "_fkey"
		}
	default:
		c.t.Fatalf("unknown constraint %s", k.Contype)
	}
	r.Constraints = append(r.Constraints, con)
}

func (c *testCatalog) indexKey(ctx *Context, typ, coll types.OID, attno int16, expr string) catalog.IndexKey {
	o := must(c.DefaultOpclass(catalog.AMBtree, typ))
	return catalog.IndexKey{AttNum: attno, Expr: expr, Type: typ, Typmod: -1, Opclass: o.OID, Opfamily: o.Family, OpcInType: o.InType, Collation: coll}
}

func (c *testCatalog) createIndex(is *pg_query.IndexStmt, sql string) {
	ctx := c.context()
	r := newAnalysis(ctx, sql).findRelation(is.Relation.Schemaname, is.Relation.Relname)
	x := &catalog.Index{
		OID: c.oid(), Name: is.Idxname, Namespace: r.Namespace, Table: r.OID, AM: catalog.AMBtree, Unique: is.Unique, Immediate: true,
		Valid: true, Ready: true, Live: true, NKeyAtts: len(is.IndexParams), NullsNotDistinct: is.NullsNotDistinct,
	}
	if is.AccessMethod == "hash" {
		x.AM = catalog.AMHash
	}
	for _, n := range is.IndexParams {
		el := n.GetIndexElem()
		var k catalog.IndexKey
		if el.Name != "" {
			at := r.AttrByName(el.Name)
			k = c.indexKey(ctx, at.Type, at.Collation, at.Num, "")
			k.Name = el.Name
		} else {
			e := must(AnalyzeExpr(ctx, el.Expr, sql, r, ForIndexExpression))
			k = c.indexKey(ctx, e.Type(), e.Collation(), 0, must(StoredText(ctx, r, e)))
		}
		if len(el.Collation) > 0 {
			k.Collation = newAnalysis(ctx, sql).lookupCollation(nameStrings(el.Collation), -1)
		}
		if len(el.Opclass) > 0 {
			k.Opclass = must(ResolveOpclass(ctx, x.AM, nameStrings(el.Opclass)))
		}
		k.Desc = el.Ordering == pg_query.SortByDir_SORTBY_DESC
		k.NullsFirst = k.Desc
		switch el.NullsOrdering {
		case pg_query.SortByNulls_SORTBY_NULLS_FIRST:
			k.NullsFirst = true
		case pg_query.SortByNulls_SORTBY_NULLS_LAST:
			k.NullsFirst = false
		}
		x.Keys = append(x.Keys, k)
	}
	for _, n := range is.IndexIncludingParams {
		at := r.AttrByName(n.GetIndexElem().Name)
		x.Keys = append(x.Keys, catalog.IndexKey{AttNum: at.Num, Type: at.Type, Name: at.Name})
	}
	if is.WhereClause != nil {
		x.Predicate = must(StoredText(ctx, r, must(AnalyzeExpr(ctx, is.WhereClause, sql, r, ForIndexPredicate))))
	}
	if len(is.Options) > 0 {
		x.Options = map[string]string{}
		for _, o := range is.Options {
			x.Options[o.GetDefElem().Defname] = itoa(int(o.GetDefElem().Arg.GetInteger().Ival))
		}
	}
	r.Indexes = append(r.Indexes, x)
}

func (c *testCatalog) createView(v *pg_query.ViewStmt, sql string) {
	ctx := c.context()
	q := must(Analyze(ctx, v.Query, sql, nil))
	r := c.newRelation(v.View, catalog.KindView)
	aliases := nameStrings(v.Aliases)
	for i, t := range visibleTargets(q) {
		name := t.Name
		if i < len(aliases) {
			name = aliases[i]
		}
		r.Attrs = append(r.Attrs, catalog.Attribute{
			Name: name, Type: t.Expr.Type(), Typmod: t.Expr.Typmod(), Num: int16(i + 1), Collation: t.Expr.Collation(),
		})
	}
	r.ViewDef = must(StoredViewText(ctx, r, q))
}

func (c *testCatalog) createDomain(d *pg_query.CreateDomainStmt, sql string) {
	ctx := c.context()
	a := newAnalysis(ctx, sql)
	base, typmod := a.typeNameMod(d.TypeName)
	b := a.typ(base)
	t := c.addType(&catalog.Type{
		Name: nameStrings(d.Domainname)[0], Kind: 'd', Category: b.Category, BaseType: base, Typmod: typmod, Len: b.Len,
		Collation: b.Collation, Subscript: 0, Elem: 0, Input: b.Input, Output: b.Output,
	})
	for _, n := range d.Constraints {
		k := n.GetConstraint()
		switch k.Contype {
		case pg_query.ConstrType_CONSTR_NOTNULL:
			t.NotNull = true
		case pg_query.ConstrType_CONSTR_DEFAULT:
			e := must(AnalyzeDefault(ctx, k.RawExpr, sql, nil, t.Name, base, typmod, false))
			t.HasDefault, t.Default = true, must(StoredText(ctx, nil, e))
		case pg_query.ConstrType_CONSTR_CHECK:
			e := must(AnalyzeDomainCheck(ctx, k.RawExpr, sql, base, typmod))
			c.checks[t.OID] = append(c.checks[t.OID], &catalog.Constraint{
				OID: c.oid(), Name: t.Name + "_check", Kind: catalog.ConstraintCheck, Domain: t.OID, Expr: must(StoredText(ctx, nil, e)), Validated: true,
			})
		}
	}
}

func (c *testCatalog) createFunction(f *pg_query.CreateFunctionStmt, sql string) {
	ctx := c.context()
	a := newAnalysis(ctx, sql)
	names := nameStrings(f.Funcname)
	p := &catalog.Proc{OID: c.oid(), Name: names[len(names)-1], Namespace: catalog.NamespacePublic, Kind: 'f', Volatile: 'v', Language: 14}
	if f.IsProcedure {
		p.Kind = 'p'
	}
	if len(names) == 2 {
		p.Namespace = c.ns[names[0]].OID
	}
	modes, hasModes := "", false
	for _, n := range f.Parameters {
		fp := n.GetFunctionParameter()
		typ := a.typeName(fp.ArgType)
		mode := byte('i')
		switch fp.Mode {
		case pg_query.FunctionParameterMode_FUNC_PARAM_OUT:
			mode = 'o'
		case pg_query.FunctionParameterMode_FUNC_PARAM_INOUT:
			mode = 'b'
		case pg_query.FunctionParameterMode_FUNC_PARAM_VARIADIC:
			mode = 'v'
			p.Variadic = a.elemType(typ)
			if typ == types.Any {
				p.Variadic = types.Any
			}
		case pg_query.FunctionParameterMode_FUNC_PARAM_TABLE:
			mode = 't'
		}
		hasModes = hasModes || mode != 'i'
		modes += string(mode)
		p.AllArgs = append(p.AllArgs, typ)
		p.ArgNames = append(p.ArgNames, fp.Name)
		if mode != 'o' && mode != 't' {
			p.Args = append(p.Args, typ)
		}
		if fp.Defexpr != nil {
			e := must(AnalyzeDefault(ctx, fp.Defexpr, sql, nil, fp.Name, typ, -1, false))
			p.Defaults = append(p.Defaults, must(StoredText(ctx, nil, e)))
		}
	}
	if hasModes {
		p.ArgModes = modes
	} else {
		p.AllArgs = nil
	}
	if f.ReturnType != nil {
		p.RetType, p.RetSet = a.typeName(f.ReturnType), f.ReturnType.Setof
	}
	outs := 0
	for i := range modes {
		if isOut(modes[i]) {
			outs++
			if p.RetType == 0 || outs == 1 && f.ReturnType == nil {
				p.RetType = p.AllArgs[i]
			} else if f.ReturnType == nil || modes[i] == 't' {
				p.RetType = types.Record
			}
		}
	}
	if strings.Contains(modes, "t") {
		p.RetSet = true
	}
	for _, o := range f.Options {
		d := o.GetDefElem()
		switch d.Defname {
		case "volatility":
			p.Volatile = d.Arg.GetString_().Sval[0]
		case "strict":
			p.Strict = true
		}
	}
	c.procs = append(c.procs, p)
}

// StoredText is what the catalog keeps of an expression.
func StoredText(c *Context, rel *catalog.Relation, e Expr) (string, error) {
	return DeparseExpr(storedContext(c), e, rel, false)
}

// StoredViewText is what the catalog keeps of a view.
func StoredViewText(c *Context, rel *catalog.Relation, q *Query) (string, error) {
	return StoredQuery(storedContext(c), q)
}

func storedContext(c *Context) *Context {
	s := *c
	s.SearchPath = []types.OID{catalog.NamespacePgCatalog}
	s.Env = types.DefaultEnv()
	s.Env.Types = c.Catalog.Types()
	return &s
}
