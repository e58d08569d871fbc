package heap

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/minipg/minipg/txn"
)

// The model: what each key's committed values were after which commit, and what each open
// transaction has changed and locked. Operations never wait (SKIP LOCKED), so one goroutine
// interleaves all sessions and every outcome can be foretold.

type modelVersion struct {
	seq int // commit after which it holds
	change
}

type modelLock struct {
	mode  LockMode
	level int
}

type modelTx struct {
	s          *session
	repeatable bool
	seq        int // of the snapshot, with repeatable
	levels     []map[int]change
	locks      map[int][]modelLock
}

// change is a key's new version within a transaction; 0 is deleted.
type change struct {
	version  int
	keys     bool // somebody who only needs the key to stay is hurt by it
	maybe    bool // or so, as the transaction had locked some version FOR UPDATE
	replaced bool // it began with an update
}

type model struct {
	t         *testing.T
	rng       *rand.Rand
	e         *env
	committed map[int][]modelVersion
	seq       int
	nextKey   int
	nextVer   int
	open      []*modelTx
	index     map[int]map[TID]bool // key to root TIDs
	ops       []string
}

func newModel(t *testing.T, e *env, rng *rand.Rand) *model {
	return &model{t: t, rng: rng, e: e, committed: map[int][]modelVersion{}, index: map[int]map[TID]bool{}}
}

func (m *model) logf(format string, args ...any) { m.ops = append(m.ops, fmt.Sprintf(format, args...)) }

func (m *model) fatalf(format string, args ...any) {
	m.t.Helper()
	tail := m.ops[max(0, len(m.ops)-40):]
	for _, op := range tail {
		m.t.Log(op)
	}
	m.t.Fatalf(format, args...)
}

func (tx *modelTx) level() int { return len(tx.levels) - 1 }

// own returns the transaction's own change of key.
func (tx *modelTx) own(key int) (change, bool) {
	for i := len(tx.levels) - 1; i >= 0; i-- {
		if c, ok := tx.levels[i][key]; ok {
			return c, true
		}
	}
	return change{}, false
}

func (m *model) snapshotSeq(tx *modelTx) int {
	if !tx.repeatable {
		return m.seq
	}
	if tx.seq < 0 {
		tx.seq = m.seq
	}
	return tx.seq
}

// at is the version of key after commit seq, 0 for none.
func (m *model) at(key, seq int) int {
	v := 0
	for _, c := range m.committed[key] {
		if c.seq <= seq {
			v = c.version
		}
	}
	return v
}

// view is what tx's next statement sees.
func (m *model) view(tx *modelTx) map[int]int {
	seq := m.snapshotSeq(tx)
	view := map[int]int{}
	for key := range m.committed {
		if v := m.at(key, seq); v != 0 {
			view[key] = v
		}
	}
	for _, level := range tx.levels {
		for key, c := range level {
			if c.version == 0 {
				delete(view, key)
			} else {
				view[key] = c.version
			}
		}
	}
	return view
}

func (m *model) begin() {
	tx := &modelTx{s: m.e.session().begin(), seq: -1, levels: []map[int]change{{}}, locks: map[int][]modelLock{}}
	if m.rng.IntN(3) == 0 {
		tx.repeatable = true
		tx.s.tx.SetRepeatableRead(true)
	}
	m.logf("begin %d repeatable=%v", tx.s.lock.PID(), tx.repeatable)
	m.open = append(m.open, tx)
}

func (m *model) end(i int, commit bool) {
	tx := m.open[i]
	m.open = slices.Delete(m.open, i, i+1)
	m.logf("end %d commit=%v", tx.s.lock.PID(), commit)
	if !commit {
		tx.s.abort()
	} else {
		tx.s.commit()
		m.commit(tx)
	}
	tx.s.lock.Close()
}

func (m *model) commit(tx *modelTx) {
	m.seq++
	for _, level := range tx.levels {
		for key, c := range level {
			vs := m.committed[key]
			if n := len(vs); n > 0 && vs[n-1].seq == m.seq {
				vs = vs[:n-1]
			}
			m.committed[key] = append(vs, modelVersion{m.seq, c})
		}
	}
}

