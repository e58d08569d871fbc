package lab

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options are what the command line says.
type Options struct {
	Experiments []*Experiment
	Clients     []int    // nil: each table's own
	Only        []string // configurations; nil: all
	Seconds     int      // of one run
	Rounds      int
	Quick       bool
	Budget      time.Duration // 0: none
	Against     string        // DSN of a PostgreSQL; "" for none
	Out         string
	Resume      bool
	Minipg      string            // another server binary; "" for this one
	Work        string            // directory for data; "" for a temporary one
	Spaces      map[string]string // tablespaces A and B
	Server      []Setting         // for every minipg, over what the experiments say
}

// The defaults of options that are not given.
const (
	DefaultSeconds = 30
	DefaultRounds  = 4
	quickSeconds   = 1
	quickRounds    = 1
)

// Cell is one run to be made.
type Cell struct {
	Experiment *Experiment
	Table      *Table
	Config     *Config
	Clients    int
	Round      int
	Seconds    int
}

// Key tells cells apart, and finds a cell's run in results.json.
func (c *Cell) Key() string {
	return runKey(c.Experiment.ID, c.Table.Name, c.Config.Name, c.Clients, c.Round)
}

func runKey(experiment, table, config string, clients, round int) string {
	return fmt.Sprintf("%s|%s|%s|%d|%d", experiment, table, config, clients, round)
}

// The names of the two configurations that tables do not list.
const (
	controlName  = "control (the first again)"
	postgresName = "PostgreSQL"
)

// columns are the configurations of a table in the order of an odd round: the control is last, so that it
// is as far from the first as a configuration can be.
func (t *Table) columns(rounds int, against bool) []*Config {
	var list []*Config
	for i := range t.Configs {
		list = append(list, &t.Configs[i])
	}
	if against && t.NoPostgreSQL == "" {
		list = append(list, &Config{Name: postgresName, postgres: true})
	}
	if rounds > 1 {
		control := t.Configs[0]
		control.Name, control.control, control.Published, control.Default = controlName, true, nil, false
		list = append(list, &control)
	}
	return list
}

// Plan lists the runs in their order: of each table the largest client count first, since it warms the machine
// up, and at each count the rounds A B B A.
func Plan(o *Options) []*Cell {
	var cells []*Cell
	for _, e := range o.Experiments {
		for _, t := range e.Tables {
			columns := slices.DeleteFunc(t.columns(o.Rounds, o.Against != ""), func(c *Config) bool {
				return o.Only != nil && !slices.Contains(o.Only, c.Name)
			})
			counts := t.counts(o, columns)
			for _, clients := range counts {
				cells = append(cells, rounds(e, t, columns, clients, o)...)
			}
		}
	}
	return cells
}

func rounds(e *Experiment, t *Table, columns []*Config, clients int, o *Options) []*Cell {
	var cells []*Cell
	for r := range o.Rounds {
		order := slices.Clone(columns)
		if r%2 == 1 {
			slices.Reverse(order)
		}
		for _, c := range order {
			if o.Clients == nil && !o.Quick && !slices.Contains(t.clientsOf(c), clients) {
				continue
			}
			cells = append(cells, &Cell{Experiment: e, Table: t, Config: c, Clients: clients, Round: r, Seconds: o.Seconds})
		}
	}
	return cells
}

// clientsOf are a column's client counts where the command line names none. PostgreSQL goes wherever
// a configuration of the table's goes.
func (t *Table) clientsOf(c *Config) []int {
	switch {
	case c.postgres:
		all := slices.Clone(t.Clients)
		for i := range t.Configs {
			all = append(all, t.Configs[i].Clients...)
		}
		return all
	case c.Clients != nil:
		return c.Clients
	}
	return t.Clients
}

