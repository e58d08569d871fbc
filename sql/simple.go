package sql

import (
	"context"
	"strconv"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"go.uber.org/zap"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/sql/parse"
	"github.com/minipg/minipg/types"
)

// Query answers a simple query message: every statement in text, in one transaction
// unless they say otherwise. An error it returns is for an ErrorResponse.
func (s *Session) Query(w ResultWriter, text string) (err error) {
	ctx := s.begin(w)
	s.activity.running(s, text)
	defer s.end()
	defer s.recoverBug(&err)
	s.startTimer()
	if err := s.query(ctx, w, text); err != nil {
		return s.fail(ctx, err)
	}
	return nil
}

// fail is called with the error that ended a message.
func (s *Session) fail(ctx context.Context, err error) error {
	s.srv.metrics.StatementErrors.Inc()
	e := s.failure(ctx, err)
	s.failTransaction()
	return e
}

// recoverBug turns a failed assertion into the end of this session alone.
func (s *Session) recoverBug(err *error) {
	r := recover()
	if r == nil {
		return
	}
	s.log.Error("bug", zap.Any("panic", r), zap.Stack("stack"))
	message := "unexpected failure"
	if f, ok := r.(assert.Failure); ok {
		message = f.Error()
	} else if e, ok := r.(error); ok {
		message = e.Error()
	} else if text, ok := r.(string); ok {
		message = text
	}
	*err = pgerr.Fatal(pgerr.InternalError, "%s", message)
}

func (s *Session) query(ctx context.Context, w ResultWriter, text string) error {
	s.dropUnnamed()
	s.block.statements = 1
	if s.state != txFailed {
		done, err := s.queryCached(ctx, w, text)
		if err != nil || done {
			return err
		}
	}
	stmts, err := s.parseText(text)
	if err != nil {
		return err
	}
	if len(stmts) == 0 {
		w.EmptyQuery()
		return nil
	}
	s.block.statements = len(stmts)
	for i := range stmts {
		if err := s.queryStatement(ctx, w, text, &stmts[i], len(stmts) > 1); err != nil {
			return err
		}
	}
	return s.finishImplicit(ctx)
}

// Bounds of what a session remembers of parsed texts.
const (
	maxParsedText  = 80
	maxParsedTexts = 64
)

// parseText parses text, remembering short ones: BEGIN, END and their like come again and again.
func (s *Session) parseText(text string) ([]parse.Stmt, error) {
	if len(text) > maxParsedText {
		return parse.Parse(text)
	}
	if stmts, ok := s.parsed[text]; ok {
		return stmts, nil
	}
	stmts, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	if s.parsed == nil || len(s.parsed) >= maxParsedTexts {
		s.parsed = make(map[string][]parse.Stmt)
	}
	s.parsed[text] = stmts
	return stmts, nil
}

func (s *Session) finishImplicit(ctx context.Context) error {
	if s.state == txImplicit {
		return s.commitTransaction(ctx)
	}
	return nil
}

// queryCached runs a single statement whose plan is, or can be, in the cache.
func (s *Session) queryCached(ctx context.Context, w ResultWriter, text string) (done bool, err error) {
	if len(text) > maxCachedText || !s.lift.Lift(text, s.standardStrings()) || !plannable(s.lift.Key) {
		return false, nil
	}
	if err := s.ensureTransaction(); err != nil {
		return false, err
	}
	for range maxReplans {
		c, err := s.cachedPlan(ctx, text)
		if err != nil {
			return false, err
		}
		if c == nil || !s.bindLiterals(c, text) {
			return false, nil
		}
		valid, err := s.lockAll(ctx, c)
		if err != nil {
			return false, err
		}
		if !valid {
			continue
		}
		if err := s.runToEnd(ctx, w, c, s.literals[:c.lifted]); err != nil {
			return false, err
		}
		return true, s.finishImplicit(ctx)
	}
	return false, nil
}

