package analyze

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// DeparseExpr prints an expression over the columns of rel (Vars have RT 0), which may be nil, as pg_get_expr does:
// columns are not qualified, everything else is where c.SearchPath does not find it.
func DeparseExpr(c *Context, e Expr, rel *catalog.Relation, pretty bool) (text string, err error) {
	defer caught(&err)
	d := newDeparser(c, pretty)
	if rel != nil {
		d.spaces = []*deparseSpace{relationSpace(rel)}
	}
	d.expr(e, false)
	return string(d.buf), nil
}

// The amounts and the limit of ruleutils.c's indentation.
const (
	indentStd   = 8
	indentJoin  = 4
	indentVar   = 4
	indentLimit = 40
)

// deparser prints expressions and queries. Follows ruleutils.c: the methods are its functions under shorter names.
type deparser struct {
	*analysis
	buf    []byte
	spaces []*deparseSpace // innermost query first
	// parens leaves out parentheses that precedence makes superfluous; indented breaks lines.
	parens, indented bool
	wrap             int // length of lines to break at; 0 breaks always, negative never
	indent           int
	prefix           bool // qualify columns
	inGroupBy        bool
	inSort           bool // the column printed is a sort or group clause
	// windows and targets are those of the query at hand, names what its output columns must be called (nil: as they
	// are); visible tells whether anything refers to them.
	windows []*Window
	targets []TargetEntry
	names   []string
	visible bool
	stored  bool         // what is printed is for the catalog
	plan    *PlanPrinter // of EXPLAIN, else nil
}

func newDeparser(c *Context, pretty bool) *deparser {
	return &deparser{analysis: newAnalysis(c, ""), parens: pretty, indented: true}
}

func (d *deparser) str(s string) { d.buf = append(d.buf, s...) }

func (d *deparser) chr(c byte) { d.buf = append(d.buf, c) }

func (d *deparser) num(n int) { d.buf = strconv.AppendInt(d.buf, int64(n), 10) }

// ident prints a name, quoted if need be.
func (d *deparser) ident(name string) { d.str(d.quote(name)) }

// literal prints a string; backslashes are themselves, as in the standard.
func (d *deparser) literal(s string) {
	d.chr('\'')
	d.str(strings.ReplaceAll(s, "'", "''"))
	d.chr('\'')
}

// open and closing print the parentheses that only the plain style has.
func (d *deparser) open() {
	if !d.parens {
		d.chr('(')
	}
}

func (d *deparser) closing() {
	if !d.parens {
		d.chr(')')
	}
}

// keyword prints s on a line of its own where lines are broken. Follows appendContextKeyword.
func (d *deparser) keyword(s string, before, after, plus int) {
	if !d.indented {
		d.str(s)
		return
	}
	d.indent += before
	d.trimSpaces()
	d.chr('\n')
	amount := max(d.indent, 0) + plus
	if d.indent >= indentLimit {
		amount = indentLimit + (d.indent-indentLimit)/(indentStd/2)
		amount = amount%indentLimit + plus
	}
	for range amount {
		d.chr(' ')
	}
	d.str(s)
	d.indent = max(d.indent+after, 0)
}

func (d *deparser) trimSpaces() {
	for len(d.buf) > 0 && d.buf[len(d.buf)-1] == ' ' {
		d.buf = d.buf[:len(d.buf)-1]
	}
}

// lineLength is how much is on the last line so far.
func (d *deparser) lineLength() int {
	return len(d.buf) - 1 - bytes.LastIndexByte(d.buf, '\n')
}

// captured is what fn prints.
func (d *deparser) captured(fn func()) []byte {
	saved := d.buf
	d.buf = nil
	fn()
	out := d.buf
	d.buf = saved
	return out
}

// typeModName is the type's name as a cast writes it: without a modifier bpchar and "bit" say so, where the SQL
// names would mean a length of 1. Follows format_type_with_typemod.
func (d *deparser) typeModName(typ types.OID, typmod int32) string {
	return d.formatTypeMod(typ, typmod)
}

// schemaName is a namespace as names show it.
func (a *analysis) schemaName(ns types.OID) string {
	if ns != 0 && ns == a.TempNamespace {
		return "pg_temp"
	}
	n := must(a.Catalog.NamespaceByOID(ns))
	if n == nil {
		raise(pgerr.New(pgerr.InternalError, "cache lookup failed for namespace %d", ns))
	}
	return n.Name
}

// qualified quotes a name and, with show, its schema before it.
func (a *analysis) qualified(ns types.OID, name string, show bool) string {
	if !show {
		return a.quote(name)
	}
	return a.quote(a.schemaName(ns)) + "." + a.quote(name)
}

// relationVisible tells whether the unqualified name finds this relation.
func (a *analysis) relationVisible(r *catalog.Relation) bool {
	found := a.findRelation("", r.Name)
	return found != nil && found.OID == r.OID
}

// relationName is a relation as the search path needs it. Follows generate_relation_name without namespaces.
func (a *analysis) relationName(r *catalog.Relation) string {
	return a.qualified(r.Namespace, r.Name, !a.relationVisible(r))
}

// relationName also qualifies what a WITH item hides.
func (d *deparser) relationName(r *catalog.Relation) string {
	for _, sp := range d.spaces {
		for _, c := range sp.ctes {
			if c.Name == r.Name {
				return d.qualified(r.Namespace, r.Name, true)
			}
		}
	}
	return d.analysis.relationName(r)
}

// qualifiedCollation follows generate_collation_name.
func (a *analysis) qualifiedCollation(oid types.OID) string {
	c := must(a.Catalog.CollationByOID(oid))
	if c == nil {
		raise(pgerr.New(pgerr.InternalError, "cache lookup failed for collation %d", oid))
	}
	visible := false
	for _, ns := range a.SearchPath {
		if ns == c.Namespace {
			visible = true
			break
		}
		if a.collationIn(ns, c.Name) {
			break
		}
	}
	return a.qualified(c.Namespace, c.Name, !visible)
}

func (a *analysis) collationIn(ns types.OID, name string) bool {
	for _, c := range must(a.Catalog.CollationsByName(name)) {
		if c.Namespace == ns {
			return true
		}
	}
	return false
}

// functionName qualifies a function where a call with such arguments would find another. Follows generate_function_name.
func (d *deparser) functionName(p *catalog.Proc, args []types.OID, argNames []string, variadic bool) string {
	if d.inGroupBy && (p.Name == "cube" || p.Name == "rollup") {
		return d.qualified(p.Namespace, p.Name, true)
	}
	r := d.resolveCall([]string{p.Name}, args, argNames, !variadic, false)
	found := r.how == foundOne || r.how == foundAggregate || r.how == foundWindow
	return d.qualified(p.Namespace, p.Name, !found || r.proc.OID != p.OID)
}

// operatorName follows generate_operator_name; left is 0 for a prefix operator.
func (d *deparser) operatorName(oid, left, right types.OID) string {
	o := d.operator(oid)
	var found *catalog.Operator
	if o.Kind == 'l' {
		found = d.findPrefixOperator([]string{o.Name}, right, true, -1)
	} else {
		found = d.findOperator([]string{o.Name}, left, right, true, -1)
	}
	if found != nil && found.OID == oid {
		return o.Name
	}
	return "OPERATOR(" + d.quote(d.schemaName(o.Namespace)) + "." + o.Name + ")"
}
