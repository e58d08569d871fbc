package locks

// Blocking lists the processes that keep a session from the lock it waits for: those that hold
// it in a conflicting mode, and those ahead in the queue that asked for one. It is empty
// for a session that waits for no lock.
func (m *Manager) Blocking(pid int32) []int32 {
	m.lockAllPartitions()
	defer m.unlockAllPartitions()
	m.sessions.Lock()
	defer m.sessions.Unlock()
	for _, s := range m.sessions.all {
		if s == nil || s.pid != pid || s.wait.lock == nil {
			continue
		}
		return s.wait.lock.blockersLocked(s)
	}
	return nil
}

// blockersLocked requires the partition's mutex.
func (l *lock) blockersLocked(s *Session) []int32 {
	var pids []int32
	conflicts := conflictTable[s.wait.mode]
	for h := l.holds; h != nil; h = h.next {
		if h.session != s && h.mask()&conflicts != 0 {
			pids = append(pids, h.session.pid)
		}
	}
	for w := l.head; w != nil && w != s; w = w.wait.next {
		if s.wait.mode.Conflicts(w.wait.mode) {
			pids = append(pids, w.pid)
		}
	}
	return pids
}
