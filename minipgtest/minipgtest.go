package minipgtest

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"github.com/minipg/minipg"
	"github.com/minipg/minipg/storage/faultfs"
)

// stopTimeout bounds how long the end of a test waits for the server to stop.
const stopTimeout = 30 * time.Second

// Option changes the server New makes.
type Option func(*config)

type config struct {
	minipg.Options
	verbose bool
}

// InMemory keeps the data in memory: nothing is written to disk, and nothing can survive.
func InMemory() Option {
	return func(c *config) {
		c.FS = faultfs.New(faultfs.Options{})
		c.Dir = "data"
	}
}

// Dir uses a data directory of the caller's instead of a new one.
func Dir(dir string) Option { return func(c *config) { c.Dir = dir } }

// Setting sets a configuration parameter, as -c does.
func Setting(name, value string) Option {
	return func(c *config) {
		c.Settings = append(c.Settings, minipg.Setting{Name: name, Value: value})
	}
}

// Metrics serves the metrics page on a free port.
func Metrics() Option { return func(c *config) { c.HTTPAddr = "127.0.0.1:0" } }

// Verbose sends the server's log to the test's.
func Verbose() Option { return func(c *config) { c.verbose = true } }

// Server is a running server.
type Server struct {
	*minipg.Server
	Host string
	Dir  string
}

// New starts a server that stops when the test ends.
func New(t testing.TB, options ...Option) *Server {
	t.Helper()
	c := config{Options: minipg.Options{Host: "127.0.0.1"}}
	for _, o := range options {
		o(&c)
	}
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	if c.verbose {
		c.Logger = zaptest.NewLogger(t)
	}
	srv, err := minipg.Open(context.Background(), c.Options)
	if err != nil {
		t.Fatalf("starting a server: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if err := srv.Close(ctx, minipg.Fast); err != nil {
			t.Errorf("stopping the server: %v", err)
		}
	})
	return &Server{Server: srv, Host: c.Host, Dir: c.Dir}
}
