package plan

import (
	"github.com/minipg/minipg/pgerr"
)

// relset is a set of range table entries of one query level.
type relset [4]uint64

const maxRelations = 256

func (s relset) with(rt int) relset {
	if rt >= maxRelations {
		fail(pgerr.New(pgerr.ProgramLimitExceeded, "too many range table entries"))
	}
	s[rt>>6] |= 1 << (rt & 63)
	return s
}

func (s relset) has(rt int) bool { return rt < maxRelations && s[rt>>6]&(1<<(rt&63)) != 0 }

func (s relset) union(o relset) relset {
	for i := range s {
		s[i] |= o[i]
	}
	return s
}

func (s relset) minus(o relset) relset {
	for i := range s {
		s[i] &^= o[i]
	}
	return s
}

func (s relset) subsetOf(o relset) bool { return s.minus(o).empty() }

func (s relset) overlaps(o relset) bool {
	for i := range s {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

func (s relset) empty() bool { return s == relset{} }
