package txn

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// Commit makes the transaction durable and then visible, and releases its locks. An error
// before the record is in the log leaves the transaction open, to be aborted; after that,
// an error means that the server stops.
func (tx *Tx) Commit(info CommitInfo) error {
	assert.That(tx.open, "commit outside a transaction")
	heavy := len(info.Payload) > 0 || len(info.UnlinkFiles) > 0
	if heavy && !tx.HasXID() {
		tx.levels = tx.levels[:1]
		tx.assign()
	}
	if tx.HasXID() {
		if err := tx.commitXIDs(&info, heavy); err != nil {
			return err
		}
	} else if info.AfterFlush != nil {
		if err := info.AfterFlush(); err != nil {
			tx.m.cfg.Fatal(err)
			return err
		}
	}
	tx.m.cfg.Metrics.Commits.AddAt(uint32(tx.hint), 1)
	tx.end()
	return nil
}

func (tx *Tx) commitXIDs(info *CommitInfo, heavy bool) error {
	m := tx.m
	b := &tx.builder
	b.Reset(wal.RMTxn, KindCommit, uint64(tx.xids[0]), info.DB)
	tx.scratch = appendEnd(tx.scratch[:0], m.cfg.Now().UnixMicro(), tx.xids[0], tx.xids[1:], info.UnlinkFiles)
	b.Data(tx.scratch...)
	b.Data(info.Payload...)
	if m.cfg.Log == nil {
		return tx.becomeVisible(info, 0)
	}
	if err := m.cfg.Log.Reserve(b.InsertLen()); err != nil {
		return err
	}
	// Up to the effect on the commit log and the catalog no checkpoint takes place that
	// begins behind the record: Invariant 7.
	tx.slot.commits.Add(1)
	defer tx.slot.commits.Add(1)
	lsn := m.cfg.Log.Insert(b)
	if err := tx.flush(lsn, !heavy && (info.Async || !tx.durable)); err != nil {
		return err
	}
	return tx.becomeVisible(info, lsn)
}

func (tx *Tx) flush(lsn storage.LSN, async bool) error {
	log := tx.m.cfg.Log
	switch {
	case tx.m.cfg.UnsafeSkipCommitFlush:
		return nil
	case async:
		log.FlushLater(lsn)
		return log.Err()
	}
	if log.FlushedTo() >= lsn {
		return nil
	}
	tx.sess.SetWait("IO", "WALSync")
	err := log.Flush(lsn)
	tx.sess.ClearWait()
	return err
}

// becomeVisible is Invariant 5 behind the flush.
func (tx *Tx) becomeVisible(info *CommitInfo, lsn storage.LSN) error {
	m := tx.m
	if info.AfterFlush != nil {
		if err := info.AfterFlush(); err != nil {
			m.cfg.Fatal(err)
			return err
		}
	}
	for _, xid := range tx.xids {
		if err := m.clog.set(xid, bitsCommitted, lsn); err != nil {
			m.cfg.Fatal(err)
			return err
		}
	}
	// Invariant 2. The subtransactions lead here until they are stamped.
	tx.words[0].Store(stateCommitting)
	csn := m.nextCSN.Add(1) - 1
	tx.words[0].Store(csn)
	for _, w := range tx.words[1:] {
		w.Store(csn)
	}
	return nil
}

// Abort rolls the transaction back and releases its locks; files are logged for
// replay to unlink, the caller removes them.
func (tx *Tx) Abort(files []storage.RelFile) {
	if !tx.open {
		return
	}
	if len(files) > 0 && !tx.HasXID() {
		tx.levels = tx.levels[:1]
		tx.assign()
	}
	if tx.HasXID() {
		tx.logAbort(tx.xids, files)
		markAborted(tx.words)
	}
	tx.m.cfg.Metrics.Rollbacks.AddAt(uint32(tx.hint), 1)
	tx.end()
}

// abortXIDs ends subtransactions.
func (tx *Tx) abortXIDs(xids []XID, words []*atomic.Uint64) {
	tx.logAbort(xids, nil)
	markAborted(words)
}

