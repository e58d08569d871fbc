package sql

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/metrics"
)

// ServerConfig makes a Server.
type ServerConfig struct {
	Engine   *engine.Engine
	Settings *settings.Server
	Logger   *zap.Logger
	Metrics  *metrics.Set
	Now      func() time.Time // nil: time.Now
	// Version is what comes after PostgreSQL's number in version() and server_version.
	Version string
}

// Server is what the sessions of one engine share.
type Server struct {
	eng     *engine.Engine
	set     *settings.Server
	log     *zap.Logger
	metrics *metrics.Set
	now     func() time.Time
	version string
	started time.Time
	loaded  time.Time // when the configuration was last read

	plans sharedPlans
	// statements are the plans of statements with parameters.
	statements sharedPlans
	resets     statResets
	sessions   struct {
		sync.Mutex
		byPID map[int32]*Session
	}
	rand struct {
		sync.Mutex
		*rand.Rand
	}
}

// NewServer makes the SQL side of an engine and gives the engine what it needs of it: index
// expressions, and ANALYZE for autovacuum.
func NewServer(cfg ServerConfig) *Server {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	srv := &Server{
		eng: cfg.Engine, set: cfg.Settings, log: cfg.Logger, metrics: cfg.Metrics, now: cfg.Now,
		version: cfg.Version, started: cfg.Now(), loaded: cfg.Now(),
	}
	srv.sessions.byPID = make(map[int32]*Session)
	srv.rand.Rand = rand.New(rand.NewPCG(cfg.Engine.SystemID(), uint64(srv.started.UnixNano())))
	cfg.Engine.SetIndexExprs(IndexExprs())
	srv.sweepTemp()
	return srv
}

// Engine is the server's engine.
func (srv *Server) Engine() *engine.Engine { return srv.eng }

// Settings are the server's settings.
func (srv *Server) Settings() *settings.Server { return srv.set }

func (srv *Server) random() uint64 {
	srv.rand.Lock()
	defer srv.rand.Unlock()
	return srv.rand.Uint64()
}

func (srv *Server) add(s *Session) {
	srv.sessions.Lock()
	defer srv.sessions.Unlock()
	srv.sessions.byPID[s.opts.PID] = s
}

func (srv *Server) remove(s *Session) {
	srv.sessions.Lock()
	defer srv.sessions.Unlock()
	delete(srv.sessions.byPID, s.opts.PID)
}

// each calls f for every session.
func (srv *Server) each(f func(*Session)) {
	srv.sessions.Lock()
	list := make([]*Session, 0, len(srv.sessions.byPID))
	for _, s := range srv.sessions.byPID {
		list = append(list, s)
	}
	srv.sessions.Unlock()
	for _, s := range list {
		f(s)
	}
}

// session returns the session with a process number, or nil.
func (srv *Server) session(pid int32) *Session {
	srv.sessions.Lock()
	defer srv.sessions.Unlock()
	return srv.sessions.byPID[pid]
}

// Cancel carries out a CancelRequest; a wrong secret does nothing.
func (srv *Server) Cancel(pid int32, secret uint32) {
	if s := srv.session(pid); s != nil && s.opts.Secret == secret {
		s.Cancel()
	}
}

// DatabaseInUse counts the sessions connected to a database, besides one.
func (srv *Server) DatabaseInUse(db catalog.OID, besides *Session) int {
	n := 0
	srv.each(func(s *Session) {
		if s != besides && s.database.OID == db {
			n++
		}
	})
	return n
}

// TerminateDatabase ends the sessions connected to a database (DROP DATABASE ... WITH (FORCE)).
func (srv *Server) TerminateDatabase(db catalog.OID, besides *Session) {
	srv.each(func(s *Session) {
		if s != besides && s.database.OID == db {
			s.Terminate()
		}
	})
}

// Background opens a session for the server's own work in a database.
func (srv *Server) Background(ctx context.Context, database, kind string, pid int32) (*Session, error) {
	return srv.Connect(ctx, ConnectOptions{User: bootstrapUser, Database: database, PID: pid, BackendType: kind})
}

const bootstrapUser = "postgres"

// TerminateAll ends every session with 57P01.
func (srv *Server) TerminateAll() { srv.each((*Session).Terminate) }
