// Package minipg embeds a minipg server: it opens a data directory, serves
// PostgreSQL clients from it, and closes it again.
//
//	srv, err := minipg.Open(ctx, minipg.Options{Dir: "data", Host: "127.0.0.1"})
//	...
//	defer srv.Close(ctx, minipg.Fast)
//	conn, err := pgx.Connect(ctx, srv.DSN("postgres"))
package minipg

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	_ "time/tzdata" // zones do not depend on the machine

	"go.uber.org/zap"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/server"
	"github.com/minipg/minipg/sql"
	"github.com/minipg/minipg/storage"
)

// Version is minipg's own version.
const Version = "0.1"

const defaultPort = 5432

// Options describe a server.
type Options struct {
	Dir string // data directory; created and initialised when it is empty

	Host      string // address to listen on; "" for none
	Port      int    // 0 picks a free one; with the socket alone, it is 5432
	SocketDir string // directory of the Unix socket; "" for none
	HTTPAddr  string // address of the metrics page; "" for none
	// MetricsListen lets the setting metrics_listen decide instead of HTTPAddr.
	MetricsListen bool

	// Settings override those of the directory's files, as on the command line.
	Settings []Setting

	FS      storage.FS       // nil: the real one
	Logger  *zap.Logger      // nil: silent
	Metrics *metrics.Set     // nil: a new one
	Now     func() time.Time // nil: time.Now
	Fatal   func(error)      // see engine.Config; nil: the process dies
}

// Setting is a configuration parameter and its value.
type Setting struct{ Name, Value string }

// Mode is how a server stops.
type Mode uint8

// The modes of PostgreSQL's pg_ctl stop.
const (
	Smart     Mode = iota // waits for clients to leave
	Fast                  // ends their sessions, rolls back, writes a checkpoint
	Immediate             // writes nothing: the next start recovers
)

// Server is a running server.
type Server struct {
	opts Options
	set  *settings.Server
	eng  *engine.Engine
	sql  *sql.Server
	// analyzer is sql once autovacuum may use it.
	analyzer atomic.Pointer[sql.Server]
	net      *server.Server
	cancel   context.CancelFunc
	closing  sync.Once
	closed   error // Close's answer
}

// Open opens the directory, recovers it if need be, and serves.
func Open(ctx context.Context, opts Options) (_ *Server, err error) {
	if opts.Logger == nil {
		opts.Logger = zap.NewNop()
	}
	if opts.Metrics == nil {
		opts.Metrics = metrics.New()
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.FS == nil {
		opts.FS = storage.OSFS{}
	}
	if opts.Host == "" && opts.Port == 0 {
		opts.Port = defaultPort // it only names the socket
	}
	s := &Server{opts: opts}
	if s.set, err = loadSettings(&opts); err != nil {
		return nil, err
	}
	if opts.MetricsListen {
		opts.HTTPAddr = s.set.Str(settings.MetricsListen)
	}
	addStrategy(opts.Metrics, s.set)
	s.net = server.New(server.Config{
		Logger: opts.Logger, Metrics: opts.Metrics, Now: opts.Now, Host: opts.Host, Port: opts.Port,
		SocketDir: opts.SocketDir, HTTPAddr: opts.HTTPAddr, MaxConnections: int(s.set.Int(settings.MaxConnections)),
		MaxMessage:     int(s.set.Bytes(settings.MaxMessageSize)),
		StartupTimeout: time.Duration(s.set.Int(settings.AuthenticationTimeout)) * time.Second,
	})
	if err := s.net.ServeHTTP(); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.net.CloseHTTP(ctx))
	}
	return s, nil
}

