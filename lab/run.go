package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// lab is one call of "run".
type lab struct {
	opts     *Options
	self     string
	pgbench  string
	work     string
	sockets  string
	overTCP  bool // as the foreign PostgreSQL is reached
	spaces   map[string]string
	files    map[*Workload]string
	results  *Results
	foreign  *foreign
	progress *progress
	cleanups []func() error
}

// maxBytes bounds what a run may write.
const maxBytes = 4_000_000_000

// maxRetriedSeconds is the longest run that is made again, longer, when it ended no transaction.
const maxRetriedSeconds = 4

// ErrInterrupted says that not all runs were made.
var ErrInterrupted = errors.New("interrupted; \"--resume\" goes on")

// Execute makes the runs, writes results and reports, and says what they came to on out. What it has
// is written also when ctx ends.
func Execute(ctx context.Context, o *Options, out, progressTo io.Writer) (err error) {
	l := &lab{opts: o, files: map[*Workload]string{}}
	if l.pgbench, err = findPgbench(debianPgbench); err != nil {
		return err
	}
	if l.self, err = os.Executable(); err != nil {
		return err
	}
	if l.results, err = openResults(o); err != nil {
		return err
	}
	if err := l.makeWork(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.cleanUp()) }()
	cells := Plan(o)
	if o.Budget > 0 {
		cells = Fit(o, cells)
	}
	if err := l.describe(ctx, cells); err != nil {
		return err
	}
	cells = l.withinConnections(cells)
	l.progress = newProgress(progressTo, cells, l.results, o.overhead())
	began := time.Now()
	runErr := l.runAll(ctx, cells)
	l.progress.end()
	took := time.Since(began).Round(time.Second)
	if err := l.results.save(o.Out); err != nil {
		return errors.Join(runErr, err)
	}
	if err := WriteReports(o.Out, l.results); err != nil {
		return errors.Join(runErr, err)
	}
	if _, err := fmt.Fprintf(out, "%d runs in %v\nreport: %s\n", l.progress.made, took, filepath.Join(o.Out, htmlFile)); err != nil {
		return err
	}
	for _, line := range Conclusions(l.results, o.Experiments) {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return runErr
}

func (l *lab) makeWork() error {
	work, err := os.MkdirTemp(l.opts.Work, "minipg-lab-")
	if err != nil {
		return err
	}
	if l.work, err = filepath.Abs(work); err != nil {
		return err
	}
	l.cleanups = append(l.cleanups, func() error { return os.RemoveAll(l.work) })
	// The other server reads input files from it.
	if err := os.Chmod(l.work, 0o755); err != nil {
		return err
	}
	// A socket's name has to be short, a work directory's need not be.
	if l.sockets, err = os.MkdirTemp("", "minilab"); err != nil {
		return err
	}
	l.cleanups = append(l.cleanups, func() error { return os.RemoveAll(l.sockets) })
	return nil
}

