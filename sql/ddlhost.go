package sql

import (
	"context"
	"slices"
	"strconv"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/ddl"
	"github.com/minipg/minipg/sql/exec"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// ddl carries out a statement that defines objects.
func (u *utility) ddl(n *pg_query.Node) (string, error) {
	if !ddl.Supports(n) {
		return "", unsupported(n)
	}
	env := u.s.ddlEnv(u.ctx)
	env.Text = u.text
	return ddl.Run(env, n)
}

func (s *Session) ddlEnv(ctx context.Context) *ddl.Env {
	return &ddl.Env{Ctx: ctx, Host: ddlHost{s}, Session: s.eng, Cat: s.eng.Catalog()}
}

// ddlHost is ddl.Host.
type ddlHost struct{ s *Session }

func (h ddlHost) AnalyzeContext(ctx context.Context) *analyze.Context {
	return h.s.analyzeContext(ctx, nil)
}

func (h ddlHost) SearchPath() []types.OID               { return h.s.searchPath() }
func (h ddlHost) CreationSchema() (types.OID, error)    { return h.s.creationSchema() }
func (h ddlHost) Schema(name string) (types.OID, error) { return h.s.schema(name) }
func (h ddlHost) Notice(e *pgerr.Error)                 { h.s.notice(e) }
func (h ddlHost) User() *catalog.Role                   { return h.s.role }
func (h ddlHost) LockOptions() locks.LockOptions        { return h.s.lockOptions() }
func (h ddlHost) PreventInBlock(command string) error   { return h.s.preventInBlock(command) }
func (h ddlHost) CheckSetting(name, value string) error { return h.s.set.Check(name, value) }
func (h ddlHost) TerminateDatabase(db types.OID)        { h.s.srv.TerminateDatabase(db, h.s) }

// DatabaseInUse counts other sessions, giving those that are just leaving some time, as PostgreSQL does.
func (h ddlHost) DatabaseInUse(db types.OID) int {
	const tries, pause = 50, 100 * time.Millisecond
	for range tries {
		n := h.s.srv.DatabaseInUse(db, h.s)
		if n == 0 {
			return 0
		}
		select {
		case <-h.s.cancel.ctx.Done():
			return n
		case <-time.After(pause):
		}
	}
	return h.s.srv.DatabaseInUse(db, h.s)
}

func (h ddlHost) TempSchema(ctx context.Context) (types.OID, error) {
	s := h.s
	if s.temp != 0 {
		return s.temp, nil
	}
	oid, err := ddl.MakeTempSchema(s.ddlEnv(ctx), "pg_temp_"+strconv.Itoa(int(s.opts.PID)))
	if err != nil {
		return 0, err
	}
	s.temp, s.tempNew = oid, true
	s.path.valid = false
	return oid, nil
}

// InSchema calls f with a schema in front of the search path.
func (h ddlHost) InSchema(name string, f func() error) error {
	s := h.s
	path, mark := catalog.QuoteIdent(name), s.set.Mark()
	old, err := s.set.Show("search_path")
	if err != nil {
		return err
	}
	if old != "" {
		path += ", " + old
	}
	if err := s.set.Set("search_path", path, settings.SetOptions{Local: true}); err != nil {
		return err
	}
	s.settingsChanged()
	err = f()
	s.set.RollbackTo(mark)
	s.settingsChanged()
	return err
}

// tempAction is the ON COMMIT of a temporary table.
type tempAction struct {
	table  types.OID
	action ddl.OnCommit
}

func (h ddlHost) OnCommit(table types.OID, action ddl.OnCommit) {
	h.s.onCommit = append(h.s.onCommit, tempAction{table, action})
}

// runOnCommit does what the temporary tables want done. A transaction that wrote nothing has left them as they were.
func (s *Session) runOnCommit(ctx context.Context) error {
	if len(s.onCommit) == 0 || !s.eng.Tx().HasXID() && !s.eng.Catalog().Changed() {
		return nil
	}
	env := s.ddlEnv(ctx)
	for _, a := range s.onCommit {
		if err := ddl.RunOnCommit(env, a.table, a.action); err != nil {
			return err
		}
	}
	return nil
}

// forgetOnCommit leaves out tables that are not there any more, when a transaction has ended.
func (s *Session) forgetOnCommit() {
	s.onCommit = slices.DeleteFunc(s.onCommit, func(a tempAction) bool {
		rel, err := s.eng.Catalog().RelationByOID(a.table)
		return err == nil && rel == nil
	})
}

func (h ddlHost) Evaluate(ctx context.Context, e analyze.Expr) (types.Datum, error) {
	return h.s.evaluate(ctx, e)
}

func (h ddlHost) RowFunc(ctx context.Context, rel *catalog.Relation, e analyze.Expr) (ddl.RowFunc, error) {
	ac := h.s.analyzeContext(ctx, nil)
	x, err := exec.CompileRowExpr(plan.RowExpr(e), h.s.execDeps(ctx, ac), rel)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, row []types.Datum) (types.Datum, error) {
		return x.EvalWith(ctx, &h.s.fn, h.s.eng, row)
	}, nil
}

