package engine

import (
	"sync"
	"time"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/storage"
)

// MaxWaitHistory bounds the waits that are remembered.
const MaxWaitHistory = 10000

// WaitRecord is a wait that took longer than wait_history_threshold.
type WaitRecord struct {
	Waiter, Holder int32 // process ids; 0 where nobody knows
	Type, Event    string
	Object         string // the lock's type, or the latch's class
	Mode           string
	Database       catalog.OID
	Relation       catalog.OID     // of a lock on one
	File           storage.RelFile // of a latch or an extension instead
	Block          storage.BlockNumber
	Start          time.Time
	Duration       time.Duration
}

// waits joins what locks and storage know of sleeping: who runs on which goroutine, what the
// sessions show, and the long waits of the past.
type waits struct {
	e      *Engine
	events map[storage.WaitEvent]*locks.Event
	// running holds the *waiter of each goroutine with a session.
	running sync.Map
	history struct {
		sync.Mutex
		ring []WaitRecord
		next int // where the oldest is once the ring is full
	}
}

// waiter is a session as the pool sees it.
type waiter struct {
	waits     *waits
	session   *locks.Session
	goroutine uintptr
}

func (w *waits) init(e *Engine) { w.e = e }

// start resolves the pool's wait events.
func (w *waits) start() {
	w.events = make(map[storage.WaitEvent]*locks.Event)
	for e := range storage.WaitEvents {
		w.events[e] = w.e.locks.Event(e.Names())
	}
}

// bind notes that a session runs on this goroutine.
func (w *waits) bind(s *locks.Session) *waiter {
	b := &waiter{waits: w, session: s, goroutine: storage.Goroutine()}
	if b.goroutine != 0 {
		w.running.Store(b.goroutine, b)
	}
	return b
}

func (b *waiter) unbind() { b.waits.running.CompareAndDelete(b.goroutine, b) }

func (w *waits) find(goroutine uintptr) *waiter {
	b, _ := w.running.Load(goroutine)
	found, _ := b.(*waiter)
	return found
}

// pid is the process id of the session on a goroutine, 0 if none is.
func (w *waits) pid(goroutine uintptr) int32 {
	if b := w.find(goroutine); b != nil {
		return b.session.PID()
	}
	return 0
}

// Session satisfies storage.Sessions.
func (w *waits) Session(goroutine uintptr) storage.Waiter {
	if b := w.find(goroutine); b != nil && w.events != nil {
		return b
	}
	return nil
}

// ShowWait satisfies storage.Waiter.
func (b *waiter) ShowWait(e storage.WaitEvent) any { return b.session.Show(b.waits.events[e]) }

// HideWait satisfies storage.Waiter.
func (b *waiter) HideWait(before any) {
	outer, _ := before.(*locks.Event)
	b.session.Show(outer)
}

// onLock is told of every sleep on a lock.
func (w *waits) onLock(l locks.Wait) {
	if l.Duration < w.e.opt.WaitHistoryThreshold() {
		return
	}
	r := WaitRecord{
		Waiter: l.PID, Holder: l.Holder, Type: "Lock", Event: l.Tag.Type.String(), Object: l.Tag.Type.String(),
		Mode: l.Mode.String(), Database: catalog.OID(l.Tag.Database()), Block: storage.InvalidBlock,
		Start: l.Start, Duration: l.Duration,
	}
	switch l.Tag.Type {
	case locks.TypeRelation:
		r.Relation = catalog.OID(l.Tag.F2)
	case locks.TypePage, locks.TypeTuple:
		r.Relation, r.Block = catalog.OID(l.Tag.Relation()), storage.BlockNumber(l.Tag.Block())
	case locks.TypeExtend:
		r.File = storage.RelFile{Database: uint32(l.Tag.F1), Number: storage.FileNumber(l.Tag.F2)}
	}
	w.add(r)
}

// onPool is told of every sleep on a latch and the like.
func (w *waits) onPool(l storage.Wait) {
	if l.Waited < w.e.opt.WaitHistoryThreshold() {
		return
	}
	typ, event := l.Event.Names()
	object := "page"
	switch l.Event {
	case storage.WaitLatch:
		object = l.Class.String()
	case storage.WaitExtendGroup:
		object = "extend"
		l.Tag.Block = storage.InvalidBlock
	}
	w.add(WaitRecord{
		Waiter: w.pid(l.Waiter), Holder: w.pid(l.Holder), Type: typ, Event: event, Object: object, Mode: l.Mode.String(),
		Database: catalog.OID(l.Tag.Rel.Database), File: l.Tag.Rel, Block: l.Tag.Block, Start: l.Start, Duration: l.Waited,
	})
}

func (w *waits) add(r WaitRecord) {
	h := &w.history
	h.Lock()
	defer h.Unlock()
	if len(h.ring) < MaxWaitHistory {
		h.ring = append(h.ring, r)
		return
	}
	h.ring[h.next] = r
	h.next = (h.next + 1) % MaxWaitHistory
}

// WaitHistory returns the last waits over the threshold, oldest first.
func (e *Engine) WaitHistory() []WaitRecord {
	h := &e.waits.history
	h.Lock()
	defer h.Unlock()
	return append(append([]WaitRecord(nil), h.ring[h.next:]...), h.ring[:h.next]...)
}

// ResetWaitHistory forgets them.
func (e *Engine) ResetWaitHistory() {
	h := &e.waits.history
	h.Lock()
	defer h.Unlock()
	h.ring, h.next = nil, 0
}
