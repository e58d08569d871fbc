package locks

import (
	"fmt"
	"strings"

	"github.com/minipg/minipg/pgerr"
)

// The search follows PostgreSQL's deadlock.c (and the section on deadlock
// detection in storage/lmgr/README). A waiter has a hard edge to everybody who
// holds a conflicting mode and a soft edge to everybody ahead in the queue who
// asks for one. A cycle of hard edges is a deadlock; one with a soft edge can be
// undone by letting its waiter pass its blocker, so the search tries sets of
// such constraints, each turned into queue orders by a topological sort, until
// an arrangement has no cycle or none is left to try.

// maxConstraints bounds the depth of that search; PostgreSQL has MaxBackends.
const maxConstraints = 64

// softEdge is the wish that waiter pass blocker in the queue of lock.
type softEdge struct {
	waiter, blocker *Session
	lock            *lock
}

// deadlockStep is one line of the report.
type deadlockStep struct {
	pid  int32
	mode Mode
	tag  Tag
}

// queueOrder is a queue as it is proposed to be.
type queueOrder struct {
	lock  *lock
	order []*Session
}

// deadlockSearch is the state of one search, with all partitions locked.
type deadlockSearch struct {
	start       *Session
	visited     []*Session
	path        map[*Session]bool
	steps       []deadlockStep // innermost first
	edges       []softEdge     // of the cycle last found, innermost first
	constraints []softEdge
	orders      []queueOrder
	blockers    []*Session // hard blockers of start
}

// searchDeadlock runs when the session has slept for deadlock_timeout. It
// returns an error when the session has to give way, and has left the queue
// then.
func (s *Session) searchDeadlock() error {
	m := s.m
	m.lockAllPartitions()
	if s.wait.lock == nil { // granted meanwhile
		m.unlockAllPartitions()
		return nil
	}
	d := &deadlockSearch{start: s}
	if d.unsolvable() {
		err := deadlockError(d.steps)
		s.leaveLocked(m.partition(s.wait.lock.hash))
		m.unlockAllPartitions()
		m.metrics.Deadlocks.Inc()
		return err
	}
	for _, o := range d.orders {
		o.lock.reorderLocked(o.order)
		m.wakeLocked(o.lock)
	}
	m.unlockAllPartitions()
	for _, b := range d.blockers {
		if interrupt := b.interrupt.Load(); interrupt != nil {
			(*interrupt)(s.pid)
		}
	}
	return nil
}

// reorderLocked requires the partition's mutex.
func (l *lock) reorderLocked(order []*Session) {
	l.head, l.tail = nil, nil
	for _, s := range order {
		l.enqueueLocked(s, nil)
	}
}

// unsolvable reports whether the constraints so far, with whatever may be added
// to them, leave a cycle.
func (d *deadlockSearch) unsolvable() bool {
	edges, hard := d.test()
	if hard {
		return true
	}
	if len(edges) == 0 {
		return false
	}
	if len(d.constraints) >= maxConstraints {
		return true
	}
	for _, e := range edges {
		d.constraints = append(d.constraints, e)
		if !d.unsolvable() {
			return false
		}
		d.constraints = d.constraints[:len(d.constraints)-1]
	}
	return true
}

// test builds the queue orders the constraints ask for and looks for cycles. It
// returns the soft edges of one, or that a cycle is hard or the constraints
// contradict each other.
func (d *deadlockSearch) test() (edges []softEdge, hard bool) {
	if !d.expand() {
		return nil, true
	}
	// A rearranged queue may close a cycle that does not go through start.
	starts := make([]*Session, 0, 1+2*len(d.constraints))
	for _, c := range d.constraints {
		starts = append(starts, c.waiter, c.blocker)
	}
	for _, s := range append(starts, d.start) {
		if !d.findCycle(s) {
			continue
		}
		if len(d.edges) == 0 {
			return nil, true
		}
		edges = d.edges
	}
	return edges, false
}

// expand turns the constraints into queue orders, or reports false when they
// contradict each other.
func (d *deadlockSearch) expand() bool {
	d.orders = d.orders[:0]
	for i := len(d.constraints) - 1; i >= 0; i-- {
		l := d.constraints[i].lock
		if d.orderOf(l) != nil {
			continue
		}
		order := l.sortQueue(d.constraints)
		if order == nil {
			return false
		}
		d.orders = append(d.orders, queueOrder{l, order})
	}
	return true
}

