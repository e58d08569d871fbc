package sql

import (
	"context"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/pgerr"
)

// txState is where the session stands between statements.
type txState uint8

const (
	txIdle     txState = iota
	txImplicit         // a transaction that ends with the message, or at Sync
	txBlock            // BEGIN was given
	txFailed           // in a block, after an error
)

// blockState is what a transaction block carries besides the engine's transaction.
type blockState struct {
	isolation  engine.Isolation
	readOnly   bool
	deferrable bool
	used       bool // a statement ran that takes a snapshot
	savepoints []string
	marks      []int // of the settings, one a savepoint
	statements int   // of the message being answered, or since Sync
	start      time.Time
}

// TxStatus is the status byte of ReadyForQuery: I, T or E.
func (s *Session) TxStatus() byte {
	switch s.state {
	case txBlock:
		return 'T'
	case txFailed:
		return 'E'
	}
	return 'I'
}

// startTransaction opens the engine's transaction.
func (s *Session) startTransaction() error {
	now := s.fn.StmtStart
	s.block = blockState{
		isolation: s.defaultIsolation(), readOnly: s.defaultReadOnly(), start: now, savepoints: s.block.savepoints[:0], marks: s.block.marks[:0],
		statements: s.block.statements,
	}
	if err := s.checkIsolation(s.block.isolation); err != nil {
		return err
	}
	s.fn.TxStart = now
	s.env.Now = now
	return s.eng.Begin(s.txOptions())
}

func (s *Session) txOptions() engine.TxOptions {
	return engine.TxOptions{Isolation: s.block.isolation, ReadOnly: s.block.readOnly}
}

func (s *Session) checkIsolation(level engine.Isolation) error {
	if level == engine.Serializable {
		return pgerr.New(pgerr.FeatureNotSupported, "transaction isolation level SERIALIZABLE is not supported").
			WithHint("Use REPEATABLE READ.")
	}
	return nil
}

// ensureTransaction opens an implicit transaction unless one is open.
func (s *Session) ensureTransaction() error {
	if s.state != txIdle {
		return nil
	}
	if err := s.startTransaction(); err != nil {
		return err
	}
	s.state = txImplicit
	return nil
}

// commitTransaction commits what is open. After an error nothing is open.
func (s *Session) commitTransaction(ctx context.Context) error {
	if err := s.beforeCommit(ctx); err != nil {
		s.abortTransaction()
		return err
	}
	s.closePortals()
	err := s.eng.Commit(ctx, s.asyncCommit())
	s.state = txIdle
	if err != nil {
		s.set.Abort()
		s.settingsChanged()
		return err
	}
	s.set.Commit()
	s.settingsChanged()
	s.afterCommit()
	return nil
}

// abortTransaction rolls back what is open.
func (s *Session) abortTransaction() {
	s.closePortals()
	if s.eng.InTransaction() {
		s.eng.Abort(context.WithoutCancel(s.ctx))
	}
	s.set.Abort()
	s.state = txIdle
	s.afterAbort()
	s.forgetOnCommit()
	s.settingsChanged()
}

// failTransaction is called after an error: an implicit transaction ends, a block is failed.
func (s *Session) failTransaction() {
	switch s.state {
	case txIdle:
		s.srv.metrics.Rollbacks.AddAt(s.hint(), 1) // PostgreSQL has a transaction open already; the engine counts its own
	case txImplicit:
		s.abortTransaction()
	case txBlock:
		s.state = txFailed
		s.dropPortalsOfFailed()
		if n := len(s.block.savepoints); n > 0 {
			name := s.block.savepoints[n-1]
			if err := s.eng.RollbackTo(context.WithoutCancel(s.ctx), name); err == nil {
				s.set.RollbackTo(s.block.marks[n-1])
				s.settingsChanged()
				return
			}
		}
		s.eng.Abort(context.WithoutCancel(s.ctx))
		s.set.Abort()
		s.settingsChanged()
		s.block.savepoints = s.block.savepoints[:0]
	}
}

