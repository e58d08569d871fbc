package sql

import (
	"context"
	"fmt"
	"strconv"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/parse"
	"github.com/minipg/minipg/types"
)

// utility is a utility statement on its way.
type utility struct {
	s    *Session
	ctx  context.Context //nolint:containedctx // lives as long as the statement
	w    ResultWriter
	text string
	stmt *parse.Stmt
	p    *portal // nil for a simple query
}

// runUtility runs a statement without a plan and sends its tag.
func (s *Session) runUtility(ctx context.Context, w ResultWriter, n *pg_query.Node, text string, stmt *parse.Stmt, p *portal) error {
	u := &utility{s: s, ctx: ctx, w: w, text: text, stmt: stmt, p: p}
	tag, err := u.run(n)
	if err != nil {
		return err
	}
	if s.state != txIdle && s.state != txFailed && s.eng.InTransaction() {
		s.eng.Tx().CommandCounterIncrement()
	}
	kind := metrics.StatementOther
	if n.GetCopyStmt() != nil {
		kind = metrics.StatementCopy
	}
	s.countStatement(kind, s.since)
	if tag != "" {
		w.CommandComplete([]byte(tag))
	}
	return nil
}

// run carries out the statement and returns its tag; "" if it was sent already.
func (u *utility) run(node *pg_query.Node) (string, error) {
	s := u.s
	if command, writes := writesCatalog(node); writes && s.block.readOnly {
		return "", readOnlyError(command)
	}
	switch n := node.GetNode().(type) {
	case *pg_query.Node_TransactionStmt:
		return s.transactionStmt(u.ctx, n.TransactionStmt)
	case *pg_query.Node_VariableSetStmt:
		return u.set(n.VariableSetStmt)
	case *pg_query.Node_VariableShowStmt:
		return u.show(n.VariableShowStmt)
	case *pg_query.Node_AlterSystemStmt:
		return u.alterSystem(n.AlterSystemStmt)
	case *pg_query.Node_DiscardStmt:
		return u.discard(n.DiscardStmt)
	case *pg_query.Node_PrepareStmt:
		return u.prepare(n.PrepareStmt)
	case *pg_query.Node_ExecuteStmt:
		return u.execute(n.ExecuteStmt)
	case *pg_query.Node_DeallocateStmt:
		return u.deallocate(n.DeallocateStmt)
	case *pg_query.Node_DeclareCursorStmt:
		return u.declare(n.DeclareCursorStmt)
	case *pg_query.Node_FetchStmt:
		return u.fetch(n.FetchStmt)
	case *pg_query.Node_ClosePortalStmt:
		return u.closeCursor(n.ClosePortalStmt)
	case *pg_query.Node_CopyStmt:
		return u.copy(n.CopyStmt)
	case *pg_query.Node_CreateTableAsStmt:
		return u.createTableAs(n.CreateTableAsStmt)
	case *pg_query.Node_SelectStmt:
		return u.selectInto(node)
	case *pg_query.Node_ExplainStmt:
		return u.explain(n.ExplainStmt)
	case *pg_query.Node_LockStmt:
		return u.lock(n.LockStmt)
	case *pg_query.Node_VacuumStmt:
		return u.vacuum(n.VacuumStmt)
	case *pg_query.Node_CheckPointStmt:
		return "CHECKPOINT", s.srv.eng.Checkpoint(u.ctx)
	case *pg_query.Node_ConstraintsSetStmt:
		return "SET CONSTRAINTS", s.setConstraints(n.ConstraintsSetStmt)
	case *pg_query.Node_ListenStmt, *pg_query.Node_NotifyStmt, *pg_query.Node_UnlistenStmt:
		return u.listen()
	}
	return u.ddl(node)
}

func (u *utility) listen() (string, error) {
	if u.stmt != nil && u.stmt.Node.GetUnlistenStmt() != nil {
		return "UNLISTEN", nil // there is nothing to stop listening to
	}
	return "", pgerr.New(pgerr.FeatureNotSupported, "LISTEN and NOTIFY are not supported")
}

// unsupported names a statement minipg does not have.
func unsupported(n *pg_query.Node) error {
	return pgerr.New(pgerr.FeatureNotSupported, "%s is not supported", statementName(n))
}

