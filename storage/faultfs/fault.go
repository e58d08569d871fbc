package faultfs

import (
	"errors"
	"strings"
)

// Op is a kind of operation, or a set of them.
type Op uint32

// The operations faults can hit.
const (
	OpOpen Op = 1 << iota
	OpCreate
	OpRead
	OpWrite
	OpSync
	OpDatasync
	OpTruncate
	OpAllocate
	OpRemove
	OpRename
	OpSyncDir
	OpList
	OpStat

	// OpsWriting are those that change something on disk.
	OpsWriting = OpCreate | OpWrite | OpSync | OpDatasync | OpTruncate | OpAllocate | OpRemove | OpRename | OpSyncDir
	// OpsSyncing are those that make something durable.
	OpsSyncing = OpSync | OpDatasync | OpSyncDir
)

// Rule makes operations fail, wait or both.
type Rule struct {
	Ops  Op
	Path string // part of the path; empty is all
	Skip int    // matching operations let through first
	Most int    // of them to hit: 0 is one, negative is all
	Err  error  // nil lets the operation through after Hook
	// Short makes a failing write write half first.
	Short bool
	// Hook runs before the operation, outside every lock.
	Hook func(op Op, path string)
}

type rule struct {
	Rule
	seen, hit int
}

// shortWrite marks an error injected with Short.
type shortWrite struct{ error }

func (s shortWrite) Unwrap() error { return s.error }

func isShort(err error) bool {
	var s shortWrite
	return errors.As(err, &s)
}

// Inject adds a rule; the returned function removes it.
func (f *FS) Inject(r Rule) (remove func()) {
	added := &rule{Rule: r}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.rules = append(f.mu.rules, added)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for i, r := range f.mu.rules {
			if r == added {
				f.mu.rules = append(f.mu.rules[:i:i], f.mu.rules[i+1:]...)
				return
			}
		}
	}
}

// SetCapacity changes the size of the disk, in bytes; 0 is unlimited.
func (f *FS) SetCapacity(bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.capacity = bytes
}

// Used is the disk space taken by live files, in bytes.
func (f *FS) Used() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.usedChunks * chunkSize
}

// Ops is the number of writing operations (OpsWriting) so far: the clock of CrashAt.
func (f *FS) Ops() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.ops
}

// CrashAt cuts the power just before the n-th writing operation from now, counted from 1.
// Crashed tells when.
func (f *FS) CrashAt(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.crashAt = f.mu.ops + n
}

// Crashed is closed when the power is off.
func (f *FS) Crashed() <-chan struct{} { return f.crash }

// before counts an operation and decides whether it fails.
func (f *FS) before(op Op, name string) error {
	hook, err := f.decide(op, name)
	if hook != nil {
		hook(op, name)
	}
	if err != nil {
		return pathErr(opNames(op), name, err)
	}
	return nil
}

func (f *FS) decide(op Op, name string) (hook func(Op, string), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if op&OpsWriting != 0 {
		f.mu.ops++
		if f.mu.crashAt > 0 && f.mu.ops >= f.mu.crashAt {
			f.powerOffLocked()
		}
	}
	if f.mu.crashed {
		return nil, ErrCrashed
	}
	for _, r := range f.mu.rules {
		if r.Ops&op == 0 || !strings.Contains(name, r.Path) {
			continue
		}
		r.seen++
		if r.seen <= r.Skip || r.Most >= 0 && r.hit >= max(r.Most, 1) {
			continue
		}
		r.hit++
		err := r.Err
		if err != nil && r.Short {
			err = shortWrite{err}
		}
		return r.Hook, err
	}
	return nil, nil
}

// powerOffLocked requires f.mu.
func (f *FS) powerOffLocked() {
	if !f.mu.crashed {
		f.mu.crashed = true
		close(f.crash)
	}
}

func opNames(op Op) string {
	names := [...]string{
		"open", "create", "read", "write", "sync", "datasync", "truncate", "fallocate", "remove", "rename",
		"syncdir", "list", "stat",
	}
	for i, name := range names {
		if op == 1<<i {
			return name
		}
	}
	return "op"
}
