package faultfs

// Forget drops the content of a file system whose power is off, for simulations that run by the
// thousand: servers that cannot be closed go on holding it. It cannot be crashed again.
func (f *FS) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.powerOffLocked()
	forgetDir(f.mu.root)
	f.mu.root = newDir()
	f.mu.pending = nil
}

func forgetDir(d *dirNode) {
	for _, entries := range []map[string]node{d.entries, d.durable} {
		for _, n := range entries {
			switch n := n.(type) {
			case *dirNode:
				forgetDir(n)
			case *fileNode:
				n.live, n.durable, n.dirty = nil, nil, nil
			}
		}
	}
	clear(d.entries)
	clear(d.durable)
}
