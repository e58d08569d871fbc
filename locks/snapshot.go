package locks

import (
	"math/bits"
	"slices"
	"time"
)

// LockInfo is a row of pg_locks.
type LockInfo struct {
	Tag       Tag
	PID       int32
	Mode      Mode
	Granted   bool
	FastPath  bool
	WaitStart time.Time // zero when granted
}

// Snapshot lists every lock held or waited for. The table is read at one moment,
// fast-path locks and xids before it.
func (m *Manager) Snapshot() []LockInfo {
	infos := m.snapshotXIDs(m.snapshotSlots(nil))
	m.lockAllPartitions()
	defer m.unlockAllPartitions()
	for i := range m.partitions {
		for _, l := range m.partitions[i].buckets {
			for ; l != nil; l = l.next {
				infos = l.appendInfosLocked(infos)
			}
		}
	}
	return infos
}

// appendInfosLocked requires the partition's mutex.
func (l *lock) appendInfosLocked(infos []LockInfo) []LockInfo {
	for h := l.holds; h != nil; h = h.next {
		for mode := AccessShare; mode < numModes; mode++ {
			if h.mask()&mode.bit() != 0 {
				infos = append(infos, LockInfo{
					Tag: l.tag.public(), PID: h.session.pid, Mode: mode, Granted: true,
				})
			}
		}
	}
	for w := l.head; w != nil; w = w.wait.next {
		infos = append(infos, LockInfo{
			Tag: l.tag.public(), PID: w.pid, Mode: w.wait.mode, WaitStart: w.wait.start,
		})
	}
	return infos
}

// public is the tag as views show it.
func (t Tag) public() Tag {
	if t.isRow() {
		t.F3 &^= rowFlag
	}
	return t
}

func (m *Manager) snapshotSlots(infos []LockInfo) []LockInfo {
	m.sessions.RLock()
	defer m.sessions.RUnlock()
	for _, s := range m.sessions.all {
		s.slots.Lock()
		for used := s.slots.used; used != 0; used &= used - 1 {
			ll := s.slots.lock[bits.TrailingZeros64(used)]
			infos = append(infos, LockInfo{
				Tag: ll.tag, PID: s.pid, Mode: ll.mode, Granted: true, FastPath: true,
			})
		}
		if s.slots.lxid != 0 && s.slots.vhold == nil {
			infos = append(infos, LockInfo{
				Tag: VirtualXIDTag(s.pid, s.slots.lxid), PID: s.pid, Mode: Exclusive,
				Granted: true, FastPath: true,
			})
		}
		s.slots.Unlock()
	}
	return infos
}

func (m *Manager) snapshotXIDs(infos []LockInfo) []LockInfo {
	for i := range m.xids {
		x := &m.xids[i]
		x.mu.Lock()
		for _, e := range x.buckets {
			for ; e != nil; e = e.next {
				if e.hold == nil {
					infos = append(infos, LockInfo{
						Tag: TransactionTag(e.xid), PID: e.session.pid,
						Mode: Exclusive, Granted: true,
					})
				}
			}
		}
		x.mu.Unlock()
	}
	return infos
}

// BlockingPIDs lists the sessions that keep pid waiting: those that hold a
// conflicting mode and those ahead in the queue that ask for one
// (pg_blocking_pids).
func (m *Manager) BlockingPIDs(pid int32) []int32 {
	m.sessions.RLock()
	defer m.sessions.RUnlock()
	m.lockAllPartitions()
	defer m.unlockAllPartitions()
	var pids []int32
	for _, s := range m.sessions.all {
		if s.pid != pid || s.wait.lock == nil {
			continue
		}
		l, against := s.wait.lock, conflictTable[s.wait.mode]
		for h := l.holds; h != nil; h = h.next {
			if h.session != s && h.mask()&against != 0 {
				pids = append(pids, h.session.pid)
			}
		}
		for w := l.head; w != s; w = w.wait.next {
			if w.wait.mode.bit()&against != 0 && !slices.Contains(pids, w.pid) {
				pids = append(pids, w.pid)
			}
		}
	}
	return pids
}
