package server

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/sql"
)

// Config makes a Server. Zero values of the limits are their defaults.
type Config struct {
	SQL     *sql.Server
	Logger  *zap.Logger
	Metrics *metrics.Set
	Now     func() time.Time

	Host      string // "" listens on no TCP address
	Port      int    // 0 picks a free one
	SocketDir string // "" makes no Unix socket
	HTTPAddr  string // "" serves no metrics page

	MaxConnections int           // 100
	MaxMessage     int           // bytes; 1 GiB
	StartupTimeout time.Duration // 1 min
}

const (
	defaultMaxConnections = 100
	defaultMaxMessage     = 1<<30 - 1
	defaultStartupTimeout = time.Minute
)

// Server serves clients. Make one with New, then Listen, then Serve.
type Server struct {
	cfg     Config
	tcp     net.Listener
	unix    net.Listener
	web     *http.Server
	webLn   net.Listener
	lock    string // of the Unix socket
	pids    atomic.Int32
	ready   atomic.Bool
	wg      sync.WaitGroup // connections
	loops   sync.WaitGroup // accept loops
	webLoop sync.WaitGroup
	conns   struct {
		sync.Mutex
		open   map[*conn]struct{}
		closed bool
		count  int // admitted
	}
}

// New makes a server that does not listen yet.
func New(cfg Config) *Server {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	if cfg.MaxConnections == 0 {
		cfg.MaxConnections = defaultMaxConnections
	}
	if cfg.MaxMessage == 0 {
		cfg.MaxMessage = defaultMaxMessage
	}
	if cfg.StartupTimeout == 0 {
		cfg.StartupTimeout = defaultStartupTimeout
	}
	s := &Server{cfg: cfg}
	s.conns.open = make(map[*conn]struct{})
	s.pids.Store(firstPID)
	return s
}

// firstPID is where the numbers begin that sessions have for process numbers.
const firstPID = 1000

// SetSQL hands over the SQL side, which may still be recovering when Listen is called. Before Serve.
func (s *Server) SetSQL(srv *sql.Server) { s.cfg.SQL = srv }

// Listen opens the sockets.
func (s *Server) Listen() (err error) {
	defer func() {
		if err != nil {
			s.closeListeners()
		}
	}()
	if s.cfg.Host != "" {
		s.tcp, err = net.Listen("tcp", net.JoinHostPort(s.cfg.Host, portText(s.cfg.Port)))
		if err != nil {
			return fmt.Errorf("could not listen on %s port %d: %w", s.cfg.Host, s.cfg.Port, err)
		}
		s.cfg.Port = s.tcp.Addr().(*net.TCPAddr).Port
	}
	if s.cfg.SocketDir != "" {
		if err := s.listenUnix(); err != nil {
			return err
		}
	}
	return nil
}

// listenUnix makes the Unix socket, with a lock file beside it against a second server.
func (s *Server) listenUnix() error {
	path := filepath.Join(s.cfg.SocketDir, fmt.Sprintf(".s.PGSQL.%d", s.cfg.Port))
	lock := path + ".lock"
	if err := takeSocketLock(lock, path); err != nil {
		return err
	}
	s.lock = lock
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("could not remove the old socket: %w", err)
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("could not listen on Unix socket %s: %w", path, err)
	}
	s.unix = ln
	return os.Chmod(path, 0o777) //nolint:gosec // who may connect is decided by authentication
}

// takeSocketLock writes a lock file with this process's number; one of a process that is gone is replaced.
func takeSocketLock(lock, path string) error {
	if old, err := os.ReadFile(lock); err == nil {
		var pid int
		if _, err := fmt.Sscan(string(old), &pid); err == nil && pid != os.Getpid() && processAlive(pid) {
			return fmt.Errorf("the socket %s is in use by process %d", path, pid)
		}
	}
	return os.WriteFile(lock, []byte(fmt.Sprintf("%d\n", os.Getpid())), 0o600)
}

// Port is the TCP port, also when a free one was picked.
func (s *Server) Port() int { return s.cfg.Port }

