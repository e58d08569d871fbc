package heap

import (
	"context"
	"encoding/binary"
	"fmt"
	"path"
	"testing"
	"time"

	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/wal"
)

const testDB = 5

var testRel = storage.RelFile{Tablespace: storage.DefaultTablespace, Database: testDB, Number: 100}

// env is a server reduced to what a heap needs.
type env struct {
	t     testing.TB
	fs    storage.FS
	pool  *storage.Pool
	log   *wal.Log
	locks *locks.Manager
	txn   *txn.Manager
	deps  Deps
	h     *Heap
	pid   int32
	conf  envConfig
	redo  storage.LSN // of the last checkpoint
}

type envConfig struct {
	fs          storage.FS
	dir         string // in fs
	buffers     int
	segment     int64
	persistence byte
	fillFactor  int
	redo        storage.LSN // 0: a new directory
	nextXID     txn.XID
	deadlock    time.Duration
	noImages    bool
	noLogFlush  bool
	skipFlush   bool
	fatal       func(error)
}

func newEnv(t testing.TB, conf envConfig) *env {
	t.Helper()
	if conf.fs == nil {
		conf.fs = faultfs.New(faultfs.Options{})
	}
	if conf.segment == 0 {
		conf.segment = 1 << 20
	}
	if conf.buffers == 0 {
		conf.buffers = 256
	}
	if conf.persistence == 0 {
		conf.persistence = 'p'
	}
	if conf.deadlock == 0 {
		conf.deadlock = time.Second
	}
	e := &env{t: t, fs: conf.fs, conf: conf}
	if err := e.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.log.Close() })
	return e
}

func (e *env) open() (err error) {
	conf := &e.conf
	set := metrics.Discard()
	if e.log, err = wal.Open(wal.Config{
		FS: e.fs, Dir: path.Join(conf.dir, "pg_wal"), SegmentSize: conf.segment, Buffers: 256 << 10, Metrics: set, Fatal: conf.fatal,
		UnsafeNoFullPageImages: conf.noImages, WriterDelay: func() time.Duration { return time.Hour },
	}); err != nil {
		return err
	}
	if e.pool, err = storage.NewPool(storage.PoolConfig{
		Buffers: conf.buffers, FS: e.fs, Dir: conf.dir, Metrics: set, Log: e.log, Hints: e.log, UnsafeNoLogFlush: conf.noLogFlush,
	}); err != nil {
		return err
	}
	e.locks = locks.NewManager(locks.Config{Metrics: set, DeadlockTimeout: func() time.Duration { return conf.deadlock }})
	if e.txn, err = txn.Open(txn.Config{
		FS: e.fs, Dir: conf.dir, Log: e.log, Locks: e.locks, Metrics: set, NextXID: max(conf.nextXID, txn.FirstXID),
		Fatal: conf.fatal, UnsafeSkipCommitFlush: conf.skipFlush,
	}); err != nil {
		return err
	}
	e.deps = Deps{Pool: e.pool, Log: e.log, Txn: e.txn, Locks: e.locks, Metrics: set, Shared: NewShared()}
	e.redo = conf.redo
	e.log.SetRedoPoint(conf.redo)
	from := conf.redo
	if from == 0 {
		from = e.log.FirstLSN()
	}
	if err := e.recover(from); err != nil {
		return err
	}
	e.h = New(e.deps, Config{
		Rel: testRel, DB: testDB, RelOID: 16384, Name: "t", Persistence: conf.persistence, FillFactor: conf.fillFactor,
	})
	if conf.redo == 0 {
		if err := e.pool.Files().CreateDatabase(testRel.Tablespace, testRel.Database); err != nil {
			return err
		}
		if err := e.pool.Files().Create(testRel, storage.MainFork); err != nil {
			return err
		}
		if err := e.fs.SyncDir(path.Clean(conf.dir)); err != nil {
			return err
		}
		return e.checkpoint()
	}
	return nil
}

