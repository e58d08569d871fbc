package analyze

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// itemOf is the item of range table entry rt of this level; one is made if it is no longer in the namespace.
func (s *state) itemOf(rt int) *nsItem {
	for _, it := range s.namespace {
		if it.rt == rt {
			return it
		}
	}
	if rt < len(s.rtable) {
		return s.itemFor(rt, s.rtable[rt])
	}
	return nil
}

// itemNamed finds the relation a qualifier names and how many levels out it is; nil if there is none.
// Follows refnameNamespaceItem.
func (s *state) itemNamed(schema, name string, loc int) (*nsItem, int) {
	rel := types.OID(0)
	if schema != "" {
		ns := must(s.Catalog.NamespaceByName(schema))
		if ns == nil {
			return nil, 0
		}
		r := must(s.Catalog.RelationByName(ns.OID, name))
		if r == nil {
			return nil, 0
		}
		rel = r.OID
	}
	level := 0
	for st := s; st != nil; st = st.parent {
		if it := st.scanNames(name, rel, loc); it != nil {
			return it, level
		}
		level++
	}
	return nil, 0
}

// scanNames looks among the visible names of one level: by relation if rel is not 0.
func (s *state) scanNames(name string, rel types.OID, loc int) *nsItem {
	var result *nsItem
	for _, it := range s.namespace {
		if !it.relVisible || it.lateralOnly && !s.lateralActive {
			continue
		}
		if rel != 0 {
			if it.rte.Relation == nil && it.rte.View == nil || it.rte.HasAlias {
				continue
			}
			r := it.rte.Relation
			if r == nil {
				r = it.rte.View
			}
			if r.OID != rel {
				continue
			}
		} else if it.name != name {
			continue
		}
		if result != nil {
			raise(s.err(loc, pgerr.AmbiguousAlias, "table reference \"%s\" is ambiguous", name))
		}
		s.checkLateral(it, loc)
		result = it
	}
	return result
}

func (s *state) checkLateral(it *nsItem, loc int) {
	if !it.lateralOnly || it.lateralOK {
		return
	}
	e := s.err(loc, pgerr.InvalidColumnReference, "invalid reference to FROM-clause entry for table \"%s\"", it.name)
	if s.target != nil && s.target.rte == it.rte {
		raise(e.WithHint("There is an entry for table \"%s\", but it cannot be referenced from this part of the query.", it.name))
	}
	raise(e.WithDetail("The combining JOIN type must be INNER or LEFT for a LATERAL reference."))
}

// columnNamed finds an unqualified column, innermost level first. Follows colNameToVar.
func (s *state) columnNamed(name string, loc int) Expr { return s.columnNamedIn(name, false, loc) }