// Addr is the TCP address, or nil.
func (s *Server) Addr() net.Addr {
	if s.tcp == nil {
		return nil
	}
	return s.tcp.Addr()
}

// Serve begins to accept clients; it does not block.
func (s *Server) Serve(ctx context.Context) {
	s.ready.Store(true)
	for _, ln := range []net.Listener{s.tcp, s.unix} {
		if ln != nil {
			s.loops.Go(func() { s.accept(ctx, ln) })
		}
	}
}

func (s *Server) accept(ctx context.Context, ln net.Listener) {
	for {
		nc, err := ln.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			s.cfg.Logger.Warn("could not accept a connection", zap.Error(err))
			select {
			case <-ctx.Done():
				return
			case <-time.After(10 * time.Millisecond): // out of descriptors: let some close
			}
			continue
		}
		if tcp, ok := nc.(*net.TCPConn); ok {
			if err := tcp.SetNoDelay(true); err != nil {
				s.cfg.Logger.Warn("could not set TCP_NODELAY", zap.Error(err))
			}
		}
		c := s.newConn(nc)
		if !s.register(c) {
			if err := nc.Close(); err != nil {
				s.cfg.Logger.Debug("could not close a connection", zap.Error(err))
			}
			return
		}
		s.wg.Go(func() {
			defer s.unregister(c)
			c.serve(ctx)
		})
	}
}

func (s *Server) register(c *conn) bool {
	s.conns.Lock()
	defer s.conns.Unlock()
	if s.conns.closed {
		return false
	}
	s.conns.open[c] = struct{}{}
	s.cfg.Metrics.Connections.Inc()
	s.cfg.Metrics.ConnectionsOpen.Add(1)
	return true
}

func (s *Server) unregister(c *conn) {
	s.conns.Lock()
	defer s.conns.Unlock()
	delete(s.conns.open, c)
	if c.pid != 0 {
		s.conns.count--
	}
	s.cfg.Metrics.ConnectionsOpen.Add(-1)
}

// admit gives a connection its process number and secret, unless there are too many.
func (s *Server) admit(c *conn) bool {
	s.conns.Lock()
	defer s.conns.Unlock()
	if s.conns.count >= s.cfg.MaxConnections {
		return false
	}
	s.conns.count++
	c.pid = s.NextPID()
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return false
	}
	c.secret = binary.BigEndian.Uint32(b[:])
	return true
}

// NextPID gives out a process number.
func (s *Server) NextPID() int32 { return s.pids.Add(1) }

// StopAccepting closes the listeners; sessions go on.
func (s *Server) StopAccepting() {
	s.ready.Store(false)
	s.conns.Lock()
	s.conns.closed = true
	s.conns.Unlock()
	s.closeListeners()
	s.loops.Wait()
}

func (s *Server) closeListeners() {
	for _, ln := range []net.Listener{s.tcp, s.unix} {
		if ln != nil {
			if err := ln.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				s.cfg.Logger.Warn("could not close a listener", zap.Error(err))
			}
		}
	}
	if s.lock != "" {
		if err := os.Remove(s.lock); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.cfg.Logger.Warn("could not remove the socket's lock file", zap.Error(err))
		}
		s.lock = ""
	}
}

// Wait returns when every connection has ended, or ctx has.
func (s *Server) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TerminateAll ends every session with 57P01, and connections that have none yet.
func (s *Server) TerminateAll() {
	s.cfg.SQL.TerminateAll()
	s.conns.Lock()
	defer s.conns.Unlock()
	for c := range s.conns.open {
		if c.pid == 0 {
			if err := c.net.Close(); err != nil {
				s.cfg.Logger.Debug("could not close a connection", zap.Error(err))
			}
		}
	}
}

// CloseAll drops every connection at once.
func (s *Server) CloseAll() {
	s.conns.Lock()
	defer s.conns.Unlock()
	for c := range s.conns.open {
		if err := c.net.Close(); err != nil {
			s.cfg.Logger.Debug("could not close a connection", zap.Error(err))
		}
	}
}
