package wal

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/minipg/minipg/pgerr/assert"
	"github.com/minipg/minipg/storage"
)

// insertSlots bounds how many inserters copy into the ring at one time.
const insertSlots = 32

// claimed is a slot whose owner has not reserved space yet.
const claimed = math.MaxUint64

// insertSlot says up to where its owner has copied: everything the owner reserved
// below at is in the ring. 0 is a free slot.
type insertSlot struct {
	at atomic.Uint64
	_  [56]byte
}

// Insert adds b's record and returns the LSN behind it, to stamp the pages
// with. Called inside Critical, after the buffers are marked dirty, their
// latches held. After the log died it does nothing: no flush will succeed.
func (l *Log) Insert(b *Builder) storage.LSN {
	assert.That(l.scanned, "insertion into the log before replay found its end")
	var start, end storage.LSN
	slot := l.claimSlot(b)
	for {
		redo := storage.LSN(l.redo.Load())
		redoMatters := b.encode(redo, l.images())
		assert.That(len(b.enc) <= maxRecordBytes, "log record of %d bytes", len(b.enc))
		var ok bool
		if start, end, ok = l.reserve(b, slot, redo, redoMatters); ok {
			break
		}
		// A checkpoint moved the redo point since encode looked: Invariant 2.
	}
	l.copyIn(slot, start, b.enc)
	b.lsn = start
	l.countInsert(b)
	l.prepareAhead(end)
	if start/writerFlushAfter != end/writerFlushAfter {
		// What a bulk load wrote is on disk before a buffer's eviction or its commit waits for it.
		l.FlushLater(start)
	}
	return end
}

// InsertLen bounds the length of b's record for Reserve: all pages in whole.
func (b *Builder) InsertLen() int { return b.Size() + len(b.blocks)*storage.PageSize }

func (l *Log) claimSlot(b *Builder) *insertSlot {
	for tries := 0; ; tries++ {
		s := &l.slots[b.slot%insertSlots]
		if s.at.Load() == 0 && s.at.CompareAndSwap(0, claimed) {
			return s
		}
		b.slot++
		if tries >= insertSlots {
			runtime.Gosched()
		}
	}
}

// reserve takes the record's place in the stream and seals the record. It fails
// when the redo point is no longer the one the record's images were chosen by.
func (l *Log) reserve(b *Builder, slot *insertSlot, redo storage.LSN, redoMatters bool) (start, end storage.LSN, ok bool) {
	l.insert.Lock()
	if redoMatters && storage.LSN(l.redo.Load()) != redo {
		l.insert.Unlock()
		return 0, 0, false
	}
	start = l.insert.pos
	end = start + storage.LSN(len(b.enc))
	prev := l.insert.prev
	l.insert.prev, l.insert.pos = start, end
	slot.at.Store(uint64(start)) // before insertPos: copiedTo must not overlook it
	l.insertPos.Store(uint64(end))
	l.insert.Unlock()

	var back uint32
	if prev != 0 {
		back = uint32(start - prev)
	}
	b.seal(start, back, l.cfg.Incarnation, l.cfg.SystemID)
	return start, end, true
}

// copyIn copies data to its place in the ring, waiting where that is still
// occupied by bytes that are not in their file.
func (l *Log) copyIn(slot *insertSlot, start storage.LSN, data []byte) {
	pos := uint64(start)
	for len(data) > 0 {
		end := l.ringEnd()
		if pos >= end {
			slot.at.Store(pos)
			if !l.makeRoom(pos) {
				break
			}
			continue
		}
		n := min(uint64(len(data)), end-pos)
		at := pos & l.ringMask
		n = min(n, uint64(len(l.ring))-at)
		copy(l.ring[at:], data[:n])
		data = data[n:]
		pos += n
	}
	slot.at.Store(0)
}

// ringEnd is the first position whose place in the ring is not free yet. The block
// written last is kept, as its rest goes to the file together with it again.
func (l *Log) ringEnd() uint64 {
	return l.written.Load()&^(blockBytes-1) + uint64(len(l.ring))
}

// makeRoom writes to the files what is copied, so that pos fits into the
// ring; false when the log is dead.
func (l *Log) makeRoom(pos uint64) bool {
	if l.m != nil {
		l.m.WALBuffersFull.Inc()
	}
	for wait := time.Microsecond; ; wait = min(2*wait, time.Millisecond) {
		if l.Err() != nil {
			return false
		}
		l.write.Lock()
		var err error
		if pos >= l.ringEnd() {
			err = l.writeLocked(l.copiedTo())
		}
		l.write.Unlock()
		if err != nil {
			return false
		}
		if pos < l.ringEnd() {
			return true
		}
		// Older inserters are still copying; they do not wait for us.
		time.Sleep(wait)
	}
}

// copiedTo returns the LSN below which every record is whole in the ring.
func (l *Log) copiedTo() storage.LSN {
	pos := l.insertPos.Load()
	for i := range l.slots {
		if at := l.slots[i].at.Load(); at != 0 && at != claimed && at < pos {
			pos = at
		}
	}
	return storage.LSN(pos)
}

// waitCopied waits until everything below lsn is in the ring, and returns how far
// it is. Requires: no insertion slot and not l.write held.
func (l *Log) waitCopied(lsn storage.LSN) storage.LSN {
	for spins := 0; ; spins++ {
		pos := l.copiedTo()
		if pos >= lsn || l.Err() != nil {
			return pos
		}
		if spins < 64 {
			runtime.Gosched()
		} else {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

func (l *Log) countInsert(b *Builder) {
	if l.m == nil {
		return
	}
	l.m.WALRecords.AddAt(b.slot, 1)
	l.m.WALBytes.AddAt(b.slot, int64(len(b.enc)))
	if b.images > 0 {
		l.m.WALFullPages.AddAt(b.slot, int64(b.images))
	}
}
