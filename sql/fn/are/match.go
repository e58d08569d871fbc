package are

import "unicode/utf8"

// matcher is one search of a text.
type matcher struct {
	re    *Regexp
	text  []byte
	runes []rune
	off   []int // byte offset of each rune, and of the end
	ends  map[endKey][]span
	busy  map[endKey]bool
	caps  []int // rune positions by pairs, -1 unset
}

type endKey struct {
	node, at int
}

// span is a run of positions, both ends included.
type span struct{ lo, hi int }

func newMatcher(re *Regexp, text []byte) *matcher {
	m := &matcher{re: re, text: text, ends: map[endKey][]span{}, busy: map[endKey]bool{}}
	m.runes = make([]rune, 0, len(text))
	m.off = make([]int, 0, len(text)+1)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		m.runes = append(m.runes, r)
		m.off = append(m.off, i)
		i += n
	}
	m.off = append(m.off, len(text))
	return m
}

func (m *matcher) wordAt(i int) bool { return i >= 0 && i < len(m.runes) && isWord(m.runes[i]) }

func (m *matcher) holds(n *node, i int) bool {
	before, after := m.wordAt(i-1), m.wordAt(i)
	switch n.assert {
	case atStart:
		return i == 0
	case atEnd:
		return i == len(m.runes)
	case atLineStart:
		return i == 0 || m.runes[i-1] == '\n'
	case atLineEnd:
		return i == len(m.runes) || m.runes[i] == '\n'
	case atWordStart:
		return !before && after
	case atWordEnd:
		return before && !after
	case atBoundary:
		return before != after
	}
	return before == after
}

// look is the truth of a lookaround at i.
func (m *matcher) look(n *node, i int) bool {
	found := false
	if n.behind {
		for k := i; k >= 0 && !found; k-- {
			found = contains(m.from(n.subs[0], k), i)
		}
	} else {
		found = len(m.from(n.subs[0], i)) > 0
	}
	return found != n.negate
}

func contains(s []span, p int) bool {
	for _, x := range s {
		if p >= x.lo && p <= x.hi {
			return true
		}
	}
	return false
}

// addSpan keeps the set sorted and merged.
func addSpan(s []span, x span) []span {
	at := 0
	for at < len(s) && s[at].hi < x.lo-1 {
		at++
	}
	end := at
	for end < len(s) && s[end].lo <= x.hi+1 {
		x.lo, x.hi = min(x.lo, s[end].lo), max(x.hi, s[end].hi)
		end++
	}
	out := append(append(append([]span(nil), s[:at]...), x), s[end:]...)
	return out
}

func union(a, b []span) []span {
	for _, x := range b {
		a = addSpan(a, x)
	}
	return a
}

// from is the set of positions where a match of n that begins at i may end. Back references count as their group's expression; dissect
// looks closer.
func (m *matcher) from(n *node, i int) []span {
	switch n.op {
	case opEmpty:
		return []span{{i, i}}
	case opClass:
		if i < len(m.runes) && n.class.has(m.runes[i]) {
			return []span{{i + 1, i + 1}}
		}
		return nil
	case opAssert:
		if m.holds(n, i) {
			return []span{{i, i}}
		}
		return nil
	case opLook:
		if m.look(n, i) {
			return []span{{i, i}}
		}
		return nil
	case opCapture:
		return m.from(n.subs[0], i)
	case opBackref:
		return m.from(m.re.groups[n.group-1].subs[0], i)
	}
	key := endKey{n.id, i}
	if s, ok := m.ends[key]; ok {
		return s
	}
	if m.busy[key] {
		return nil // a repetition of something empty
	}
	m.busy[key] = true
	var s []span
	switch n.op {
	case opAlt:
		for _, sub := range n.subs {
			s = union(s, m.from(sub, i))
		}
	case opConcat:
		s = m.sequence(n.subs, []span{{i, i}})
	case opRepeat:
		s = m.repeat(n, i)
	}
	delete(m.busy, key)
	m.ends[key] = s
	return s
}

// sequence follows nodes from a set of positions.
func (m *matcher) sequence(nodes []*node, at []span) []span {
	for _, n := range nodes {
		at = m.step(n, at)
		if len(at) == 0 {
			return nil
		}
	}
	return at
}

func (m *matcher) step(n *node, at []span) []span {
	var next []span
	for _, x := range at {
		for p := x.lo; p <= x.hi; p++ {
			next = union(next, m.from(n, p))
		}
	}
	return next
}

// repeat is the set after min to max repetitions.
func (m *matcher) repeat(n *node, i int) []span {
	sub := n.subs[0]
	if sub.op == opClass {
		most := len(m.runes) - i
		if n.max != infinity {
			most = min(most, n.max)
		}
		k := 0
		for k < most && sub.class.has(m.runes[i+k]) {
			k++
		}
		if k < n.min {
			return nil
		}
		return []span{{i + n.min, i + k}}
	}
	at := []span{{i, i}}
	for range n.min {
		next := m.step(sub, at)
		if len(next) == 0 {
			return nil
		}
		if sameSpans(next, at) {
			break
		}
		at = next
	}
	all := at
	for k := n.min; n.max == infinity || k < n.max; k++ {
		at = m.step(sub, at)
		grown := union(all, at)
		if sameSpans(grown, all) {
			break
		}
		all = grown
	}
	return all
}

func sameSpans(a, b []span) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// each calls f for the positions of s in the order of a preference until f returns true.
func each(s []span, shorter bool, f func(p int) bool) bool {
	if shorter {
		for _, x := range s {
			for p := x.lo; p <= x.hi; p++ {
				if f(p) {
					return true
				}
			}
		}
		return false
	}
	for k := len(s) - 1; k >= 0; k-- {
		for p := s[k].hi; p >= s[k].lo; p-- {
			if f(p) {
				return true
			}
		}
	}
	return false
}

