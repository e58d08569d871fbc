// Command minipg serves PostgreSQL clients from a data directory.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/minipg/minipg"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql"
	"github.com/minipg/minipg/storage"
)

type serveCmd struct {
	Dir     string   `short:"D" default:"./minipg-data" help:"Data directory; created and initialised when empty."`
	Host    string   `short:"h" default:"127.0.0.1" help:"Address to listen on."`
	Port    int      `short:"p" default:"5432" help:"Port; 0 picks a free one and prints it."`
	Socket  string   `short:"k" name:"socket-dir" default:"/tmp" help:"Directory of the Unix socket; empty for none."`
	Set     []string `short:"c" name:"set" sep:"none" placeholder:"NAME=VALUE" help:"A setting; may be given again."`
	Metrics *string  `name:"metrics-listen" placeholder:"127.0.0.1:9187" help:"Address of the metrics page; empty for none."`
}

type checkCmd struct {
	Dir string `short:"D" default:"./minipg-data" help:"Data directory."`
}

type versionCmd struct{}

type cli struct {
	Serve   serveCmd   `cmd:"" default:"withargs" help:"Serve clients (the default)."`
	Check   checkCmd   `cmd:"" help:"Verify a data directory that nobody serves."`
	Ready   readyCmd   `cmd:"" help:"Ask whether a server takes clients; the exit status tells."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	var c cli
	parser, err := kong.New(&c, kong.Name("minipg"), kong.NoDefaultHelp(),
		kong.Description("A small database server that speaks PostgreSQL's protocol."))
	if err != nil {
		fmt.Fprintln(os.Stderr, "minipg:", err)
		return 1
	}
	if wantsHelp(args) {
		return printHelp(parser, args)
	}
	ctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "minipg:", err)
		fmt.Fprintln(os.Stderr, "Try \"minipg --help\" for more information.")
		return 1
	}
	if err := ctx.Run(); err != nil {
		complain(err)
		return 1
	}
	return 0
}

// complain prints an error with what else is known of it.
func complain(err error) {
	fmt.Fprintln(os.Stderr, "minipg:", err)
	var e *pgerr.Error
	if errors.As(err, &e) {
		if e.Detail != "" {
			fmt.Fprintln(os.Stderr, "DETAIL:", e.Detail)
		}
		if e.Hint != "" {
			fmt.Fprintln(os.Stderr, "HINT:", e.Hint)
		}
	}
}

// die ends the process when the data directory can not be gone on with.
func die(err error) {
	complain(err)
	os.Exit(1)
}

// wantsHelp finds --help and -?; -h is the host, as in PostgreSQL's tools.
func wantsHelp(args []string) bool {
	for _, a := range args {
		switch a {
		case "--help", "-?":
			return true
		case "--":
			return false
		}
	}
	return false
}

func printHelp(parser *kong.Kong, args []string) int {
	var words []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			words = append(words, a)
		}
	}
	ctx, err := kong.Trace(parser, words)
	if err == nil {
		parser.Stdout = os.Stdout
		err = kong.DefaultHelpPrinter(kong.HelpOptions{ValueFormatter: kong.DefaultHelpValueFormatter}, ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "minipg:", err)
		return 1
	}
	return 0
}

// Run prints the version.
func (versionCmd) Run() error {
	_, err := fmt.Println("minipg " + minipg.Version)
	return err
}

func newLogger() *zap.Logger {
	cfg := zap.NewProductionEncoderConfig()
	cfg.EncodeTime = zapcore.ISO8601TimeEncoder
	cfg.EncodeLevel = zapcore.CapitalLevelEncoder
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(cfg), zapcore.Lock(os.Stderr), zap.InfoLevel))
}

// Run serves until a signal stops it.
func (c *serveCmd) Run() error {
	tuneScheduler()
	if err := checkHost(c.Host); err != nil {
		return err
	}
	opts := minipg.Options{
		Dir: c.Dir, Host: c.Host, Port: c.Port, SocketDir: c.Socket, MetricsListen: true, Logger: newLogger(), Fatal: die,
	}
	if c.Metrics != nil {
		opts.Settings = append(opts.Settings, minipg.Setting{Name: "metrics_listen", Value: *c.Metrics})
	}
	for _, a := range c.Set {
		name, value, ok := strings.Cut(a, "=")
		if !ok {
			return fmt.Errorf("-c %s requires a value", a)
		}
		opts.Settings = append(opts.Settings, minipg.Setting{Name: name, Value: value})
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP)
	ctx := context.Background()
	srv, err := minipg.Open(ctx, opts)
	if err != nil {
		return err
	}
	if c.Port == 0 {
		if _, err := fmt.Println("port", srv.Port()); err != nil {
			return err
		}
	}
	return waitForSignal(ctx, srv, signals)
}

// immediateTimeout is how long an immediate stop may take before the process just ends, as PostgreSQL's.
const immediateTimeout = 5 * time.Second

// waitForSignal runs the server until it is told to stop: SIGTERM is smart, SIGINT fast, SIGQUIT
// immediate, as of PostgreSQL; a stronger signal overrides a weaker one.
func waitForSignal(ctx context.Context, srv *minipg.Server, signals <-chan os.Signal) error {
	for sig := range signals {
		switch sig {
		case syscall.SIGHUP:
			srv.Reload(ctx)
		case syscall.SIGINT:
			return stopServer(ctx, srv, minipg.Fast, signals)
		case syscall.SIGQUIT:
			return stopServer(ctx, srv, minipg.Immediate, signals)
		case syscall.SIGTERM:
			return stopServer(ctx, srv, minipg.Smart, signals)
		}
	}
	return nil
}

// stopServer closes the server and meanwhile listens for signals that are stronger.
func stopServer(ctx context.Context, srv *minipg.Server, mode minipg.Mode, signals <-chan os.Signal) error {
	patience, fast := context.WithCancel(ctx)
	defer fast()
	done := make(chan error, 1)
	go func() { done <- srv.Close(patience, mode) }()
	var tooLong <-chan time.Time
	if mode == minipg.Immediate {
		tooLong = time.After(immediateTimeout)
	}
	for {
		select {
		case err := <-done:
			return err
		case <-tooLong:
			return errors.New("an immediate stop took too long: sessions or the disk do not answer")
		case sig := <-signals:
			switch sig {
			case syscall.SIGQUIT:
				return errors.New("stopped at once: the next start recovers")
			case syscall.SIGINT:
				fast()
			}
		}
	}
}

// checkHost refuses addresses others could reach, since there are no passwords yet.
func checkHost(host string) error {
	if host == "" || host == "localhost" {
		return nil
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("cannot listen on %s: without passwords only loopback addresses and the Unix socket are served", host)
}

// Run checks a directory and reports what is wrong with it.
func (c *checkCmd) Run() error {
	if _, err := os.Stat(c.Dir); err != nil {
		return err
	}
	start := time.Now()
	stats, err := engine.Check(context.Background(), engine.Config{
		FS: storage.OSFS{}, Dir: c.Dir, Logger: zap.NewNop(), IndexExprs: sql.IndexExprs(), Fatal: die,
	}, func(p engine.Problem) { fmt.Println(p) })
	if err != nil {
		return err
	}
	fmt.Printf("%d databases, %d tables, %d indexes, %d sequences: %d blocks, %d rows, %d index entries in %v\n",
		stats.Databases, stats.Tables, stats.Indexes, stats.Sequences, stats.Blocks, stats.Rows, stats.IndexEntries,
		time.Since(start).Round(time.Millisecond))
	if stats.Skipped > 0 {
		fmt.Printf("%d indexes with expressions were not compared with their tables\n", stats.Skipped)
	}
	if stats.Problems > 0 {
		return errors.New("the data directory is damaged")
	}
	fmt.Println("no problem found")
	return nil
}
