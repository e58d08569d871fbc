package sql

import (
	"sync"
	"time"
)

// activity is what pg_stat_activity shows of a session.
type activity struct {
	mu struct {
		sync.Mutex
		state        string
		query        string
		backendStart time.Time
		xactStart    time.Time
		queryStart   time.Time
		stateChange  time.Time
		application  string
	}
}

// maxActivityQuery is track_activity_query_size's default.
const maxActivityQuery = 1024

func (a *activity) started(s *Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := s.arrive()
	a.mu.state, a.mu.backendStart, a.mu.stateChange = "idle", now, now
}

// running notes that a statement begins.
func (a *activity) running(s *Session, query string) {
	now := s.arrive()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.state = "active"
	a.mu.query = query[:min(len(query), maxActivityQuery)]
	a.mu.queryStart, a.mu.stateChange = now, now
	if s.state == txIdle {
		a.mu.xactStart = now
	}
}

// Idle notes that the session waits for its client.
func (s *Session) Idle() {
	a := &s.activity
	now := s.srv.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.stateChange = now
	switch s.state {
	case txBlock:
		a.mu.state = "idle in transaction"
	case txFailed:
		a.mu.state = "idle in transaction (aborted)"
	default:
		a.mu.state = "idle"
		a.mu.xactStart = time.Time{}
	}
}

func (a *activity) setApplication(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.application = name
}
