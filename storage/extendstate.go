package storage

import "slices"

// maxExtendRelations bounds the relations a session remembers places in.
const maxExtendRelations = 64

// ExtendState is what one session knows of the ends of relations: where it inserted last, and
// which new blocks are kept for it. The zero value is ready; it belongs to one goroutine.
// Everything in it is a hint: a block may be full, used by others, or gone.
type ExtendState struct {
	// Locker is the session's way to the extension lock. Nil is for tests and redo.
	Locker   ExtensionLocker
	Settings ExtendSettings

	pool   *Pool
	places []place
}

type place struct {
	key       forkKey
	target    BlockNumber
	next, end BlockNumber // kept blocks
}

func (s *ExtendState) find(k forkKey) *place {
	for i := range s.places {
		if s.places[i].key == k {
			return &s.places[i]
		}
	}
	return nil
}

// findOrAdd returns nil when every place is needed.
func (s *ExtendState) findOrAdd(k forkKey) *place {
	if pl := s.find(k); pl != nil {
		return pl
	}
	if len(s.places) >= maxExtendRelations {
		old := slices.IndexFunc(s.places, func(pl place) bool { return pl.next == pl.end })
		if old < 0 {
			return nil
		}
		s.places = slices.Delete(s.places, old, old+1)
	}
	s.places = append(s.places, place{key: k, target: InvalidBlock})
	return &s.places[len(s.places)-1]
}

// Target returns the block the session last inserted into, or InvalidBlock.
func (s *ExtendState) Target(rel RelFile) BlockNumber {
	if pl := s.find(forkKey{rel, MainFork}); pl != nil {
		return pl.target
	}
	return InvalidBlock
}

// SetTarget remembers where the session inserted.
func (s *ExtendState) SetTarget(rel RelFile, block BlockNumber) {
	if pl := s.findOrAdd(forkKey{rel, MainFork}); pl != nil {
		pl.target = block
	}
}

// TakeKept takes one of the blocks kept for the session. Look at it under its latch: it may be
// zeros or somebody else's by now.
func (s *ExtendState) TakeKept(rel RelFile) (BlockNumber, bool) {
	pl := s.find(forkKey{rel, MainFork})
	if pl == nil || pl.next == pl.end {
		return InvalidBlock, false
	}
	if n, err := s.pool.files.NBlocks(rel, MainFork); err != nil || pl.end > n {
		pl.next, pl.end = 0, 0 // truncated meanwhile
		return InvalidBlock, false
	}
	pl.next++
	return pl.next - 1, true
}

// Kept counts the blocks kept for the session.
func (s *ExtendState) Kept(rel RelFile) int {
	if pl := s.find(forkKey{rel, MainFork}); pl != nil {
		return int(pl.end - pl.next)
	}
	return 0
}

// keep adds n blocks to those kept; false when there is no place for them.
func (s *ExtendState) keep(k forkKey, first BlockNumber, n int) bool {
	if k.fork != MainFork {
		return false
	}
	pl := s.findOrAdd(k)
	switch {
	case pl == nil:
		return false
	case pl.next == pl.end:
		pl.next, pl.end = first, first+BlockNumber(n)
	case pl.end == first:
		pl.end += BlockNumber(n)
	default:
		return false
	}
	return true
}

// Forget drops what the session knows of a relation that was dropped or rewritten.
func (s *ExtendState) Forget(rel RelFile) {
	s.places = slices.DeleteFunc(s.places, func(pl place) bool { return pl.key.rel == rel })
}

// ReleaseExtendState gives the blocks a session kept to the free space map, when it ends.
func (p *Pool) ReleaseExtendState(s *ExtendState) error {
	var first error
	for _, pl := range s.places {
		if pl.next == pl.end {
			continue
		}
		if n, err := p.files.NBlocks(pl.key.rel, MainFork); err != nil || pl.end > n {
			continue // dropped or truncated
		}
		err := p.fsm.RecordMany(pl.key.rel, pl.next, int(pl.end-pl.next), emptyPageSpace)
		if first == nil {
			first = err
		}
	}
	s.places = nil
	return first
}