// transactionStmt carries out BEGIN, COMMIT, SAVEPOINT and their kin.
func (s *Session) transactionStmt(ctx context.Context, n *pg_query.TransactionStmt) (string, error) {
	switch n.Kind {
	case pg_query.TransactionStmtKind_TRANS_STMT_BEGIN, pg_query.TransactionStmtKind_TRANS_STMT_START:
		return s.beginBlock(n)
	case pg_query.TransactionStmtKind_TRANS_STMT_COMMIT:
		return s.commitBlock(ctx, n.Chain)
	case pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		return s.rollbackBlock(n.Chain)
	case pg_query.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		return "SAVEPOINT", s.savepoint(n.SavepointName)
	case pg_query.TransactionStmtKind_TRANS_STMT_RELEASE:
		return "RELEASE", s.releaseSavepoint(ctx, n.SavepointName)
	case pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		return "ROLLBACK", s.rollbackTo(ctx, n.SavepointName)
	}
	return "", pgerr.New(pgerr.FeatureNotSupported, "prepared transactions are not supported")
}

func (s *Session) beginBlock(n *pg_query.TransactionStmt) (string, error) {
	tag := "BEGIN"
	if n.Kind == pg_query.TransactionStmtKind_TRANS_STMT_START {
		tag = "START TRANSACTION"
	}
	switch s.state {
	case txBlock:
		s.notice(pgerr.Notice(pgerr.SeverityWarning, pgerr.ActiveSQLTransaction, "there is already a transaction in progress"))
	case txIdle:
		if err := s.startTransaction(); err != nil {
			return "", err
		}
	}
	s.state = txBlock
	for _, opt := range n.Options {
		if err := s.transactionOption(opt.GetDefElem()); err != nil {
			return "", err
		}
	}
	return tag, nil
}

// transactionOption applies ISOLATION LEVEL, READ ONLY and DEFERRABLE to the open transaction.
func (s *Session) transactionOption(d *pg_query.DefElem) error {
	value := d.Arg.GetAConst()
	switch d.Defname {
	case "transaction_isolation":
		return s.setIsolation(value.GetSval().GetSval())
	case "transaction_read_only":
		return s.setReadOnly(value.GetIval().GetIval() != 0)
	case "transaction_deferrable":
		s.block.deferrable = value.GetIval().GetIval() != 0
		return nil
	}
	return pgerr.New(pgerr.SyntaxError, "unrecognized transaction option %q", d.Defname)
}

// parseIsolation reads the name of an isolation level.
func parseIsolation(name string) (engine.Isolation, bool) {
	switch name {
	case "read committed", "read uncommitted":
		return engine.ReadCommitted, true
	case "repeatable read":
		return engine.RepeatableRead, true
	case "serializable":
		return engine.Serializable, true
	}
	return 0, false
}

func (s *Session) setIsolation(name string) error {
	level, ok := parseIsolation(name)
	if !ok {
		return pgerr.New(pgerr.InvalidParameterValue, "invalid value for parameter \"transaction_isolation\": %q", name).
			WithHint("Available values: serializable, repeatable read, read committed, read uncommitted.")
	}
	if level != s.block.isolation {
		if s.block.used {
			return pgerr.New(pgerr.ActiveSQLTransaction, "SET TRANSACTION ISOLATION LEVEL must be called before any query")
		}
		if len(s.block.savepoints) > 0 {
			return pgerr.New(pgerr.ActiveSQLTransaction, "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction")
		}
	}
	if err := s.checkIsolation(level); err != nil {
		return err
	}
	s.block.isolation = level
	return s.eng.SetOptions(s.txOptions())
}

func (s *Session) setReadOnly(on bool) error {
	if !on && s.block.readOnly {
		if s.block.used {
			return pgerr.New(pgerr.ActiveSQLTransaction, "transaction read-write mode must be set before any query")
		}
		if len(s.block.savepoints) > 0 {
			return pgerr.New(pgerr.ActiveSQLTransaction, "cannot set transaction read-write mode inside a read-only transaction")
		}
	}
	s.block.readOnly = on
	return s.eng.SetOptions(s.txOptions())
}

func (s *Session) commitBlock(ctx context.Context, chain bool) (string, error) {
	opts := s.block
	switch s.state {
	case txBlock:
		if err := s.commitTransaction(ctx); err != nil {
			return "", err
		}
		return "COMMIT", s.chainTransaction(chain, opts)
	case txFailed:
		s.abortTransaction()
		return "ROLLBACK", s.chainTransaction(chain, opts)
	}
	if chain {
		return "", pgerr.New(pgerr.NoActiveSQLTransaction, "COMMIT AND CHAIN can only be used in transaction blocks")
	}
	s.notice(pgerr.Notice(pgerr.SeverityWarning, pgerr.NoActiveSQLTransaction, "there is no transaction in progress"))
	return "COMMIT", nil
}