// locate scans for what tx sees, compares it with the model, and returns where the rows are.
func (m *model) locate(tx *modelTx, snap *txn.Snapshot) map[int]TID {
	m.t.Helper()
	want := m.view(tx)
	got, where := map[int]int{}, map[int]TID{}
	scan := m.e.h.NewScan(snap, ScanOptions{})
	defer scan.Close()
	for {
		p, ok, err := scan.NextPage()
		if err != nil {
			m.fatalf("scan: %v", err)
		}
		if !ok {
			break
		}
		for i := range p.N {
			key, version := rowKey(string(p.Data(i)))
			if _, twice := got[key]; twice {
				m.fatalf("session %d sees key %d twice", tx.s.lock.PID(), key)
			}
			got[key], where[key] = version, p.TID(i)
		}
	}
	if !maps.Equal(got, want) {
		m.fatalf("session %d sees %v, want %v", tx.s.lock.PID(), got, want)
	}
	return where
}

// viaIndex compares what index entries lead to.
func (m *model) viaIndex(tx *modelTx, snap *txn.Snapshot) {
	m.t.Helper()
	view := m.view(tx)
	for key, roots := range m.index {
		found := 0
		for root := range roots {
			data, ok, err := m.e.h.Fetch(snap, root, &tx.s.buf)
			if err != nil {
				m.fatalf("fetch: %v", err)
			}
			if !ok {
				continue
			}
			found++
			if k, v := rowKey(string(data)); k != key || v != view[key] {
				m.fatalf("root %v of key %d leads to key %d version %d, want version %d", root, key, k, v, view[key])
			}
		}
		if want := min(view[key], 1); found != want {
			m.fatalf("session %d finds key %d through %d of its roots %v, want %d", tx.s.lock.PID(), key, found, roots, want)
		}
	}
}

// blocked tells whether another transaction's lock stands against mode.
func (m *model) blocked(tx *modelTx, key int, mode LockMode) bool {
	for _, o := range m.open {
		if o == tx {
			continue
		}
		for _, l := range o.locks[key] {
			if conflicts(l.mode, mode) {
				return true
			}
		}
	}
	return false
}

// newer tells whether key changed since tx's snapshot, and whether the newest version is deleted.
func (m *model) newer(tx *modelTx, key int) (changed, gone, keys, maybe bool) {
	if _, own := tx.own(key); own {
		return false, false, false, false
	}
	for _, v := range m.committed[key] {
		if v.seq > m.snapshotSeq(tx) {
			changed, gone = true, v.version == 0
			keys, maybe = keys || v.keys, maybe || v.maybe
		}
	}
	return changed, gone, keys, maybe
}

func (m *model) pick(where map[int]TID) (key int, ok bool) {
	if len(where) == 0 {
		return 0, false
	}
	keys := slices.Sorted(maps.Keys(where))
	return keys[m.rng.IntN(len(keys))], true
}

func (m *model) size() int {
	switch m.rng.IntN(10) {
	case 0:
		return 16
	case 1:
		return 3000
	}
	return 16 + m.rng.IntN(400)
}

func (m *model) insert(tx *modelTx) {
	m.nextKey++
	m.nextVer++
	key, ver := m.nextKey, m.nextVer
	m.logf("%d inserts %d version %d", tx.s.lock.PID(), key, ver)
	tid := tx.s.insert(row(key, ver, m.size()))
	m.index[key] = map[TID]bool{tid: true}
	tx.levels[tx.level()][key] = change{version: ver}
}

func (m *model) multiInsert(tx *modelTx) {
	var rows [][]byte
	first := m.nextKey + 1
	for range 1 + m.rng.IntN(40) {
		m.nextKey++
		m.nextVer++
		rows = append(rows, row(m.nextKey, m.nextVer, m.size()))
	}
	tids, err := tx.s.multiInsert(context.Background(), rows, InsertOptions{})
	if err != nil {
		m.fatalf("multi insert: %v", err)
	}
	tx.s.next()
	m.logf("%d inserts %d rows from key %d", tx.s.lock.PID(), len(rows), first)
	for i, tid := range tids {
		key, ver := rowKey(string(rows[i]))
		m.index[key] = map[TID]bool{tid: true}
		tx.levels[tx.level()][key] = change{version: ver}
	}
}