// logAbort tells the log that nothing more comes of xids: for logical decoding and standbys. Recovery
// takes what has no commit record for aborted, so a log without room for it is no error.
func (tx *Tx) logAbort(xids []XID, files []storage.RelFile) {
	log := tx.m.cfg.Log
	if log == nil || log.Err() != nil {
		return
	}
	b := &tx.builder
	b.Reset(wal.RMTxn, KindAbort, uint64(xids[0]), 0)
	tx.scratch = appendEnd(tx.scratch[:0], tx.m.cfg.Now().UnixMicro(), xids[0], xids[1:], files)
	b.Data(tx.scratch...)
	if log.Reserve(b.InsertLen()) == nil {
		log.Insert(b)
	}
}

// markAborted needs no bits in the commit log: Invariant 6.
func markAborted(words []*atomic.Uint64) {
	for _, w := range words {
		w.Store(stateAborted)
	}
}

// The kinds of RMTxn.
const (
	KindCommit wal.Kind = iota
	KindAbort
)

// appendEnd appends what a commit or abort record holds before the payload: the
// time, the further XIDs as distances from the record's, the files to unlink.
func appendEnd(dst []byte, micros int64, top XID, subs []XID, files []storage.RelFile) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(micros))
	dst = binary.AppendUvarint(dst, uint64(len(subs)))
	for _, xid := range subs {
		dst = binary.AppendUvarint(dst, uint64(xid-top))
	}
	dst = binary.AppendUvarint(dst, uint64(len(files)))
	for _, f := range files {
		dst = wal.AppendRelFile(dst, f)
	}
	return dst
}

// EndRecord is a decoded commit or abort record.
type EndRecord struct {
	Commit  bool
	Micros  int64 // unix microseconds
	XID     XID
	Subs    []XID
	Files   []storage.RelFile
	Payload []byte
}

// DecodeEnd decodes a commit or abort record.
func DecodeEnd(rec *wal.Record) (EndRecord, error) {
	e := EndRecord{Commit: rec.Kind == KindCommit, XID: XID(rec.XID)}
	bad := pgerr.New(pgerr.DataCorrupted, "malformed transaction record at %v", rec.LSN)
	if len(rec.Data) < 8 || rec.Kind > KindAbort {
		return e, bad
	}
	e.Micros = int64(binary.LittleEndian.Uint64(rec.Data))
	b := rec.Data[8:]
	count := func() (int, bool) {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > uint64(len(rec.Data)) {
			return 0, false
		}
		b = b[n:]
		return int(v), true
	}
	n, ok := count()
	for ; ok && n > 0; n-- {
		d, size := binary.Uvarint(b)
		if ok = size > 0; ok {
			b = b[size:]
			e.Subs = append(e.Subs, e.XID+XID(d))
		}
	}
	if !ok {
		return e, bad
	}
	for n, ok = count(); ok && n > 0; n-- {
		var f storage.RelFile
		if f, b, ok = wal.ReadRelFile(b); ok {
			e.Files = append(e.Files, f)
		}
	}
	if !ok {
		return e, bad
	}
	e.Payload = b
	return e, nil
}

// Redo applies a commit or abort record.
func (m *Manager) Redo(rec *wal.Record, r *wal.RedoContext) error {
	e, err := DecodeEnd(rec)
	if err != nil {
		return err
	}
	m.NoteXID(e.XID)
	bits := uint64(bitsAborted)
	if e.Commit {
		bits = bitsCommitted
	}
	if err := m.clog.set(e.XID, bits, rec.EndLSN); err != nil {
		return err
	}
	for _, xid := range e.Subs {
		m.NoteXID(xid)
		if err := m.clog.set(xid, bits, rec.EndLSN); err != nil {
			return err
		}
	}
	for _, f := range e.Files {
		if r != nil {
			r.ForgetRelation(f)
		}
	}
	if m.cfg.OnRedoCommit == nil || len(e.Payload) == 0 && len(e.Files) == 0 {
		return nil
	}
	return m.cfg.OnRedoCommit(e.Payload, e.Files)
}