// exactly reports whether n, as far as from can tell, matches runes i to j.
func (m *matcher) exactly(n *node, i, j int) bool { return contains(m.from(n, i), j) }

// dissect places the captures of n, which is to match runes i to j; false if it cannot.
func (m *matcher) dissect(n *node, i, j int) bool {
	if !n.captures {
		return m.exactly(n, i, j)
	}
	switch n.op {
	case opCapture:
		if !m.dissect(n.subs[0], i, j) {
			return false
		}
		m.caps[2*n.group], m.caps[2*n.group+1] = i, j
		return true
	case opBackref:
		s, e := m.caps[2*n.group], m.caps[2*n.group+1]
		return s >= 0 && e-s == j-i && m.sameText(s, i, j-i)
	case opAlt:
		for _, sub := range n.subs {
			if !m.exactly(sub, i, j) {
				continue
			}
			saved := m.save()
			if m.dissect(sub, i, j) {
				return true
			}
			m.restore(saved)
		}
		return false
	case opConcat:
		return m.dissectSequence(n.subs, i, j)
	case opRepeat:
		return m.dissectRepeat(n, i, j)
	}
	return m.exactly(n, i, j)
}

func (m *matcher) save() []int { return append([]int(nil), m.caps...) }

func (m *matcher) restore(c []int) { copy(m.caps, c) }

func (m *matcher) sameText(a, b, n int) bool {
	for k := range n {
		x, y := m.runes[a+k], m.runes[b+k]
		if x != y && !(m.re.fold && (&class{fold: true, ranges: []runeRange{{x, x}}}).has(y)) {
			return false
		}
	}
	return true
}

// dissectSequence lets the first node take what it prefers of that which lets the rest match.
func (m *matcher) dissectSequence(nodes []*node, i, j int) bool {
	switch len(nodes) {
	case 0:
		return i == j
	case 1:
		return m.dissect(nodes[0], i, j)
	}
	first, rest := nodes[0], nodes[1:]
	return each(m.from(first, i), first.pref == prefShorter, func(p int) bool {
		if p > j || !contains(m.sequence(rest, []span{{p, p}}), j) {
			return false
		}
		saved := m.save()
		if m.dissect(first, i, p) && m.dissectSequence(rest, p, j) {
			return true
		}
		m.restore(saved)
		return false
	})
}

// dissectRepeat captures the last repetition only. Without back references x{m,n} with m > 0 is x{m-1,n-1} without captures and
// then x, as Spencer's library has it, which decides what an empty last repetition captures.
func (m *matcher) dissectRepeat(n *node, i, j int) bool {
	if n.head != nil {
		ok := each(m.from(n.head, i), n.pref == prefShorter, func(p int) bool {
			if p > j || !m.exactly(n.subs[0], p, j) {
				return false
			}
			saved := m.save()
			if m.dissect(n.subs[0], p, j) {
				return true
			}
			m.restore(saved)
			return false
		})
		return ok
	}
	if i == j && n.min == 0 {
		// One empty repetition if it can be, else none and no captures.
		if n.max != 0 && m.exactly(n.subs[0], i, j) {
			saved := m.save()
			if !m.dissect(n.subs[0], i, j) {
				m.restore(saved)
			}
		}
		return true
	}
	type state struct{ k, at int }
	failed := map[state]bool{}
	sub := n.subs[0]
	var try func(k, at int) bool
	try = func(k, at int) bool {
		if at == j && k >= max(n.min, 1) {
			return true
		}
		if n.max != infinity && k >= n.max || failed[state{min(k, n.min+1), at}] {
			return false
		}
		ok := each(m.from(sub, at), n.pref == prefShorter || sub.pref == prefShorter, func(p int) bool {
			// An empty repetition helps only to reach the minimum.
			if p > j || p == at && k >= n.min && at != j {
				return false
			}
			if p == at && k+1 > max(n.min, 1) {
				return false
			}
			saved := m.save()
			if m.dissect(sub, at, p) && try(k+1, p) {
				return true
			}
			m.restore(saved)
			return false
		})
		if !ok && n.max == infinity {
			failed[state{min(k, n.min+1), at}] = true
		}
		return ok
	}
	return try(0, i)
}

// search finds the first match at or after rune position start and sets the captures.
func (m *matcher) search(start int) bool {
	root := m.re.root
	shorter := root.pref == prefShorter
	for i := start; i <= len(m.runes); i++ {
		if m.re.first != nil && !m.re.nullable {
			// Skip to where the expression can begin.
			for i < len(m.runes) && !m.re.first.has(m.runes[i]) {
				i++
			}
			if i == len(m.runes) {
				return false
			}
		}
		ends := m.from(root, i)
		if len(ends) == 0 {
			continue
		}
		found := each(ends, shorter, func(j int) bool {
			for k := range m.caps {
				m.caps[k] = -1
			}
			if !m.dissect(root, i, j) {
				return false
			}
			m.caps[0], m.caps[1] = i, j
			return true
		})
		if found {
			return true
		}
	}
	return false
}

// locs gives the captures in bytes, -1 for those not set.
func (m *matcher) locs() []int {
	out := make([]int, len(m.caps))
	for i, p := range m.caps {
		out[i] = -1
		if p >= 0 {
			out[i] = m.off[p]
		}
	}
	return out
}

// runeAt is the rune position of a byte offset.
func (m *matcher) runeAt(b int) int {
	lo, hi := 0, len(m.off)-1
	for lo < hi {
		mid := (lo + hi) / 2
		if m.off[mid] < b {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