func (s *state) columnNamedIn(name string, localOnly bool, loc int) Expr {
	level := 0
	for st := s; st != nil; st = st.parent {
		var result Expr
		for _, it := range st.namespace {
			if !it.colsVisible || it.lateralOnly && !st.lateralActive {
				continue
			}
			e := s.scanItem(it, level, name, loc)
			if e == nil {
				continue
			}
			if result != nil {
				raise(s.err(loc, pgerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", name))
			}
			st.checkLateral(it, loc)
			result = e
		}
		if result != nil || localOnly {
			return result
		}
		level++
	}
	return nil
}

// scanItem finds a column of an item, system columns included. Follows scanNSItemForColumn.
func (s *state) scanItem(it *nsItem, level int, name string, loc int) Expr {
	found := -1
	for i := range it.cols {
		if it.cols[i].name != name || it.cols[i].name == "" {
			continue
		}
		if found >= 0 {
			raise(s.err(loc, pgerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", name))
		}
		found = i
	}
	if found >= 0 {
		c := &it.cols[found]
		if c.dropped {
			raise(s.err(loc, pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, it.name))
		}
		return s.nsVar(c, level, loc)
	}
	if it.rte.Kind != RTERelation || it.rte.NoSystemColumns || it.rte.Relation.Kind == catalog.KindComposite {
		return nil
	}
	col, ok := systemColumn(name)
	if !ok {
		return nil
	}
	if col.attno != attrTableOID {
		switch s.kind {
		case kindCheck:
			raise(s.err(loc, pgerr.InvalidColumnReference, "system column \"%s\" reference in check constraint is invalid", name))
		case kindGenerated:
			raise(s.err(loc, pgerr.InvalidColumnReference, "cannot use system column \"%s\" in column generation expression", name))
		}
	}
	v := &Var{Typed: NewTyped(col.typ, -1, 0, loc), RT: it.rt, Attno: col.attno, LevelsUp: level, SynRT: it.rt, SynAttno: col.attno}
	s.noteSelect(v)
	return v
}

// nsVar is the Var of a column.
func (s *state) nsVar(c *nsColumn, level, loc int) *Var {
	v := &Var{
		Typed: NewTyped(c.typ, c.typmod, c.coll, loc), RT: c.rt, Attno: c.attno, LevelsUp: level,
		SynRT: c.synRT, SynAttno: c.synAttno,
	}
	s.noteSelect(v)
	return v
}

const attrTableOID = -6

// sysColumn is a column every table has.
type sysColumn struct {
	name  string
	attno int
	typ   types.OID
}

var sysColumns = [...]sysColumn{
	{"ctid", -1, types.Tid},
	{"xmin", -2, types.Xid},
	{"cmin", -3, types.Cid},
	{"xmax", -4, types.Xid},
	{"cmax", -5, types.Cid},
	{"tableoid", attrTableOID, types.Oid},
}

func systemColumn(name string) (sysColumn, bool) {
	for _, c := range sysColumns {
		if c.name == name {
			return c, true
		}
	}
	return sysColumn{}, false
}

// SystemColumnName is the name of a system column by its negative number, "" for others.
func SystemColumnName(attno int) string {
	if attno < 0 && -attno <= len(sysColumns) {
		return sysColumns[-attno-1].name
	}
	return ""
}

// noteSelect records that a column is read, for the check of privileges.
func (s *state) noteSelect(v *Var) {
	st := s.levelsUp(v.LevelsUp)
	if v.RT < 0 || v.RT >= len(st.rtable) {
		return
	}
	rte := st.rtable[v.RT]
	switch rte.Kind {
	case RTEJoin:
		if v.Attno > 0 && v.Attno <= len(rte.JoinVars) {
			st.noteSelectIn(rte.JoinVars[v.Attno-1])
		}
	default:
		if rte.Relation == nil && rte.View == nil {
			return
		}
		rte.Required |= aclSelect
		rte.SelectCols = addColumn(rte.SelectCols, v.Attno)
	}
}

func (s *state) noteSelectIn(e Expr) {
	walkExpr(e, func(n Expr) bool {
		if v, ok := n.(*Var); ok {
			s.noteSelect(v)
		}
		return true
	})
}

func addColumn(cols []int, attno int) []int {
	for _, c := range cols {
		if c == attno {
			return cols
		}
	}
	return append(cols, attno)
}

// The bits of RangeTableEntry.Required, those of PostgreSQL's AclMode.
const (
	aclInsert uint32 = 1 << 0
	aclSelect uint32 = 1 << 1
	aclUpdate uint32 = 1 << 2
	aclDelete uint32 = 1 << 3
)

// wholeRow is the row of an item as one value. Follows transformWholeRowRef and makeWholeRowVar.
func (s *state) wholeRow(it *nsItem, level, loc int) Expr {
	rte := it.rte
	if it.usingAlias {
		return s.usingAliasRow(it, level, loc)
	}
	typ, attno := types.Record, 0
	typmod, coll := int32(-1), types.OID(0)
	switch {
	case rte.Relation != nil || rte.View != nil:
		rel := rte.Relation
		if rel == nil {
			rel = rte.View
		}
		if rel.Type == 0 {
			raise(s.err(loc, pgerr.WrongObjectType, "relation \"%s\" does not have a composite type", rel.Name))
		}
		typ = rel.Type
	case rte.Kind == RTEFunction && len(rte.Functions) == 1 && !rte.Ordinality:
		call := rte.Functions[0].Call
		if t := call.Type(); s.isRowType(t) {
			typ = t
		} else {
			typ, attno, typmod, coll = t, 1, -1, call.Collation()
		}
	}
	v := &Var{Typed: NewTyped(typ, typmod, coll, loc), RT: it.rt, Attno: attno, LevelsUp: level, SynRT: it.rt, SynAttno: attno}
	if rte.Kind == RTEJoin {
		for i := range it.cols {
			s.noteSelect(&Var{RT: it.cols[i].rt, Attno: it.cols[i].attno, LevelsUp: level})
		}
	} else {
		s.noteSelect(v)
	}
	return v
}

// usingAliasRow is a row of the merged columns of JOIN USING (...) AS alias.
func (s *state) usingAliasRow(it *nsItem, level, loc int) Expr {
	row := &RowExpr{Typed: NewTyped(types.Record, -1, 0, loc), Format: ImplicitCast}
	for i := range it.cols {
		row.Args = append(row.Args, s.nsVar(&it.cols[i], level, loc))
		row.Names = append(row.Names, it.cols[i].name)
	}
	return row
}

// expanded is a column of an item as a target.
type expanded struct {
	name string
	expr Expr
}

// expandItem gives every live column of entry rt.
func (s *state) expandItem(rt, level, loc int) []expanded {
	return s.expand(s.itemOf(rt), level, loc)
}

// expand gives the live columns of an item. Follows expandNSItemVars.
func (s *state) expand(it *nsItem, level, loc int) []expanded {
	var out []expanded
	for i := range it.cols {
		c := &it.cols[i]
		if c.dropped || c.dontExpand {
			continue
		}
		out = append(out, expanded{name: c.name, expr: s.nsVar(c, level, loc)})
	}
	return out
}

// missingTable reports a qualifier that names nothing. Follows errorMissingRTE.
func (s *state) missingTable(schema, name string, loc int) {
	rte := s.searchTables(schema, name)
	if rte != nil && rte.HasAlias && rte.Alias != name {
		if it, _ := s.itemNamed("", rte.Alias, loc); it != nil && it.rte == rte {
			raise(s.err(loc, pgerr.UndefinedTable, "invalid reference to FROM-clause entry for table \"%s\"", name).
				WithHint("Perhaps you meant to reference the table alias \"%s\".", rte.Alias))
		}
	}
	if rte != nil {
		raise(s.err(loc, pgerr.UndefinedTable, "invalid reference to FROM-clause entry for table \"%s\"", name).
			WithHint("There is an entry for table \"%s\", but it cannot be referenced from this part of the query.", rte.Alias))
	}
	raise(s.err(loc, pgerr.UndefinedTable, "missing FROM-clause entry for table \"%s\"", name))
}

// searchTables looks through everything in FROM, visible or not. Follows searchRangeTableForRel.
func (s *state) searchTables(schema, name string) *RangeTableEntry {
	var cte *CTE
	cteLevel := 0
	rel := types.OID(0)
	if schema == "" {
		cte, cteLevel = s.findCTE(name)
	}
	if cte == nil {
		if r := s.findRelation(schema, name); r != nil {
			rel = r.OID
		}
	}
	level := 0
	for st := s; st != nil; st = st.parent {
		for _, rte := range st.rtable {
			switch {
			case rte.Kind == RTERelation && rel != 0 && rte.Relation.OID == rel,
				rte.View != nil && rel != 0 && rte.View.OID == rel,
				rte.Kind == RTECTE && cte != nil && rte.CTELevelsUp+level == cteLevel && rte.CTEName == name,
				rte.Alias == name:
				return rte
			}
		}
		level++
	}
	return nil
}

// missingColumn reports a column that is not there, with what may have been meant. Follows errorMissingColumn.
func (s *state) missingColumn(rel, name string, loc int) {
	e := s.err(loc, pgerr.UndefinedColumn, "column \"%s\" does not exist", name)
	if rel != "" {
		e = s.err(loc, pgerr.UndefinedColumn, "column %s.%s does not exist", rel, name)
	}
	f := s.searchColumn(rel, name, loc)
	switch {
	case f.second != nil:
		raise(e.WithHint("Perhaps you meant to reference the column \"%s.%s\" or the column \"%s.%s\".",
			f.first.Alias, f.firstName, f.second.Alias, f.secondName))
	case f.first != nil && f.firstName != "":
		raise(e.WithHint("Perhaps you meant to reference the column \"%s.%s\".", f.first.Alias, f.firstName))
	case f.first != nil:
		raise(e.WithHint("There is a column named \"%s\" in table \"%s\", but it cannot be referenced from this part of the query.",
			name, f.first.Alias))
	}
	raise(e)
}

// maxFuzzyDistance is how many edits away a suggestion may be.
const maxFuzzyDistance = 3

// fuzzy are the nearest columns found: firstName is empty where the name is exact but the column out of reach.
type fuzzy struct {
	distance              int
	first, second         *RangeTableEntry
	firstName, secondName string
}

// searchColumn follows searchRangeTableForCol.
func (s *state) searchColumn(rel, name string, loc int) fuzzy {
	f := fuzzy{distance: maxFuzzyDistance + 1}
	for st := s; st != nil; st = st.parent {
		for _, rte := range st.rtable {
			if rte.Kind == RTEJoin {
				continue
			}
			penalty := 0
			if rel != "" {
				penalty = levenshtein(rel, rte.Alias, maxFuzzyDistance+1)
			}
			exact := false
			for i := range rte.Columns {
				col := rte.Columns[i].Name
				if rte.Columns[i].Dropped {
					continue
				}
				if col == name {
					if exact {
						raise(s.err(loc, pgerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", name))
					}
					exact = true
				}
				f.update(penalty, rte, col, name)
			}
			if !exact && rte.Kind == RTERelation && !rte.NoSystemColumns && rte.Relation.Kind != catalog.KindComposite {
				_, exact = systemColumn(name)
			}
			if exact && penalty == 0 {
				return fuzzy{first: rte}
			}
		}
	}
	return f
}

// update follows updateFuzzyAttrMatchState.
func (f *fuzzy) update(penalty int, rte *RangeTableEntry, actual, match string) {
	if penalty > f.distance || actual == "" {
		return
	}
	d := levenshtein(actual, match, f.distance+1-penalty)
	if d > len(match)/2 {
		return
	}
	d += penalty
	switch {
	case d < f.distance:
		*f = fuzzy{distance: d, first: rte, firstName: actual}
	case d == f.distance:
		switch {
		case f.second != nil:
			*f = fuzzy{distance: d - 1}
		case f.first != nil:
			f.second, f.secondName = rte, actual
		case f.distance <= maxFuzzyDistance:
			f.first, f.firstName = rte, actual
		}
	}
}

// levenshtein is the number of edits between two names, more than limit if they are further apart than that.
func levenshtein(x, y string, limit int) int {
	a, b := []rune(x), []rune(y)
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit+1)
}
