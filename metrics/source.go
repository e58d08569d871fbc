package metrics

import "sync/atomic"

// source is a count kept elsewhere, in a word that is written anyway.
type source struct {
	read func() int64
	base atomic.Int64 // read at the last reset
	next *source
}

// AddSource makes the counter include a count kept elsewhere. read may be
// called at any time from any goroutine, and never returns less than before.
func (c *Counter) AddSource(read func() int64) {
	for s := (&source{read: read}); ; {
		s.next = c.source.Load()
		if c.source.CompareAndSwap(s.next, s) {
			return
		}
	}
}

func (s *source) value() int64 {
	var sum int64
	for ; s != nil; s = s.next {
		sum += s.read() - s.base.Load()
	}
	return sum
}

func (s *source) reset() {
	for ; s != nil; s = s.next {
		s.base.Store(s.read())
	}
}
