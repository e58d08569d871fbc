package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// output is one figure of a trial; each is a line of the table.
type output struct {
	name string // added to the trial's title
	unit string
	less bool // less is better
	// raw makes the ratio minipg's over PostgreSQL's, as for bytes; else it says how many times better minipg is.
	raw  bool
	goal goal
}

// goal is what a figure has to reach.
type goal struct {
	value    bool // of minipg's value, not of the ratio
	min, max float64
}

// trial is what is measured together.
type trial struct {
	name    string // for --rows
	title   string
	outputs []output
	// constant says that the constant-answer server can run it.
	constant bool
	once     bool // in one round only
	before   func(context.Context, *server) error
	run      func(context.Context, *server) ([]float64, error)
}

// dataFile is a file that PostgreSQL writes by COPY, for COPY FROM.
type dataFile struct {
	name, query, format string
}

// group is trials on one pair of servers.
type group struct {
	name     string
	settings func(*server) []string
	// manual leaves it to the trials to start the servers.
	manual bool
	files  []dataFile
	setup  func(context.Context, *server) error
	trials []trial
}

// sample is one run of a trial on one server.
type sample struct {
	Server string    `json:"server"`
	Round  int       `json:"round"`
	Values []float64 `json:"values"`
	usage
}

// result is a trial and its runs.
type result struct {
	trial   trial
	samples []sample
}

type bench struct {
	opts             *options
	dir              string // of data, files and logs
	minipg, constant string // programs
	postgres         *syscall.Credential
	results          []result
}

func newBench(o *options) (_ *bench, err error) {
	b := &bench{opts: o, minipg: o.Minipg, constant: o.Constant}
	if b.postgres, err = postgresUser(); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp(o.Dir, "minipg-bench-"); err != nil {
		return nil, err
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return nil, err
	}
	// PostgreSQL's user has to reach its data directory, and to write the files to copy from.
	if err = os.Chmod(b.dir, 0o777); err != nil { //nolint:gosec // as said
		return nil, errors.Join(err, b.close())
	}
	if err = b.build(); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// build makes the programs that were not given.
func (b *bench) build() error {
	for _, p := range []struct {
		program *string
		name    string
	}{{&b.minipg, "cmd/minipg"}, {&b.constant, "bench/constant"}} {
		if *p.program != "" {
			abs, err := filepath.Abs(*p.program)
			if err != nil {
				return err
			}
			*p.program = abs
			continue
		}
		*p.program = filepath.Join(b.dir, filepath.Base(p.name))
		cmd := exec.Command("go", "build", "-buildvcs=false", "-o", *p.program, "github.com/minipg/minipg/"+p.name)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
	}
	return nil
}

func (b *bench) close() error { return os.RemoveAll(b.dir) }

// file is the path of one of the group's files.
func (b *bench) file(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) newServer(kind string, g group) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &server{kind: kind, b: b, port: port, sockets: b.dir, dir: filepath.Join(b.dir, "data-"+kind)}
	if g.settings != nil && kind != kindConstant {
		s.settings = g.settings(s)
	}
	return s, nil
}

// runGroup starts a pair of servers, and the constant one where a trial is for it, and runs the trials.
func (b *bench) runGroup(ctx context.Context, g group) (err error) {
	kinds := []string{kindMinipg, kindPostgres}
	for _, t := range g.trials {
		if t.constant {
			kinds = append(kinds, kindConstant)
			break
		}
	}
	var servers []*server
	defer func() { err = errors.Join(err, b.endGroup(servers, g)) }()
	for _, kind := range kinds {
		s, err := b.newServer(kind, g)
		if err != nil {
			return err
		}
		servers = append(servers, s)
		if g.manual {
			continue
		}
		if err := errors.Join(s.initialise(ctx), s.start(ctx)); err != nil {
			return err
		}
	}
	if err := b.prepare(ctx, servers, g); err != nil {
		return err
	}
	// One that fails does not keep the others from being measured.
	for _, t := range g.trials {
		failed := b.runTrial(ctx, servers, t)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if failed != nil {
			failed = fmt.Errorf("%s: %w", t.name, failed)
			b.progress("%v", failed)
			err = errors.Join(err, failed)
		}
	}
	return err
}

func (b *bench) prepare(ctx context.Context, servers []*server, g group) error {
	for _, f := range g.files {
		q := fmt.Sprintf("COPY (%s) TO '%s' (FORMAT %s)", f.query, b.file(f.name), f.format)
		if err := servers[1].exec(ctx, q); err != nil {
			return err
		}
	}
	if g.setup == nil {
		return nil
	}
	for _, s := range servers[:2] {
		b.progress("%s: set-up on %s", g.name, s.kind)
		if err := g.setup(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) endGroup(servers []*server, g group) error {
	var all error
	for _, s := range servers {
		all = errors.Join(all, s.stop(), os.RemoveAll(s.dir))
	}
	for _, f := range g.files {
		if err := os.Remove(b.file(f.name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// runTrial runs a trial on the servers in turn: A B, B A, A B, ...
func (b *bench) runTrial(ctx context.Context, servers []*server, t trial) error {
	rounds := b.opts.Rounds
	if t.once {
		rounds = 1
	}
	r := result{trial: t}
	defer func() {
		if len(r.samples) > 0 {
			b.results = append(b.results, r)
		}
	}()
	for round := range rounds {
		for i := range servers {
			s := servers[i]
			if i < 2 {
				s = servers[(i+round)%2]
			}
			if s.kind == kindConstant && !t.constant {
				continue
			}
			got, err := b.runOnce(ctx, s, t, round)
			if err != nil {
				return err
			}
			r.samples = append(r.samples, got)
		}
	}
	return nil
}

func (b *bench) runOnce(ctx context.Context, s *server, t trial, round int) (sample, error) {
	if t.before != nil && s.kind != kindConstant {
		if err := t.before(ctx, s); err != nil {
			return sample{}, err
		}
	}
	got := sample{Server: s.kind, Round: round}
	var err error
	got.usage, err = s.measured(ctx, func(ctx context.Context) error {
		var err error
		got.Values, err = t.run(ctx, s)
		return err
	})
	if err != nil {
		return got, err
	}
	if len(got.Values) != len(t.outputs) {
		return got, fmt.Errorf("%d values for %d outputs", len(got.Values), len(t.outputs))
	}
	b.progress("%s: round %d on %s: %s", t.name, round+1, s.kind, formatValues(t, got.Values))
	return got, nil
}

func formatValues(t trial, values []float64) string {
	var words []string
	for i, v := range values {
		words = append(words, formatNumber(v)+" "+t.outputs[i].unit)
	}
	return strings.Join(words, ", ")
}

func (b *bench) progress(format string, args ...any) {
	if _, err := io.WriteString(os.Stderr, fmt.Sprintf(format, args...)+"\n"); err != nil {
		return // nobody reads it
	}
}
