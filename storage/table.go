package storage

import (
	"sync"
	"sync/atomic"
)

// blockKey is a BlockTag as three words, so that it can be read while it changes.
type blockKey [3]uint64

func keyOf(t BlockTag) blockKey {
	return blockKey{
		uint64(t.Rel.Tablespace)<<32 | uint64(t.Rel.Database),
		uint64(t.Rel.Number),
		uint64(t.Fork)<<32 | uint64(t.Block),
	}
}

func (k blockKey) tag() BlockTag {
	return BlockTag{Rel: k.rel(), Fork: k.fork(), Block: k.block()}
}

func (k blockKey) rel() RelFile {
	return RelFile{Tablespace: uint32(k[0] >> 32), Database: uint32(k[0]), Number: FileNumber(k[1])}
}

func (k blockKey) fork() Fork         { return Fork(k[2] >> 32) }
func (k blockKey) block() BlockNumber { return BlockNumber(k[2]) }

// hash mixes the words with the multipliers of MurmurHash's finaliser.
func (k blockKey) hash() uint64 {
	h := k[2]*0x9e3779b97f4a7c15 ^ k[1]*0xff51afd7ed558ccd ^ k[0]*0xc4ceb9fe1a85ec53
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

func (b *Buffer) hasKey(k blockKey) bool {
	return b.key[2].Load() == k[2] && b.key[1].Load() == k[1] && b.key[0].Load() == k[0]
}

func (b *Buffer) loadKey() blockKey {
	return blockKey{b.key[0].Load(), b.key[1].Load(), b.key[2].Load()}
}

func (b *Buffer) storeKey(k blockKey) {
	b.key[0].Store(k[0])
	b.key[1].Store(k[1])
	b.key[2].Store(k[2])
}

const (
	tableShards = 256
	// maxProbe bounds a lock-free walk, which a concurrent move can lead astray.
	maxProbe = 32
)

// pageTable finds the buffer of a block. Readers walk a chain without a lock, pin what they
// find, and look at its key again: a pinned buffer keeps its key. A walk that misses proves
// nothing, since a buffer may move to another chain meanwhile; the walk is repeated under the
// shard's mutex, which all changes of a chain hold.
type pageTable struct {
	heads  []atomic.Uint32 // id+1 of the first buffer, 0 is none
	mask   uint64
	shards [tableShards]pageTableShard
}

type pageTableShard struct {
	sync.Mutex
	_ [56]byte
}

func newPageTable(buffers int) *pageTable {
	n := tableShards
	for n < buffers {
		n *= 2
	}
	return &pageTable{heads: make([]atomic.Uint32, n), mask: uint64(n - 1)}
}

func (t *pageTable) shard(hash uint64) *pageTableShard { return &t.shards[hash&(tableShards-1)] }

// pinTagged pins b if it is in the table, and returns its state then.
func (b *Buffer) pinTagged(hot bool) (state uint64, ok bool) {
	for {
		s := b.state.Load()
		if s&flagTagged == 0 {
			return s, false
		}
		n := s + pinUnit
		if hot && s&useMask < useLimit || s&useMask == 0 {
			n += useUnit
		}
		if b.state.CompareAndSwap(s, n) {
			return n, true
		}
	}
}

// pinTaggedCold is pinTagged without counting as a use.
func (b *Buffer) pinTaggedCold() (state uint64, ok bool) {
	for {
		s := b.state.Load()
		if s&flagTagged == 0 {
			return s, false
		}
		if b.state.CompareAndSwap(s, s+pinUnit) {
			return s + pinUnit, true
		}
	}
}

// lookup pins the buffer of k, if it is in the pool and not on its way elsewhere. hot counts
// the use for the clock sweep; reads through a ring do not, beyond the first.
func (p *Pool) lookup(k blockKey, hash uint64, hot bool) (*Buffer, uint64) {
	id := p.table.heads[hash&p.table.mask].Load()
	for range maxProbe {
		if id == 0 {
			return nil, 0
		}
		b := p.buffer(id - 1)
		if b.hasKey(k) {
			s, ok := b.pinTagged(hot)
			if !ok {
				return nil, 0
			}
			if b.hasKey(k) {
				return b, s
			}
			b.Unpin()
			return nil, 0
		}
		id = b.next.Load()
	}
	return nil, 0
}

// lookupLocked is lookup that can be believed. Requires k's shard.
func (p *Pool) lookupLocked(k blockKey, hash uint64, hot bool) (*Buffer, uint64) {
	for id := p.table.heads[hash&p.table.mask].Load(); id != 0; {
		b := p.buffer(id - 1)
		if b.hasKey(k) {
			s, _ := b.pinTagged(hot) // in a chain, so tagged
			return b, s
		}
		id = b.next.Load()
	}
	return nil, 0
}

// linkLocked enters b, which the caller has pinned and nobody else knows, for k.
// Requires k's shard, and that k is not in the table.
func (p *Pool) linkLocked(b *Buffer, k blockKey, hash uint64, state uint64) {
	head := &p.table.heads[hash&p.table.mask]
	b.storeKey(k)
	b.next.Store(head.Load())
	b.state.Store(state | flagTagged)
	head.Store(b.id + 1)
}

// unlinkLocked takes b, whose flagTagged is off, out of the chain of hash. Requires its shard.
func (p *Pool) unlinkLocked(b *Buffer, hash uint64) {
	at := &p.table.heads[hash&p.table.mask]
	for at.Load() != b.id+1 {
		at = &p.buffer(at.Load() - 1).next
	}
	// b.next stays: a walk that stands on b goes on.
	at.Store(b.next.Load())
}