// counts are the client counts of a table, the largest first.
func (t *Table) counts(o *Options, columns []*Config) []int {
	var list []int
	switch {
	case o.Clients != nil:
		list = slices.Clone(o.Clients)
	case o.Quick:
		list = slices.Clone(t.Quick)
	default:
		for _, c := range columns {
			list = append(list, t.clientsOf(c)...)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	slices.Reverse(list)
	return list
}

// What a run takes besides its own time, about: start, two resets, warm-up, stop.
const (
	overheadSeconds      = 1.8
	quickOverheadSeconds = 1
)

func (o *Options) overhead() float64 {
	if o.Quick {
		return quickOverheadSeconds
	}
	return overheadSeconds
}

// overheadOf is what runs take besides their own time.
func (o *Options) overheadOf(cells []*Cell) float64 {
	var seconds float64
	for _, c := range cells {
		seconds += o.overhead() + c.Table.Extra
	}
	return seconds
}

// minSeconds is the shortest run that a budget leads to while there is something else to leave out.
const minSeconds = 2

// keptRounds are left in any case: with two rounds Student's interval is three times as wide as with
// three, and says nothing.
const keptRounds = 3

// Fit chooses the time of a run so that all of them end within the budget. Where that is not enough, it
// leaves out, in this order, client counts, rounds of the tables that matter least, rounds of all tables.
// What cannot be done in the budget even so takes longer.
func Fit(o *Options, cells []*Cell) []*Cell {
	steps := []func(*Cell) bool{
		func(c *Cell) bool { return o.Clients == nil && !o.Quick && !slices.Contains(c.Table.Few, c.Clients) },
		func(c *Cell) bool { return c.Table.Minor && c.Round >= keptRounds-1 },
		func(c *Cell) bool { return c.Round >= keptRounds },
	}
	for {
		each := (o.Budget.Seconds() - o.overheadOf(cells)) / float64(len(cells))
		if each >= minSeconds || len(steps) == 0 {
			for _, c := range cells {
				c.Seconds = max(1, min(o.Seconds, int(each)))
			}
			o.spend(cells, each-float64(int(each)))
			return cells
		}
		cells = slices.DeleteFunc(cells, steps[0])
		steps = steps[1:]
	}
}

// spend gives what whole seconds left of a budget, rest for each run, to the runs of the first tables: a second more
// for all of a table or for none.
func (o *Options) spend(cells []*Cell, rest float64) {
	left := int(rest * float64(len(cells)))
	for _, e := range o.Experiments {
		for _, t := range e.Tables {
			var of []*Cell
			for _, c := range cells {
				if c.Table == t && c.Seconds < o.Seconds {
					of = append(of, c)
				}
			}
			if len(of) > left {
				continue
			}
			left -= len(of)
			for _, c := range of {
				c.Seconds++
			}
		}
	}
}

// Complete fills in what was not given (0) and refuses what cannot be.
func (o *Options) Complete(each time.Duration, rounds int) error {
	o.Seconds, o.Rounds = int(each/time.Second), rounds
	switch {
	case each < 0 || each%time.Second != 0:
		return fmt.Errorf("--time %v: pgbench takes whole seconds", each)
	case rounds < 0:
		return fmt.Errorf("--rounds %d: there must be at least one", rounds)
	}
	if o.Seconds == 0 {
		o.Seconds = DefaultSeconds
		if o.Quick {
			o.Seconds = quickSeconds
		}
	}
	if o.Rounds == 0 {
		o.Rounds = DefaultRounds
		if o.Quick {
			o.Rounds = quickRounds
		}
	}
	return nil
}

// Estimate says how many runs there would be, how long they would take, and of each table how many runs, of how many
// seconds, with which clients.
func Estimate(o *Options) (runs int, estimate time.Duration, tables []string) {
	cells := Plan(o)
	if o.Budget > 0 {
		cells = Fit(o, cells)
	}
	seconds := o.overheadOf(cells)
	counts := map[*Table][]int{}
	for _, c := range cells {
		seconds += float64(c.Seconds)
		if !slices.Contains(counts[c.Table], c.Clients) {
			counts[c.Table] = append(counts[c.Table], c.Clients)
		}
	}
	for _, e := range o.Experiments {
		for _, t := range e.Tables {
			made, each := 0, 0
			for _, c := range cells {
				if c.Table == t {
					made, each = made+1, c.Seconds
				}
			}
			slices.Reverse(counts[t])
			name := e.ID
			if t.Name != "" {
				name += " " + t.Name
			}
			tables = append(tables, fmt.Sprintf("%s: %d runs of %d s, clients %s", name, made, each,
				strings.Trim(fmt.Sprint(counts[t]), "[]")))
		}
	}
	return len(cells), (time.Duration(seconds) * time.Second).Round(time.Second), tables
}
