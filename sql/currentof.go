package sql

import (
	"context"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// rowMarks tell where the row a cursor is on lies in its tables, for WHERE CURRENT OF: the cursor's query yields ctids
// behind the columns that its client sees.
type rowMarks struct {
	locked bool // the query locks rows
	tables []types.OID
	first  int           // column of the first table's ctid
	last   []types.Datum // of the row passed last, where rows are not held
}

// markRows adds the ctids to a query.
func markRows(q *analyze.Query) rowMarks {
	m := rowMarks{locked: len(q.RowMarks) > 0}
	if q.Command != analyze.Select {
		return m
	}
	for _, t := range q.Targets {
		if !t.Junk {
			m.first++
		}
	}
	for _, rt := range markedTables(q) {
		ctid := &analyze.Var{Typed: analyze.Typed{Typ: types.Tid, Mod: -1, Loc: -1}, RT: rt, Attno: plan.CtidColumn}
		q.Targets = append(q.Targets, analyze.TargetEntry{Expr: ctid, Name: "ctid"})
		m.tables = append(m.tables, q.RTable[rt].Relation.OID)
	}
	return m
}

// markedTables are those whose rows are locked or, in a query that locks none, the one it is a plain scan of.
func markedTables(q *analyze.Query) []int {
	var tables []int
	for i := range q.RowMarks {
		if rt := q.RowMarks[i].RT; isTable(q, rt) {
			tables = append(tables, rt)
		}
	}
	if len(q.RowMarks) > 0 || len(q.From) != 1 || q.SetOp != nil || len(q.Group)+len(q.GroupingSets)+len(q.Distinct) > 0 ||
		q.HasAggs || q.HasWindows || q.HasTargetSRFs || q.Having != nil {
		return tables
	}
	if r, ok := q.From[0].(*analyze.RangeRef); ok && isTable(q, r.RT) {
		tables = append(tables, r.RT)
	}
	return tables
}

func isTable(q *analyze.Query, rt int) bool {
	r := q.RTable[rt].Relation
	return r != nil && r.Kind == catalog.KindTable && !r.System
}

// compileCursor compiles the query of a cursor.
func (s *Session) compileCursor(ctx context.Context, stmt *pg_query.Node, text string) (c *compiled, m rowMarks, err error) {
	c, err = s.compileWith(func() (*compiled, error) {
		ac := s.analyzeContext(ctx, nil)
		q, err := analyze.Analyze(ac, stmt, text, nil)
		if err != nil {
			return nil, err
		}
		m = markRows(q)
		return s.compileQuery(ctx, q, nil, ac, nil)
	})
	if err == nil {
		c.cols = c.cols[:len(c.cols)-len(m.tables)]
	}
	return c, m, err
}

// note keeps the marks of the last row of b.
func (m *rowMarks) note(b *types.Batch) {
	rows := b.Rows()
	if len(m.tables) == 0 || rows.Len() == 0 {
		return
	}
	m.last = m.last[:0]
	for i := range m.tables {
		m.last = append(m.last, b.Cols[m.first+i].Datum(rows.At(rows.Len()-1)).Clone())
	}
}

// currentOf finds the row of rel that a cursor is on. Follows execCurrentOf.
func (s *Session) currentOf(name string, rel *catalog.Relation) (engine.TID, bool, error) {
	none := engine.TID{}
	p, ok := s.portals[name]
	if !ok {
		return none, false, pgerr.New(pgerr.InvalidCursorName, "cursor \"%s\" does not exist", name)
	}
	fault := func(format string, args ...any) (engine.TID, bool, error) {
		return none, false, pgerr.New(pgerr.InvalidCursorState, "cursor \"%s\" "+format, append([]any{name}, args...)...)
	}
	switch {
	case p.c == nil || !p.c.rows || p.c.tag != commandTags[analyze.Select]:
		return fault("is not a SELECT query")
	case p.kept:
		return fault("is held from a previous transaction")
	case !p.declared:
		return none, false, pgerr.New(pgerr.FeatureNotSupported, "WHERE CURRENT OF a portal that DECLARE did not make is not supported")
	}
	at, found := -1, 0
	for i, table := range p.marks.tables {
		if table == rel.OID {
			at = i
			found++
		}
	}
	switch {
	case p.marks.locked && found == 0:
		return fault("does not have a FOR UPDATE/SHARE reference to table \"%s\"", rel.Name)
	case p.marks.locked && found > 1:
		return fault("has multiple FOR UPDATE/SHARE references to table \"%s\"", rel.Name)
	case !p.marks.locked && (found == 0 || !simpleScan(p.c.prog.Plan().Root)):
		return fault("is not a simply updatable scan of table \"%s\"", rel.Name)
	case p.position == 0 || p.atEnd:
		return fault("is not positioned on a row")
	}
	mark := p.marks.last
	if p.held != nil {
		b, err := p.held.Rows(p.position-1-p.heldFrom, 1)
		if err != nil || b == nil {
			return none, false, err
		}
		p.marks.note(b)
		mark = p.marks.last
	}
	if mark[at].Null {
		return none, false, nil
	}
	block, offset := mark[at].Tid()
	return engine.TID{Block: storage.BlockNumber(block), Offset: offset}, true, nil
}

// simpleScan tells whether a plan hands rows on as a scan of one table yields them. Follows search_plan_tree.
func simpleScan(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.SeqScan, *plan.IndexScan, *plan.BitmapScan, *plan.TidScan:
		return true
	case *plan.Result, *plan.Limit, *plan.SubqueryScan:
		in := n.Inputs()
		return len(in) == 1 && simpleScan(in[0])
	}
	return false
}
