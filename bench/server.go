package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// The kinds of server.
const (
	kindMinipg   = "minipg"
	kindPostgres = "PostgreSQL"
	kindConstant = "constant"
)

// startTimeout bounds the wait for a server that starts; recovery from a long log is part of it.
const startTimeout = 10 * time.Minute

// server is one server of a pair: its directory, and its process while it runs.
type server struct {
	kind     string
	b        *bench
	dir      string // its data directory
	sockets  string // the directory of its Unix socket
	port     int
	settings []string

	cmd  *exec.Cmd
	log  *os.File
	pid  atomic.Int64  // of the process, 0 for none; for the sampler
	past time.Duration // CPU time of its processes before the present one
}

// freePort is a port nobody listens on now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

func (s *server) host() string {
	if s.b.opts.Socket {
		return s.sockets
	}
	return "127.0.0.1"
}

// initialise makes the data directory. minipg makes its own when it starts.
func (s *server) initialise(ctx context.Context) error {
	if s.kind != kindPostgres {
		return nil
	}
	cmd := s.b.asPostgres(exec.CommandContext(ctx, filepath.Join(s.b.opts.PgBin, "initdb"), "-D", s.dir, "-U", "postgres",
		"-A", "trust", "--locale=C.UTF-8", "-E", "UTF8", "--data-checksums"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (s *server) command() *exec.Cmd {
	var cmd *exec.Cmd
	port := strconv.Itoa(s.port)
	switch s.kind {
	case kindMinipg:
		cmd = exec.Command(s.b.minipg, "-D", s.dir, "-h", "127.0.0.1", "-p", port, "-k", s.sockets, "--metrics-listen", "")
	case kindPostgres:
		cmd = s.b.asPostgres(exec.Command(filepath.Join(s.b.opts.PgBin, "postgres"), "-D", s.dir, "-h", "127.0.0.1",
			"-p", port, "-k", s.sockets))
	case kindConstant:
		listen := "127.0.0.1:" + port
		if s.b.opts.Socket {
			listen = filepath.Join(s.sockets, ".s.PGSQL."+port)
		}
		return exec.Command(s.b.constant, "-listen", listen)
	}
	for _, a := range s.settings {
		cmd.Args = append(cmd.Args, "-c", a)
	}
	return cmd
}

// start starts the server and returns when it takes connections.
func (s *server) start(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(s.b.dir, s.kind+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	s.log = log
	s.cmd = s.command()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	// Its own process group: an interrupt from the keyboard is for the bench, which then stops the server.
	if s.cmd.SysProcAttr == nil {
		s.cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	s.cmd.SysProcAttr.Setpgid = true
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		return errors.Join(err, log.Close())
	}
	s.pid.Store(int64(s.cmd.Process.Pid))
	return s.waitReady(ctx)
}

// waitReady asks every millisecond at first and less often later, by 2 % of the time that has passed: to refuse a
// connection PostgreSQL starts a process, which takes from the recovery that is waited for.
func (s *server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	begun := time.Now()
	for {
		conn, err := s.connect(ctx)
		if err == nil {
			return conn.Close(ctx)
		}
		if !alive(s.cmd.Process.Pid) {
			return fmt.Errorf("%s ended while it started; its log:\n%s", s.kind, s.logTail())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not take connections: %w", s.kind, err)
		case <-time.After(max(time.Millisecond, time.Since(begun)/50)):
		}
	}
}

// logTail is the end of the server's log.
func (s *server) logTail() string {
	const size = 4000
	f, err := os.Open(filepath.Join(s.b.dir, s.kind+".log"))
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > size {
		if _, err := f.Seek(-size, io.SeekEnd); err != nil {
			return err.Error()
		}
	}
	tail, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	return string(tail)
}

// stop stops the server the fast way.
func (s *server) stop() error {
	if s.cmd == nil {
		return nil
	}
	sig := syscall.SIGINT
	if s.kind == kindConstant {
		sig = syscall.SIGTERM
	}
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	err := s.reap()
	if s.kind == kindConstant {
		return nil // ended by the signal
	}
	if err != nil {
		return fmt.Errorf("%s stopped: %w; its log:\n%s", s.kind, err, s.logTail())
	}
	return nil
}

// kill ends every process of the server at once, as a power cut would, and returns when none is left.
func (s *server) kill() error {
	all := processes(s.cmd.Process.Pid)
	for _, pid := range all {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	var exit *exec.ExitError
	if err := s.reap(); err != nil && !errors.As(err, &exit) {
		return err
	}
	for _, pid := range all {
		for alive(pid) {
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

func (s *server) reap() error {
	err := s.cmd.Wait()
	s.past += s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
	s.cmd = nil
	s.pid.Store(0)
	return errors.Join(err, s.log.Close())
}

func (s *server) connect(ctx context.Context) (*pgconn.PgConn, error) {
	cfg, err := pgconn.ParseConfig(fmt.Sprintf("host=%s port=%d user=postgres dbname=postgres sslmode=disable", s.host(), s.port))
	if err != nil {
		return nil, err
	}
	return pgconn.ConnectConfig(ctx, cfg)
}

// exec runs statements, each by itself, on one connection.
func (s *server) exec(ctx context.Context, statements ...string) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	for _, q := range statements {
		if _, err := conn.Exec(ctx, q).ReadAll(); err != nil {
			return errors.Join(fmt.Errorf("%s: %s: %w", s.kind, q, err), conn.Close(ctx))
		}
	}
	return conn.Close(ctx)
}

// seconds is the time a statement takes.
func (s *server) seconds(ctx context.Context, statement string) (float64, error) {
	return s.timed(ctx, statement, func(conn *pgconn.PgConn) error {
		_, err := conn.Exec(ctx, statement).ReadAll()
		return err
	})
}

// copyIn is the time that COPY FROM STDIN of a file takes.
func (s *server) copyIn(ctx context.Context, statement, file string) (seconds float64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return s.timed(ctx, statement, func(conn *pgconn.PgConn) error {
		_, err := conn.CopyFrom(ctx, f, statement)
		return err
	})
}

func (s *server) timed(ctx context.Context, what string, f func(*pgconn.PgConn) error) (float64, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	err = f(conn)
	took := time.Since(start).Seconds()
	if err != nil {
		err = fmt.Errorf("%s: %s: %w", s.kind, what, err)
	}
	return took, errors.Join(err, conn.Close(ctx))
}

// number is the answer of a query of one number.
func (s *server) number(ctx context.Context, query string) (float64, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return 0, err
	}
	results, err := conn.Exec(ctx, query).ReadAll()
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return 0, fmt.Errorf("%s: %s: %w", s.kind, query, err)
	}
	if len(results) != 1 || len(results[0].Rows) != 1 {
		return 0, fmt.Errorf("%s: %s: not one row", s.kind, query)
	}
	return strconv.ParseFloat(string(results[0].Rows[0][0]), 64)
}

// asPostgres makes a command run as the user postgres where it would run as root, as which PostgreSQL does not
// start.
func (b *bench) asPostgres(cmd *exec.Cmd) *exec.Cmd {
	cmd.Dir = "/"
	if b.postgres != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: b.postgres}
	}
	return cmd
}

// postgresUser is whom to run PostgreSQL as; nil is the present user.
func postgresUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