// beforeCommit does what has to be done while the transaction can still fail.
func (s *Session) beforeCommit(ctx context.Context) error {
	if err := s.holdCursors(ctx); err != nil {
		return err
	}
	return s.runOnCommit(ctx)
}

// afterCommit and afterAbort settle whether the temporary schema made in the transaction exists.
func (s *Session) afterCommit() {
	s.tempNew = false
	s.forgetOnCommit()
}

func (s *Session) afterAbort() {
	if !s.tempNew {
		return
	}
	if ns, err := s.eng.Catalog().NamespaceByOID(s.temp); err == nil && ns != nil {
		return
	}
	s.temp, s.tempNew = 0, false
	s.path.valid = false
}

// dropTemp drops the session's temporary relations, in a transaction of its own unless one is open.
func (s *Session) dropTemp() {
	if s.temp == 0 {
		return
	}
	ctx := context.WithoutCancel(s.ctx)
	own := s.state == txIdle
	if own {
		if err := s.eng.Begin(engine.TxOptions{}); err != nil {
			return
		}
	}
	err := ddl.DropSchemaContents(s.ddlEnv(ctx), s.temp)
	if err != nil {
		s.log.Sugar().Warnf("temporary relations were not dropped: %v", err)
	}
	if !own {
		return
	}
	if err != nil {
		s.eng.Abort(ctx)
		return
	}
	if err := s.eng.Commit(ctx, true); err != nil {
		s.log.Sugar().Warnf("temporary relations were not dropped: %v", err)
	}
}

// rowChecker completes and checks the rows of COPY FROM.
type rowChecker struct {
	s       *Session
	checker *exec.RowChecker
	missing []columnDefault
	blank   []types.Datum
}

// columnDefault computes the default of a column COPY does not read.
type columnDefault struct {
	att int
	x   *exec.RowExpr
}

// newRowChecker prepares for rows in which atts (from 0) are given.
func (s *Session) newRowChecker(ctx context.Context, rel *catalog.Relation, atts []int) (*rowChecker, error) {
	ac := s.analyzeContext(ctx, nil)
	checks, generated, err := tableExprs(ac, rel)
	if err != nil {
		return nil, err
	}
	gen := make(map[int]analyze.Expr, len(generated))
	for att, e := range generated {
		gen[att] = plan.RowExpr(e)
	}
	for i := range checks {
		checks[i].Expr = plan.RowExpr(checks[i].Expr)
	}
	deps := s.execDeps(ctx, ac)
	compiled, err := exec.CompileRowChecks(rel, gen, checks, deps)
	if err != nil {
		return nil, err
	}
	c := &rowChecker{s: s, checker: compiled.NewChecker(&s.fn, s.eng), blank: make([]types.Datum, len(rel.Attrs))}
	given := make(map[int]bool, len(atts))
	for _, a := range atts {
		given[a] = true
	}
	for i := range rel.Attrs {
		c.blank[i] = types.NullDatum
		at := &rel.Attrs[i]
		if given[i] || at.Dropped || at.Generated != 0 {
			continue
		}
		e, err := analyze.LoadDefault(ac, rel, at)
		if err != nil {
			return nil, err
		}
		if e == nil {
			continue
		}
		x, err := exec.CompileRowExpr(plan.RowExpr(e), deps, rel)
		if err != nil {
			return nil, err
		}
		c.missing = append(c.missing, columnDefault{i, x})
	}
	return c, nil
}

// emptyRow is a row of nulls.
func (c *rowChecker) emptyRow() []types.Datum { return slices.Clone(c.blank) }

// defaults fills in the columns that are not given.
func (c *rowChecker) defaults(ctx context.Context, row []types.Datum) error {
	copy(row, c.blank)
	for i := range c.missing {
		d := &c.missing[i]
		v, err := d.x.EvalWith(ctx, &c.s.fn, c.s.eng, c.blank)
		if err != nil {
			return err
		}
		row[d.att] = v
	}
	return nil
}

// constant tells whether checking a row computes no expression.
func (c *rowChecker) constant() bool { return len(c.missing) == 0 && c.checker.Constant() }

// row checks a complete row.
func (c *rowChecker) row(ctx context.Context, row []types.Datum) error {
	return c.checker.Check(ctx, row)
}
