package sql

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/exec"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/sql/parse"
	"github.com/minipg/minipg/types"
)

// ConnectOptions describe who connects and how.
type ConnectOptions struct {
	User, Database string
	// Settings are the startup packet's run-time parameters, options included.
	Settings []Setting
	// Remote is the client's address; empty on a Unix socket.
	RemoteHost string
	RemotePort int
	LocalHost  string
	LocalPort  int
	// PID and Secret are the session's cancel key.
	PID    int32
	Secret uint32
	// Background sessions (autovacuum) are not counted as client backends.
	BackendType string
	// OnTerminate, unless nil, wakes whoever waits for the client.
	OnTerminate func()
}

// Setting is a name and a value.
type Setting struct{ Name, Value string }

// Session is one client's session.
type Session struct {
	srv *Server
	eng *engine.Session
	set *settings.Session

	opts     ConnectOptions
	database *catalog.Database
	user     *catalog.Role // session user
	role     *catalog.Role // current user
	// loginRole is who connected; others may read it.
	loginRole catalog.OID
	log       *zap.Logger

	state  txState
	block  blockState
	ctx    context.Context //nolint:containedctx // the session's own life: statements derive from it
	cancel struct {
		sync.Mutex
		ctx    context.Context //nolint:containedctx // what the running statement waits on
		cancel context.CancelCauseFunc
		busy   bool
	}
	statementTimer *time.Timer
	terminated     atomic.Bool

	prepared map[string]*prepared
	unnamed  *prepared
	portals  map[string]*portal
	plans    planCache
	path     searchPath
	cached   cachedSettings
	// unreported: a setting the client knows of may have changed.
	unreported bool
	parsed     map[string][]parse.Stmt

	env      types.Env
	fn       fn.Context
	state0   exec.ExecState // of statements that run to their end at once
	sink     rowSink
	tag      []byte
	lift     parse.Lifted
	literals []types.Datum
	w        ResultWriter // of the message being answered
	activity activity
	since    time.Time   // when the statement being run began: with its message, or as the one before it ended
	temp     catalog.OID // the temporary schema, 0 while there is none
	tempNew  bool        // the schema was made in the open transaction
	onCommit []tempAction
}

var (
	errCanceled       = pgerr.New(pgerr.QueryCanceled, "canceling statement due to user request")
	errTimeout        = pgerr.New(pgerr.QueryCanceled, "canceling statement due to statement timeout")
	errTerminated     = pgerr.Fatal(pgerr.AdminShutdown, "terminating connection due to administrator command")
	errIdleInTxn      = pgerr.Fatal(pgerr.IdleInTransactionSessionTimeout, "terminating connection due to idle-in-transaction timeout")
	errSessionTimeout = pgerr.Fatal(pgerr.IdleSessionTimeout, "terminating connection due to idle-session timeout")
)

// Connect begins a session, with PostgreSQL's errors for an unknown role or database.
func (srv *Server) Connect(ctx context.Context, opts ConnectOptions) (*Session, error) {
	if opts.BackendType == "" {
		opts.BackendType = "client backend"
	}
	s := &Session{
		srv: srv, opts: opts, ctx: ctx, log: srv.log,
		prepared: make(map[string]*prepared), portals: make(map[string]*portal), unreported: true,
	}
	if err := s.authorize(); err != nil {
		return nil, err
	}
	s.eng = srv.eng.NewSession(engine.SessionOptions{PID: opts.PID, Database: s.database.OID})
	if err := s.initSettings(); err != nil {
		s.eng.Close()
		return nil, err
	}
	s.plans.init()
	s.initFunctions()
	s.newCancel()
	s.activity.started(s)
	srv.add(s)
	return s, nil
}

// authorize finds the role and the database.
func (s *Session) authorize() error {
	cat := s.srv.eng.Catalog().Begin(sharedDatabase)
	role, err := cat.RoleByName(s.opts.User)
	if err != nil {
		return err
	}
	if role == nil {
		return pgerr.Fatal(pgerr.InvalidAuthorizationSpecification, "role %q does not exist", s.opts.User)
	}
	if !role.CanLogin {
		return pgerr.Fatal(pgerr.InvalidAuthorizationSpecification, "role %q is not permitted to log in", s.opts.User)
	}
	db, err := cat.DatabaseByName(s.opts.Database)
	if err != nil {
		return err
	}
	if db == nil {
		return pgerr.Fatal(pgerr.InvalidCatalogName, "database %q does not exist", s.opts.Database)
	}
	if !db.AllowConn {
		return pgerr.Fatal(pgerr.ObjectNotInPrerequisiteState,
			"database %q is not currently accepting connections", db.Name)
	}
	if db.ConnLimit >= 0 && !role.Super && s.srv.DatabaseInUse(db.OID, s) >= int(db.ConnLimit) {
		return pgerr.Fatal(pgerr.TooManyConnections, "too many connections for database %q", db.Name)
	}
	s.user, s.role, s.database, s.loginRole = role, role, db, role.OID
	return nil
}

