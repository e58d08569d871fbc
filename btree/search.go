package btree

import (
	"bytes"
	"encoding/binary"
)

// headSize is how many bytes of a key are compared as one number.
const headSize = 8

// bound is a point between entries: just before the first one that is >= key
// or, with after set, just behind the last one that begins with key.
type bound struct {
	key   []byte
	after bool
	// head is the first bytes of key as a number, with zeros behind its end; two
	// keys whose heads differ compare as those do. keep masks what counts of an
	// item's head: with after set no more than the length of key.
	head, keep uint64
}

// at is the place just before the first entry that is >= key.
func at(key []byte) bound { return bound{key: key, head: headOf(key), keep: ^uint64(0)} }

// behind is the place just behind the last entry that begins with key.
func behind(key []byte) bound {
	return bound{key: key, after: true, head: headOf(key), keep: headMask(len(key))}
}

// headMask covers the head of a key of n bytes.
func headMask(n int) uint64 {
	if n >= headSize {
		return ^uint64(0)
	}
	return ^(^uint64(0) >> (8 * uint(n)))
}

func headOf(key []byte) uint64 {
	if len(key) >= headSize {
		return binary.BigEndian.Uint64(key)
	}
	var head uint64
	for i, c := range key {
		head |= uint64(c) << (56 - 8*i)
	}
	return head
}

// before reports whether the key in p[start:start+n] lies before the bound. The
// special space behind the items makes it safe to read eight bytes of any.
func (b *bound) before(p page, start, n int) bool {
	x := binary.BigEndian.Uint64(p[start:]) & headMask(n) & b.keep
	if x != b.head {
		return x < b.head
	}
	if b.after {
		return len(b.key) <= headSize ||
			bytes.Compare(p[start:start+min(n, len(b.key))], b.key) <= 0
	}
	return bytes.Compare(p[start:start+n], b.key) < 0
}

// beforeItem reports whether the compared part of item i lies before the bound.
func (b *bound) beforeItem(p page, i int) bool {
	start, n := keySpan(p, i)
	return b.before(p, start, n)
}

// notBehind reports whether the high key of p lies at or before the bound, so
// that the place is further right.
func (b *bound) notBehind(p page) bool {
	l := lineAt(p, 1)
	start, n := l.Offset(), l.Length()
	if b.after {
		return b.before(p, start, n)
	}
	if x := binary.BigEndian.Uint64(p[start:]) & headMask(n); x != b.head {
		return x < b.head
	}
	return bytes.Compare(p[start:start+n], b.key) <= 0
}

// search returns the number of the first data item that does not lie before the
// bound, one more than the last item when there is none.
func search(p page, b *bound) int { return searchBetween(p, b, firstData(p), itemCount(p)+1) }

// searchBetween is search where the result is known to lie in lo..hi.
func searchBetween(p page, b *bound, lo, hi int) int {
	behind, withPayload := 0, false
	switch f := flagsOf(p); {
	case f&flagLeaf == 0:
		behind = childSize
	default:
		withPayload = f&flagPayload != 0
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		l := lineAt(p, mid)
		start, n := l.Offset(), l.Length()-behind
		if withPayload {
			n = int(binary.LittleEndian.Uint16(p[start:]))
			start += payloadKeySize
		}
		if b.before(p, start, n) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// searchFrom is search for a bound that is likely to lie close behind item lo.
func searchFrom(p page, b *bound, lo int) int {
	end := itemCount(p) + 1
	for step := 1; ; step *= 2 {
		if lo+step > end {
			return searchBetween(p, b, lo, end)
		}
		if !b.beforeItem(p, lo+step-1) {
			return searchBetween(p, b, lo, lo+step-1)
		}
		lo += step
	}
}
