package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql"
	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/types"
)

const (
	dataDir = "data"
	// catalogDir is where Pebble is, which dies with its process only.
	catalogDir = "catalog"
	// stuckAfter is long enough for anything that still moves after the power went.
	stuckAfter = 50 * time.Millisecond
)

var background = context.Background()

// server is a whole minipg without its sockets.
type server struct {
	fs      *faultfs.FS
	eng     *engine.Engine
	sql     *sql.Server
	clients []*client
}

// config is small in everything, so that few statements fill segments, evict pages and split.
func config(rng *rand.Rand, unsafe engine.Unsafe) engine.Config {
	never := func() time.Duration { return time.Hour }
	buffers := 48 + rng.IntN(64)
	if unsafe.NoLogBeforeData {
		buffers = 24 // only what is evicted in time can betray it
	}
	return engine.Config{
		Dir: dataDir, Unsafe: unsafe, Fatal: func(error) {}, Logger: zap.NewNop(), Metrics: metrics.Discard(),
		Options: engine.Options{
			SharedBuffers: buffers, WALBuffers: 64 << 10, WALSegmentSize: 128 << 10, WALFirstSegmentSize: 64 << 10,
			ExtensionEntries: 16, CatalogCache: 256 << 10, CatalogMemTable: 256 << 10,
			Autovacuum: func() bool { return false }, BgwriterDelay: never, WALWriterDelay: never, CheckpointTimeout: never,
			MaxWALSize: func() int64 { return 8 << 20 }, MinWALSize: func() int64 { return 256 << 10 },
		},
	}
}

// open starts a server on fs with the named clients connected.
func open(fs *faultfs.FS, cfg engine.Config, names ...string) (*server, error) {
	s := &server{fs: fs}
	cfg.FS = faultfs.Hang(fs, catalogDir)
	return s, s.unlessStuck(func() error {
		var err error
		if s.eng, err = engine.Open(background, cfg); err != nil {
			return err
		}
		set, err := settings.NewServer(cfg.FS, cfg.Dir, nil)
		if err != nil {
			return err
		}
		if err := set.Load(); err != nil {
			return err
		}
		s.sql = sql.NewServer(sql.ServerConfig{
			Engine: s.eng, Settings: set, Logger: cfg.Logger, Metrics: cfg.Metrics, Version: "crash",
		})
		for i, name := range names {
			session, err := s.sql.Connect(background, sql.ConnectOptions{PID: int32(i + 1), User: "postgres", Database: "postgres"})
			if err != nil {
				return err
			}
			s.clients = append(s.clients, &client{Session: session, server: s, name: name})
		}
		return nil
	})
}

func (s *server) crashed() bool {
	select {
	case <-s.fs.Crashed():
		return true
	default:
		return s.eng != nil && s.eng.Dead()
	}
}

// unlessStuck runs fn, and gives up on it when the power goes meanwhile and it does not end.
func (s *server) unlessStuck(fn func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic: %v", p)
			}
		}()
		done <- fn()
	}()
	select {
	case err := <-done:
		return err
	case <-s.fs.Crashed():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(stuckAfter):
		return faultfs.ErrCrashed
	}
}

// close stops a server whose power is on.
func (s *server) close() error {
	for _, c := range s.clients {
		c.Close()
	}
	return s.eng.Close(background, engine.CloseFast)
}

// abandon lets go of a server whose power is off, as far as it can be closed.
func (s *server) abandon() {
	_ = s.unlessStuck(func() error {
		for _, c := range s.clients {
			c.Close()
		}
		if s.eng == nil {
			return nil
		}
		return s.eng.Close(background, engine.CloseImmediate)
	})
}

// powerCut is the disk as the machine finds it when it comes back.
func (s *server) powerCut(rng *rand.Rand) *faultfs.FS {
	after := s.fs.Crash(rng)
	s.fs.Forget()
	return after
}

// client is a session and the writer of its results.
type client struct {
	*sql.Session
	server *server
	name   string
	rows   [][]string
	tag    string
	copyIn io.Reader
}

// query runs statements; an error is the server's, or ErrCrashed.
func (c *client) query(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	c.rows = nil
	err := c.server.unlessStuck(func() error { return c.Query(c, text) })
	if err != nil && !c.server.crashed() {
		var e *pgerr.Error
		if errors.As(err, &e) && e.Detail != "" {
			err = fmt.Errorf("%w (%s)", err, e.Detail)
		}
		return fmt.Errorf("%.200s: %w", text, err)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", faultfs.ErrCrashed, err)
	}
	return nil
}

// copy loads rows of text format into a table.
func (c *client) copy(table, data string) error {
	c.copyIn = strings.NewReader(data)
	return c.query("COPY %s FROM STDIN", table)
}

func (c *client) RowDescription([]sql.Column)              {}
func (c *client) CommandComplete(tag []byte)               { c.tag = string(tag) }
func (c *client) EmptyQuery()                              {}
func (c *client) PortalSuspended()                         {}
func (c *client) NoData()                                  {}
func (c *client) ParameterDescription([]types.OID)         {}
func (c *client) ParseComplete()                           {}
func (c *client) BindComplete()                            {}
func (c *client) CloseComplete()                           {}
func (c *client) Notice(*pgerr.Error)                      {}
func (c *client) ParameterStatus(string, string)           {}
func (c *client) CopyIn(int16, []int16) error              { return nil }
func (c *client) CopyOut(int16, []int16)                   {}
func (c *client) CopyData([]byte) error                    { return nil }
func (c *client) CopyDone()                                {}
func (c *client) CopyRead(context.Context) ([]byte, error) { return readSome(c.copyIn) }

func (c *client) DataRow(values [][]byte) error {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = string(v)
		if v == nil {
			row[i] = "NULL"
		}
	}
	c.rows = append(c.rows, row)
	return nil
}

func readSome(r io.Reader) ([]byte, error) {
	buf := make([]byte, 4096)
	n, err := r.Read(buf)
	return buf[:n], err
}
