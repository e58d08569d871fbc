package locks

// localLock is a session's own record of one tag in one mode, with the counts
// that make a repeated acquisition cheap: PostgreSQL's LOCALLOCK.
type localLock struct {
	tag     Tag
	hash    uint32
	mode    Mode
	slot    int8 // of the fast path, or -1; see Session.release
	strong  bool // raised the strong count
	session int32
	xact    int32
	seq     uint64 // of the first transaction-level acquisition
	// hold is nil in the fast path. Whoever moves the lock out of there sets it
	// under the slot mutex.
	hold         *hold
	next         *localLock // in the bucket, or free
	prevX, nextX *localLock // in Session.first..last
}

const initialLocalBuckets = 16

// localTable finds a session's local locks.
type localTable struct {
	buckets []*localLock
	small   [initialLocalBuckets]*localLock // spares most sessions an allocation
	count   int
	free    *localLock
	numFree int
}

func (t *localTable) init() { t.buckets = t.small[:] }

func (t *localTable) bucket(hash uint32, mode Mode) **localLock {
	return &t.buckets[int(hash^uint32(mode))&(len(t.buckets)-1)]
}

func (t *localTable) find(tag *Tag, mode Mode, hash uint32) *localLock {
	for ll := *t.bucket(hash, mode); ll != nil; ll = ll.next {
		if ll.hash == hash && ll.mode == mode && ll.tag == *tag {
			return ll
		}
	}
	return nil
}

// add enters a lock nobody owns yet. It is not in the table before.
func (t *localTable) add(tag *Tag, mode Mode, hash uint32) *localLock {
	if t.count >= 2*len(t.buckets) {
		t.grow()
	}
	ll := t.free
	if ll != nil {
		t.free = ll.next
		t.numFree--
	} else {
		ll = new(localLock)
	}
	b := t.bucket(hash, mode)
	ll.tag, ll.hash, ll.mode, ll.slot = *tag, hash, mode, -1
	ll.next, *b = *b, ll
	t.count++
	return ll
}

func (t *localTable) remove(ll *localLock) {
	b := t.bucket(ll.hash, ll.mode)
	for *b != ll {
		b = &(*b).next
	}
	*b = ll.next
	t.count--
	if t.numFree >= maxFree {
		return
	}
	ll.hold, ll.strong = nil, false
	ll.next, t.free = t.free, ll
	t.numFree++
}

func (t *localTable) grow() {
	old := t.buckets
	t.buckets = make([]*localLock, 4*len(old))
	for _, ll := range old {
		for ll != nil {
			next := ll.next
			b := t.bucket(ll.hash, ll.mode)
			ll.next, *b = *b, ll
			ll = next
		}
	}
}

// each calls f for every lock; f may remove the one it is given.
func (t *localTable) each(f func(*localLock)) {
	for _, ll := range t.buckets {
		for ll != nil {
			next := ll.next
			f(ll)
			ll = next
		}
	}
}
