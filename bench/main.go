package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"github.com/alecthomas/kong"
)

type options struct {
	Rows     string  `default:"" placeholder:"REGEXP" help:"Run the rows whose name matches."`
	Builtin  bool    `help:"Run the built-in scripts at 8 clients, in every protocol."`
	List     bool    `help:"List the rows and exit."`
	Quick    bool    `help:"Small data, one round of a few transactions: to see that every row works, not how fast."`
	Seconds  int     `default:"15" help:"Length of a pgbench run."`
	Rounds   int     `default:"3" help:"Runs of each row on each server."`
	Scale    int     `default:"20" help:"Scale of the pgbench tables."`
	Big      int     `default:"300" help:"Scale of the tables larger than memory."`
	Long     int     `default:"600" help:"Seconds of the long run."`
	Idle     int     `default:"10000" help:"Idle connections to minipg."`
	IdlePg   int     `default:"1000" name:"idle-postgres" help:"Idle connections to PostgreSQL, which has a process for each."`
	Dir      string  `default:"" help:"Where the data directories go; a temporary directory when empty."`
	Out      string  `short:"o" default:"" help:"Write the table to this file too, and the runs beside it as JSON."`
	Minipg   string  `default:"" help:"The minipg program; built from this checkout when empty."`
	Constant string  `default:"" help:"The constant-answer server; built from this checkout when empty."`
	PgBin    string  `name:"pgbin" default:"/usr/lib/postgresql/15/bin" help:"PostgreSQL's programs."`
	Socket   bool    `help:"Connect through Unix sockets instead of loopback."`
	Fraction float64 `hidden:"" default:"1"` // of the rows of tables; set by --quick
}

func main() {
	var o options
	kong.Parse(&o, kong.Name("bench"), kong.Description("Compares minipg with PostgreSQL 15."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, &o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

// quickEach is how many transactions each client of pgbench runs with --quick: on a busy machine a second may pass
// before PostgreSQL has started its processes.
const quickEach = 20

// quick makes everything small. What was given on the command line for the length of runs is overridden.
func (o *options) quick() {
	o.Rounds, o.Scale, o.Big, o.Long = 1, 1, 4, 5
	o.Idle, o.IdlePg = 200, 50
	o.Fraction = 0.01
}

// rows is n, or few with --quick.
func (o *options) rows(n int) int { return max(100, int(float64(n)*o.Fraction)) }

func run(ctx context.Context, o *options) (err error) {
	if o.Quick {
		o.quick()
	}
	groups, err := choose(o)
	if err != nil {
		return err
	}
	if o.List {
		for _, g := range groups {
			for _, t := range g.trials {
				fmt.Printf("%-28s %s\n", t.name, t.title)
			}
		}
		return nil
	}
	b, err := newBench(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	// What has been measured is worth having when a group fails or the user has seen enough.
	for _, g := range groups {
		if failed := b.runGroup(ctx, g); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", g.name, failed))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(err, b.report(os.Stdout))
}

// choose leaves the groups and trials that were asked for.
func choose(o *options) ([]group, error) {
	pattern := o.Rows
	if o.Builtin {
		pattern = `^(tpcb|update|select)/[a-z]+/8$`
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	var chosen []group
	for _, g := range table(o) {
		var trials []trial
		for _, t := range g.trials {
			if re.MatchString(t.name) {
				trials = append(trials, t)
			}
		}
		if len(trials) > 0 {
			g.trials = trials
			chosen = append(chosen, g)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no row matches %q", pattern)
	}
	return chosen, nil
}
