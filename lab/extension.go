package lab

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// The experiments on relation extension: E1, E2, E3 and E10.

// scaling are the client counts at which throughput under the default settings has to hold.
var scaling = []int{1, 2, 4, 8, 16, 32, 64}

func insertWorkload() *Workload {
	return &Workload{
		Ours: true, Protocol: "simple",
		Script: "INSERT INTO t1k SELECT g, repeat('a', 1000) FROM generate_series(1, 1000) g;\n",
		Create: fixedSQL("CREATE TABLE t1k (a int, b text)"),
		Tables: fixedTable("t1k"),
		// 143 blocks, and as much log.
		BytesPerTransaction: 2_300_000,
		Session:             []Setting{{"synchronous_commit", "off"}},
	}
}

func copyWorkload() *Workload {
	return &Workload{
		Ours: true, Protocol: "simple",
		Script: "COPY data FROM 'FILE' WITH (FORMAT binary);\n",
		Create: fixedSQL("CREATE UNLOGGED TABLE data (data text)"),
		Tables: fixedTable("data"),
		File:   binaryCopyFile,
		// 10,000 tuples of 32 bytes and their line pointers.
		BytesPerTransaction: 370_000,
	}
}

// binaryCopyFile is what COPY (SELECT lpad(g::text, 4, '0') FROM generate_series(1, 10000) g) TO
// STDOUT WITH (FORMAT binary) sends.
func binaryCopyFile() []byte {
	var b bytes.Buffer
	b.WriteString("PGCOPY\n\xff\r\n\x00")
	b.Write(make([]byte, 8)) // no flags, no header extension
	var head [6]byte
	binary.BigEndian.PutUint16(head[:], 1)
	binary.BigEndian.PutUint32(head[2:], 4)
	for g := 1; g <= 10000; g++ {
		b.Write(head[:])
		b.WriteString(fmt.Sprintf("%04d", g)[:4]) // lpad cuts 10000
	}
	b.WriteString("\xff\xff")
	return b.Bytes()
}

func figures(clients []int, tps []float64) map[int]Figure {
	m := map[int]Figure{}
	for i, c := range clients {
		m[c] = Figure{TPS: tps[i]}
	}
	return m
}

func e1() *Experiment {
	clients := []int{1, 2, 3, 4, 5, 6, 7, 8, 16}
	one := figures(clients, []float64{117, 111, 51, 51, 52, 51, 43, 43, 40})
	self := figures(clients, []float64{131, 203, 242, 231, 259, 263, 253, 240, 190})
	fsm := figures(clients, []float64{118, 140, 178, 190, 224, 243, 254, 254, 243})
	ways := []struct {
		name, blocks, publish string
		published             map[int]Figure
	}{
		{"one block", "1", "fsm", one},
		{"800 self", "800", "self", self},
		{"1000 fsm", "1000", "fsm", fsm},
		{"800 fsm", "800", "fsm", nil},
		{"1000 self", "1000", "self", nil},
	}
	t := &Table{
		Workload: insertWorkload(), Clients: clients, Quick: []int{1, 8}, Few: []int{1, 8, 64}, Sleeps: ExtensionSleeps,
	}
	for _, lock := range []struct{ lock, prepare string }{{"heavyweight", "under"}, {"table", "before"}} {
		for _, w := range ways {
			t.Configs = append(t.Configs, Config{
				Name:      lock.lock + ", " + w.name,
				Settings:  extension(lock.lock, "fixed", w.blocks, w.publish, lock.prepare, "on"),
				Published: w.published,
			})
			if lock.lock == "table" {
				t.Configs[len(t.Configs)-1].Published = nil
			}
		}
	}
	t.Configs = append(t.Configs, Config{Name: "default", Default: true, Clients: scaling})
	return &Experiment{
		ID: "E1", Title: "1 kB inserts: how many blocks, and who gets them",
		Question: "Does throughput fall as clients are added when the table grows by one block at a time, and rise when it grows by hundreds?",
		Published: "pgsql-hackers, \"Relation extension scalability\" (2015-16), INSERT of 1 kB rows, data larger than 512 MB " +
			"shared_buffers. Those figures were measured under the heavyweight lock with the victim buffer cleaned under it " +
			"(prepare = under); 800 and 1000 blocks were not like for like, so both ways run here at both sizes, and then under the lock table.",
		Tables: []*Table{t},
	}
}