func loadSettings(opts *Options) (*settings.Server, error) {
	cmd := make([]settings.Assignment, len(opts.Settings))
	for i, a := range opts.Settings {
		cmd[i] = settings.Assignment{Name: a.Name, Value: a.Value}
	}
	set, err := settings.NewServer(opts.FS, opts.Dir, cmd)
	if err != nil {
		return nil, err
	}
	if err := set.Load(); err != nil {
		return nil, err
	}
	if !opts.MetricsListen {
		if err := set.SetDynamicDefault(settings.MetricsListen, opts.HTTPAddr); err != nil {
			return nil, err
		}
	}
	return set, set.SetDynamicDefault(settings.DataDirectory, opts.Dir)
}

// start opens the engine and begins to accept clients.
func (s *Server) start(ctx context.Context) error {
	o := &s.opts
	var err error
	s.eng, err = engine.Open(ctx, engine.Config{
		FS: o.FS, Dir: o.Dir, Logger: o.Logger, Metrics: o.Metrics, Now: o.Now, Fatal: o.Fatal,
		Options: engineOptions(s.set), Analyze: func(ctx context.Context, es *engine.Session, rel *catalog.Relation) error {
			if srv := s.analyzer.Load(); srv != nil {
				return srv.Analyze(ctx, es, rel)
			}
			return nil // still starting: there will be another round
		},
	})
	if err != nil {
		return err
	}
	s.sql = sql.NewServer(sql.ServerConfig{
		Engine: s.eng, Settings: s.set, Logger: o.Logger, Metrics: o.Metrics, Now: o.Now, Version: Version,
	})
	s.analyzer.Store(s.sql)
	s.net.SetSQL(s.sql)
	if err := s.net.Listen(); err != nil {
		return errors.Join(err, s.eng.Close(ctx, engine.CloseFast))
	}
	if err := s.set.SetDynamicDefault(settings.Port, strconv.Itoa(s.net.Port())); err != nil {
		return errors.Join(err, s.eng.Close(ctx, engine.CloseFast))
	}
	serve, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	s.net.Serve(serve)
	o.Logger.Info("database system is ready to accept connections")
	return nil
}

// Port is the TCP port.
func (s *Server) Port() int { return s.net.Port() }

// HTTPAddress is where the metrics page is, nil if nowhere.
func (s *Server) HTTPAddress() net.Addr { return s.net.HTTPAddress() }

// Metrics are the server's metrics.
func (s *Server) Metrics() *metrics.Set { return s.opts.Metrics }

// Engine is the engine below, for tests and tools.
func (s *Server) Engine() *engine.Engine { return s.eng }

// DSN is a connection string for a database on this server.
func (s *Server) DSN(database string) string {
	host := s.opts.Host
	if host == "" {
		host = s.opts.SocketDir
	}
	return fmt.Sprintf("host=%s port=%d user=postgres dbname=%s sslmode=disable", host, s.Port(), database)
}

// Reload reads the configuration files again.
func (s *Server) Reload(ctx context.Context) { s.sql.ReloadConf(ctx) }

// Close stops the server. Smart waits for clients until ctx ends, and then goes on as Fast. Further calls wait for the
// first one and return what it returned.
func (s *Server) Close(ctx context.Context, mode Mode) error {
	s.closing.Do(func() { s.closed = s.close(ctx, mode) })
	return s.closed
}

func (s *Server) close(ctx context.Context, mode Mode) error {
	s.opts.Logger.Info("shutting down", zap.String("mode", [...]string{"smart", "fast", "immediate"}[mode]))
	s.net.StopAccepting()
	finish := context.WithoutCancel(ctx)
	how := engine.CloseFast
	switch mode {
	case Smart:
		if err := s.net.Wait(ctx); err == nil {
			break
		}
		fallthrough
	case Fast:
		s.net.TerminateAll()
		if err := s.net.Wait(finish); err != nil {
			return err
		}
	case Immediate:
		how = engine.CloseImmediate
		s.net.CloseAll()
		s.net.TerminateAll()
		if err := s.net.Wait(finish); err != nil {
			return err
		}
	}
	s.cancel()
	err := s.eng.Close(finish, how)
	s.opts.Logger.Info("database system is shut down")
	return errors.Join(err, s.net.CloseHTTP(finish))
}
