package locks

import (
	"context"
	"time"

	"github.com/minipg/minipg/metrics"
)

type Config struct {
	Metrics         *metrics.Set
	DeadlockTimeout func() time.Duration
	Now             func() time.Time
	ExtensionTable  *ExtensionTable
	MaxLocks        int
}

type LockOptions struct {
	Session bool
	NoWait  bool
	Timeout time.Duration
}

type LockInfo struct {
	Tag       Tag
	PID       int32
	Mode      Mode
	Granted   bool
	FastPath  bool
	WaitStart time.Time
}

type Manager struct{}

func NewManager(cfg Config) *Manager              { panic("soon") }
func (m *Manager) NewSession(pid int32) *Session  { panic("soon") }
func (m *Manager) Snapshot() []LockInfo           { panic("soon") }
func (m *Manager) BlockingPIDs(pid int32) []int32 { panic("soon") }
func (m *Manager) CopyRowLocks(from, to Tag)      { panic("soon") }

type (
	Session struct{}
	Mark    uint64
)

func (s *Session) PID() int32 { panic("soon") }
func (s *Session) Close()     { panic("soon") }
func (s *Session) Lock(ctx context.Context, tag Tag, mode Mode, opts LockOptions) error {
	panic("soon")
}
func (s *Session) TryLock(tag Tag, mode Mode, opts LockOptions) bool { panic("soon") }
func (s *Session) Unlock(tag Tag, mode Mode) bool                    { panic("soon") }
func (s *Session) UnlockSession(tag Tag, mode Mode) bool             { panic("soon") }
func (s *Session) Holds(tag Tag, mode Mode) bool                     { panic("soon") }
func (s *Session) Conflicts(tag Tag, mode Mode) bool                 { panic("soon") }
func (s *Session) Mark() Mark                                        { panic("soon") }
func (s *Session) ReleaseTo(m Mark)                                  { panic("soon") }
func (s *Session) ReleaseTransaction()                               { panic("soon") }
func (s *Session) ReleaseSessionAdvisory()                           { panic("soon") }
func (s *Session) ReleaseAll()                                       { panic("soon") }
func (s *Session) LockXID(xid uint64)                                { panic("soon") }
func (s *Session) WaitXID(ctx context.Context, xid uint64, opts LockOptions) error {
	panic("soon")
}
func (s *Session) LockVirtualXID(lxid uint64) { panic("soon") }
func (s *Session) UnlockVirtualXID()          { panic("soon") }
func (s *Session) WaitVirtualXID(ctx context.Context, pid int32, lxid uint64, opts LockOptions) error {
	panic("soon")
}
func (s *Session) SetWait(eventType, event string)        { panic("soon") }
func (s *Session) ClearWait()                             { panic("soon") }
func (s *Session) WaitEvent() (eventType, event string)   { panic("soon") }
func (s *Session) SetInterrupt(cancel func(waiter int32)) { panic("soon") }
func (s *Session) Extension() *Extension                  { panic("soon") }

type Extension struct{}

func (e *Extension) Lock(ctx context.Context, db uint32, file uint64) error { panic("soon") }
func (e *Extension) TryLock(db uint32, file uint64) bool                    { panic("soon") }
func (e *Extension) Unlock(db uint32, file uint64)                          { panic("soon") }
func (e *Extension) Waiters(db uint32, file uint64) int                     { panic("soon") }

type ExtensionTable struct{}

func NewExtensionTable(entries int, set *metrics.Set) *ExtensionTable { panic("soon") }
