package btree

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

const testDB = 5

var testRel = storage.RelFile{Tablespace: storage.DefaultTablespace, Database: testDB, Number: 200}

// env is a server reduced to what a tree needs.
type env struct {
	t     testing.TB
	conf  envConfig
	pool  *storage.Pool
	log   *wal.Log
	locks *locks.Manager
	txn   *txn.Manager
	set   *metrics.Set
	tree  *Tree
	redo  storage.LSN // of the last checkpoint
	pid   atomic.Int32
}

type envConfig struct {
	fs          *faultfs.FS
	buffers     int
	persistence byte
	payload     bool
	fillFactor  int
	redo        storage.LSN // 0: a new directory
	nextXID     txn.XID
	noImages    bool
	noLogFlush  bool
	fatal       func(error)
	replayed    func(*wal.Record) // told of each record of a recovery
}

func newEnv(t testing.TB, conf envConfig) *env {
	t.Helper()
	if conf.fs == nil {
		conf.fs = faultfs.New(faultfs.Options{})
	}
	if conf.buffers == 0 {
		conf.buffers = 512
	}
	if conf.persistence == 0 {
		conf.persistence = 'p'
	}
	e := &env{t: t, conf: conf}
	if err := e.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.close)
	return e
}

func (e *env) close() {
	if n := e.pool.Pinned(); n != 0 && !e.t.Failed() {
		e.t.Errorf("%d buffers are still pinned", n)
	}
	_ = e.log.Close()
	_ = e.pool.Close()
}

func (e *env) open() (err error) {
	conf := &e.conf
	e.set = metrics.Discard()
	if conf.redo == 0 {
		if err := errors.Join(
			conf.fs.MkdirAll("data/pg_wal", 0o700), conf.fs.MkdirAll("data/pg_xact", 0o700),
			conf.fs.MkdirAll("data/base", 0o700),
			conf.fs.SyncDir("/"), conf.fs.SyncDir("data")); err != nil {
			return err
		}
	}
	if e.log, err = wal.Open(wal.Config{
		FS: conf.fs, Dir: "data/pg_wal", SegmentSize: 1 << 20, Buffers: 1 << 20, Metrics: e.set, Fatal: conf.fatal,
		UnsafeNoFullPageImages: conf.noImages, WriterDelay: func() time.Duration { return time.Hour },
	}); err != nil {
		return err
	}
	if e.pool, err = storage.NewPool(storage.PoolConfig{
		Buffers: conf.buffers, FS: conf.fs, Dir: "data", Metrics: e.set, Log: e.log, Hints: e.log,
		UnsafeNoLogFlush: conf.noLogFlush,
	}); err != nil {
		return err
	}
	e.locks = locks.NewManager(locks.Config{
		Metrics: e.set, ExtensionTable: locks.NewExtensionTable(16, e.set),
	})
	if e.txn, err = txn.Open(txn.Config{
		FS: conf.fs, Dir: "data", Log: e.log, Locks: e.locks, Metrics: e.set,
		NextXID: max(conf.nextXID, txn.FirstXID), Fatal: conf.fatal,
	}); err != nil {
		return err
	}
	e.redo = conf.redo
	if e.redo == 0 {
		e.redo = e.log.FirstLSN()
	}
	e.log.SetRedoPoint(e.redo)
	if err := e.recover(e.redo); err != nil {
		return err
	}
	if conf.redo != 0 {
		e.tree = Open(e.deps(), e.config())
		return nil
	}
	if err := e.pool.Files().CreateDatabase(testRel.Tablespace, testRel.Database); err != nil {
		return err
	}
	if err := e.pool.Files().Create(testRel, storage.MainFork); err != nil {
		return err
	}
	if e.tree, err = Create(context.Background(), e.deps(), e.config(), e.session().w); err != nil {
		return err
	}
	return e.checkpoint()
}

func (e *env) deps() Deps {
	return Deps{Pool: e.pool, Log: e.log, Txn: e.txn, Metrics: e.set}
}

func (e *env) config() Config {
	return Config{
		Rel: testRel, DB: testDB, RelOID: 16384, IndexOID: 16385, Name: "t_pkey",
		Persistence: e.conf.persistence, FillFactor: e.conf.fillFactor, Payload: e.conf.payload,
	}
}

func (e *env) recover(from storage.LSN) error {
	c := wal.NewRedoContext(e.pool)
	trees := NewRedoer(e.deps())
	_, err := e.log.Replay(from, func(rec *wal.Record) error {
		e.txn.NoteXID(txn.XID(rec.XID))
		if e.conf.replayed != nil {
			e.conf.replayed(rec)
		}
		switch rec.RM {
		case wal.RMBTree:
			return trees.Redo(rec, c)
		case wal.RMTxn:
			return e.txn.Redo(rec, c)
		case wal.RMStorage:
			return wal.StorageRedo{}.Redo(rec, c)
		}
		return fmt.Errorf("record of %v", rec.RM)
	})
	if err != nil {
		return err
	}
	if err := c.CheckMissing(); err != nil {
		return err
	}
	return e.txn.StartUp()
}