func (e *env) recover(from storage.LSN) error {
	c := wal.NewRedoContext(e.pool)
	heap := NewRedoer(e.deps)
	_, err := e.log.Replay(from, func(rec *wal.Record) error {
		e.txn.NoteXID(txn.XID(rec.XID))
		switch rec.RM {
		case wal.RMHeap:
			return heap.Redo(rec, c)
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
	buf  FetchBuf
}

func (e *env) session() *session {
	e.pid++
	lock := e.locks.NewSession(e.pid)
	s := &session{e: e, lock: lock, tx: e.txn.NewTx(lock)}
	s.w = &Writer{
		Tx: s.tx, LockSess: lock, Builder: new(wal.Builder),
		Ext: &storage.ExtendState{Locker: lock.Extension(), Settings: storage.ExtendSettings{Policy: storage.ExtendFixed, Blocks: 1}},
	}
	return s
}

func (s *session) begin() *session { s.tx.Start(); return s }

func (s *session) commit() {
	s.e.t.Helper()
	if err := s.tx.Commit(txn.CommitInfo{DB: testDB}); err != nil {
		s.e.t.Fatal(err)
	}
}

func (s *session) abort() { s.tx.Abort(nil) }

func (s *session) next() { s.tx.CommandCounterIncrement() }

// withSnapshot runs f under a new statement's snapshot.
func (s *session) withSnapshot(f func(snap *txn.Snapshot)) {
	snap := s.tx.TakeSnapshot()
	f(snap)
	s.tx.ReleaseSnapshot(snap)
}

// multiInsert adds rows and returns their TIDs.
func (s *session) multiInsert(ctx context.Context, rows [][]byte, opts InsertOptions) (tids []TID, err error) {
	n, err := s.e.h.MultiInsert(ctx, s.w, rowsOf(rows), &tids, opts)
	assert.That(n == len(tids), "%d rows have %d TIDs", n, len(tids))
	return tids, err
}

func rowsOf(rows [][]byte) *Rows {
	var r Rows
	for _, row := range rows {
		r.Bytes = append(r.Bytes, row...)
		r.End()
	}
	return &r
}

func (s *session) insert(row []byte) TID {
	s.e.t.Helper()
	tid, err := s.e.h.Insert(context.Background(), s.w, row, InsertOptions{})
	if err != nil {
		s.e.t.Fatal(err)
	}
	s.next()
	return tid
}

func (s *session) tryUpdate(ctx context.Context, tid TID, row []byte, opts UpdateOptions) (newTID TID, hot bool, res Result, err error) {
	s.withSnapshot(func(snap *txn.Snapshot) {
		newTID, hot, res, err = s.e.h.Update(ctx, s.w, snap, tid, row, opts)
	})
	s.next()
	return newTID, hot, res, err
}

// update is a HOT-able update of no key that must succeed.
func (s *session) update(tid TID, row []byte) TID {
	s.e.t.Helper()
	newTID, _, res, err := s.tryUpdate(context.Background(), tid, row, UpdateOptions{HotAllowed: true, Mode: NoKeyUpdate})
	if err != nil || res.Status != Ok {
		s.e.t.Fatalf("update of %v: %v, %v", tid, res.Status, err)
	}
	return newTID
}

func (s *session) tryDelete(ctx context.Context, tid TID) (res Result, err error) {
	s.withSnapshot(func(snap *txn.Snapshot) {
		res, err = s.e.h.Delete(ctx, s.w, snap, tid, DeleteOptions{})
	})
	s.next()
	return res, err
}

func (s *session) delete(tid TID) {
	s.e.t.Helper()
	if res, err := s.tryDelete(context.Background(), tid); err != nil || res.Status != Ok {
		s.e.t.Fatalf("delete of %v: %v, %v", tid, res.Status, err)
	}
}

func (s *session) lockRow(ctx context.Context, tid TID, opts LockOptions) (res Result, err error) {
	s.withSnapshot(func(snap *txn.Snapshot) {
		res, err = s.e.h.LockTuple(ctx, s.w, snap, tid, opts, &s.buf)
	})
	return res, err
}

// rows lists what a new statement sees, in order of TID.
func (s *session) rows() (rows []string) {
	s.withSnapshot(func(snap *txn.Snapshot) { rows = s.rowsUnder(snap) })
	return rows
}

func (s *session) rowsUnder(snap *txn.Snapshot) (rows []string) {
	s.e.t.Helper()
	scan := s.e.h.NewScan(snap, ScanOptions{})
	defer scan.Close()
	for {
		p, ok, err := scan.NextPage()
		if err != nil {
			s.e.t.Fatal(err)
		}
		if !ok {
			return rows
		}
		for i := range p.N {
			rows = append(rows, string(p.Data(i)))
		}
	}
}

func (s *session) fetch(tid TID) (row string, ok bool) {
	s.e.t.Helper()
	s.withSnapshot(func(snap *txn.Snapshot) {
		data, found, err := s.e.h.Fetch(snap, tid, &s.buf)
		if err != nil {
			s.e.t.Fatal(err)
		}
		row, ok = string(data), found
	})
	return row, ok
}

// vacuum runs VACUUM on a relation whose index, if any, drop cleans.
func (e *env) vacuum(drop func(dead []TID)) VacuumStats {
	e.t.Helper()
	s := e.session()
	defer s.lock.Close()
	opts := VacuumOptions{Truncate: func(context.Context) (func(), bool) { return func() {}, true }, OldTuples: -1}
	if drop != nil {
		opts.RemoveIndexEntries = func(_ context.Context, dead []TID) error { drop(dead); return nil }
	}
	stats, err := e.h.Vacuum(context.Background(), s.w, opts)
	if err != nil {
		e.t.Fatal(err)
	}
	return stats
}

func (e *env) check() {
	e.t.Helper()
	if err := e.h.Check(func(tid TID, problem string) { e.t.Errorf("%v: %s", tid, problem) }); err != nil {
		e.t.Error(err)
	}
	if e.t.Failed() {
		e.t.FailNow()
	}
}

// row is a test row: a key and a version, padded to size.
func row(key, version, size int) []byte {
	b := make([]byte, max(size, 16))
	binary.LittleEndian.PutUint64(b, uint64(key))
	binary.LittleEndian.PutUint64(b[8:], uint64(version))
	return b
}

func rowKey(b string) (key, version int) {
	return int(binary.LittleEndian.Uint64([]byte(b))), int(binary.LittleEndian.Uint64([]byte(b[8:])))
}
