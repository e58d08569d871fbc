package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// target is a server that runs are made against.
type target interface {
	dsn() string
	// counters are its metrics; nil if it has none.
	counters(ctx context.Context) (*Counters, error)
	// cpu is its CPU time in seconds; false if it cannot be told.
	cpu() (float64, bool)
	// stop ends it, or takes back what the lab did to it.
	stop() error
}

// instance is a minipg process on a data directory of its own.
type instance struct {
	cmd     *exec.Cmd
	dir     string // thrown away with all in it
	spaces  []string
	conn    string
	metrics string
	exited  chan error
}

const (
	startTimeout = 30 * time.Second
	stopTimeout  = 30 * time.Second
	startTries   = 3
)

// start starts a server for a configuration. Invariant 1: its directory is new.
func (l *lab) start(ctx context.Context, c *Config) (*instance, error) {
	var err error
	for range startTries {
		var s *instance
		if s, err = l.startOnce(ctx, c); err == nil {
			return s, nil
		}
		if ctx.Err() != nil {
			break
		}
		// Between the choice of the metrics port and its use another process may have taken it.
	}
	return nil, err
}

func (l *lab) startOnce(ctx context.Context, c *Config) (*instance, error) {
	dir, err := os.MkdirTemp(l.work, "server-")
	if err != nil {
		return nil, err
	}
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &instance{dir: dir, metrics: "http://" + addr, exited: make(chan error, 1)}
	args := []string{"serve", "-D", filepath.Join(dir, "data"), "-p", "0", "-k", l.sockets, "--metrics-listen", addr}
	for _, set := range l.settingsFor(c) {
		args = append(args, "-c", set.Name+"="+set.Value)
	}
	program := l.opts.Minipg
	if program == "" || c.Stall {
		program = l.self
		args[0] = "server-of-a-run"
	}
	if c.Stall {
		args = append(args, "--stall", l.spaces[spaceA], "--delay", stallTime.String())
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	s.cmd = exec.Command(program, args...)
	s.cmd.Stdout, s.cmd.Stderr = out, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { s.exited <- s.cmd.Wait() }()
	if err := s.waitReady(ctx, l); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// settingsFor are all settings of a server, the later ones over the earlier.
func (l *lab) settingsFor(c *Config) []Setting {
	list := append([]Setting(nil), l.results.Settings...)
	return append(append(list, c.Settings...), l.opts.Server...)
}

func freeAddress() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

func (s *instance) waitReady(ctx context.Context, l *lab) error {
	deadline := time.Now().Add(startTimeout)
	for time.Now().Before(deadline) {
		select {
		case err := <-s.exited:
			s.exited <- err
			return fmt.Errorf("minipg did not start (%v): %s", err, s.lastLog())
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
		if !ready(ctx, s.metrics) {
			continue
		}
		out, err := os.ReadFile(filepath.Join(s.dir, "out"))
		if err != nil {
			return err
		}
		var port int
		if _, err := fmt.Sscanf(string(out), "port %d\n", &port); err != nil {
			continue
		}
		host := l.sockets
		if l.overTCP {
			host = "127.0.0.1"
		}
		s.conn = fmt.Sprintf("host=%s port=%d user=postgres dbname=postgres sslmode=disable", host, port)
		return nil
	}
	return fmt.Errorf("minipg did not accept connections within %v: %s", startTimeout, s.lastLog())
}

func ready(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

func (s *instance) lastLog() string {
	data, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}

func (s *instance) dsn() string { return s.conn }

func (s *instance) counters(ctx context.Context) (*Counters, error) {
	return scrape(ctx, s.metrics+"/metrics")
}

func (s *instance) cpu() (float64, bool) { return familyCPU(s.cmd.Process.Pid) }

// stop ends the server at once: its data are thrown away.
func (s *instance) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-s.exited:
	case <-time.After(stopTimeout):
		if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		<-s.exited
	}
	errs := []error{os.RemoveAll(s.dir)}
	for _, dir := range s.spaces {
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}

// execAll runs statements one after another, each in a transaction of its own.
func execAll(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}