// checkpoint is the engine's, in short; the control file is e.redo.
func (e *env) checkpoint() error {
	redo := e.log.AdvanceRedoPoint()
	e.txn.DelayBarrier()
	if err := e.txn.FlushAll(); err != nil {
		return err
	}
	if _, err := e.pool.FlushAll(context.Background(), storage.FlushOptions{}); err != nil {
		return err
	}
	if err := e.pool.SyncPending(context.Background()); err != nil {
		return err
	}
	if err := e.log.Flush(e.log.InsertLSN()); err != nil {
		return err
	}
	e.redo = redo
	e.conf.nextXID = e.txn.NextXID()
	return nil
}

// session is one client.
type session struct {
	e    *env
	tx   *txn.Tx
	w    *Writer
	lock *locks.Session
}

func (e *env) session() *session {
	lock := e.locks.NewSession(e.pid.Add(1))
	s := &session{e: e, lock: lock, tx: e.txn.NewTx(lock)}
	s.w = &Writer{
		Tx: s.tx, LockSess: lock, Builder: new(wal.Builder),
		Ext: &storage.ExtendState{
			Locker:   lock.Extension(),
			Settings: storage.ExtendSettings{Policy: storage.ExtendFixed, Blocks: 1},
		},
	}
	return s
}

func (s *session) begin() { s.tx.Start(); s.tx.XID() }

func (s *session) commit() error { return s.tx.Commit(txn.CommitInfo{DB: testDB}) }

func (s *session) insert(key []byte, tid TID) error {
	var payload []byte
	if s.e.conf.payload {
		payload = payloadOf(key, tid)
	}
	return s.e.tree.Insert(context.Background(), s.w, key, tid, payload)
}

// payloadOf is what test entries carry.
func payloadOf(key []byte, tid TID) []byte {
	return fmt.Appendf(nil, "%d/%v", len(key), tid)[:min(len(key), 4)]
}

func (e *env) vacuum(dead func(TID) bool) VacuumStats {
	e.t.Helper()
	s := e.session()
	defer s.lock.Close()
	stats, err := e.tree.VacuumScan(context.Background(), s.w, dead)
	if err != nil {
		e.t.Fatal(err)
	}
	return stats
}

// passXIDs makes everything deleted so far recyclable.
func (e *env) passXIDs() {
	s := e.session()
	s.begin()
	if err := s.commit(); err != nil {
		e.t.Fatal(err)
	}
	s.lock.Close()
}

// check checks the tree and returns its entries.
func (e *env) check() []string {
	e.t.Helper()
	var all []string
	err := e.tree.Check(func(key []byte, tid TID, payload []byte) error {
		all = append(all, text(key, tid))
		if e.conf.payload && !bytes.Equal(payload, payloadOf(key, tid)) {
			e.t.Errorf("payload of %q is %q", text(key, tid), payload)
		}
		return nil
	}, func(block storage.BlockNumber, problem string) { e.t.Errorf("block %d: %s", block, problem) })
	if err != nil {
		e.t.Error(err)
	}
	if e.t.Failed() {
		e.t.FailNow()
	}
	return all
}

func (e *env) checkIs(want []string) {
	e.t.Helper()
	slices.Sort(want)
	if got := e.check(); !slices.Equal(got, want) {
		e.t.Fatalf("the tree holds %d entries, want %d%s", len(got), len(want), firstDifference(got, want))
	}
}

func firstDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("; first at %d: %.40q, want %.40q", i, got[i], want[i])
		}
	}
	return ""
}

// text is an entry as a map key that sorts as the entries do.
func text(key []byte, tid TID) string { return string(appendTID(bytes.Clone(key), tid)) }

// collect runs a cursor to its end.
func (e *env) collect(c *Cursor, b Bounds, backward bool) []string {
	e.t.Helper()
	var all []string
	c.Seek(b, backward)
	for {
		key, tid, payload, ok, err := c.Next()
		if err != nil {
			e.t.Fatal(err)
		}
		if !ok {
			return all
		}
		if e.conf.payload && !bytes.Equal(payload, payloadOf(key, tid)) {
			e.t.Fatalf("payload of %q is %q", text(key, tid), payload)
		}
		all = append(all, text(key, tid))
	}
}

// intKey is the kind of key an integer column has.
func intKey(n int) []byte { return binary.BigEndian.AppendUint32([]byte{1}, uint32(n)) }

// textKey is a key of letters with an end, so that none is another's prefix.
func textKey(rng *rand.Rand, letters, size int) []byte {
	key := make([]byte, 0, size+1)
	for range rng.IntN(size + 1) {
		key = append(key, byte('a'+rng.IntN(letters)))
	}
	return append(key, 0)
}

func tidOf(n int) TID { return TID{Block: storage.BlockNumber(n / 100), Offset: uint16(n%100 + 1)} }
