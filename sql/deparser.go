package sql

import (
	"strings"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// deparser is fn.Deparser: the pg_get_*def functions. What they show is the catalog's text, analysed and printed
// as the session's search path and styles have it.
type deparser struct{ s *Session }

// context is an analysis that locks nothing.
func (d deparser) context() *analyze.Context {
	c := d.s.analyzeContext(d.s.ctx, nil)
	c.Lock = nil
	return c
}

func (d deparser) cat() *catalog.Txn { return d.s.eng.Catalog() }

// Expr is pg_get_expr: of one expression, or of a list as pg_index.indexprs has it.
func (d deparser) Expr(text string, rel types.OID, pretty bool) (string, bool, error) {
	var r *catalog.Relation
	if rel != 0 {
		var err error
		if r, err = d.cat().RelationByOID(rel); err != nil || r == nil {
			return "", false, err
		}
	}
	c := d.context()
	parts := catalog.SplitExprs(text)
	for i, p := range parts {
		e, err := analyze.StoredExpr(c, r, p)
		if err != nil {
			return "", false, err
		}
		if parts[i], err = analyze.DeparseExpr(c, e, r, pretty); err != nil {
			return "", false, err
		}
	}
	return strings.Join(parts, ", "), true, nil
}

// ViewDef is pg_get_viewdef.
func (d deparser) ViewDef(view types.OID, pretty bool, wrap int) (string, bool, error) {
	r, err := d.cat().RelationByOID(view)
	if err != nil || r == nil || r.ViewDef == "" {
		return "", false, err
	}
	text, err := analyze.DeparseView(d.context(), r, pretty, wrap)
	return text, err == nil, err
}

// IndexDef is pg_get_indexdef, of the whole index if column is 0.
func (d deparser) IndexDef(index types.OID, column int, pretty bool) (string, bool, error) {
	x, err := d.cat().IndexByOID(index)
	if err != nil || x == nil {
		return "", false, err
	}
	r, err := d.cat().RelationByOID(x.Table)
	if err != nil || r == nil {
		return "", false, err
	}
	text, err := analyze.DeparseIndex(d.context(), r, x, column, pretty)
	return text, err == nil, err
}

// ConstraintDef is pg_get_constraintdef.
func (d deparser) ConstraintDef(constraint types.OID, pretty bool) (string, bool, error) {
	k, err := d.cat().ConstraintByOID(constraint)
	if err != nil || k == nil {
		return "", false, err
	}
	text, err := analyze.DeparseConstraint(d.context(), k, pretty)
	return text, err == nil, err
}

// There are no rules, partitions, extended statistics and functions of users yet.

func (d deparser) RuleDef(types.OID, bool) (string, bool, error)       { return "", false, nil }
func (d deparser) TriggerDef(types.OID, bool) (string, bool, error)    { return "", false, nil }
func (d deparser) PartKeyDef(types.OID) (string, bool, error)          { return "", false, nil }
func (d deparser) StatisticsDef(types.OID, bool) (string, bool, error) { return "", false, nil }
func (d deparser) FunctionDef(types.OID) (string, bool, error)         { return "", false, nil }

// FunctionPart is pg_get_function_arguments, _identity_arguments and _result.
func (d deparser) FunctionPart(oid types.OID, what string) (string, bool, error) {
	p, err := d.cat().ProcByOID(oid)
	if err != nil || p == nil {
		return "", false, err
	}
	s := &signature{c: d.context(), p: p}
	switch what {
	case "arguments":
		err = s.arguments(false, true)
	case "identity_arguments":
		err = s.arguments(false, false)
	case "result":
		if p.Kind == 'p' {
			return "", false, nil
		}
		err = s.result()
	default:
		return "", false, nil
	}
	return s.b.String(), err == nil, err
}

// signature prints the parameters and the result of a function.
type signature struct {
	c       *analyze.Context
	p       *catalog.Proc
	b       strings.Builder
	printed int
}

// parameterModes are the words before a parameter, by pg_proc.proargmodes.
var parameterModes = map[byte]string{'i': "", 'b': "INOUT ", 'o': "OUT ", 'v': "VARIADIC ", 't': ""}

// arguments prints the columns of TABLE (...) with table, else all other parameters. Follows print_function_arguments.
func (s *signature) arguments(table, defaults bool) error {
	p := s.p
	params := p.AllArgs
	if params == nil {
		params = p.Args
	}
	orderBy, err := s.orderByAt()
	if err != nil {
		return err
	}
	input, lacking := 0, len(p.Args)-len(p.Defaults)
	for i := 0; i < len(params); i++ {
		mode := byte('i')
		if p.AllArgs != nil && i < len(p.ArgModes) {
			mode = p.ArgModes[i]
		}
		in := mode != 'o' && mode != 't'
		if in {
			input++
		}
		if table != (mode == 't') {
			continue
		}
		s.separate(orderBy)
		if mode == 'i' && p.Kind == 'p' {
			s.b.WriteString("IN ")
		}
		s.b.WriteString(parameterModes[mode])
		if i < len(p.ArgNames) && p.ArgNames[i] != "" {
			s.b.WriteString(analyze.QuoteIdent(p.ArgNames[i]) + " ")
		}
		if err := s.typeName(params[i]); err != nil {
			return err
		}
		if defaults && in && input > lacking {
			if err := s.defaultValue(p.Defaults[input-lacking-1]); err != nil {
				return err
			}
		}
		s.printed++
		// The last parameter of a variadic ordered-set aggregate stands for the sorted ones too.
		if s.printed == orderBy && i == len(params)-1 {
			i--
			defaults = false
		}
	}
	return nil
}

func (s *signature) separate(orderBy int) {
	switch {
	case s.printed == orderBy && s.printed > 0:
		s.b.WriteString(" ORDER BY ")
	case s.printed == orderBy:
		s.b.WriteString("ORDER BY ")
	case s.printed > 0:
		s.b.WriteString(", ")
	}
}

// orderByAt is how many parameters stand before ORDER BY, -1 where there is none.
func (s *signature) orderByAt() (int, error) {
	if s.p.Kind != 'a' {
		return -1, nil
	}
	agg, err := s.c.Catalog.AggregateByOID(s.p.OID)
	if err != nil || agg == nil || agg.Kind == 'n' {
		return -1, err
	}
	return int(agg.NumDirect), nil
}

func (s *signature) typeName(typ types.OID) error {
	name, err := analyze.TypeName(s.c, typ)
	s.b.WriteString(name)
	return err
}

func (s *signature) defaultValue(text string) error {
	e, err := analyze.StoredExpr(s.c, nil, text)
	if err != nil {
		return err
	}
	if text, err = analyze.DeparseExpr(s.c, e, nil, false); err != nil {
		return err
	}
	s.b.WriteString(" DEFAULT " + text)
	return nil
}

// result follows print_function_rettype.
func (s *signature) result() error {
	if s.p.RetSet {
		columns := &signature{c: s.c, p: s.p}
		if err := columns.arguments(true, false); err != nil {
			return err
		}
		if columns.printed > 0 {
			s.b.WriteString("TABLE(" + columns.b.String() + ")")
			return nil
		}
		s.b.WriteString("SETOF ")
	}
	return s.typeName(s.p.RetType)
}