func (l *lab) cleanUp() error {
	var errs []error
	if l.foreign != nil {
		errs = append(errs, l.foreign.stop())
	}
	for _, f := range slices.Backward(l.cleanups) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// describe notes what the runs are made on and with.
func (l *lab) describe(ctx context.Context, cells []*Cell) error {
	buffers := "512MB"
	if l.opts.Quick {
		buffers = "64MB"
	}
	most := 0
	tablespaces := false
	for _, c := range cells {
		most = max(most, c.Clients)
		tablespaces = tablespaces || c.Table.Workload != nil && c.Table.Workload.Tablespaces
	}
	res := l.results
	settings := []Setting{
		{"shared_buffers", buffers},
		{"max_wal_size", "8GB"},
		{"max_connections", fmt.Sprint(max(200, most+20))},
	}
	if len(res.Runs) > 0 && !slices.Equal(res.Settings, settings) {
		return fmt.Errorf("%s was made with %s, not with %s: name another directory with --out",
			l.opts.Out, settingsText(res.Settings), settingsText(settings))
	}
	res.Settings = settings
	// What earlier commands noted about their runs stays.
	places := res.Machine.FileSystems
	res.Machine = thisMachine(l.pgbench)
	res.Machine.FileSystems = places
	if text := commandText(os.Args[1:]); !slices.Contains(strings.Split(res.Command, "\n"), text) {
		res.Command = strings.TrimPrefix(res.Command+"\n"+text, "\n")
	}
	res.Planned = len(cells)
	l.addFileSystem("data", l.work)
	if tablespaces {
		if err := l.makeSpaces(); err != nil {
			return err
		}
	}
	if l.opts.Against == "" {
		return nil
	}
	cfg, err := pgx.ParseConfig(l.opts.Against)
	if err != nil {
		return err
	}
	l.overTCP = !strings.HasPrefix(cfg.Host, "/")
	if l.foreign, err = connectForeign(ctx, l.opts.Against); err != nil {
		return fmt.Errorf("--against: %w", err)
	}
	if tablespaces {
		if err := l.foreign.makeSpaces(ctx, l.spaces); err != nil {
			return fmt.Errorf("--against: %w", err)
		}
	}
	res.PostgreSQL, err = l.foreign.describe(ctx)
	return err
}

// commandText is the command line without the connection string, in which there may be a password, and without
// places that only this machine has.
func commandText(args []string) string {
	words := []string{"minipg-lab"}
	for i, a := range args {
		flag, value, joined := strings.Cut(a, "=")
		space, dir, named := strings.Cut(value, "=")
		switch {
		case i > 0 && args[i-1] == "--against":
			a = "DSN"
		case joined && flag == "--against":
			a = "--against=DSN"
		case filepath.IsAbs(a):
			a = "PATH"
		case joined && filepath.IsAbs(value):
			a = flag + "=PATH"
		case named && filepath.IsAbs(dir):
			a = flag + "=" + space + "=PATH"
		case strings.ContainsAny(a, " '\"$"):
			a = strconv.Quote(a)
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// withoutPlaces takes the names of the lab's own directories out of a message.
func (l *lab) withoutPlaces(text string) string {
	for _, dir := range []string{l.work, l.sockets, l.spaces[spaceA], l.spaces[spaceB]} {
		if dir != "" {
			text = strings.ReplaceAll(text, dir, "...")
		}
	}
	return text
}

// withinConnections leaves out the runs that PostgreSQL has too few connections for.
func (l *lab) withinConnections(cells []*Cell) []*Cell {
	if l.foreign == nil {
		return cells
	}
	// Connections of superusers are not counted out, and the lab itself has two.
	const own = 2
	limit := 0
	for _, s := range l.results.PostgreSQL.Settings {
		switch s.Name {
		case "max_connections":
			if n, err := strconv.Atoi(s.Value); err == nil {
				limit = n - own
			}
		case "shared_buffers":
			if s.Value != l.results.Settings[0].Value {
				l.note("PostgreSQL has shared_buffers = %s, minipg %s: where data outgrow them, the two cannot be compared.",
					s.Value, l.results.Settings[0].Value)
			}
		}
	}
	return slices.DeleteFunc(cells, func(c *Cell) bool {
		much := c.Config.postgres && c.Clients > limit
		if much {
			l.note("PostgreSQL was not run with %d clients: it takes %d connections.", c.Clients, limit+own)
			l.results.Planned--
		}
		return much
	})
}

func (l *lab) addFileSystem(use, dir string) {
	list := slices.DeleteFunc(l.results.Machine.FileSystems, func(f FileSystem) bool { return f.Use == use })
	l.results.Machine.FileSystems = append(list, fileSystem(use, dir))
}

func (l *lab) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(l.results.Notes, text) {
		l.results.Notes = append(l.results.Notes, text)
	}
}

// runAll makes the runs that are not there yet. A run that fails is noted and does not end the others.
func (l *lab) runAll(ctx context.Context, cells []*Cell) error {
	failed := 0
	for _, c := range cells {
		if l.results.find(c.Key()) != nil {
			continue
		}
		l.progress.begin(c)
		r, err := l.run(ctx, c)
		if ctx.Err() != nil {
			l.results.Interrupted = true
			return ErrInterrupted
		}
		if err != nil {
			failed++
			r = &Run{Error: l.withoutPlaces(err.Error())}
		}
		r.Experiment, r.Table, r.Config = c.Experiment.ID, c.Table.Name, c.Config.Name
		r.Clients, r.Round = c.Clients, c.Round
		l.results.put(r)
		if err := l.results.save(l.opts.Out); err != nil {
			return err
		}
		l.progress.done(c, r)
	}
	l.results.Interrupted = false
	if failed > 0 {
		return fmt.Errorf("%d of %d runs failed; the report names them", failed, len(cells))
	}
	return nil
}

// run makes one run.
func (l *lab) run(ctx context.Context, c *Cell) (r *Run, err error) {
	start := time.Now().UTC().Truncate(time.Millisecond)
	if c.Table.measure != nil {
		r, err = c.Table.measure(ctx, c, c.Seconds)
	} else {
		r, err = l.runOnServer(ctx, c)
	}
	if err == nil {
		r.Start = start
	}
	return r, err
}

func (l *lab) runOnServer(ctx context.Context, c *Cell) (r *Run, err error) {
	var t target = l.foreign
	var first []string
	if !c.Config.postgres {
		s, startErr := l.start(ctx, c.Config)
		if startErr != nil {
			return nil, startErr
		}
		t = s
		defer func() { err = errors.Join(err, s.stop()) }()
		if c.Table.Workload.Tablespaces {
			first = l.addSpaces(s)
			for _, dir := range s.spaces {
				if err := os.Mkdir(dir, 0o700); err != nil {
					return nil, err
				}
			}
		}
	}
	conn, err := pgx.Connect(ctx, t.dsn())
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := execAll(ctx, conn, first...); err != nil {
		return nil, err
	}
	return l.measure(ctx, c, t, conn)
}

// measure warms the server up, and measures from the same state the warm-up had.
func (l *lab) measure(ctx context.Context, c *Cell, t target, conn *pgx.Conn) (*Run, error) {
	w := c.Table.Workload
	pg, err := l.newLoad(c, t)
	if err != nil {
		return nil, err
	}
	if err := l.reset(ctx, conn, c); err != nil {
		return nil, err
	}
	seconds := c.Seconds
	pg.perCli, pg.seconds = 2, 0
	if !l.opts.Quick {
		pg.seconds = max(1, seconds/10)
	}
	warm, err := pg.run(ctx)
	if errors.Is(err, errNoTransaction) {
		warm, err = &measured{}, nil // all of it went into connecting: the measured run says more
	}
	if err != nil {
		return nil, fmt.Errorf("warm-up: %w", err)
	}
	r := &Run{CPUSeconds: -1}
	if fits := int(maxBytes / (max(warm.tps, 1) * float64(w.BytesPerTransaction))); fits < seconds {
		seconds = max(1, fits)
		r.Shortened = fmt.Sprintf("%d s instead of %d, after which it would have written over 4 GB", seconds, c.Seconds)
	}
	for pg.seconds = seconds; ; pg.seconds *= 4 {
		if err := l.reset(ctx, conn, c); err != nil {
			return nil, err
		}
		err := l.observe(ctx, c, t, conn, pg, r)
		if err == nil {
			break
		}
		// A short run of many clients on a busy machine may be over before they are connected.
		if !errors.Is(err, errNoTransaction) || pg.seconds > maxRetriedSeconds {
			return nil, err
		}
	}
	if w.after != nil {
		if err := w.after(ctx, conn, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// observe runs pgbench between two looks at the server.
func (l *lab) observe(ctx context.Context, c *Cell, t target, conn *pgx.Conn, pg *load, r *Run) error {
	before, err := t.counters(ctx)
	if err != nil {
		return err
	}
	cpuBefore, known := t.cpu()
	m, err := pg.run(ctx)
	if err != nil {
		return err
	}
	if cpu, ok := t.cpu(); ok && known {
		r.CPUSeconds = cpu - cpuBefore
	}
	after, err := t.counters(ctx)
	if err != nil {
		return err
	}
	if after != nil {
		r.Counters = after.minus(before)
		r.Blocks = r.Counters.Blocks
	} else if r.Blocks, err = sizeInBlocks(ctx, conn, c.Table.Workload.Tables(c.Clients)); err != nil {
		return err
	}
	r.Seconds = float64(m.transactions) / m.tps
	r.TPS, r.Transactions, r.LatencyMS = m.tps, m.transactions, m.latencyMS
	if c.Table.Workload.CountClients != nil {
		r.TPS = float64(m.counted) / r.Seconds
		r.Extra = append(r.Extra, Measure{"TPS of the clients in A", float64(m.others) / r.Seconds})
	}
	r.P50MS, r.P99MS = m.quantile(0.5), m.quantile(0.99)
	return nil
}

func sizeInBlocks(ctx context.Context, conn *pgx.Conn, tables []string) (float64, error) {
	var total float64
	for _, name := range tables {
		var blocks float64
		err := conn.QueryRow(ctx, "SELECT (pg_total_relation_size('"+name+"') / 8192)::float8").Scan(&blocks)
		if err != nil {
			return 0, err
		}
		total += blocks
	}
	return total, nil
}

// newLoad writes the input file, once for all runs.
func (l *lab) newLoad(c *Cell, t target) (*load, error) {
	w := c.Table.Workload
	script := w.Script
	if w.File != nil {
		name := l.files[w]
		if name == "" {
			name = filepath.Join(l.work, fmt.Sprintf("input-%d", len(l.files)))
			if err := os.WriteFile(name, w.File(), 0o644); err != nil {
				return nil, err
			}
			l.files[w] = name
		}
		script = strings.ReplaceAll(script, "FILE", name)
	}
	dir := filepath.Join(l.work, "pgbench")
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	return &load{pgbench: l.pgbench, dsn: t.dsn(), dir: dir, workload: w, script: script, clients: c.Clients}, nil
}

// reset makes the tables anew. Invariant 1.
func (l *lab) reset(ctx context.Context, conn *pgx.Conn, c *Cell) error {
	w := c.Table.Workload
	if err := execAll(ctx, conn, "DROP TABLE IF EXISTS "+strings.Join(w.Tables(c.Clients), ", ")); err != nil {
		return err
	}
	if err := execAll(ctx, conn, w.Create(c.Clients)...); err != nil {
		return err
	}
	if w.arrange != nil {
		if err := w.arrange(ctx, conn, c); err != nil {
			return err
		}
	}
	return execAll(ctx, conn, "CHECKPOINT")
}