// sharedDatabase is a database OID under which only shared catalogs are read.
const sharedDatabase catalog.OID = 1

func (s *Session) initFunctions() {
	s.fn = fn.Context{
		Env: &s.env, Clock: s.srv.now, Notice: s.notice,
		Rand:     fn.NewRandom(s.srv.random()),
		Identity: identity{s}, Settings: settingFuncs{s}, Sequences: sequenceFuncs{s}, Advisory: advisoryFuncs{s},
		Catalog: catalogFuncs{s}, Deparser: deparser{s}, Backends: backendFuncs{s}, Storage: storageFuncs{s},
		Xacts: xactFuncs{s}, System: systemFuncs{s}, Waits: s.eng.Locks(),
	}
	s.env.Names = regNames{s}
	s.state0 = exec.ExecState{Session: s.eng, Fn: &s.fn, Clock: s.srv.now, Temp: s.tempFiles()}
}

// Close ends the session: what is open is rolled back.
func (s *Session) Close() {
	s.closePortals()
	if s.state != txIdle {
		s.abortTransaction()
	}
	s.dropTemp()
	s.srv.remove(s)
	s.eng.Close()
	s.cancel.Lock()
	defer s.cancel.Unlock()
	s.cancel.cancel(nil)
}

// PID is the session's process number, as clients see it.
func (s *Session) PID() int32 { return s.opts.PID }

func (s *Session) notice(e *pgerr.Error) {
	if s.w != nil && s.noticeWanted(e.Severity) {
		s.w.Notice(e)
	}
}

// newCancel makes the context the next statement runs under.
func (s *Session) newCancel() {
	s.cancel.ctx, s.cancel.cancel = context.WithCancelCause(s.ctx)
}

// Cancel interrupts the running statement, if there is one.
func (s *Session) Cancel() { s.interrupt(errCanceled, false) }

// Terminate ends the session: the running statement is interrupted with 57P01.
func (s *Session) Terminate() {
	s.interrupt(errTerminated, true)
	s.terminated.Store(true)
	if s.opts.OnTerminate != nil {
		s.opts.OnTerminate()
	}
}

// Terminated is the error that ends the session, nil while it may go on.
func (s *Session) Terminated() error {
	if s.terminated.Load() {
		return errTerminated
	}
	return nil
}

// IdleTimeout bounds how long the session waits for its client now; 0 is for ever.
func (s *Session) IdleTimeout() time.Duration {
	if s.state == txBlock || s.state == txFailed {
		return s.cached.idleInTransaction
	}
	return s.cached.idleSession
}

// IdleTimeoutError is what ends a session that was idle for too long.
func (s *Session) IdleTimeoutError() error {
	if s.state == txBlock || s.state == txFailed {
		return errIdleInTxn
	}
	return errSessionTimeout
}

func (s *Session) interrupt(cause error, always bool) {
	s.cancel.Lock()
	defer s.cancel.Unlock()
	if s.cancel.busy || always {
		s.cancel.cancel(cause)
	}
}

// begin marks a message as running and returns its context.
func (s *Session) begin(w ResultWriter) context.Context {
	s.w = w
	s.refreshSettings()
	s.cancel.Lock()
	defer s.cancel.Unlock()
	s.cancel.busy = true
	return s.cancel.ctx
}

// end is called when a message was answered.
func (s *Session) end() {
	s.stopTimer()
	s.cancel.Lock()
	defer s.cancel.Unlock()
	s.cancel.busy = false
	if s.cancel.ctx.Err() != nil && !errors.Is(context.Cause(s.cancel.ctx), errTerminated) && s.ctx.Err() == nil {
		s.cancel.cancel(nil)
		s.newCancel()
	}
}

// startTimer bounds the statement by statement_timeout.
func (s *Session) startTimer() {
	d := s.statementTimeout()
	if d == 0 {
		return
	}
	if s.statementTimer == nil {
		s.statementTimer = time.AfterFunc(d, func() { s.interrupt(errTimeout, false) })
		return
	}
	s.statementTimer.Reset(d)
}

func (s *Session) stopTimer() {
	if s.statementTimer != nil {
		s.statementTimer.Stop()
	}
}

// failure turns what went wrong into the error the client sees.
func (s *Session) failure(ctx context.Context, err error) *pgerr.Error {
	if ctx.Err() != nil {
		var e *pgerr.Error
		isCancel := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
			errors.As(err, &e) && e.Code == pgerr.QueryCanceled
		where := ""
		if e != nil {
			where = e.Where
		}
		if cause := context.Cause(ctx); isCancel && cause != nil && errors.As(cause, &e) {
			fresh := *e
			fresh.Where = where
			return &fresh
		}
	}
	return pgerr.From(err)
}
