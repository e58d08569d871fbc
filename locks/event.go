package locks

import (
	"sync"
	"time"

	"github.com/minipg/minipg/metrics"
)

// Event is a wait event with its counters.
type Event struct {
	eventType, name string
	count           metrics.WaitEvent
}

// Wait is a sleep on a lock that is over, however it ended.
type Wait struct {
	Tag      Tag
	Mode     Mode
	PID      int32
	Holder   int32 // a session that had, or last gave back, the lock; 0 where nobody knows
	Start    time.Time
	Duration time.Duration
}

// outerWait is the wait event another one interrupts.
type outerWait struct {
	event *Event
	start time.Time
}

// eventTable resolves wait events to their counters.
type eventTable struct {
	sync.RWMutex
	byName map[[2]string]*Event
}

// Event finds or makes a wait event, in PostgreSQL's spelling: "Client", "ClientRead". The names form a
// small fixed set.
func (m *Manager) Event(eventType, name string) *Event {
	key := [2]string{eventType, name}
	m.events.RLock()
	e := m.events.byName[key]
	m.events.RUnlock()
	if e != nil {
		return e
	}
	m.events.Lock()
	defer m.events.Unlock()
	if e = m.events.byName[key]; e == nil {
		e = &Event{eventType: eventType, name: name, count: m.metrics.WaitEvent(eventType, name)}
		m.events.byName[key] = e
	}
	return e
}

// clock is the time for the sake of counting.
func (m *Manager) clock() (now time.Time) {
	if metrics.Counting {
		now = m.now()
	}
	return now
}

// beginWait shows e until endWait is given the result.
func (s *Session) beginWait(e *Event, now time.Time) outerWait {
	outer := outerWait{s.waitEvent.current.Load(), s.waitEvent.start}
	s.waitEvent.start = now
	s.waitEvent.current.Store(e)
	return outer
}

func (s *Session) endWait(outer outerWait, now time.Time) {
	if e := s.waitEvent.current.Load(); e != nil {
		e.count.Add(now.Sub(s.waitEvent.start).Nanoseconds())
	}
	s.waitEvent.start = outer.start
	s.waitEvent.current.Store(outer.event)
}

// Show makes the session show e, nil for nothing, and returns what it showed. The
// caller counts the wait. Only the goroutine that runs the session calls it.
func (s *Session) Show(e *Event) (outer *Event) {
	outer = s.waitEvent.current.Load()
	s.waitEvent.current.Store(e)
	return outer
}

// SetWait shows the session as waiting. Only the goroutine that runs the session calls it.
func (s *Session) SetWait(eventType, name string) {
	s.beginWait(s.m.Event(eventType, name), s.m.clock())
}

// ClearWait ends what SetWait began and counts it.
func (s *Session) ClearWait() { s.endWait(outerWait{}, s.m.clock()) }

// WaitEvent is what the session waits for at this moment, or two empty strings.
func (s *Session) WaitEvent() (eventType, name string) {
	if e := s.waitEvent.current.Load(); e != nil {
		return e.eventType, e.name
	}
	return "", ""
}
