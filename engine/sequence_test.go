package engine

import (
	"math"
	"testing"
	"time"

	"github.com/minipg/minipg/catalog"
)

// TestNextvalIsDurable: a value that a committed transaction was given does not come again after a crash, also
// where another transaction, rolled back since, logged it.
func TestNextvalIsDurable(t *testing.T) {
	for _, cache := range []int64{1, 5} {
		never := func() time.Duration { return time.Hour }
		f := newFixture(t, func(c *Config) { c.Options.WALWriterDelay = never })
		s := f.session()
		s.begin()
		oid := s.createSequence("s", catalog.Sequence{Start: 1, Increment: 1, Max: math.MaxInt64, Min: 1, Cache: cache})
		s.commit()
		next := func() int64 {
			t.Helper()
			v, err := s.Nextval(bg, s.rel(oid))
			s.ok(err)
			return v
		}
		s.begin()
		next()
		s.Abort(bg)
		s.begin()
		given := next()
		s.commit()
		s.Close()
		f.crash()
		s = f.session()
		s.begin()
		if v := next(); v <= given {
			t.Errorf("cache %d: after the crash %d, and %d was given out before", cache, v, given)
		}
		s.commit()
		s.Close()
	}
}
