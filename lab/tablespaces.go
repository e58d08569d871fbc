package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/minipg/minipg/locks"
)

// The experiments on the lock: E4 and E6 load tables of their own in two tablespaces, E5 takes the
// locks and does nothing else.

// stallTime is how long a growth in a stalled tablespace takes.
const stallTime = 20 * time.Millisecond

func ownTables(clients int) []string {
	var names []string
	for i := range clients {
		names = append(names, fmt.Sprintf("t_%d", i))
	}
	return names
}

// spaceOf is the tablespace of a client's table: A for even numbers, B for odd ones.
func spaceOf(client int) string {
	return [...]string{spaceA, spaceB}[client%2]
}

func loadWorkload() *Workload {
	return &Workload{
		Ours: true, Protocol: "simple", Tablespaces: true,
		Script: "COPY t_:client_id FROM 'FILE';\n",
		Tables: ownTables,
		Create: func(clients int) []string {
			var sql []string
			for i, name := range ownTables(clients) {
				sql = append(sql, fmt.Sprintf("CREATE TABLE %s (a text) TABLESPACE %s", name, spaceOf(i)))
			}
			return sql
		},
		File:                func() []byte { return bytes.Repeat(append(bytes.Repeat([]byte("x"), 99), '\n'), 480) },
		BytesPerTransaction: 130_000,
	}
}

func e4() *Experiment {
	clients := []int{2, 5, 10, 50}
	return &Experiment{
		ID: "E4", Title: "48 kB COPY into tables of their own: which lock",
		Question: "Is the lock table at least as fast as the heavyweight lock, and what does one entry for all cost?",
		Published: "pgsql-hackers, \"Moving relation extension locks out of heavyweight lock manager\" (2017-20): each client " +
			"loads a 48 kB file by COPY into its own relation, relations spread over an XFS and an ext4 file system, 30 s.",
		Tables: []*Table{{
			Workload: loadWorkload(), Clients: clients, Quick: []int{2, 10}, Few: []int{10, 50}, Sleeps: ExtensionSleeps,
			Configs: []Config{
				{
					Name: "heavyweight", Settings: []Setting{{"relation_extension_lock", "heavyweight"}},
					Published: figures(clients, []float64{284.9976, 356.1726, 375.9856, 429.5745}),
				},
				{
					Name: "N=1", Settings: []Setting{{"relation_extension_lock", "table"}, {"relation_extension_lock_entries", "1"}},
					Published: figures(clients, []float64{294.3633, 358.9364, 383.6945, 424.3687}),
				},
				{
					Name: "N=1024", Settings: []Setting{{"relation_extension_lock", "table"}, {"relation_extension_lock_entries", "1024"}},
					Published: figures(clients, []float64{296.2068, 372.0707, 389.8850, 428.8050}),
				},
			},
		}},
	}
}

func e6() *Experiment {
	w := loadWorkload()
	w.Create = func(clients int) []string {
		var sql []string
		for i := range candidates(clients) {
			sql = append(sql, fmt.Sprintf("CREATE TABLE %s (a text) TABLESPACE %s", candidate(i), spaceOf(i)))
		}
		return sql
	}
	w.arrange = chooseSlots
	w.CountClients = func(client int) bool { return spaceOf(client) == spaceB }
	config := func(name, entries string, stall bool) Config {
		return Config{
			Name: name, Stall: stall,
			// A policy that looks at the waiters would count those of all relations on the entry, grow by more
			// blocks the fewer entries there are, and so make up for the wait it is to show.
			Settings: []Setting{
				{"relation_extension_lock", "table"},
				{"relation_extension_lock_entries", entries},
				{"relation_extension_policy", "fixed"},
				{"relation_extension_blocks", "1"},
			},
		}
	}
	return &Experiment{
		ID: "E6", Title: "A stalled tablespace",
		Question: fmt.Sprintf("When each growth of a file in tablespace A takes %v, are the clients that load into tablespace B held up? "+
			"The throughput is that of the clients in B alone; relations are chosen so that, where there are entries enough, none in B "+
			"shares an entry with one in A. They grow by one block at a time, so that no surplus hides the wait.", stallTime),
		Published: "Nothing: a stalled slot must not stall others.",
		Tables: []*Table{{
			Workload: w, Clients: []int{4, 10}, Quick: []int{4, 10}, Few: []int{10}, Sleeps: ExtensionSleeps,
			Extra:        1, // making the tables to choose from
			NoPostgreSQL: "the delay is a file system of the lab's own, inside minipg",
			Configs: []Config{
				config("N=1024, no stall", "1024", false), config("N=1024", "1024", true),
				config("N=16", "16", true), config("N=1", "1", true),
			},
		}},
	}
}

// candidates is how many tables are made to choose from: with 16 entries and ten clients, a table
// whose entry is still free is not far.
func candidates(clients int) int { return 8 * clients }

func candidate(i int) string { return fmt.Sprintf("candidate_%d", i) }

// chooseSlots names one candidate t_N for each client N and drops the others. Where there are entries
// enough, each has one of its own; else only those of A and of B are kept apart, and with a
// single entry not even these.
func chooseSlots(ctx context.Context, conn *pgx.Conn, c *Cell) error {
	var db uint32
	if err := conn.QueryRow(ctx, "SELECT oid FROM pg_database WHERE datname = current_database()").Scan(&db); err != nil {
		return err
	}
	entries, err := entriesOf(c.Config)
	if err != nil {
		return err
	}
	table := locks.NewExtensionTable(entries, nil)
	slots := make([]int, candidates(c.Clients))
	for i := range slots {
		var file uint32
		if err := conn.QueryRow(ctx, "SELECT pg_relation_filenode('"+candidate(i)+"')").Scan(&file); err != nil {
			return err
		}
		slots[i] = table.Slot(db, uint64(file))
	}
	chosen, err := pickSlots(slots, c.Clients, entries)
	if err != nil {
		return err
	}
	taken := map[int]bool{}
	for client, i := range chosen {
		taken[i] = true
		if _, err := conn.Exec(ctx, fmt.Sprintf("ALTER TABLE %s RENAME TO t_%d", candidate(i), client)); err != nil {
			return err
		}
	}
	for i := range slots {
		if !taken[i] {
			if _, err := conn.Exec(ctx, "DROP TABLE "+candidate(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func entriesOf(c *Config) (int, error) {
	for _, s := range c.Settings {
		if s.Name == "relation_extension_lock_entries" {
			return strconv.Atoi(s.Value)
		}
	}
	return locks.DefaultExtensionEntries, nil
}

// pickSlots picks a candidate for each client, of the same parity, hence in the same tablespace.
func pickSlots(slots []int, clients, entries int) ([]int, error) {
	used := map[int]int{} // entry -> 1 + parity of the clients on it
	alone := entries >= 2*clients || entries >= 16 && clients <= 10
	var chosen []int
	next := [2]int{0, 1}
	for client := range clients {
		parity := client % 2
		i := next[parity]
		for entries > 1 && i < len(slots) && (used[slots[i]] != 0 && (alone || used[slots[i]] != 1+parity)) {
			i += 2
		}
		if i >= len(slots) {
			return nil, errors.New("no relation falls on a free entry of the lock table")
		}
		used[slots[i]] = 1 + parity
		next[parity] = i + 2
		chosen = append(chosen, i)
	}
	return chosen, nil
}
