package crash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// table is a table as the model has it.
type table struct {
	name     string
	unlogged bool
	indexes  int // names given to them so far
	added    int // columns added, each with its default of 7
	rows     map[int]string
}

func (t *table) clone() *table {
	c := *t
	c.rows = maps.Clone(t.rows)
	return &c
}

// state is all that a session owns: what a transaction may change.
type state struct {
	tables map[string]*table
	shared map[int]string // its rows of the table both sessions write
	seq    int            // highest value of the sequence
}

func newState() *state {
	return &state{tables: make(map[string]*table), shared: make(map[int]string)}
}

func (s *state) clone() *state {
	c := &state{tables: make(map[string]*table, len(s.tables)), shared: maps.Clone(s.shared), seq: s.seq}
	for name, t := range s.tables {
		c.tables[name] = t.clone()
	}
	return c
}

// recovered is the state after a crash: unlogged tables are empty.
func (s *state) recovered() *state {
	c := s.clone()
	for _, t := range c.tables {
		if t.unlogged {
			t.rows = make(map[int]string)
		}
	}
	return c
}

// actor is a client with its part of the world, and the model of it.
type actor struct {
	*client
	rng *rand.Rand

	acked   *state // of the commits that were acknowledged
	doubt   *state // of a commit that was in flight at the crash
	now     *state // with the open transaction's changes; acked while none is open
	open    bool
	saved   []*state
	marks   []string
	serial  int // of names and keys: never given twice, crash or no
	counted map[string]int
}

func (a *actor) count(what string) { a.counted[what]++ }

func (a *actor) next() int {
	a.serial++
	return a.serial
}

// step does one random thing.
func (a *actor) step() error {
	if !a.open {
		switch a.rng.IntN(14) {
		case 0:
			return a.checkpoint()
		case 1:
			return a.vacuum()
		case 2, 3:
			return a.implicit()
		}
		return a.begin()
	}
	switch n := a.rng.IntN(26); {
	case n < 3:
		return a.end(n < 2)
	case n == 3:
		return a.savepoint()
	case n == 4 && len(a.marks) > 0:
		return a.rollbackTo()
	case n == 5 && len(a.marks) > 0:
		return a.release()
	case n == 6 || len(a.now.tables) == 0:
		return a.createTable()
	case n == 7:
		return a.nextval()
	case n == 8:
		return a.insertShared()
	}
	return a.change(a.anyTable())
}

func (a *actor) anyTable() *table {
	names := slices.Sorted(maps.Keys(a.now.tables))
	return a.now.tables[names[a.rng.IntN(len(names))]]
}

func (a *actor) begin() error {
	a.open, a.now, a.saved, a.marks = true, a.acked.clone(), nil, nil
	return a.query("BEGIN")
}

func (a *actor) end(commit bool) error {
	a.open = false
	if !commit {
		a.count("rollback")
		a.now = a.acked
		return a.query("ROLLBACK")
	}
	a.count("commit")
	a.doubt = a.now
	if err := a.query("COMMIT"); err != nil {
		return err
	}
	a.acked, a.doubt = a.now, nil
	return nil
}

// implicit is a statement outside a block: its own transaction.
func (a *actor) implicit() error {
	if len(a.acked.tables) == 0 {
		return nil
	}
	a.now = a.acked.clone()
	a.doubt = a.now
	if err := a.change(a.anyTable()); err != nil {
		return err
	}
	a.acked, a.doubt = a.now, nil
	return nil
}

func (a *actor) checkpoint() error {
	a.count("checkpoint")
	return a.query("CHECKPOINT")
}

func (a *actor) vacuum() error {
	if len(a.acked.tables) == 0 {
		return nil
	}
	a.count("vacuum")
	names := slices.Sorted(maps.Keys(a.acked.tables))
	return a.query("VACUUM %s", names[a.rng.IntN(len(names))])
}