// runToEnd runs a compiled statement and sends its rows and its tag.
func (s *Session) runToEnd(ctx context.Context, w ResultWriter, c *compiled, lifted []types.Datum) error {
	if err := s.checkWrite(c); err != nil {
		return err
	}
	s.block.used = true
	if c.rows {
		w.RowDescription(c.cols)
	}
	cols := c.cols
	if !c.rows {
		cols = nil
	}
	s.sink.reset(w, cols, &s.env)
	st := &s.state0
	st.Lifted, st.Params = lifted, nil
	s.prepareState(st)
	st.Snapshot = s.eng.TakeSnapshot()
	n, err := c.prog.Run(ctx, st, &s.sink)
	s.eng.ReleaseSnapshot(st.Snapshot)
	if err != nil {
		return err
	}
	s.statementEnd(c.kind, s.since)
	s.tag = strconv.AppendInt(append(s.tag[:0], c.tag...), n, 10)
	w.CommandComplete(s.tag)
	return nil
}

// arrive reads the clock for a message that may begin statements or a transaction. As in PostgreSQL all its statements
// have that time.
func (s *Session) arrive() time.Time {
	now := s.srv.now()
	s.fn.StmtStart, s.since = now, now
	return now
}

// hint spreads the sessions' counts over the stripes of a counter.
func (s *Session) hint() uint32 { return uint32(s.opts.PID) }

func (s *Session) statementEnd(kind int, start time.Time) {
	s.eng.Tx().CommandCounterIncrement()
	s.countStatement(kind, start)
}

// countStatement counts the time from start to now, when the message's next statement begins.
func (s *Session) countStatement(kind int, start time.Time) {
	if metrics.Counting {
		s.since = s.srv.now()
		s.srv.metrics.StatementSeconds[kind].ObserveAt(s.hint(), s.since.Sub(start).Seconds())
	}
}

// checkWrite refuses changes in a read-only transaction.
func (s *Session) checkWrite(c *compiled) error {
	if c.writes && s.block.readOnly {
		return readOnlyError(commandName(c))
	}
	return nil
}

func readOnlyError(command string) error {
	return pgerr.New(pgerr.ReadOnlySQLTransaction, "cannot execute %s in a read-only transaction", command)
}

func commandName(c *compiled) string {
	switch c.kind {
	case metrics.StatementInsert:
		return "INSERT"
	case metrics.StatementUpdate:
		return "UPDATE"
	case metrics.StatementDelete:
		return "DELETE"
	}
	return "SELECT FOR UPDATE"
}

// queryStatement runs one statement of a simple query.
func (s *Session) queryStatement(ctx context.Context, w ResultWriter, text string, stmt *parse.Stmt, several bool) error {
	if s.state == txFailed && !endsBlock(stmt.Node) {
		return errFailedBlock
	}
	if !isTransactionControl(stmt.Node) {
		if err := s.ensureTransaction(); err != nil {
			return err
		}
	}
	s.startTimer()
	if !hasPlan(stmt.Node) {
		return s.runUtility(ctx, w, stmt.Node, text, stmt, nil)
	}
	for range maxReplans {
		c, err := s.compile(ctx, stmt.Node, text, nil, nil)
		if err != nil {
			return err
		}
		valid, err := s.lockAll(ctx, c)
		if err != nil {
			return err
		}
		if valid {
			return s.runToEnd(ctx, w, c, nil)
		}
	}
	return pgerr.New(pgerr.InternalError, "the catalog keeps changing")
}

// hasPlan tells SELECT, INSERT, UPDATE and DELETE from utility statements.
func hasPlan(n *pg_query.Node) bool {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_SelectStmt:
		return n.SelectStmt.IntoClause == nil
	case *pg_query.Node_InsertStmt, *pg_query.Node_UpdateStmt, *pg_query.Node_DeleteStmt:
		return true
	}
	return false
}

func isTransactionControl(n *pg_query.Node) bool {
	t := n.GetTransactionStmt()
	if t == nil {
		return false
	}
	switch t.Kind {
	case pg_query.TransactionStmtKind_TRANS_STMT_BEGIN, pg_query.TransactionStmtKind_TRANS_STMT_START,
		pg_query.TransactionStmtKind_TRANS_STMT_COMMIT, pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		return true
	}
	return false
}
