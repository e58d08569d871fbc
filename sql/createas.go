package sql

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/ddl"
	"github.com/minipg/minipg/sql/exec"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// selectInto carries out SELECT ... INTO, which is CREATE TABLE AS written otherwise.
func (u *utility) selectInto(n *pg_query.Node) (string, error) {
	return u.createTableAs(selectIntoAs(n))
}

// selectIntoAs is the CREATE TABLE AS that SELECT ... INTO stands for, nil for a SELECT without INTO.
func selectIntoAs(n *pg_query.Node) *pg_query.CreateTableAsStmt {
	leftmost := func(n *pg_query.Node) *pg_query.SelectStmt {
		left := n.GetSelectStmt()
		for left.GetLarg() != nil {
			left = left.Larg
		}
		return left
	}
	if leftmost(n).GetIntoClause() == nil {
		return nil
	}
	query := proto.Clone(n).(*pg_query.Node) // parsed texts are shared
	left := leftmost(query)
	into := left.IntoClause
	left.IntoClause = nil
	return &pg_query.CreateTableAsStmt{Query: query, Into: into, Objtype: pg_query.ObjectType_OBJECT_TABLE}
}

// createAsOf splits a statement to explain into its query and, where that is to make a table, the statement itself.
func (u *utility) createAsOf(n *pg_query.Node) (*pg_query.Node, *pg_query.CreateTableAsStmt) {
	create := n.GetCreateTableAsStmt()
	if n.GetSelectStmt() != nil {
		create = selectIntoAs(n)
	}
	if create == nil || create.Objtype != pg_query.ObjectType_OBJECT_TABLE {
		return n, nil
	}
	return create.Query, create
}

// createTableAs carries out CREATE TABLE AS.
func (u *utility) createTableAs(n *pg_query.CreateTableAsStmt) (string, error) {
	const command = "CREATE TABLE AS"
	if n.Objtype != pg_query.ObjectType_OBJECT_TABLE {
		return "", pgerr.New(pgerr.FeatureNotSupported, "materialized views are not supported")
	}
	c, params, err := u.createAsQuery(n.Query)
	if err != nil {
		return "", err
	}
	rel, err := u.newTable(n, c)
	if err != nil || rel == nil || n.Into.SkipData {
		return command, err
	}
	rows, err := u.fill(rel, c, params)
	return countTag("SELECT", rows), err
}

// newTable makes the table for the rows of a query, nil where there is one already and that is no fault.
func (u *utility) newTable(n *pg_query.CreateTableAsStmt, c *compiled) (*catalog.Relation, error) {
	out := c.prog.Plan().Columns
	cols := make([]ddl.NewColumn, len(out))
	for i, o := range out {
		cols[i] = ddl.NewColumn{Name: o.Name, Type: o.Type, Typmod: o.Typmod}
	}
	return ddl.CreateTableAs(u.s.ddlEnv(u.ctx), n.Into, cols, n.IfNotExists)
}

// createAsQuery compiles the query, or finds that of EXECUTE.
func (u *utility) createAsQuery(query *pg_query.Node) (*compiled, []types.Datum, error) {
	s := u.s
	if ex := query.GetExecuteStmt(); ex != nil {
		p, err := s.statement(ex.Name)
		if err != nil {
			return nil, nil, err
		}
		if p.c == nil || p.c.tag != commandTags[analyze.Select] {
			return nil, nil, pgerr.New(pgerr.WrongObjectType, "prepared statement is not a SELECT")
		}
		if err := s.freshen(u.ctx, p); err != nil {
			return nil, nil, err
		}
		params, err := u.executeParams(p, ex.Params)
		return p.c, params, err
	}
	if !hasPlan(query) {
		return nil, nil, unsupported(query)
	}
	c, err := s.compile(u.ctx, query, u.text, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	_, err = s.lockAll(u.ctx, c)
	return c, nil, err
}

// fillBatch is how many rows are inserted at once.
const fillBatch = 1000

// tableSink inserts the rows of a program into a table.
type tableSink struct {
	u     *utility
	table *engine.Table
	opts  engine.InsertOptions
	rows  [][]types.Datum
	tids  []engine.TID
	total int64
}

// fill runs a query into a table that this transaction made.
func (u *utility) fill(rel *catalog.Relation, c *compiled, params []types.Datum) (int64, error) {
	s := u.s
	sink, err := u.tableSink(rel)
	if err != nil {
		return 0, err
	}
	st := exec.ExecState{Session: s.eng, Fn: &s.fn, Clock: s.srv.now, Temp: s.state0.Temp, Params: params}
	s.prepareState(&st)
	s.block.used = true
	st.Snapshot = s.eng.TakeSnapshot()
	defer s.eng.ReleaseSnapshot(st.Snapshot)
	if _, err := c.prog.Run(u.ctx, &st, sink); err != nil {
		return 0, err
	}
	return sink.total, sink.flush()
}

// tableSink inserts into a table that this transaction made.
func (u *utility) tableSink(rel *catalog.Relation) (*tableSink, error) {
	s := u.s
	s.eng.Tx().CommandCounterIncrement()
	t, err := s.eng.OpenTable(u.ctx, rel)
	if err != nil {
		return nil, err
	}
	sink := &tableSink{u: u, table: t}
	sink.opts = engine.InsertOptions{SkipFSM: true, Ring: s.srv.eng.Pool().NewRing(storage.RingBulkWrite)}
	return sink, nil
}

// Batch takes rows.
func (t *tableSink) Batch(b *types.Batch) error {
	rows := b.Rows()
	n := len(t.table.Rel().Attrs)
	for k := range rows.Len() {
		row := make([]types.Datum, n)
		for c := range n {
			row[c] = b.Cols[c].Datum(rows.At(k)).Clone()
		}
		t.rows = append(t.rows, row)
		t.total++
		if len(t.rows) == fillBatch {
			if err := t.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tableSink) flush() error {
	if len(t.rows) == 0 {
		return nil
	}
	var err error
	t.tids, err = t.table.InsertBatch(t.u.ctx, t.u.s.eng, t.rows, t.tids[:0], t.opts)
	t.rows = t.rows[:0]
	return err
}
