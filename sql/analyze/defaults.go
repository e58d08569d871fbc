package analyze

import (
	"slices"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// completeTargets fills in defaults, and enforces the rules of identity and generated columns. Follows rewriteTargetListIU and
// rewriteValuesRTE.
func (s *state) completeTargets(q *Query) {
	rel := s.targetRelation()
	if q.Command == Insert {
		q.Targets = s.mergeAssignments(q.Targets)
	}
	byAttno := map[int]*TargetEntry{}
	for i := range q.Targets {
		byAttno[q.Targets[i].Attno] = &q.Targets[i]
	}
	values := s.valuesSource(q)
	var out []TargetEntry
	for i := range rel.Attrs {
		at := &rel.Attrs[i]
		if at.Dropped {
			continue
		}
		t := byAttno[i+1]
		var useDefault bool
		if q.Command == Insert {
			useDefault = s.insertDefault(q, at, t, values)
		} else {
			useDefault = s.updateDefault(at, t)
		}
		switch {
		case at.Generated != 0:
			// The executor computes it.
			continue
		case useDefault:
			e := s.columnDefault(rel, at)
			if e == nil {
				if q.Command == Insert && s.typ(at.Type).Kind != 'd' {
					continue
				}
				e = s.nullColumn(at)
			}
			t = &TargetEntry{Expr: e, Name: at.Name, Attno: i + 1}
		case t == nil:
			continue
		}
		out = append(out, *t)
	}
	q.Targets = out
	if values >= 0 {
		s.completeValues(q, byAttno, values)
	}
}

// valuesSource is the entry of a multi-row VALUES, -1 if there is none.
func (s *state) valuesSource(q *Query) int {
	if q.Command == Insert && len(q.From) == 1 {
		if r, ok := q.From[0].(*RangeRef); ok && s.rtable[r.RT].Kind == RTEValues {
			return r.RT
		}
	}
	return -1
}

// insertDefault tells whether a column takes its default.
func (s *state) insertDefault(q *Query, at *catalog.Attribute, t *TargetEntry, values int) bool {
	useDefault := t == nil || isDefault(t.Expr)
	onlyDefaults := func() bool {
		v, ok := t.Expr.(*Var)
		return ok && values >= 0 && v.RT == values && !slices.ContainsFunc(s.rtable[values].Values, func(row []Expr) bool {
			return !isDefault(row[v.Attno-1])
		})
	}
	forbidden := func(detail string) *pgerr.Error {
		return pgerr.New(pgerr.GeneratedAlways, "cannot insert a non-DEFAULT value into column \"%s\"", at.Name).WithDetail(detail, at.Name)
	}
	if at.Identity == 'a' && !useDefault {
		switch q.Overriding {
		case OverridingUser:
			useDefault = true
		case OverridingNone:
			if useDefault = onlyDefaults(); !useDefault {
				raise(forbidden("Column \"%s\" is an identity column defined as GENERATED ALWAYS.").
					WithHint("Use OVERRIDING SYSTEM VALUE to override."))
			}
		}
	}
	if at.Identity == 'd' && q.Overriding == OverridingUser {
		useDefault = true
	}
	if at.Generated != 0 && !useDefault {
		if useDefault = onlyDefaults(); !useDefault {
			raise(forbidden("Column \"%s\" is a generated column."))
		}
	}
	return useDefault
}

func (s *state) updateDefault(at *catalog.Attribute, t *TargetEntry) bool {
	if t == nil {
		return false
	}
	if isDefault(t.Expr) {
		return true
	}
	forbidden := func(detail string) error {
		return pgerr.New(pgerr.GeneratedAlways, "column \"%s\" can only be updated to DEFAULT", at.Name).WithDetail(detail, at.Name)
	}
	if at.Identity == 'a' {
		raise(forbidden("Column \"%s\" is an identity column defined as GENERATED ALWAYS."))
	}
	if at.Generated != 0 {
		raise(forbidden("Column \"%s\" is a generated column."))
	}
	return false
}

func isDefault(e Expr) bool {
	_, ok := e.(*SetToDefault)
	return ok
}

// completeValues replaces DEFAULT in the rows of VALUES.
func (s *state) completeValues(q *Query, byAttno map[int]*TargetEntry, values int) {
	rel := s.targetRelation()
	attrOf := map[int]*catalog.Attribute{}
	for attno, t := range byAttno {
		if v, ok := t.Expr.(*Var); ok && v.RT == values {
			attrOf[v.Attno-1] = rel.Attr(int16(attno))
		}
	}
	for _, row := range s.rtable[values].Values {
		for c, e := range row {
			if !isDefault(e) {
				continue
			}
			at := attrOf[c]
			if at == nil {
				row[c] = s.nullConst(e.Type(), e.Typmod(), e.Collation())
				continue
			}
			var d Expr
			if at.Generated == 0 {
				d = s.columnDefault(rel, at)
			}
			if d == nil {
				d = s.nullColumn(at)
			}
			s.assignCollations(d)
			row[c] = d
		}
	}
}

// nullColumn is a null for a column, checked against its domain.
func (s *state) nullColumn(at *catalog.Attribute) Expr {
	base, _ := s.baseTypeMod(at.Type, at.Typmod)
	return s.coerceToDomain(s.nullConst(base, -1, at.Collation), 0, -1, at.Type, coerceImplicit, ImplicitCast, -1, false)
}

// columnDefault is a column's default, nil for none. Follows build_column_default.
func (s *state) columnDefault(rel *catalog.Relation, at *catalog.Attribute) Expr {
	if at.Identity != 0 {
		return &NextValueExpr{Typed: NewTyped(at.Type, -1, 0, -1), Sequence: s.identitySequence(rel, at)}
	}
	var e Expr
	switch {
	case at.HasDefault:
		e = s.storedExpr(at.Default, nil, kindColumnDefault)
	default:
		e = s.typeDefault(at.Type)
	}
	if e == nil {
		return nil
	}
	return s.columnValue(e, at)
}

// columnValue converts a default or generation expression to its column's type.
func (s *state) columnValue(e Expr, at *catalog.Attribute) Expr {
	r := s.coerceToTarget(e, at.Type, at.Typmod, coerceAssignment, ImplicitCast, -1)
	if r == nil {
		raise(pgerr.New(pgerr.DatatypeMismatch, "column \"%s\" is of type %s but default expression is of type %s",
			at.Name, s.formatType(at.Type), s.formatType(e.Type())).WithHint("You will need to rewrite or cast the expression."))
	}
	return r
}

// typeDefault is the default of a domain, nil for none.
func (s *state) typeDefault(typ types.OID) Expr {
	t := s.typ(typ)
	if !t.HasDefault || t.Default == "" {
		return nil
	}
	if t.Kind == 'd' {
		return s.storedExpr(t.Default, nil, kindColumnDefault)
	}
	return s.coerceLiteral(&Const{Typed: NewTyped(types.Unknown, -1, 0, -1), Value: types.TextDatum(t.Default)}, typ, -1, coerceImplicit, ImplicitCast, -1)
}

// identitySequence finds the sequence behind an identity column.
func (s *state) identitySequence(rel *catalog.Relation, at *catalog.Attribute) types.OID {
	for _, seq := range must(s.Catalog.OwnedSequences(rel.OID, at.Num)) {
		_, _, kind, err := s.Catalog.SequenceOwner(seq)
		check(err)
		if kind == catalog.DepInternal {
			return seq
		}
	}
	raise(pgerr.New(pgerr.InternalError, "no owned sequence found"))
	return 0
}
