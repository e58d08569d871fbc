package storage

import (
	"time"

	"github.com/minipg/minipg/metrics"
)

// WaitEvent is what a session can wait for in this package.
type WaitEvent uint8

// The wait events.
const (
	WaitLatch       WaitEvent = iota // a page latch
	WaitPins                         // the other pins of a page to go
	WaitBufferIO                     // another session's read or write of a block
	WaitFileRead                     // reading a block
	WaitFileWrite                    // writing one to have its buffer
	WaitFileExtend                   // a file to grow
	WaitLogFlush                     // the log to reach a block's LSN
	WaitExtendGroup                  // the leader of a group that extends
	numWaitEvents
)

var waitEventNames = [numWaitEvents][2]string{
	{"LWLock", "BufferContent"},
	{"BufferPin", "BufferPin"},
	{"IPC", "BufferIO"},
	{"IO", "DataFileRead"},
	{"IO", "DataFileWrite"},
	{"IO", "DataFileExtend"},
	{"IO", "WALSync"},
	{"IPC", "RelationExtendGroup"},
}

// Names are the event's type and name in PostgreSQL's spelling.
func (e WaitEvent) Names() (eventType, name string) {
	return waitEventNames[e][0], waitEventNames[e][1]
}

// WaitEvents calls yield for each event.
func WaitEvents(yield func(WaitEvent) bool) {
	for e := range numWaitEvents {
		if !yield(e) {
			return
		}
	}
}

// Waiter is a session as this package sees it.
type Waiter interface {
	// ShowWait shows the session as waiting for e and returns what it showed; HideWait takes that.
	ShowWait(e WaitEvent) (before any)
	HideWait(before any)
}

// Sessions finds the session that runs on a goroutine, nil if none does.
type Sessions interface {
	Session(goroutine uintptr) Waiter
}

// Wait is a sleep for a latch, for pins or for a group's leader that is over.
type Wait struct {
	Event  WaitEvent
	Tag    BlockTag   // of WaitExtendGroup only the relation and fork
	Class  LatchClass // of WaitLatch
	Mode   LatchMode
	Waiter uintptr // goroutines: see Sessions
	Holder uintptr // who had it last, 0 where nobody knows
	Start  time.Time
	Waited time.Duration
}

// waiting is a wait under way.
type waiting struct {
	event  WaitEvent
	waiter Waiter
	before any
	start  time.Time
}

func (p *Pool) beginWait(e WaitEvent) waiting {
	w := waiting{event: e}
	if p.sessions != nil {
		if w.waiter = p.sessions.Session(Goroutine()); w.waiter != nil {
			w.before = w.waiter.ShowWait(e)
		}
	}
	if metrics.Counting {
		w.start = time.Now()
	}
	return w
}

// endWait counts the wait and returns how long it was.
func (p *Pool) endWait(w *waiting) (waited time.Duration) {
	if metrics.Counting {
		waited = time.Since(w.start)
		p.waits[w.event].Add(waited.Nanoseconds())
	}
	w.hide()
	return waited
}

// hide ends a wait that was none.
func (w *waiting) hide() {
	if w.waiter != nil {
		w.waiter.HideWait(w.before)
	}
}

func (p *Pool) tellWait(w *waiting, waited time.Duration, told Wait) {
	if !metrics.Counting || p.onWait == nil {
		return
	}
	told.Event, told.Waiter, told.Start, told.Waited = w.event, Goroutine(), w.start, waited
	p.onWait(told)
}
