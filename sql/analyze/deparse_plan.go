package analyze

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/types"
)

// PlanHook prints what only plans have.
type PlanHook interface {
	// PlanExpr prints an expression and reports true, or leaves it to the printer. It is asked about every
	// expression, the parts of others included.
	PlanExpr(p *PlanPrinter, e Expr, implicit bool) bool
	// IsColumn tells whether an expression is printed as a column is: as one word.
	IsColumn(e Expr) bool
}

// PlanPrinter prints the expressions of a plan in EXPLAIN's style.
type PlanPrinter struct {
	d    *deparser
	hook PlanHook
}

// NewPlanPrinter makes a printer that asks hook.
func NewPlanPrinter(c *Context, hook PlanHook) *PlanPrinter {
	p := &PlanPrinter{d: newDeparser(c, false), hook: hook}
	p.d.indented = false
	p.d.plan = p
	return p
}

// Text is what fn prints.
func (p *PlanPrinter) Text(fn func()) (text string, err error) {
	defer caught(&err)
	saved := p.d.buf
	defer func() { p.d.buf = saved }()
	p.d.buf = nil
	fn()
	return string(p.d.buf), nil
}

// Expr prints an expression; implicit shows an implicit cast at its top.
func (p *PlanPrinter) Expr(e Expr, implicit bool) { p.d.expr(e, implicit) }

// Str prints s as it is.
func (p *PlanPrinter) Str(s string) { p.d.str(s) }

// Ident prints a name, quoted if need be.
func (p *PlanPrinter) Ident(name string) { p.d.ident(name) }

// Quoted is a name, quoted if need be.
func (p *PlanPrinter) Quoted(name string) string { return p.d.quote(name) }

// Schema is the name of a schema.
func (p *PlanPrinter) Schema(ns types.OID) (name string, err error) {
	defer caught(&err)
	return p.d.schemaName(ns), nil
}

// Relation is a relation's name, qualified if the search path or, with schema, the caller wants it.
func (p *PlanPrinter) Relation(r *catalog.Relation, schema bool) (name string, err error) {
	defer caught(&err)
	return p.d.qualified(r.Namespace, r.Name, schema), nil
}

// SortOrder prints what is unusual about a sort key of a type. Follows show_sortorder_options.
func (p *PlanPrinter) SortOrder(op, typ, coll types.OID, nullsFirst bool) {
	d := p.d
	if coll != 0 && coll != d.typeCollation(typ) {
		if c := must(d.Catalog.CollationByOID(coll)); c != nil {
			d.str(" COLLATE " + d.quote(c.Name))
		}
	}
	o, reverse := d.typeOperators(typ), false
	switch op {
	case o.lt:
	case o.gt:
		d.str(" DESC")
		reverse = true
	default:
		d.str(" USING " + d.operator(op).Name)
		_, reverse = d.equalityForOrdering(op)
	}
	switch {
	case nullsFirst && !reverse:
		d.str(" NULLS FIRST")
	case !nullsFirst && reverse:
		d.str(" NULLS LAST")
	}
}

// EqualityOp is the = operator that fn computes, or with fn 0 the one between two types; 0 if there is none.
func (p *PlanPrinter) EqualityOp(fn, left, right types.OID) (op types.OID, err error) {
	defer caught(&err)
	if fn == 0 {
		if o := p.d.findOperator([]string{"="}, left, right, true, -1); o != nil {
			return o.OID, nil
		}
	}
	for _, o := range must(p.d.Catalog.OperatorsByName("=")) {
		if o.Code == fn && fn != 0 {
			return o.OID, nil
		}
	}
	return 0, nil
}

// EntryNames chooses a name for each of the entries a plan scans, unlike all others.
func EntryNames(entries []*RangeTableEntry) []string {
	sp := &deparseSpace{rtable: entries}
	sp.chooseNames(nil, false)
	return sp.names
}