func (a *actor) savepoint() error {
	a.count("savepoint")
	name := fmt.Sprint("sp", a.next())
	a.saved, a.marks = append(a.saved, a.now.clone()), append(a.marks, name)
	return a.query("SAVEPOINT %s", name)
}

func (a *actor) rollbackTo() error {
	i := a.rng.IntN(len(a.marks))
	name := a.marks[i]
	seq := a.now.seq // sequences do not roll back
	a.now = a.saved[i].clone()
	a.now.seq = seq
	a.saved, a.marks = a.saved[:i+1], a.marks[:i+1]
	return a.query("ROLLBACK TO %s", name)
}

func (a *actor) release() error {
	i := a.rng.IntN(len(a.marks))
	name := a.marks[i]
	a.saved, a.marks = a.saved[:i], a.marks[:i]
	return a.query("RELEASE %s", name)
}

func (a *actor) createTable() error {
	a.count("create table")
	t := &table{name: fmt.Sprintf("%s%d", a.name, a.next()), rows: make(map[int]string)}
	kind := "TABLE"
	if a.rng.IntN(6) == 0 {
		t.unlogged, kind = true, "UNLOGGED TABLE"
	}
	a.now.tables[t.name] = t
	return a.query("CREATE %s %s (k int PRIMARY KEY, v text)", kind, t.name)
}

func (a *actor) nextval() error {
	if err := a.query("SELECT nextval('seq_%s')", a.name); err != nil {
		return err
	}
	n, err := strconv.Atoi(a.rows[0][0])
	if n <= a.now.seq {
		return fmt.Errorf("nextval gives %d after %d", n, a.now.seq)
	}
	a.now.seq = n
	return err
}

func (a *actor) insertShared() error {
	key := a.next()
	a.now.shared[key] = a.value()
	return a.query("INSERT INTO shared VALUES (%d, '%s', '%s')", key, a.name, a.now.shared[key])
}

func (a *actor) value() string {
	n := a.rng.IntN(150)
	if a.rng.IntN(40) == 0 {
		n = 2000 + a.rng.IntN(6000)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(a.rng.IntN(26))
	}
	return string(b)
}

func (a *actor) change(t *table) error {
	switch n := a.rng.IntN(40); {
	case n == 0:
		a.count("truncate")
		t.rows = make(map[int]string)
		return a.query("TRUNCATE %s", t.name)
	case n == 1:
		a.count("drop table")
		delete(a.now.tables, t.name)
		return a.query("DROP TABLE %s", t.name)
	case n == 2:
		a.count("create index")
		t.indexes++
		return a.query("CREATE INDEX %s_i%d ON %s (%s)", t.name, t.indexes, t.name, []string{"left(v, 200)", "length(v)", "k DESC, left(v, 50)"}[a.rng.IntN(3)])
	case n == 3:
		return a.addColumn(t)
	case n == 4:
		return a.rename(t)
	case n < 8:
		return a.insertMany(t)
	case n < 10:
		return a.copyInto(t)
	case n < 18 || len(t.rows) == 0:
		return a.insert(t)
	case n < 32:
		return a.update(t)
	}
	return a.remove(t)
}

func (a *actor) addColumn(t *table) error {
	a.count("add column")
	t.added++
	return a.query("ALTER TABLE %s ADD COLUMN x%d int DEFAULT 7", t.name, t.added)
}

func (a *actor) rename(t *table) error {
	a.count("rename")
	old := t.name
	if t.indexes > 0 {
		return nil // their names are made of the table's
	}
	delete(a.now.tables, old)
	t.name = fmt.Sprintf("%s%d", a.name, a.next())
	a.now.tables[t.name] = t
	return a.query("ALTER TABLE %s RENAME TO %s", old, t.name)
}