func (s *Session) rollbackBlock(chain bool) (string, error) {
	opts := s.block
	switch s.state {
	case txBlock, txFailed:
		s.abortTransaction()
		return "ROLLBACK", s.chainTransaction(chain, opts)
	}
	if chain {
		return "", pgerr.New(pgerr.NoActiveSQLTransaction, "ROLLBACK AND CHAIN can only be used in transaction blocks")
	}
	s.notice(pgerr.Notice(pgerr.SeverityWarning, pgerr.NoActiveSQLTransaction, "there is no transaction in progress"))
	if s.state == txImplicit {
		s.abortTransaction()
	}
	return "ROLLBACK", nil
}

// chainTransaction opens the next block with the options of the one that ended.
func (s *Session) chainTransaction(chain bool, opts blockState) error {
	if !chain {
		return nil
	}
	if err := s.startTransaction(); err != nil {
		return err
	}
	s.state = txBlock
	s.block.isolation, s.block.readOnly, s.block.deferrable = opts.isolation, opts.readOnly, opts.deferrable
	return s.eng.SetOptions(s.txOptions())
}

func (s *Session) inBlock(command string) error {
	if s.state == txBlock || s.state == txFailed {
		return nil
	}
	return pgerr.New(pgerr.NoActiveSQLTransaction, "%s can only be used in transaction blocks", command)
}

func (s *Session) savepoint(name string) error {
	if err := s.inBlock("SAVEPOINT"); err != nil {
		return err
	}
	if err := s.eng.Savepoint(name); err != nil {
		return err
	}
	s.block.savepoints = append(s.block.savepoints, name)
	s.block.marks = append(s.block.marks, s.set.Mark())
	return nil
}

// findSavepoint returns the position of the innermost savepoint of that name.
func (s *Session) findSavepoint(name string) (int, error) {
	for i := len(s.block.savepoints) - 1; i >= 0; i-- {
		if s.block.savepoints[i] == name {
			return i, nil
		}
	}
	return 0, pgerr.New(pgerr.SEInvalidSpecification, "savepoint %q does not exist", name)
}

func (s *Session) releaseSavepoint(ctx context.Context, name string) error {
	if err := s.inBlock("RELEASE SAVEPOINT"); err != nil {
		return err
	}
	i, err := s.findSavepoint(name)
	if err != nil {
		return err
	}
	if err := s.eng.Release(ctx, name); err != nil {
		return err
	}
	s.block.savepoints, s.block.marks = s.block.savepoints[:i], s.block.marks[:i]
	s.reparentPortals(i)
	return nil
}

func (s *Session) rollbackTo(ctx context.Context, name string) error {
	if err := s.inBlock("ROLLBACK TO SAVEPOINT"); err != nil {
		return err
	}
	i, err := s.findSavepoint(name)
	if err != nil {
		return err
	}
	s.closePortalsFrom(i + 1)
	if err := s.eng.RollbackTo(ctx, name); err != nil {
		return err
	}
	s.set.RollbackTo(s.block.marks[i])
	s.block.savepoints, s.block.marks = s.block.savepoints[:i+1], s.block.marks[:i+1]
	s.state = txBlock
	s.settingsChanged()
	s.afterAbort()
	return nil
}

// preventInBlock refuses commands that cannot be part of a transaction.
func (s *Session) preventInBlock(command string) error {
	if s.state == txBlock {
		return pgerr.New(pgerr.ActiveSQLTransaction, "%s cannot run inside a transaction block", command)
	}
	if s.block.statements > 1 {
		return pgerr.New(pgerr.ActiveSQLTransaction, "%s cannot run inside a transaction block", command)
	}
	return nil
}

var errFailedBlock = pgerr.New(pgerr.InFailedSQLTransaction,
	"current transaction is aborted, commands ignored until end of transaction block")

// endsBlock tells whether a statement is allowed in a failed block.
func endsBlock(n *pg_query.Node) bool {
	t := n.GetTransactionStmt()
	if t == nil {
		return false
	}
	switch t.Kind {
	case pg_query.TransactionStmtKind_TRANS_STMT_COMMIT, pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK,
		pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO, pg_query.TransactionStmtKind_TRANS_STMT_PREPARE:
		return true
	}
	return false
}