// statementName is the command of a statement as PostgreSQL names it, from its node's type.
func statementName(n *pg_query.Node) string {
	switch n.GetNode().(type) {
	case *pg_query.Node_CreateStmt:
		return "CREATE TABLE"
	case *pg_query.Node_IndexStmt:
		return "CREATE INDEX"
	case *pg_query.Node_CreateTableAsStmt:
		return "CREATE TABLE AS"
	case *pg_query.Node_SelectStmt:
		return "SELECT INTO"
	case *pg_query.Node_CreateSeqStmt:
		return "CREATE SEQUENCE"
	case *pg_query.Node_AlterSeqStmt:
		return "ALTER SEQUENCE"
	case *pg_query.Node_CreatedbStmt:
		return "CREATE DATABASE"
	case *pg_query.Node_DropdbStmt:
		return "DROP DATABASE"
	case *pg_query.Node_ViewStmt:
		return "CREATE VIEW"
	case *pg_query.Node_TruncateStmt:
		return "TRUNCATE TABLE"
	}
	name := fmt.Sprintf("%T", n.GetNode())
	const prefix = "*pg_query.Node_"
	name = name[min(len(prefix), len(name)):]
	var out []byte
	for i := range len(name) {
		if c := name[i]; i > 0 && c >= 'A' && c <= 'Z' {
			out = append(out, ' ')
		}
		out = append(out, name[i])
	}
	text := string(out)
	if len(text) > 5 && text[len(text)-5:] == " Stmt" {
		text = text[:len(text)-5]
	}
	return upper(text)
}

func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// writesCatalog tells which utility statements a read-only transaction refuses.
func writesCatalog(n *pg_query.Node) (command string, writes bool) {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_TransactionStmt, *pg_query.Node_VariableSetStmt, *pg_query.Node_VariableShowStmt,
		*pg_query.Node_DiscardStmt, *pg_query.Node_PrepareStmt, *pg_query.Node_ExecuteStmt, *pg_query.Node_DeallocateStmt,
		*pg_query.Node_DeclareCursorStmt, *pg_query.Node_FetchStmt, *pg_query.Node_ClosePortalStmt,
		*pg_query.Node_ExplainStmt, *pg_query.Node_CheckPointStmt, *pg_query.Node_ConstraintsSetStmt,
		*pg_query.Node_AlterSystemStmt, *pg_query.Node_ListenStmt, *pg_query.Node_UnlistenStmt,
		*pg_query.Node_VacuumStmt, *pg_query.Node_LockStmt, *pg_query.Node_LoadStmt:
		return "", false
	case *pg_query.Node_CopyStmt:
		return "COPY FROM", n.CopyStmt.IsFrom
	}
	return statementName(n), true
}

// utilityColumns are the result columns of a utility statement.
func (s *Session) utilityColumns(ctx context.Context, n *pg_query.Node) ([]Column, error) {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_VariableShowStmt:
		return s.showColumns(n.VariableShowStmt), nil
	case *pg_query.Node_ExplainStmt:
		return explainColumns(n.ExplainStmt), nil
	case *pg_query.Node_ExecuteStmt:
		p, err := s.statement(n.ExecuteStmt.Name)
		if err != nil {
			return nil, err
		}
		return p.cols, nil
	case *pg_query.Node_FetchStmt:
		if p, ok := s.portals[n.FetchStmt.Portalname]; ok && !n.FetchStmt.Ismove {
			return p.cols, nil
		}
	}
	return nil, nil
}

// outputColumns are the columns to send: those of the portal, whose formats Bind chose, if there is one.
func (u *utility) outputColumns(cols []Column) []Column {
	if u.p != nil && len(u.p.cols) == len(cols) {
		return u.p.cols
	}
	return cols
}

// begin announces result rows; in the extended protocol Describe did that.
func (u *utility) begin(cols []Column) []Column {
	cols = u.outputColumns(cols)
	if u.p == nil {
		u.w.RowDescription(cols)
	}
	return cols
}

// textRows sends rows of text values.
func (u *utility) textRows(cols []Column, rows [][]string) error {
	u.begin(cols)
	values := make([][]byte, len(cols))
	for _, r := range rows {
		for i, v := range r {
			values[i] = []byte(v)
		}
		if err := u.w.DataRow(values); err != nil {
			return err
		}
	}
	return nil
}

func textColumn(name string) Column {
	return Column{Name: name, Type: types.Text, Len: -1, Typmod: -1}
}

func countTag(command string, n int64) string { return command + " " + strconv.FormatInt(n, 10) }
