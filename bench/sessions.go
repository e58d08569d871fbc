package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// timedStart starts the server and says how long it took to take connections.
func (s *server) timedStart(ctx context.Context) (float64, error) {
	start := time.Now()
	err := s.start(ctx)
	return time.Since(start).Seconds(), err
}

// startGroup is the way from nothing to a server.
func startGroup() group {
	return group{
		name: "start", manual: true,
		trials: []trial{{
			name: "start", title: "ready from an empty directory",
			outputs: []output{{unit: "s", less: true, goal: goal{value: true, max: 0.1}}},
			before: func(_ context.Context, s *server) error {
				return errors.Join(s.stop(), os.RemoveAll(s.dir))
			},
			run: func(ctx context.Context, s *server) ([]float64, error) {
				start := time.Now()
				err := s.initialise(ctx)
				if err == nil {
					err = s.start(ctx)
				}
				return []float64{time.Since(start).Seconds()}, err
			},
		}},
	}
}

// idleCount is how many idle connections a server gets.
func (o *options) idleCount(s *server) int {
	if s.kind == kindMinipg {
		return o.Idle
	}
	return o.IdlePg
}

// idleGroup is many connections that do nothing, and some that do.
func idleGroup(o *options) group {
	title := fmt.Sprintf("%d idle connections (PostgreSQL: %d):", o.Idle, o.IdlePg)
	return group{
		name: "idle connections",
		settings: func(s *server) []string {
			return append(memoryAndLog(s), fmt.Sprintf("max_connections=%d", o.idleCount(s)+100))
		},
		setup: initialised(o.Scale),
		trials: []trial{{
			name: "idle", title: title,
			outputs: []output{
				{name: "memory", unit: "MB", less: true, raw: true, goal: goal{value: true, max: 1024}},
				{name: "memory of one", unit: "kB", less: true, raw: true},
				{name: "-S simple with 8 active ones", unit: "tps", goal: atLeast(3)},
				{name: "of what it is without them", goal: goal{value: true, min: 0.95}},
			},
			run: func(ctx context.Context, s *server) ([]float64, error) { return idleRun(ctx, s, o) },
		}},
	}
}

func idleRun(ctx context.Context, s *server, o *options) (values []float64, err error) {
	r := benchRun{script: "-b select-only", protocol: "simple", clients: 8, seconds: o.Seconds}
	alone, err := s.pgbench(ctx, r)
	if err != nil {
		return nil, err
	}
	before := proportional(s.cmd.Process.Pid)
	n := o.idleCount(s)
	idle := make([]*pgconn.PgConn, 0, n)
	defer func() {
		for _, c := range idle {
			err = errors.Join(err, c.Close(ctx))
		}
	}()
	for range n {
		c, err := s.connect(ctx)
		if err != nil {
			return nil, fmt.Errorf("%d connections are open: %w", len(idle), err)
		}
		idle = append(idle, c)
	}
	after := proportional(s.cmd.Process.Pid)
	busy, err := s.pgbench(ctx, r)
	if err != nil {
		return nil, err
	}
	each := float64(after-before) / float64(n) / (1 << 10)
	return []float64{float64(after) / (1 << 20), each, busy.tps, busy.tps / alone.tps}, nil
}
