package analyze

import (
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// ResolveType finds the type a TypeName names, with its modifier. sql is what its location counts in.
func ResolveType(c *Context, tn *pg_query.TypeName, sql string) (typ types.OID, typmod int32, err error) {
	defer caught(&err)
	typ, typmod = newAnalysis(c, sql).typeNameMod(tn)
	return typ, typmod, nil
}

// LookupType is ResolveType that gives 0 for a type that does not exist.
func LookupType(c *Context, tn *pg_query.TypeName, sql string) (typ types.OID, err error) {
	defer caught(&err)
	return newAnalysis(c, sql).lookupTypeName(tn, true), nil
}

// nameStrings are the texts of a list of String nodes.
func nameStrings(nodes []*pg_query.Node) []string {
	out := make([]string, len(nodes))
	for i, n := range nodes {
		if n.GetAStar() != nil {
			out[i] = "*"
			continue
		}
		out[i] = n.GetString_().GetSval()
	}
	return out
}

// joinNames is a qualified name as messages show it.
func joinNames(names []string) string { return strings.Join(names, ".") }

// lookupTypeName gives 0 if there is no such type; a missing schema is an error unless missingOK.
func (a *analysis) lookupTypeName(tn *pg_query.TypeName, missingOK bool) types.OID {
	if len(tn.Names) == 0 {
		return types.OID(tn.TypeOid)
	}
	if tn.PctType {
		return a.percentType(tn, missingOK)
	}
	schema, name := a.splitName(nameStrings(tn.Names))
	var t *catalog.Type
	if schema != "" {
		if ns := a.explicitNamespace(schema, missingOK); ns != 0 {
			t = must(a.Catalog.TypeByName(ns, name))
		}
	} else {
		for _, ns := range a.SearchPath {
			if t = must(a.Catalog.TypeByName(ns, name)); t != nil {
				break
			}
		}
	}
	if t == nil {
		return 0
	}
	if len(tn.ArrayBounds) > 0 {
		return a.arrayType(t.OID)
	}
	return t.OID
}

// percentType resolves rel.col%TYPE.
func (a *analysis) percentType(tn *pg_query.TypeName, missingOK bool) types.OID {
	names := nameStrings(tn.Names)
	if len(names) < 2 {
		raise(a.err(int(tn.Location), pgerr.SyntaxError,
			"improper %%TYPE reference (too few dotted names): %s", joinNames(names)))
	}
	field := names[len(names)-1]
	schema, name := a.splitName(names[:len(names)-1])
	rel := a.findRelation(schema, name)
	if rel == nil {
		if missingOK {
			return 0
		}
		raise(a.err(int(tn.Location), pgerr.UndefinedTable, "relation \"%s\" does not exist", joinNames(names[:len(names)-1])))
	}
	attr := rel.AttrByName(field)
	if attr == nil {
		if missingOK {
			return 0
		}
		raise(a.err(int(tn.Location), pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", field, rel.Name))
	}
	if a.Notice != nil {
		a.Notice(pgerr.Notice(pgerr.SeverityNotice, pgerr.SuccessfulCompletion, "type reference %s converted to %s",
			typeNameString(tn), a.formatType(attr.Type)))
	}
	return attr.Type
}

// typeName is the type that must exist.
func (a *analysis) typeName(tn *pg_query.TypeName) types.OID {
	typ, _ := a.typeNameMod(tn)
	return typ
}

// typeNameMod is the type, which must exist, and the modifier.
func (a *analysis) typeNameMod(tn *pg_query.TypeName) (types.OID, int32) {
	loc := int(tn.Location)
	typ := a.locatedTypeName(tn)
	if typ == 0 {
		raise(a.err(loc, pgerr.UndefinedObject, "type \"%s\" does not exist", typeNameString(tn)))
	}
	t := a.typ(typ)
	if !t.Defined {
		raise(a.err(loc, pgerr.UndefinedObject, "type \"%s\" is only a shell", typeNameString(tn)))
	}
	return typ, a.typeModifier(tn, t)
}

func (a *analysis) locatedTypeName(tn *pg_query.TypeName) (typ types.OID) {
	defer a.locate(int(tn.Location))
	return a.lookupTypeName(tn, false)
}

// locate, deferred, gives an error raised below without a position this one.
func (a *analysis) locate(loc int) {
	switch r := recover().(type) {
	case nil:
	case raised:
		a.at(loc, r.err)
	default:
		panic(r)
	}
}

func (a *analysis) typeModifier(tn *pg_query.TypeName, t *catalog.Type) int32 {
	if len(tn.Typmods) == 0 {
		return tn.Typemod
	}
	loc := int(tn.Location)
	if t.ModIn == 0 && (t.Elem == 0 || a.typ(t.Elem).ModIn == 0) {
		raise(a.err(loc, pgerr.SyntaxError, "type modifier is not allowed for type \"%s\"", typeNameString(tn)))
	}
	args := make([]string, len(tn.Typmods))
	for i, n := range tn.Typmods {
		args[i] = a.typmodText(n, loc)
	}
	base := t.OID
	if e := a.elemType(base); e != 0 {
		base = e
	}
	mod, err := types.TypmodIn(base, args)
	if err != nil {
		a.at(loc, err)
	}
	a.warnPrecision(base, args, loc)
	return mod
}

// warnPrecision tells of a precision of a time that is more than there is.
func (a *analysis) warnPrecision(typ types.OID, args []string, loc int) {
	if a.Notice == nil {
		return
	}
	name, zone := "", ""
	switch typ {
	case types.Time, types.Timetz:
		name = "TIME"
	case types.Timestamp, types.Timestamptz:
		name = "TIMESTAMP"
	case types.Interval:
		name = "INTERVAL"
	default:
		return
	}
	if typ == types.Timetz || typ == types.Timestamptz {
		zone = " WITH TIME ZONE"
	}
	n, err := strconv.Atoi(args[len(args)-1])
	if err != nil || n <= maxTimePrecision || typ == types.Interval && len(args) == 1 {
		return
	}
	e := pgerr.Notice(pgerr.SeverityWarning, pgerr.InvalidParameterValue,
		"%s(%d)%s precision reduced to maximum allowed, %d", name, n, zone, maxTimePrecision)
	a.Notice(e.WithPosition(a.position(loc)))
}

func (a *analysis) typmodText(n *pg_query.Node, loc int) string {
	if c := n.GetAConst(); c != nil {
		a.pinConst(c)
		switch v := c.Val.(type) {
		case *pg_query.A_Const_Ival:
			return strconv.Itoa(int(v.Ival.GetIval()))
		case *pg_query.A_Const_Fval:
			return v.Fval.Fval
		case *pg_query.A_Const_Sval:
			return v.Sval.Sval
		}
	}
	if r := n.GetColumnRef(); r != nil && len(r.Fields) == 1 && r.Fields[0].GetString_() != nil {
		return r.Fields[0].GetString_().Sval
	}
	raise(a.err(loc, pgerr.SyntaxError, "type modifiers must be simple constants or identifiers"))
	return ""
}

// typeNameString is a TypeName as messages show it.
func typeNameString(tn *pg_query.TypeName) string {
	s := joinNames(nameStrings(tn.Names))
	if tn.PctType {
		s += "%TYPE"
	}
	if len(tn.ArrayBounds) > 0 {
		s += "[]"
	}
	return s
}

// FormatType is format_type: the SQL name of a type, qualified if the search path does not find it. A typmod
// below 0 is left out.
func FormatType(c *Context, typ types.OID, typmod int32) (name string, err error) {
	defer caught(&err)
	return newAnalysis(c, "").formatTypeMod(typ, typmod), nil
}

// TypeName is the name of a type without a modifier, as messages and signatures show it.
func TypeName(c *Context, typ types.OID) (name string, err error) {
	defer caught(&err)
	return newAnalysis(c, "").formatType(typ), nil
}

// formatType is the name that messages use. Follows format_type_be.
func (a *analysis) formatType(typ types.OID) string {
	switch typ {
	case types.Bpchar:
		return "character"
	case types.BpcharArray:
		return "character[]"
	case types.Bit:
		return "bit"
	case types.BitArray:
		return "bit[]"
	}
	return a.formatTypeMod(typ, -1)
}

// formatTypeMod is the name with the modifier; unknown OIDs give "???".
func (a *analysis) formatTypeMod(typ types.OID, typmod int32) string {
	if typ == 0 {
		return "-"
	}
	if s, ok := types.FormatType(typ, typmod); ok {
		return s
	}
	t := must(a.Catalog.TypeByOID(typ))
	if t == nil {
		return "???"
	}
	suffix := ""
	if t.IsArray() {
		suffix = "[]"
		elem := must(a.Catalog.TypeByOID(t.Elem))
		if elem == nil {
			return "???[]"
		}
		t = elem
	}
	name := a.quote(t.Name)
	if !a.typeVisible(t) {
		if ns := must(a.Catalog.NamespaceByOID(t.Namespace)); ns != nil {
			name = a.quote(ns.Name) + "." + name
		}
	}
	if typmod >= 0 {
		name += types.TypmodOut(t.OID, typmod)
	}
	return name + suffix
}

// typeVisible tells whether the unqualified name finds this type.
func (a *analysis) typeVisible(t *catalog.Type) bool {
	for _, ns := range a.SearchPath {
		if ns == t.Namespace {
			return true
		}
		if must(a.Catalog.TypeByName(ns, t.Name)) != nil {
			return false
		}
	}
	return false
}
