package lab

// The experiments on latching B-tree leaves: E7, E8 and E9.

func leaf(lock, fastpath string) []Setting {
	return []Setting{{"btree_leaf_lock", lock}, {"btree_fastpath", fastpath}}
}

const leafSource = "pgsql-hackers, \"Locking B-tree leafs immediately in exclusive mode\" (2018), in PostgreSQL 12"

// leafWorkload is one of the published scripts, run with a thread for each client as published.
func leafWorkload(script, table string, create ...string) *Workload {
	return &Workload{
		Protocol: "prepared", Script: script, ThreadPerClient: true, SamplingRate: 0.1,
		Create: fixedSQL(create...), Tables: fixedTable(table), BytesPerTransaction: 200,
	}
}

func e7() *Experiment {
	return &Experiment{
		ID: "E7", Title: "Ascending keys: leaf lock and fast path",
		Question:  "Does latching the leaf exclusively at once help insertions at the right end of an index?",
		Published: leafSource + ": ordered, 150 clients, 157,473 to 231,374 TPS (1.47 times) on 72 vCPUs.",
		Tables: []*Table{{
			Workload: leafWorkload("INSERT INTO ordered (value) VALUES ('abcdefghijklmnoprsqtuvwxyz');\n", "ordered",
				"CREATE UNLOGGED TABLE ordered (id serial primary key, value text not null)"),
			Clients: []int{1, 8, 32, 64, 150}, Quick: []int{8, 64}, Few: []int{1, 8, 64, 150}, Sleeps: LeafWaits, PublishedRatio: 1.47,
			Configs: []Config{
				{Name: "upgrade, no fast path", Settings: leaf("upgrade", "off"), Published: map[int]Figure{150: {TPS: 157473}}},
				{Name: "exclusive, no fast path", Settings: leaf("exclusive", "off"), Published: map[int]Figure{150: {TPS: 231374}}},
				{Name: "upgrade, fast path", Settings: leaf("upgrade", "on")},
				{Name: "exclusive, fast path", Settings: leaf("exclusive", "on")},
				{Name: "default", Default: true, Clients: append(append([]int(nil), scaling...), 150)},
			},
		}},
	}
}

func e8() *Experiment {
	clients := []int{18, 27, 36, 54, 72}
	const (
		script = "\\set i random(1, 1000000)\nINSERT INTO unordered VALUES (:i, 'abcdefghijklmnoprsqtuvwxyz');\n"
		create = "CREATE UNLOGGED TABLE unordered (i integer not null, value text not null)"
	)
	configs := []Config{
		{
			Name: "upgrade", Settings: leaf("upgrade", "on"),
			Published: figures(clients, []float64{400410, 416756, 415616, 378734, 360864}),
		},
		{
			Name: "exclusive", Settings: leaf("exclusive", "on"),
			Published: figures(clients, []float64{393115, 413568, 390328, 364894, 353982}),
		},
	}
	indexed := []Config{{Name: "upgrade", Settings: configs[0].Settings}, {Name: "exclusive", Settings: configs[1].Settings}}
	return &Experiment{
		ID: "E8", Title: "Random keys, without and with an index",
		Question: "Does latching the leaf exclusively at once cost anything where insertions do not meet?",
		Published: leafSource + ", average of four runs on 72 vCPUs. The published table has no index, so the setting can change " +
			"nothing there and the published differences are noise; it runs as published, and with an index on i.",
		Tables: []*Table{
			{
				Name: "as published, no index", Workload: leafWorkload(script, "unordered", create),
				Clients: clients, Quick: []int{18, 72}, Few: []int{18, 72}, Sleeps: LeafWaits, Configs: configs,
			},
			{
				Name:     "with an index",
				Workload: leafWorkload(script, "unordered", create, "CREATE INDEX unordered_i ON unordered (i)"),
				Clients:  clients, Quick: []int{18, 72}, Few: []int{18, 72}, Sleeps: LeafWaits, Configs: indexed,
			},
		},
	}
}

func e9() *Experiment {
	w := leafWorkload("INSERT INTO duplicated VALUES (1, 'abcdefghijklmnoprsqtuvwxyz');\n", "duplicated",
		"CREATE UNLOGGED TABLE duplicated (i integer not null, value text not null)",
		"CREATE INDEX duplicated_i ON duplicated (i)")
	w.Ours = true
	return &Experiment{
		ID: "E9", Title: "One key again and again",
		Question:  "Does latching the leaf exclusively at once help where all insertions go to the same place?",
		Published: "The message of PostgreSQL's commit d2086b08b0 names a corner case of 4.5 times.",
		Tables: []*Table{{
			Workload: w, Clients: []int{1, 8, 36, 72}, Quick: []int{8, 72}, Few: []int{8, 72}, Sleeps: LeafWaits, PublishedRatio: 4.5,
			Configs: []Config{
				{Name: "upgrade", Settings: leaf("upgrade", "on")},
				{Name: "exclusive", Settings: leaf("exclusive", "on")},
			},
		}},
	}
}