func e2() *Experiment {
	config := func(lock, prepare, blocks string, published map[int]Figure) Config {
		name := lock + ", one block"
		if blocks != "1" {
			name = lock + ", " + blocks + " blocks"
		}
		return Config{Name: name, Settings: extension(lock, "fixed", blocks, "fsm", prepare, "on"), Published: published}
	}
	one := map[int]Figure{2: {280, 457506}, 3: {235, 1098701}, 4: {216, 1155735}}
	ten := map[int]Figure{2: {311, 62641}, 3: {358, 141624}, 4: {368, 188173}}
	return &Experiment{
		ID: "E2", Title: "COPY of 10,000 4-byte records: sleeps",
		Question: "Do ten blocks at a time cut the sleeps?",
		Published: "pgsql-hackers, \"Relation extension scalability\" (2015-16), TPS and the count of ProcSleep of a run whose " +
			"length was not given: ten blocks had 6 to 8 times fewer.",
		Tables: []*Table{{
			Workload: copyWorkload(), Clients: []int{2, 3, 4, 8, 16}, Quick: []int{2, 4}, Few: []int{1, 4, 64}, Sleeps: ExtensionSleeps,
			Configs: []Config{
				config("heavyweight", "under", "1", one), config("heavyweight", "under", "10", ten),
				config("table", "before", "1", nil), config("table", "before", "10", nil),
				{Name: "default", Default: true, Clients: scaling},
			},
		}},
	}
}

func e3() *Experiment {
	var configs []Config
	for _, policy := range []string{"fixed", "waiters", "bulk", "group"} {
		for _, prepare := range []string{"before", "under"} {
			for _, recheck := range []string{"on", "off"} {
				name := policy
				if policy == "fixed" {
					name = "one block"
				}
				if prepare == "under" {
					name += ", under"
				}
				if recheck == "off" {
					name += ", no recheck"
				}
				configs = append(configs, Config{Name: name, Settings: extension("table", policy, "1", "fsm", prepare, recheck)})
			}
		}
	}
	return &Experiment{
		ID: "E3", Title: "E1 and E2 under every policy, prepare and recheck",
		Question: "Which policy, and does it matter where victims are cleaned and whether the free space map is looked at again?",
		Published: "The notes of PostgreSQL 16's change report 3 times the throughput at 16 clients. " +
			"Victims are cleaned before the lock and the map is looked at again, unless a name says otherwise.",
		Tables: []*Table{
			{
				Name: "1 kB inserts", Workload: insertWorkload(), Configs: configs,
				Clients: []int{4, 16}, Quick: []int{16}, Few: []int{16}, Minor: true, Sleeps: ExtensionSleeps,
			},
			{
				Name: "COPY", Workload: copyWorkload(), Configs: configs,
				Clients: []int{4, 16}, Quick: []int{16}, Few: []int{16}, Minor: true, Sleeps: ExtensionSleeps,
			},
		},
	}
}

func e10() *Experiment {
	w := insertWorkload()
	w.after = surplus
	config := func(name, policy, blocks, publish string) Config {
		return Config{Name: name, Settings: extension("table", policy, blocks, publish, "before", "on")}
	}
	return &Experiment{
		ID: "E10", Title: "A burst of 100 clients, then idle: file size against used blocks",
		Question:  "How many blocks does each policy leave unused behind a burst, and does VACUUM give them back?",
		Published: "2000 surplus pages were feared on the list.",
		Tables: []*Table{{
			Workload: w, Clients: []int{100}, Quick: []int{100}, Few: []int{100}, Sleeps: ExtensionSleeps,
			Extra: 4, // the warm-up of 100 clients, the count of what they left, VACUUM
			Configs: []Config{
				config("one block", "fixed", "1", "fsm"), config("800 self", "fixed", "800", "self"),
				config("1000 fsm", "fixed", "1000", "fsm"), config("waiters", "waiters", "1", "fsm"),
				config("bulk", "bulk", "1", "fsm"), config("group", "group", "1", "fsm"),
			},
		}},
	}
}

// The measurements of E10.
const (
	fileBlocks    = "file blocks"
	usedBlocks    = "used blocks"
	surplusBlocks = "surplus blocks"
	afterVacuum   = "surplus after VACUUM"
)

// surplus measures what the burst left. The clients are gone, so what they kept is in the free space map.
func surplus(ctx context.Context, conn *pgx.Conn, r *Run) error {
	var file, used, vacuumed int64
	const size = "SELECT pg_relation_size('t1k') / 8192"
	if err := conn.QueryRow(ctx, size).Scan(&file); err != nil {
		return err
	}
	const blocks = "SELECT count(DISTINCT split_part(ctid::text, ',', 1)) FROM t1k"
	if err := conn.QueryRow(ctx, blocks).Scan(&used); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "VACUUM t1k"); err != nil {
		return err
	}
	if err := conn.QueryRow(ctx, size).Scan(&vacuumed); err != nil {
		return err
	}
	r.Extra = []Measure{
		{fileBlocks, float64(file)},
		{usedBlocks, float64(used)},
		{surplusBlocks, float64(file - used)},
		{afterVacuum, float64(vacuumed - used)},
	}
	return nil
}

// settingsText is a list of settings for people.
func settingsText(list []Setting) string {
	var words []string
	for _, s := range list {
		words = append(words, s.Name+" = "+s.Value)
	}
	return strings.Join(words, ", ")
}