func (m *model) lockAt(tx *modelTx, key int, mode LockMode) {
	tx.locks[key] = append(tx.locks[key], modelLock{mode, tx.level()})
}

// expect compares a result with what the model says.
func (m *model) expect(tx *modelTx, what string, key int, mode LockMode, res Result, err error) (ok bool) {
	m.t.Helper()
	m.logf("%d %s key %d %v: %v", tx.s.lock.PID(), what, key, mode, res.Status)
	if err != nil {
		m.fatalf("%s of key %d: %v", what, key, err)
	}
	changed, gone, keys, maybe := m.newer(tx, key)
	want := Ok
	switch {
	case mode == KeyShare && changed && maybe:
		return res.Status == Ok
	case mode == KeyShare && changed && !keys && !gone:
		if m.blocked(tx, key, mode) {
			want = WouldBlock
		}
	case mode == KeyShare && changed && (res.Status == Updated || res.Status == Deleted):
		return false // by which of the versions on the way depends on more than the model knows
	case changed && m.rowReplaced(tx, key):
		want = Updated
	case changed:
		want = Deleted
	case m.blocked(tx, key, mode):
		want = WouldBlock
	}
	if res.Status != want {
		m.fatalf("session %d: %s of key %d (%v): %v, want %v", tx.s.lock.PID(), what, key, mode, res.Status, want)
	}
	return want == Ok
}

// rowReplaced tells whether the first change since tx's snapshot was an update.
func (m *model) rowReplaced(tx *modelTx, key int) bool {
	for _, v := range m.committed[key] {
		if v.seq > m.snapshotSeq(tx) {
			return v.replaced
		}
	}
	return false
}

func (m *model) update(tx *modelTx, snap *txn.Snapshot, where map[int]TID) {
	key, ok := m.pick(where)
	if !ok {
		return
	}
	mode, hotAllowed := NoKeyUpdate, m.rng.IntN(4) != 0
	if m.rng.IntN(4) == 0 {
		mode, hotAllowed = Update, false
	}
	m.nextVer++
	ver := m.nextVer
	newTID, hot, res, err := m.e.h.Update(context.Background(), tx.s.w, snap, where[key], row(key, ver, m.size()),
		UpdateOptions{HotAllowed: hotAllowed, Mode: mode, Wait: WaitSkip})
	tx.s.next()
	if !m.expect(tx, fmt.Sprintf("update of %v to %v", where[key], newTID), key, mode, res, err) {
		return
	}
	if !hot {
		m.index[key][newTID] = true
	}
	m.changed(tx, key, change{version: ver, keys: mode == Update}, mode)
}

func (m *model) delete(tx *modelTx, snap *txn.Snapshot, where map[int]TID) {
	key, ok := m.pick(where)
	if !ok {
		return
	}
	res, err := m.e.h.Delete(context.Background(), tx.s.w, snap, where[key], DeleteOptions{Wait: WaitSkip})
	tx.s.next()
	if m.expect(tx, "delete of "+where[key].String(), key, Update, res, err) {
		m.changed(tx, key, change{keys: true}, Update)
	}
}

func (m *model) changed(tx *modelTx, key int, c change, mode LockMode) {
	c.replaced = c.version != 0
	c.maybe = slices.ContainsFunc(tx.locks[key], func(l modelLock) bool { return l.mode == Update })
	if old, ok := tx.own(key); ok {
		c.keys, c.replaced = c.keys || old.keys, old.replaced
	}
	tx.levels[tx.level()][key] = c
	m.lockAt(tx, key, mode)
}