func (d *deadlockSearch) orderOf(l *lock) []*Session {
	for _, o := range d.orders {
		if o.lock == l {
			return o.order
		}
	}
	return nil
}

// sortQueue orders the queue of l by the constraints and otherwise keeps it. It
// fills the order from the end with the last waiter whom no constraint wants
// ahead of one not yet placed. Nil means that there is no such order.
func (l *lock) sortQueue(constraints []softEdge) []*Session {
	var queue []*Session
	for w := l.head; w != nil; w = w.wait.next {
		queue = append(queue, w)
	}
	order := make([]*Session, len(queue))
	for at := len(order) - 1; at >= 0; at-- {
		pick := len(queue) - 1
		for pick >= 0 && mustPrecede(queue[pick], queue, constraints) {
			pick--
		}
		if pick < 0 {
			return nil
		}
		order[at] = queue[pick]
		queue = append(queue[:pick], queue[pick+1:]...)
	}
	return order
}

// mustPrecede reports whether a constraint puts s ahead of one in queue.
func mustPrecede(s *Session, queue []*Session, constraints []softEdge) bool {
	for _, c := range constraints {
		if c.waiter != s || c.lock != s.wait.lock {
			continue
		}
		for _, q := range queue {
			if q == c.blocker {
				return true
			}
		}
	}
	return false
}

// findCycle looks for a cycle through s; its steps and soft edges are left in d.
func (d *deadlockSearch) findCycle(s *Session) bool {
	d.visited = d.visited[:0]
	d.path = make(map[*Session]bool)
	d.steps, d.edges = nil, nil
	return d.visit(s)
}

// visit reports whether a path from s leads back to where the search began. A
// cycle that does not is found by the one who closed it.
func (d *deadlockSearch) visit(s *Session) bool {
	if d.path[s] {
		return s == d.visited[0]
	}
	d.path[s] = true
	d.visited = append(d.visited, s)
	l := s.wait.lock
	if l == nil || l.tag.Type == TypeExtend {
		return false // the holder of an extension lock waits for nobody
	}
	return d.followHard(s, l) || d.followSoft(s, l)
}

func (d *deadlockSearch) followHard(s *Session, l *lock) bool {
	against := conflictTable[s.wait.mode]
	for h := l.holds; h != nil; h = h.next {
		if h.session == s || h.mask()&against == 0 {
			continue
		}
		if s == d.start {
			d.blockers = append(d.blockers, h.session)
		}
		if d.visit(h.session) {
			d.addStep(s, l)
			return true
		}
	}
	return false
}

func (d *deadlockSearch) followSoft(s *Session, l *lock) bool {
	ahead := d.orderOf(l)
	if ahead == nil {
		for w := l.head; w != nil; w = w.wait.next {
			ahead = append(ahead, w)
		}
	}
	for _, w := range ahead {
		if w == s {
			return false
		}
		if conflictTable[s.wait.mode]&w.wait.mode.bit() != 0 && d.visit(w) {
			d.addStep(s, l)
			d.edges = append(d.edges, softEdge{waiter: s, blocker: w, lock: l})
			return true
		}
	}
	return false
}

func (d *deadlockSearch) addStep(s *Session, l *lock) {
	d.steps = append(d.steps, deadlockStep{s.pid, s.wait.mode, l.tag})
}

// simpleDeadlock is the deadlock of two seen when the second one queues: it
// asks for l, for which other waits behind a lock of its.
func simpleDeadlock(s *Session, l *lock, mode Mode, other *Session) error {
	return deadlockError([]deadlockStep{
		{other.pid, other.wait.mode, l.tag},
		{s.pid, mode, l.tag},
	})
}

// deadlockError words the cycle, whose steps come innermost first.
func deadlockError(steps []deadlockStep) error {
	var b strings.Builder
	for i := len(steps) - 1; i >= 0; i-- {
		next := steps[len(steps)-1].pid
		if i > 0 {
			next = steps[i-1].pid
		}
		fmt.Fprintf(&b, "Process %d waits for %s on %v; blocked by process %d.",
			steps[i].pid, steps[i].mode, steps[i].tag, next)
		if i > 0 {
			b.WriteByte('\n')
		}
	}
	return pgerr.New(pgerr.TRDeadlockDetected, "deadlock detected").
		WithDetail("%s", b.String()).
		WithHint("See server log for query details.")
}
