package engine

import (
	"context"
	"encoding/binary"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// sequenceAhead is how many values one log record covers: Invariant 6, PostgreSQL's SEQ_LOG_VALS.
const sequenceAhead = 32

// A sequence is one page whose special space holds its state.
const (
	sequenceMagic = 0x31716573
	sequenceBytes = 24
)

// sequenceState is what SELECT from a sequence shows.
type sequenceState struct {
	last   int64
	logCnt int64 // values that may still be given out without logging
	called bool
}

func (st sequenceState) write(page storage.Page) {
	b := page.Special()
	binary.LittleEndian.PutUint32(b, sequenceMagic)
	b[4] = 0
	if st.called {
		b[4] = 1
	}
	binary.LittleEndian.PutUint64(b[8:], uint64(st.last))
	binary.LittleEndian.PutUint64(b[16:], uint64(st.logCnt))
}

func readSequence(page storage.Page) (sequenceState, bool) {
	b := page.Special()
	if len(b) != sequenceBytes || binary.LittleEndian.Uint32(b) != sequenceMagic {
		return sequenceState{}, false
	}
	return sequenceState{
		last: int64(binary.LittleEndian.Uint64(b[8:])), logCnt: int64(binary.LittleEndian.Uint64(b[16:])),
		called: b[4] != 0,
	}, true
}

// sequenceSession is what a session remembers of a sequence.
type sequenceSession struct {
	seq    catalog.OID
	file   storage.FileNumber
	last   int64 // returned last
	cached int64 // last of those this session took ahead
	valid  bool
	lsn    storage.LSN // of the record that covers cached
}

func (s *Session) sequence(seq *catalog.Relation) *sequenceSession {
	if s.sequences == nil {
		s.sequences = make(map[catalog.OID]*sequenceSession)
	}
	x := s.sequences[seq.OID]
	if x == nil {
		x = &sequenceSession{seq: seq.OID}
		s.sequences[seq.OID] = x
	}
	if x.file != seq.File.Number {
		// ALTER SEQUENCE or TRUNCATE RESTART gave it new storage.
		x.file, x.cached = seq.File.Number, x.last
	}
	return x
}

// lockSequence takes the lock PostgreSQL's nextval does, to the transaction's end.
func (s *Session) lockSequence(ctx context.Context, seq *catalog.Relation) error {
	return s.lock.Lock(ctx, locks.RelationTag(uint32(s.db), uint32(seq.OID)), locks.RowExclusive,
		locks.LockOptions{Timeout: s.tx.LockTimeout()})
}

// Nextval advances a sequence and returns its value; 2200H at the end.
func (s *Session) Nextval(ctx context.Context, seq *catalog.Relation) (int64, error) {
	if err := s.lockSequence(ctx, seq); err != nil {
		return 0, err
	}
	x := s.sequence(seq)
	def := seq.Sequence
	if x.valid && x.last != x.cached {
		x.last += def.Increment
		s.lastSeq = x
		s.flushWithCommit(seq, x.lsn)
		return x.last, nil
	}
	if err := s.e.log.Reserve(sequenceReserve); err != nil {
		return 0, err
	}
	buf, err := s.e.pool.Read(sequenceBlock(seq), nil)
	if err != nil {
		return 0, err
	}
	buf.LockExclusive(storage.ClassOther)
	defer buf.ReleaseExclusive()
	st, ok := readSequence(buf.Page())
	if !ok {
		return 0, errBadSequence(seq)
	}
	p, err := planNextval(st, def, seq.Name, buf.Page().LSN() <= s.e.log.RedoPoint())
	if err != nil {
		return 0, err
	}
	x.last, x.cached, x.valid = p.result, p.page.last, true
	s.lastSeq = x
	s.writeSequence(seq, buf, p)
	x.lsn = buf.Page().LSN()
	s.flushWithCommit(seq, x.lsn)
	return p.result, nil
}

// flushWithCommit has the commit wait for a sequence's record at lsn, which another transaction may have logged and
// rolled back, so that nobody has flushed it: one with an XID flushes all that is before its own record.
func (s *Session) flushWithCommit(seq *catalog.Relation, lsn storage.LSN) {
	if seq.Persistence == catalog.Permanent && lsn > s.e.log.FlushedTo() {
		s.tx.XID()
	}
}

// sequenceReserve bounds a sequence's log record.
const sequenceReserve = 256

func sequenceBlock(seq *catalog.Relation) storage.BlockTag {
	return storage.BlockTag{Rel: seq.File, Fork: storage.MainFork, Block: 0}
}

func errBadSequence(seq *catalog.Relation) error {
	return pgerr.New(pgerr.DataCorrupted, "bad magic number in sequence \"%s\"", seq.Name)
}

// nextvalPlan is what one nextval does.
type nextvalPlan struct {
	result int64
	page   sequenceState // what the page says afterwards
	log    bool
	logged sequenceState // what the log says: ahead of the page
}

// planNextval is PostgreSQL's nextval_internal. afterCheckpoint tells that the page has not been
// logged since the redo point: were nothing logged now, replay would not know the values given out
// since the page was written.
func planNextval(st sequenceState, def *catalog.Sequence, name string, afterCheckpoint bool) (nextvalPlan, error) {
	var p nextvalPlan
	taken := int64(0) // values for this session
	fetch, ahead := def.Cache, st.logCnt
	next := st.last
	p.result = next
	p.page.last = next
	if !st.called {
		taken++
		fetch--
	}
	if ahead < fetch || !st.called || afterCheckpoint {
		fetch += sequenceAhead
		ahead = fetch
		p.log = true
	}
	for ; fetch > 0; fetch-- {
		n, wraps := successor(next, def)
		if wraps {
			if taken > 0 {
				break
			}
			if !def.Cycle {
				return p, errSequenceEnd(def, name)
			}
		}
		next = n
		if taken < def.Cache {
			ahead--
			taken++
			p.page.last = next
			if taken == 1 {
				p.result = next
			}
		}
	}
	p.page.logCnt, p.page.called = ahead-fetch, true
	p.logged = sequenceState{last: next, called: true}
	return p, nil
}

// successor returns the value after v, the first again where the range ends.
func successor(v int64, def *catalog.Sequence) (next int64, wraps bool) {
	if def.Increment > 0 {
		if def.Max >= 0 && v > def.Max-def.Increment || def.Max < 0 && v+def.Increment > def.Max {
			return def.Min, true
		}
	} else if def.Min < 0 && v < def.Min-def.Increment || def.Min >= 0 && v+def.Increment < def.Min {
		return def.Max, true
	}
	return v + def.Increment, false
}

func errSequenceEnd(def *catalog.Sequence, name string) error {
	if def.Increment > 0 {
		return pgerr.New(pgerr.SequenceGeneratorLimitExceeded,
			"nextval: reached maximum value of sequence \"%s\" (%d)", name, def.Max)
	}
	return pgerr.New(pgerr.SequenceGeneratorLimitExceeded,
		"nextval: reached minimum value of sequence \"%s\" (%d)", name, def.Min)
}

// writeSequence changes the page, whose buffer is latched exclusively.
func (s *Session) writeSequence(seq *catalog.Relation, buf *storage.Buffer, p nextvalPlan) {
	logged := p.log && seq.Persistence == catalog.Permanent
	if logged {
		s.tx.XID() // the value is durable when the transaction is
	}
	wal.Critical(func() {
		buf.MarkDirty()
		if logged {
			lsn := s.e.logSequence(&s.builder, uint64(s.tx.TopXID()), buf, p.logged)
			buf.Page().SetLSN(lsn)
		}
		p.page.write(buf.Page())
	})
}

// logSequence logs a sequence's page anew with the given state.
func (e *Engine) logSequence(b *wal.Builder, xid uint64, buf *storage.Buffer, st sequenceState) storage.LSN {
	b.Reset(wal.RMSequence, kindSequenceState, xid, buf.Tag().Rel.Database)
	b.RegisterBuffer(0, buf, wal.WillInit)
	var data [9]byte
	binary.LittleEndian.PutUint64(data[:], uint64(st.last))
	if st.called {
		data[8] = 1
	}
	b.Data(data[:]...)
	return e.log.Insert(b)
}

// kindSequenceState is RMSequence's one kind: the page anew.
const kindSequenceState wal.Kind = 0

// sequenceRedo redoes RMSequence.
type sequenceRedo struct{}

// Redo implements wal.Redoer.
func (sequenceRedo) Redo(rec *wal.Record, r *wal.RedoContext) error {
	if len(rec.Data) != 9 {
		return pgerr.New(pgerr.DataCorrupted, "malformed sequence log record at %v", rec.LSN)
	}
	buf, action, err := r.Block(rec, 0)
	if err != nil || action == wal.ActionMissing {
		return err
	}
	page := buf.Page()
	page.Init(sequenceBytes)
	sequenceState{last: int64(binary.LittleEndian.Uint64(rec.Data)), called: rec.Data[8] != 0}.write(page)
	r.Finish(buf, rec, true)
	return nil
}

// InitSequence writes the first state of a sequence into its new file.
func (s *Session) InitSequence(ctx context.Context, seq *catalog.Relation, last int64, called bool) error {
	st := sequenceState{last: last, called: called}
	ext, err := s.e.pool.Extend(ctx, seq.File, storage.MainFork, storage.ExtendOptions{
		State: &s.ext, Class: storage.ClassOther,
	})
	if err != nil {
		return err
	}
	defer ext.Buffer.ReleaseExclusive()
	if err := s.e.log.Reserve(sequenceReserve); err != nil {
		return err
	}
	if seq.Persistence == catalog.Permanent {
		s.tx.XID()
	}
	s.e.formatSequence(&s.builder, uint64(s.tx.TopXID()), seq, ext.Buffer, st)
	return nil
}

// formatSequence makes the page of a buffer that is latched exclusively a sequence.
func (e *Engine) formatSequence(b *wal.Builder, xid uint64, seq *catalog.Relation, buf *storage.Buffer, st sequenceState) {
	wal.Critical(func() {
		page := buf.Page()
		buf.MarkDirty()
		page.Init(sequenceBytes)
		st.write(page)
		if seq.Persistence == catalog.Permanent {
			page.SetLSN(e.logSequence(b, xid, buf, st))
		}
	})
}

// resetSequence makes the first page of an unlogged sequence whose file recovery made anew.
func (e *Engine) resetSequence(seq *catalog.Relation) error {
	if err := e.pool.Files().EnsureBlocks(seq.File, storage.MainFork, 1); err != nil {
		return err
	}
	buf, err := e.pool.ReadZeroed(sequenceBlock(seq))
	if err != nil {
		return err
	}
	buf.LockExclusive(storage.ClassOther)
	defer buf.ReleaseExclusive()
	e.formatSequence(nil, 0, seq, buf, sequenceState{last: seq.Sequence.Start})
	return nil
}

// Setval sets a sequence; not undone by a rollback.
func (s *Session) Setval(ctx context.Context, seq *catalog.Relation, value int64, called bool) error {
	if err := s.lockSequence(ctx, seq); err != nil {
		return err
	}
	if def := seq.Sequence; value < def.Min || value > def.Max {
		return pgerr.New(pgerr.NumericValueOutOfRange, "setval: value %d is out of bounds for sequence \"%s\" (%d..%d)",
			value, seq.Name, def.Min, def.Max)
	}
	if err := s.e.log.Reserve(sequenceReserve); err != nil {
		return err
	}
	buf, err := s.e.pool.Read(sequenceBlock(seq), nil)
	if err != nil {
		return err
	}
	buf.LockExclusive(storage.ClassOther)
	defer buf.ReleaseExclusive()
	if _, ok := readSequence(buf.Page()); !ok {
		return errBadSequence(seq)
	}
	x := s.sequence(seq)
	if called {
		x.last, x.valid = value, true
	}
	x.cached = x.last
	st := sequenceState{last: value, called: called}
	s.writeSequence(seq, buf, nextvalPlan{page: st, logged: st, log: true})
	return nil
}

// Currval returns what Nextval last returned in this session; 55000 when it never did.
func (s *Session) Currval(seq *catalog.Relation) (int64, error) {
	x := s.sequences[seq.OID]
	if x == nil || !x.valid {
		return 0, pgerr.New(pgerr.ObjectNotInPrerequisiteState,
			"currval of sequence \"%s\" is not yet defined in this session", seq.Name)
	}
	return x.last, nil
}

// Lastval returns what the last Nextval of the session returned; 55000 when there was none.
func (s *Session) Lastval() (int64, error) {
	if s.lastSeq == nil || !s.lastSeq.valid {
		return 0, pgerr.New(pgerr.ObjectNotInPrerequisiteState, "lastval is not yet defined in this session")
	}
	return s.lastSeq.last, nil
}

// ForgetSequences drops what the session remembers of sequences (DISCARD SEQUENCES).
func (s *Session) ForgetSequences() { s.sequences, s.lastSeq = nil, nil }

// SequenceState reads last_value, log_cnt and is_called (SELECT FROM a sequence).
func (s *Session) SequenceState(_ context.Context, seq *catalog.Relation) (last, logCnt int64, called bool, err error) {
	buf, err := s.e.pool.Read(sequenceBlock(seq), nil)
	if err != nil {
		return 0, 0, false, err
	}
	buf.LockShared(storage.ClassOther)
	defer buf.ReleaseShared()
	st, ok := readSequence(buf.Page())
	if !ok {
		return 0, 0, false, errBadSequence(seq)
	}
	return st.last, st.logCnt, st.called, nil
}