// insertMany adds enough rows to split leaves and to extend the table by several blocks.
func (a *actor) insertMany(t *table) error {
	a.count("insert many")
	first, n := a.serial+1, 150+a.rng.IntN(250)
	a.serial += n
	// Ascending and scattered keys split in different ways.
	factor := []int{1, 7919}[a.rng.IntN(2)]
	for i := range n {
		key := manyKey(first+i, factor)
		if _, there := t.rows[key]; !there {
			t.rows[key] = fmt.Sprint("many ", key)
		}
	}
	return a.query("INSERT INTO %s (k, v) SELECT k, 'many ' || k FROM (SELECT (g * %d) %% 1000003 + 2000000 AS k FROM generate_series(%d, %d) g) s ON CONFLICT DO NOTHING",
		t.name, factor, first, first+n-1)
}

func manyKey(g, factor int) int { return (g*factor)%1000003 + 2000000 }

func (a *actor) copyInto(t *table) error {
	a.count("copy")
	var data strings.Builder
	for range 20 + a.rng.IntN(60) {
		key, v := a.next(), a.value()
		t.rows[key] = v
		fmt.Fprintf(&data, "%d\t%s\n", key, v)
	}
	return a.copy(t.name+" (k, v)", data.String())
}

func (a *actor) insert(t *table) error {
	a.count("insert")
	var values []string
	for range 1 + a.rng.IntN(10) {
		key, v := a.next(), a.value()
		t.rows[key] = v
		values = append(values, fmt.Sprintf("(%d, '%s')", key, v))
	}
	return a.query("INSERT INTO %s (k, v) VALUES %s", t.name, strings.Join(values, ", "))
}

func (a *actor) anyKey(t *table) int {
	keys := slices.Sorted(maps.Keys(t.rows))
	return keys[a.rng.IntN(len(keys))]
}

func (a *actor) update(t *table) error {
	if len(t.rows) == 0 {
		return a.insert(t)
	}
	a.count("update")
	key := a.anyKey(t)
	switch a.rng.IntN(4) {
	case 0: // many rows
		bound := a.anyKey(t)
		key, bound = min(key, bound), max(key, bound)
		for k, v := range t.rows {
			if k >= key && k <= bound && len(v) < 5000 {
				t.rows[k] = v + "+"
			}
		}
		return a.query("UPDATE %s SET v = v || '+' WHERE k BETWEEN %d AND %d AND length(v) < 5000", t.name, key, bound)
	case 1: // another key
		to := a.next()
		t.rows[to] = t.rows[key]
		delete(t.rows, key)
		return a.query("UPDATE %s SET k = %d WHERE k = %d", t.name, to, key)
	}
	t.rows[key] = a.value()
	return a.query("UPDATE %s SET v = '%s' WHERE k = %d", t.name, t.rows[key], key)
}

func (a *actor) remove(t *table) error {
	if len(t.rows) == 0 {
		return a.insert(t)
	}
	a.count("delete")
	key, bound := a.anyKey(t), a.anyKey(t)
	if a.rng.IntN(2) == 0 {
		bound = key
	}
	key, bound = min(key, bound), max(key, bound)
	for k := range t.rows {
		if k >= key && k <= bound {
			delete(t.rows, k)
		}
	}
	return a.query("DELETE FROM %s WHERE k BETWEEN %d AND %d", t.name, key, bound)
}

// everything does each kind of thing once, so that every seed has them all before its crash.
func (a *actor) everything() error {
	steps := []func() error{
		a.begin, a.createTable, func() error { return a.insertMany(a.anyTable()) }, a.savepoint,
		func() error { return a.update(a.anyTable()) }, a.rollbackTo, a.nextval, a.insertShared, func() error { return a.end(true) },
		a.checkpoint,
		a.begin, a.createTable, func() error { return a.insertMany(a.anyTable()) }, func() error { return a.copyInto(a.anyTable()) },
		func() error { return a.remove(a.anyTable()) }, func() error { return a.end(true) },
		a.vacuum,
		a.begin, func() error { return a.addColumn(a.anyTable()) }, func() error { return a.insertMany(a.anyTable()) }, func() error { return a.end(false) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