func (m *model) lock(tx *modelTx, snap *txn.Snapshot, where map[int]TID) {
	key, ok := m.pick(where)
	if !ok {
		return
	}
	mode := modes[m.rng.IntN(len(modes))]
	res, err := m.e.h.LockTuple(context.Background(), tx.s.w, snap, where[key], LockOptions{Mode: mode, Wait: WaitSkip}, &tx.s.buf)
	if m.expect(tx, "lock of "+where[key].String(), key, mode, res, err) {
		m.lockAt(tx, key, mode)
	}
}

func (m *model) savepoint(tx *modelTx) {
	name := fmt.Sprint(tx.level())
	m.logf("%d savepoint %s", tx.s.lock.PID(), name)
	tx.s.tx.Savepoint(name)
	tx.levels = append(tx.levels, map[int]change{})
}

func (m *model) rollbackTo(tx *modelTx) {
	if tx.level() == 0 {
		return
	}
	to := m.rng.IntN(tx.level())
	m.logf("%d rolls back to %d", tx.s.lock.PID(), to)
	tx.s.tx.RollbackTo(fmt.Sprint(to))
	tx.levels = append(tx.levels[:to+1], map[int]change{})
	for key := range tx.locks {
		tx.locks[key] = slices.DeleteFunc(tx.locks[key], func(l modelLock) bool { return l.level > to })
	}
}

func (m *model) release(tx *modelTx) {
	if tx.level() == 0 {
		return
	}
	to := m.rng.IntN(tx.level())
	m.logf("%d releases %d", tx.s.lock.PID(), to)
	tx.s.tx.Release(fmt.Sprint(to))
	for _, level := range tx.levels[to+1:] {
		maps.Copy(tx.levels[to], level)
	}
	tx.levels = tx.levels[:to+1]
	for key := range tx.locks {
		for i := range tx.locks[key] {
			tx.locks[key][i].level = min(tx.locks[key][i].level, to)
		}
	}
}

func (m *model) vacuum() {
	m.logf("vacuum")
	m.e.vacuum(func(dead []TID) {
		for _, roots := range m.index {
			for _, tid := range dead {
				delete(roots, tid)
			}
		}
	})
}

// statement runs one statement of an open transaction.
func (m *model) statement(tx *modelTx) {
	switch m.rng.IntN(12) {
	case 0:
		m.savepoint(tx)
		return
	case 1:
		m.rollbackTo(tx)
		return
	case 2:
		m.release(tx)
		return
	}
	tx.s.withSnapshot(func(snap *txn.Snapshot) {
		m.snapshotSeq(tx)
		where := m.locate(tx, snap)
		switch m.rng.IntN(10) {
		case 0, 1:
			m.insert(tx)
		case 2:
			m.multiInsert(tx)
		case 3, 4, 5:
			m.update(tx, snap, where)
		case 6:
			m.delete(tx, snap, where)
		case 7, 8:
			m.lock(tx, snap, where)
		default:
			m.viaIndex(tx, snap)
		}
	})
}

func (m *model) step() {
	switch r := m.rng.IntN(100); {
	case r < 10 && len(m.open) < 6 || len(m.open) == 0:
		m.begin()
	case r < 18:
		m.end(m.rng.IntN(len(m.open)), m.rng.IntN(4) != 0)
	case r < 20:
		m.vacuum()
	default:
		m.statement(m.open[m.rng.IntN(len(m.open))])
	}
}

func TestModel(t *testing.T) {
	seeds := 40
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(seed), 1))
			conf := envConfig{buffers: 64, fillFactor: []int{100, 100, 70}[rng.IntN(3)]}
			if rng.IntN(5) == 0 {
				conf.persistence = 'u'
			}
			m := newModel(t, newEnv(t, conf), rng)
			for range 400 {
				m.step()
			}
			m.e.check()
			for len(m.open) > 0 {
				m.end(0, true)
			}
			m.vacuum()
			m.e.check()
			m.begin()
			tx := m.open[0]
			tx.s.withSnapshot(func(snap *txn.Snapshot) {
				m.locate(tx, snap)
				m.viaIndex(tx, snap)
			})
			m.end(0, true)
		})
	}
}
