package storage

import (
	"context"
	"time"

	"github.com/minipg/minipg/metrics"
)

// PoolConfig says how large a pool is and what it stands on.
type PoolConfig struct {
	Buffers          int
	FS               FS
	Dir              string
	Metrics          *metrics.Set
	Log              LogFlusher
	Hints            HintLogger
	MaxOpenFiles     int
	UnsafeNoLogFlush bool
}

type Pool struct{}

func NewPool(cfg PoolConfig) (*Pool, error)                    { panic("soon") }
func (p *Pool) Close() error                                   { panic("soon") }
func (p *Pool) Files() *Files                                  { panic("soon") }
func (p *Pool) FSM() *FSM                                      { panic("soon") }
func (p *Pool) VM() *VM                                        { panic("soon") }
func (p *Pool) Read(tag BlockTag, ring *Ring) (*Buffer, error) { panic("soon") }

// ReadZeroed returns the block pinned and LATCHED EXCLUSIVELY? no: pinned, unlatched; its bytes are zero when it was not in the pool; the file is extended to hold it.
func (p *Pool) ReadZeroed(tag BlockTag) (*Buffer, error)                     { panic("soon") }
func (p *Pool) NewRing(kind RingKind) *Ring                                  { panic("soon") }
func (p *Pool) CleanSome(n int) (int, error)                                 { panic("soon") }
func (p *Pool) FlushAll(ctx context.Context, o FlushOptions) (int, error)    { panic("soon") }
func (p *Pool) FlushRelation(rel RelFile) error                              { panic("soon") }
func (p *Pool) DropRelation(rel RelFile) error                               { panic("soon") }
func (p *Pool) DropDatabase(tablespace, db uint32) error                     { panic("soon") }
func (p *Pool) TruncateRelation(rel RelFile, fork Fork, n BlockNumber) error { panic("soon") }
func (p *Pool) SyncPending(ctx context.Context) error                        { panic("soon") }
func (p *Pool) Extend(ctx context.Context, rel RelFile, fork Fork, o ExtendOptions) (Extended, error) {
	panic("soon")
}
func (p *Pool) ReleaseExtendState(s *ExtendState) { panic("soon") }

type FlushOptions struct {
	SkipUnlogged bool
	Pace         func(done, total int) error
}

type RingKind uint8

const (
	RingBulkRead RingKind = iota
	RingBulkWrite
	RingVacuum
)

type Ring struct{}

type LatchClass uint8

const (
	ClassHeap       LatchClass = metrics.LatchHeap
	ClassBTreeLeaf  LatchClass = metrics.LatchBTreeLeaf
	ClassBTreeInner LatchClass = metrics.LatchBTreeInner
	ClassBTreeMeta  LatchClass = metrics.LatchBTreeMeta
	ClassFSM        LatchClass = metrics.LatchFSM
	ClassVM         LatchClass = metrics.LatchVM
	ClassOther      LatchClass = metrics.LatchOther
)

type LatchMode uint8

const (
	Shared    LatchMode = metrics.LatchShared
	Exclusive LatchMode = metrics.LatchExclusive
)

type Buffer struct{}

func (b *Buffer) Page() Page                         { panic("soon") }
func (b *Buffer) Tag() BlockTag                      { panic("soon") }
func (b *Buffer) Block() BlockNumber                 { panic("soon") }
func (b *Buffer) Pin()                               { panic("soon") }
func (b *Buffer) Unpin()                             { panic("soon") }
func (b *Buffer) LockShared(c LatchClass)            { panic("soon") }
func (b *Buffer) LockExclusive(c LatchClass)         { panic("soon") }
func (b *Buffer) Lock(m LatchMode, c LatchClass)     { panic("soon") }
func (b *Buffer) Unlock(m LatchMode)                 { panic("soon") }
func (b *Buffer) TryLockShared(c LatchClass) bool    { panic("soon") }
func (b *Buffer) TryLockExclusive(c LatchClass) bool { panic("soon") }
func (b *Buffer) UnlockShared()                      { panic("soon") }
func (b *Buffer) UnlockExclusive()                   { panic("soon") }

// TryUpgrade turns the caller's shared latch into an exclusive one when nobody else shares it.
func (b *Buffer) TryUpgrade(c LatchClass) bool { panic("soon") }

// Downgrade turns an exclusive latch into a shared one.
func (b *Buffer) Downgrade()                                          { panic("soon") }
func (b *Buffer) LockCleanup(ctx context.Context, c LatchClass) error { panic("soon") }
func (b *Buffer) TryLockCleanup(c LatchClass) bool                    { panic("soon") }

// IsCleanup: the caller holds the exclusive latch; reports whether it has the only pin.
func (b *Buffer) IsCleanup() bool      { panic("soon") }
func (b *Buffer) MarkDirty()           { panic("soon") }
func (b *Buffer) MarkDirtyHint() error { panic("soon") }
func (b *Buffer) IsDirty() bool        { panic("soon") }

// Release unlatches m and unpins.
func (b *Buffer) ReleaseShared()    { panic("soon") }
func (b *Buffer) ReleaseExclusive() { panic("soon") }

// Files are the relation files.
type Files struct{}

func (f *Files) Create(rel RelFile, fork Fork) error                 { panic("soon") } // idempotent
func (f *Files) Exists(rel RelFile, fork Fork) (bool, error)         { panic("soon") }
func (f *Files) NBlocks(rel RelFile, fork Fork) (BlockNumber, error) { panic("soon") }

// EnsureBlocks makes the fork (created when missing) at least n blocks long. For redo.
func (f *Files) EnsureBlocks(rel RelFile, fork Fork, n BlockNumber) error { panic("soon") }

