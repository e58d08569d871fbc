package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// params are the statement's parameters while their types are found out.
type params struct {
	*ParamTypes
}

// maxParams is what the protocol can bind.
const maxParams = 65535

// transformParamRef follows fixed_paramref_hook and variable_paramref_hook.
func (s *state) transformParamRef(p *pg_query.ParamRef) Expr {
	n, loc := int(p.Number), int(p.Location)
	if e := s.hookColumn([]string{"$" + itoa(n)}, true, loc); e != nil {
		return e
	}
	none := func() { raise(s.err(loc, pgerr.UndefinedParameter, "there is no parameter $%d", n)) }
	if s.params == nil || n <= 0 || n > maxParams {
		none()
	}
	if n > len(s.params.Types) {
		if !s.params.Variable {
			none()
		}
		s.params.Types = append(s.params.Types, make([]types.OID, n-len(s.params.Types))...)
	}
	typ := &s.params.Types[n-1]
	if *typ == 0 {
		if !s.params.Variable {
			none()
		}
		*typ = types.Unknown
	}
	return &Param{Typed: NewTyped(*typ, -1, s.typeCollation(*typ), loc), Number: n}
}

// coerceParam gives a parameter of unknown type the type that its place wants. Follows variable_coerce_param_hook.
func (s *state) coerceParam(p *Param, typ types.OID, loc int) Expr {
	if p.Typ != types.Unknown || !s.params.Variable {
		return nil
	}
	switch known := &s.params.Types[p.Number-1]; *known {
	case types.Unknown:
		*known = typ
	case typ:
	default:
		raise(s.err(p.Loc, pgerr.AmbiguousParameter, "inconsistent types deduced for parameter $%d", p.Number).
			WithDetail("%s versus %s", s.formatType(*known), s.formatType(typ)))
	}
	p.Typ, p.Mod, p.Coll = typ, -1, s.typeCollation(typ)
	if loc >= 0 && (p.Loc < 0 || loc < p.Loc) {
		p.Loc = loc
	}
	return p
}

// checkParams makes sure that every parameter got a type, the same everywhere. Follows check_variable_parameters.
func (a *analysis) checkParams(q *Query) {
	if a.params == nil || !a.params.Variable {
		return
	}
	WalkQuery(q, 0, func(e Expr, _ int) bool {
		p, ok := e.(*Param)
		if !ok || p.Exec {
			return true
		}
		if known := a.params.Types[p.Number-1]; p.Typ != known {
			raise(a.err(p.Loc, pgerr.AmbiguousParameter, "could not determine data type of parameter $%d", p.Number))
		}
		return true
	})
	for i, t := range a.params.Types {
		if t == 0 || t == types.Unknown {
			raise(pgerr.New(pgerr.IndeterminateDatatype, "could not determine data type of parameter $%d", i+1))
		}
	}
}
