package locks

import (
	"sync"
	"time"

	"github.com/minipg/minipg/metrics"
)

// event is a wait event with its counters.
type event struct {
	eventType, name string
	count           metrics.WaitEvent
}

// outerWait is the wait event another one interrupts.
type outerWait struct {
	event *event
	start time.Time
}

// eventTable resolves wait events to their counters.
type eventTable struct {
	sync.RWMutex
	byName map[[2]string]*event
}

// event finds or makes an event.
func (m *Manager) event(eventType, name string) *event {
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
		e = &event{eventType: eventType, name: name, count: m.metrics.WaitEvent(eventType, name)}
		m.events.byName[key] = e
	}
	return e
}

// beginWait shows e until endWait is given the result.
func (s *Session) beginWait(e *event, now time.Time) outerWait {
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

// SetWait shows the session as waiting, in PostgreSQL's spelling: "Client",
// "ClientRead". The names form a small fixed set. Only the goroutine that runs
// the session calls it.
func (s *Session) SetWait(eventType, name string) {
	s.beginWait(s.m.event(eventType, name), s.m.now())
}

// ClearWait ends what SetWait began and counts it.
func (s *Session) ClearWait() { s.endWait(outerWait{}, s.m.now()) }

// WaitEvent is what the session waits for at this moment, or two empty strings.
func (s *Session) WaitEvent() (eventType, name string) {
	if e := s.waitEvent.current.Load(); e != nil {
		return e.eventType, e.name
	}
	return "", ""
}
