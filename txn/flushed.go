package txn

// CommitFlushed reports whether the commit record of xid, which is committed, is durable, so that a
// page may say so with a hint bit before the log does. It may say no for a while longer than
// need be: the commit log knows only the newest of a group of commits.
func (m *Manager) CommitFlushed(xid XID) bool {
	if m.cfg.Log == nil || xid < FirstXID {
		return true
	}
	no := int64(xid) / clogPageXIDs
	p := m.clog.slot(no).page.Load()
	// A page that is not in memory was written, after the log was flushed: Invariant 6.
	return p == nil || p.no != no ||
		p.lsns[uint64(xid)%clogPageXIDs/clogGroupXIDs].Load() <= uint64(m.cfg.Log.FlushedTo())
}