// Extend adds n zeroed blocks behind first, which must be the current length.
func (f *Files) Extend(rel RelFile, fork Fork, first BlockNumber, n int) error { panic("soon") }
func (f *Files) ReadBlock(tag BlockTag, page Page) error                       { panic("soon") }
func (f *Files) WriteBlock(tag BlockTag, page Page) error                      { panic("soon") }
func (f *Files) Sync(rel RelFile, fork Fork) error                             { panic("soon") }
func (f *Files) Unlink(rel RelFile) error                                      { panic("soon") }

// List calls yield for every relation that has a file in the data directory.
func (f *Files) List(yield func(rel RelFile, fork Fork) error) error { panic("soon") }
func (f *Files) CreateDatabase(tablespace, db uint32) error          { panic("soon") }
func (f *Files) SetTablespace(oid uint32, dir string)                { panic("soon") }

type ExtendPolicy uint8

const (
	ExtendFixed   ExtendPolicy = metrics.ExtendFixed
	ExtendWaiters ExtendPolicy = metrics.ExtendWaiters
	ExtendBulk    ExtendPolicy = metrics.ExtendBulk
	ExtendGroup   ExtendPolicy = metrics.ExtendGroup
)

type ExtensionLocker interface {
	Lock(ctx context.Context, db uint32, file uint64) error
	TryLock(db uint32, file uint64) bool
	Unlock(db uint32, file uint64)
	// Waiters counts the holder and those who wait.
	Waiters(db uint32, file uint64) int
}

// ExtendSettings are the settings of EXPERIMENTS.md.
type ExtendSettings struct {
	Policy       ExtendPolicy
	Blocks       int
	PublishSelf  bool
	PrepareUnder bool
	Recheck      bool
}

type ExtendOptions struct {
	Settings  *ExtendSettings
	State     *ExtendState
	Wanted    int // blocks the caller wants now, 0 is 1
	NeedBytes int // for the recheck in the FSM; 0 never rechecks
	Class     LatchClass
	Ring      *Ring
}

// Extended is the outcome of an extension: a new block in Buffer, pinned, latched exclusively, zero; or, with Buffer nil, a Block that the recheck found in the FSM.
type Extended struct {
	Buffer *Buffer
	Block  BlockNumber
	Added  int
}

// ExtendState is a session's part.
type ExtendState struct {
	Locker   ExtensionLocker
	Settings ExtendSettings
}

// Target returns the block the session last inserted into.
func (s *ExtendState) Target(rel RelFile) BlockNumber       { panic("soon") }
func (s *ExtendState) SetTarget(rel RelFile, b BlockNumber) { panic("soon") }

// TakeKept pops a block kept for the session: a hint, check it under its latch.
func (s *ExtendState) TakeKept(rel RelFile) (BlockNumber, bool) { panic("soon") }

type FSM struct{}

func (f *FSM) Search(rel RelFile, need int) (BlockNumber, bool, error) { panic("soon") }
func (f *FSM) Record(rel RelFile, b BlockNumber, free int) error       { panic("soon") }

// RecordMany records n blocks from first on with the same free space, upper levels once.
func (f *FSM) RecordMany(rel RelFile, first BlockNumber, n int, free int) error { panic("soon") }
func (f *FSM) RecordAndSearch(rel RelFile, old BlockNumber, oldFree, need int) (BlockNumber, bool, error) {
	panic("soon")
}
func (f *FSM) Get(rel RelFile, b BlockNumber) (int, error)        { panic("soon") }
func (f *FSM) Vacuum(rel RelFile, from, to BlockNumber) error     { panic("soon") }
func (f *FSM) Truncate(rel RelFile, heapBlocks BlockNumber) error { panic("soon") }

// Index pages: whole pages are free or not.
func (f *FSM) RecordFreePage(rel RelFile, b BlockNumber) error     { panic("soon") }
func (f *FSM) RecordUsedPage(rel RelFile, b BlockNumber) error     { panic("soon") }
func (f *FSM) TakeFreePage(rel RelFile) (BlockNumber, bool, error) { panic("soon") }
func (f *FSM) VacuumIndex(rel RelFile) error                       { panic("soon") }

type VMBits uint8

const (
	VMAllVisible VMBits = 1
	VMAllFrozen  VMBits = 2
)

type VM struct{}

// VMBuffer keeps the map page last used pinned.
type VMBuffer struct{}

func (b *VMBuffer) Release()                                                  { panic("soon") }
func (b *VMBuffer) Buffer() *Buffer                                           { panic("soon") }
func (v *VM) Get(rel RelFile, heap BlockNumber, vb *VMBuffer) (VMBits, error) { panic("soon") }

// Pin pins the map page of heap in vb, extending the map when needed.
func (v *VM) Pin(rel RelFile, heap BlockNumber, vb *VMBuffer) error { panic("soon") }

// SetBits sets bits of heap; vb holds its page, latched exclusively. The caller logs. Reports a change.
func (v *VM) SetBits(vb *VMBuffer, heap BlockNumber, bits VMBits) bool { panic("soon") }

// Clear clears bits; takes the latch, marks dirty. Reports a change.
func (v *VM) Clear(vb *VMBuffer, heap BlockNumber, bits VMBits) bool     { panic("soon") }
func (v *VM) Count(rel RelFile) (visible, frozen BlockNumber, err error) { panic("soon") }
func (v *VM) Truncate(rel RelFile, heapBlocks BlockNumber) error         { panic("soon") }

var _ = time.Now
