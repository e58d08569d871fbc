package storage

import (
	"context"
	"sync"
)

// extendGroup gathers the sessions that want to extend one fork. The first to come leads: it
// waits for the extension lock, and when it has it, extends for all who came meanwhile. They
// sleep once, on their own channel, whatever the lock does.
type extendGroup struct {
	mu struct {
		sync.Mutex
		leading    bool // somebody is on the way to the lock and will take the queue
		head, tail *groupRequest
		n          int
	}
}

// maxFollowers bounds a group. Who finds it full extends alone.
const maxFollowers = MaxExtendPins - 1

// groupRequest is a follower as its leader sees it. From the time it leaves the queue until
// done it is the leader's.
type groupRequest struct {
	wanted   int
	class    LatchClass
	prepared [MaxExtendPins]*Buffer
	n        int
	next     *groupRequest
	done     chan struct{}

	first  BlockNumber // of wanted blocks
	retry  bool        // the leader failed
	leader uintptr     // its goroutine
}

func newGroupRequest() any { return &groupRequest{done: make(chan struct{}, 1)} }

// join makes the caller a follower, or else tells it to extend itself; leads then says whether
// it does so for a group.
func (g *extendGroup) join(r func() *groupRequest) (follow *groupRequest, leads bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.mu.leading {
		g.mu.leading = true
		return nil, true
	}
	if g.mu.n >= maxFollowers {
		return nil, false
	}
	follow = r()
	if g.mu.head == nil {
		g.mu.head = follow
	} else {
		g.mu.tail.next = follow
	}
	g.mu.tail = follow
	g.mu.n++
	return follow, false
}

// close ends the gathering and returns the followers.
func (g *extendGroup) close() *groupRequest {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mu.head
	g.mu.head, g.mu.tail, g.mu.n, g.mu.leading = nil, nil, 0, false
	return r
}

// leave takes r off the queue; false when the leader has it.
func (g *extendGroup) leave(r *groupRequest) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	var prev *groupRequest
	for at := g.mu.head; at != nil; prev, at = at, at.next {
		if at != r {
			continue
		}
		if prev == nil {
			g.mu.head = r.next
		} else {
			prev.next = r.next
		}
		if g.mu.tail == r {
			g.mu.tail = prev
		}
		g.mu.n--
		r.next = nil
		return true
	}
	return false
}

// group extends as leader or follower, until one of them comes to an end.
func (e *extension) group(ctx context.Context) (Extended, error) {
	defer e.giveBack()
	for {
		if !e.settings.PrepareUnder {
			if err := e.prepare(e.groupWanted()); err != nil {
				return Extended{}, err
			}
		}
		r, leads := e.ff.group.join(e.request)
		if r == nil {
			return e.lead(ctx, leads)
		}
		if got, done, err := e.follow(ctx, r); done {
			return got, err
		}
	}
}

func (e *extension) groupWanted() int { return min(e.wanted(), maxBulkBlocks) }

// request makes a request of e and moves the prepared buffers into it.
func (e *extension) request() *groupRequest {
	r := e.pool.requests.Get().(*groupRequest)
	r.wanted, r.class = e.groupWanted(), e.o.Class
	r.prepared, r.n = e.prepared, e.n
	clear(e.prepared[:e.n])
	e.n = 0
	return r
}

// recall takes the buffers of r back.
func (e *extension) recall(r *groupRequest) {
	e.prepared, e.n = r.prepared, r.n
	clear(r.prepared[:r.n])
	r.n, r.next, r.retry = 0, nil, false
	e.pool.requests.Put(r)
}

// lead extends for this session and, if it leads a group, for all who joined.
func (e *extension) lead(ctx context.Context, leads bool) (Extended, error) {
	_, err := e.lock(ctx)
	var followers *groupRequest
	if leads {
		followers = e.ff.group.close()
	}
	if err != nil {
		wakeFollowers(followers, true)
		return Extended{}, err
	}
	n := e.groupWanted()
	if err = e.prepareAll(n, followers); err == nil {
		var first BlockNumber
		if first, err = e.grow(n, followers); err == nil {
			buf := e.take()
			e.unlock()
			added := n
			for r := followers; r != nil; r = r.next {
				added += r.wanted
			}
			wakeFollowers(followers, false)
			if err := e.publish(ctx, first+1, n-1); err != nil {
				buf.ReleaseExclusive()
				return Extended{}, err
			}
			return Extended{Buffer: buf, Block: first, Added: added}, nil
		}
	}
	e.unlock()
	wakeFollowers(followers, true)
	return Extended{}, err
}

// prepareAll sees to a buffer for everybody who has none, under the lock.
func (e *extension) prepareAll(n int, followers *groupRequest) error {
	if err := e.prepare(n); err != nil {
		return err
	}
	for r := followers; r != nil; r = r.next {
		if r.n > 0 {
			continue
		}
		b, err := e.pool.victim(nil)
		if err != nil {
			return err
		}
		clear(b.Page())
		r.prepared[0], r.n = b, 1
	}
	return nil
}

func wakeFollowers(r *groupRequest, retry bool) {
	leader := Goroutine()
	for r != nil {
		next := r.next
		r.next, r.retry, r.leader = nil, retry, leader
		r.done <- struct{}{}
		r = next
	}
}

// follow waits for the leader; done is false when it failed and e has to try again.
func (e *extension) follow(ctx context.Context, r *groupRequest) (got Extended, done bool, err error) {
	wait := e.pool.beginWait(WaitExtendGroup)
	e.ff.stats.waits.Add(1)
	select {
	case <-r.done:
	case <-ctx.Done():
		err = context.Cause(ctx)
		if e.ff.group.leave(r) {
			e.pool.endWait(&wait)
			e.recall(r)
			return Extended{}, true, err
		}
		<-r.done // the leader has the lock and waits only for the disk
	}
	e.pool.tellWait(&wait, e.pool.endWait(&wait), Wait{
		Tag: BlockTag{Rel: e.ff.key.rel, Fork: e.ff.key.fork}, Mode: Exclusive, Holder: r.leader,
	})
	first, wanted, retry := r.first, r.wanted, r.retry
	e.recall(r)
	if retry {
		return Extended{}, err != nil, err
	}
	buf := e.take()
	if err != nil {
		buf.ReleaseExclusive()
		if e.ff.key.fork == MainFork {
			// Cancelled too late: the blocks are there, for others.
			_ = e.pool.fsm.RecordMany(e.ff.key.rel, first, wanted, emptyPageSpace)
		}
		return Extended{}, true, err
	}
	if err := e.publish(ctx, first+1, wanted-1); err != nil {
		buf.ReleaseExclusive()
		return Extended{}, true, err
	}
	return Extended{Buffer: buf, Block: first, Added: wanted}, true, nil
}
