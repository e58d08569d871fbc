// Command minipg-lab reruns the published experiments minipg exists for.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/minipg/minipg"
	"github.com/minipg/minipg/lab"
)

type listCmd struct{}

type runCmd struct {
	Experiments []string          `arg:"" name:"experiment" help:"E1 to E10, or all."`
	Clients     []int             `placeholder:"1,2,4" help:"Client counts of every experiment; by default each has the published ones."`
	Only        []string          `sep:"none" placeholder:"NAME" help:"Only this configuration, as list names it, or PostgreSQL; may be given again."`
	Time        time.Duration     `placeholder:"30s" help:"Time of one run, whole seconds (30s; 1s with --quick)."`
	Rounds      int               `placeholder:"4" help:"Runs of each configuration (4; 1 with --quick)."`
	Quick       bool              `help:"A first look: two client counts, short runs, a small buffer pool."`
	Budget      time.Duration     `placeholder:"25m" help:"Shorten the runs, then leave out client counts and rounds, so that all of it ends in about this time."`
	Against     string            `placeholder:"DSN" help:"Also run on this PostgreSQL, in turn."`
	Out         string            `default:"lab-results" placeholder:"DIR" help:"Where results and reports go (lab-results)."`
	Resume      bool              `help:"Go on with what is in the output directory; runs made are not made again."`
	Tablespace  map[string]string `placeholder:"A=DIR" help:"Where tablespace A or B is; by default a new file system on a loop device, or a directory."`
	Minipg      string            `placeholder:"PATH" help:"Another minipg to run; by default the one built into this program."`
	Work        string            `placeholder:"DIR" help:"Where the servers' data go (the system's temporary directory)."`
	Set         []string          `short:"c" sep:"none" placeholder:"NAME=VALUE" help:"A setting of every minipg; may be given again."`
	DryRun      bool              `help:"Say how many runs there would be and how long they would take."`
}

type reportCmd struct {
	Dir string `arg:"" help:"A directory with results.json."`
}

type compareCmd struct {
	Before string `arg:"" name:"dir1" help:"A directory with results.json."`
	After  string `arg:"" name:"dir2" help:"Another one."`
}

// serverCmd is how the program starts itself as the server of a run.
type serverCmd struct {
	Dir     string        `short:"D" required:""`
	Port    int           `short:"p"`
	Socket  string        `short:"k"`
	Set     []string      `short:"c" sep:"none"`
	Metrics string        `name:"metrics-listen"`
	Stall   string        `help:"A directory where files grow slowly."`
	Delay   time.Duration `help:"How slowly."`
}

type cli struct {
	List    listCmd    `cmd:"" help:"List the experiments."`
	Run     runCmd     `cmd:"" help:"Run experiments and report."`
	Report  reportCmd  `cmd:"" help:"Write the reports of a directory again."`
	Compare compareCmd `cmd:"" help:"Compare the results of two directories."`
	Server  serverCmd  `cmd:"" hidden:"" name:"server-of-a-run"`
}

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	var c cli
	parser, err := kong.New(&c, kong.Name("minipg-lab"), kong.Exit(func(code int) { os.Exit(code) }),
		kong.Description("Reruns the published experiments on relation extension and B-tree latching."))
	if err != nil {
		fmt.Fprintln(os.Stderr, "minipg-lab:", err)
		return 1
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	ctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "minipg-lab:", err)
		fmt.Fprintln(os.Stderr, "Try \"minipg-lab --help\" for more information.")
		return 1
	}
	switch err := ctx.Run(); {
	case errors.Is(err, lab.ErrInterrupted):
		fmt.Fprintln(os.Stderr, "minipg-lab:", err)
		return 130
	case err != nil:
		fmt.Fprintln(os.Stderr, "minipg-lab:", err)
		return 1
	}
	return 0
}

// Run lists the experiments.
func (listCmd) Run() error {
	for _, e := range lab.Experiments() {
		fmt.Printf("%-4s %s\n", e.ID, e.Title)
		for _, t := range e.Tables {
			name := ""
			if t.Name != "" {
				name = t.Name + ": "
			}
			var configs []string
			for _, c := range t.Configs {
				configs = append(configs, c.Name)
			}
			fmt.Printf("     %sclients %s: %s\n", name, strings.Trim(fmt.Sprint(t.Clients), "[]"), strings.Join(configs, "; "))
		}
	}
	return nil
}

// Run runs experiments.
func (c *runCmd) Run() error {
	o, err := c.options()
	if err != nil {
		return err
	}
	if c.DryRun {
		runs, estimate, clients := lab.Estimate(o)
		fmt.Printf("%d runs, about %v\n", runs, estimate)
		for _, line := range clients {
			fmt.Println(line)
		}
		return nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return lab.Execute(ctx, o, os.Stdout, os.Stderr)
}

func (c *runCmd) options() (*lab.Options, error) {
	experiments, err := lab.Find(c.Experiments)
	if err != nil {
		return nil, err
	}
	o := &lab.Options{
		Experiments: experiments, Clients: c.Clients, Only: c.Only, Quick: c.Quick, Budget: c.Budget, Against: c.Against, Out: c.Out,
		Resume: c.Resume, Minipg: c.Minipg, Work: c.Work, Spaces: c.Tablespace,
	}
	for _, n := range c.Clients {
		if n < 1 {
			return nil, fmt.Errorf("--clients %d: there must be at least one", n)
		}
	}
	for name := range c.Tablespace {
		if !slices.Contains([]string{"A", "B"}, name) {
			return nil, fmt.Errorf("--tablespace %s: the tablespaces are A and B", name)
		}
	}
	for _, s := range c.Set {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fmt.Errorf("-c %s requires a value", s)
		}
		o.Server = append(o.Server, lab.Setting{Name: name, Value: value})
	}
	return o, o.Complete(c.Time, c.Rounds)
}

// Run writes the reports again.
func (c *reportCmd) Run() error {
	res, err := lab.Load(c.Dir)
	if err != nil {
		return err
	}
	return lab.WriteReports(c.Dir, res)
}

// Run compares two directories.
func (c *compareCmd) Run() error { return lab.Compare(os.Stdout, c.Before, c.After) }

// Run serves until it is told to stop.
func (c *serverCmd) Run() error {
	opts := minipg.Options{Dir: c.Dir, Host: "127.0.0.1", Port: c.Port, SocketDir: c.Socket, HTTPAddr: c.Metrics}
	for _, s := range c.Set {
		name, value, _ := strings.Cut(s, "=")
		opts.Settings = append(opts.Settings, minipg.Setting{Name: name, Value: value})
	}
	return lab.Serve(opts, c.Stall, c.Delay)
}
