package lab

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Experiment is one of E1 to E10.
type Experiment struct {
	ID, Title string
	Question  string // what it asks
	Published string // what was published, and where
	Tables    []*Table
}

// Table is a workload under several configurations, which are compared with the first one.
type Table struct {
	Name     string // tells tables of one experiment apart; "" for the only one
	Unit     string // of throughput; "" is TPS
	Workload *Workload
	Configs  []Config
	Clients  []int
	Quick    []int // client counts of --quick
	Few      []int // client counts where a budget does not suffice for all
	Minor    bool  // fewer rounds are made of it first
	// Extra are the seconds a run of this table takes beyond what others take besides their own time.
	Extra float64
	// Sleeps tells which waits the second plot shows.
	Sleeps SleepKind
	// NoPostgreSQL says why the table cannot be run there; "" if it can.
	NoPostgreSQL string
	// PublishedRatio is the claimed quotient of the last configuration with a figure to the first.
	PublishedRatio float64

	// measure replaces pgbench.
	measure func(ctx context.Context, c *Cell, seconds int) (*Run, error)
}

// SleepKind is a kind of waits.
type SleepKind int

// The kinds of waits that experiments are about.
const (
	NoSleeps SleepKind = iota
	ExtensionSleeps
	LeafWaits
)

// Setting is a setting and its value.
type Setting struct{ Name, Value string }

// Config is a column of a table: minipg under some settings, or PostgreSQL.
type Config struct {
	Name      string
	Settings  []Setting
	Clients   []int // where they are not the table's
	Published map[int]Figure
	// Default marks the configuration with every setting at its default.
	Default bool
	// Stall delays each growth of a file in tablespace A.
	Stall bool

	postgres bool
	control  bool
}

// Figure is a published measurement.
type Figure struct {
	TPS    float64
	Sleeps float64 // ProcSleep count; 0 if none was published
}

// Workload is what the clients do.
type Workload struct {
	Ours     bool // the published text does not give the script
	Protocol string
	// Script has FILE where the input file's name goes.
	Script string
	// Create makes the tables of a run, Tables names them.
	Create func(clients int) []string
	Tables func(clients int) []string
	// File makes the contents of FILE; nil if there is none.
	File func() []byte
	// BytesPerTransaction is about what one writes into relations and the log.
	BytesPerTransaction int
	// Session settings both kinds of server get.
	Session []Setting
	// ThreadPerClient gives each client a thread of pgbench, as the published runs did.
	ThreadPerClient bool
	// SamplingRate is the part of the transactions whose latency is logged; 0 is all.
	SamplingRate float64
	Tablespaces  bool
	// CountClients chooses the clients whose transactions count; nil counts all.
	CountClients func(client int) bool

	// arrange does to newly made tables what Create cannot.
	arrange func(ctx context.Context, conn *pgx.Conn, c *Cell) error
	// after looks at the tables when pgbench is gone.
	after func(ctx context.Context, conn *pgx.Conn, r *Run) error
}

// Experiments are all experiments in order.
func Experiments() []*Experiment {
	return []*Experiment{e1(), e2(), e3(), e4(), e5(), e6(), e7(), e8(), e9(), e10()}
}

// Find returns the named experiments, all of them for "all", in their order and each once.
func Find(ids []string) ([]*Experiment, error) {
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[strings.ToUpper(id)] = true
	}
	var found []*Experiment
	for _, e := range Experiments() {
		if wanted["ALL"] || wanted[e.ID] {
			found = append(found, e)
		}
		delete(wanted, e.ID)
	}
	delete(wanted, "ALL")
	for id := range wanted {
		return nil, fmt.Errorf("there is no experiment %s; \"minipg-lab list\" lists them", id)
	}
	return found, nil
}

func fixedTable(names ...string) func(int) []string {
	return func(int) []string { return names }
}

func fixedSQL(statements ...string) func(int) []string {
	return func(int) []string { return statements }
}

// extension are the settings of a way to extend.
func extension(lock, policy, blocks, publish, prepare, recheck string) []Setting {
	return []Setting{
		{"relation_extension_lock", lock},
		{"relation_extension_policy", policy},
		{"relation_extension_blocks", blocks},
		{"relation_extension_publish", publish},
		{"relation_extension_prepare", prepare},
		{"relation_extension_recheck", recheck},
	}
}
