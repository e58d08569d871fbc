package faultfs

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// Crash cuts the power and returns the file system as the machine finds it when it comes back:
// everything synced, and of the rest what rng chooses. f fails every operation from now on.
func (f *FS) Crash(rng *rand.Rand) *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.powerOffLocked()
	c := &cut{rng: rng, sector: f.opts.SectorSize, files: make(map[*fileNode]*fileNode), dirs: make(map[*dirNode]*dirNode)}
	c.chooseSeverity()
	c.applyDirOps(f.mu.pending)
	after := New(f.opts)
	after.mu.capacity = f.mu.capacity
	after.mu.root = c.dir(f.mu.root)
	for _, n := range c.files {
		after.mu.usedChunks += countChunks(n.live)
	}
	return after
}

// Kill is the death of the process alone: nothing the kernel took is lost, and nothing becomes
// durable by it. Handles and locks are gone; f goes on, with its rules and crash point cleared.
func (f *FS) Kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.generation++
	f.mu.crashAt = 0
	f.mu.rules = nil
	clear(f.mu.locks)
	if f.mu.crashed {
		f.mu.crashed = false
		f.crash = make(chan struct{})
	}
}

// cut is one power cut in the making.
type cut struct {
	rng    *rand.Rand
	sector int
	keep   float64 // chance that an unsynced sector or entry survives
	files  map[*fileNode]*fileNode
	dirs   map[*dirNode]*dirNode
}

// chooseSeverity mixes the two extremes, which find most bugs, with everything between.
func (c *cut) chooseSeverity() {
	switch c.rng.IntN(8) {
	case 0:
		c.keep = 0
	case 1:
		c.keep = 1
	default:
		c.keep = c.rng.Float64()
	}
}

func (c *cut) survives() bool { return c.rng.Float64() < c.keep }

// applyDirOps makes durable what happened to reach the disk: a prefix, as a journalling file
// system leaves it, or any subset, which is all that POSIX promises.
func (c *cut) applyDirOps(ops []dirOp) {
	prefix := c.rng.IntN(2) == 0
	n := len(ops)
	if prefix && c.keep < 1 {
		n = int(float64(len(ops)+1) * c.rng.Float64() * c.keep)
	}
	for i, op := range ops {
		if prefix && i >= n || !prefix && !c.survives() {
			continue
		}
		for _, p := range op.parts {
			if p.node == nil {
				delete(p.dir.durable, p.name)
			} else {
				p.dir.durable[p.name] = p.node
			}
		}
	}
}

func (c *cut) dir(d *dirNode) *dirNode {
	if after, ok := c.dirs[d]; ok {
		return after
	}
	after := newDir()
	c.dirs[d] = after
	for _, name := range slices.Sorted(maps.Keys(d.durable)) {
		switch n := d.durable[name].(type) {
		case *dirNode:
			after.entries[name] = c.dir(n)
		case *fileNode:
			after.entries[name] = c.file(n)
		}
	}
	after.durable = maps.Clone(after.entries)
	return after
}

func (c *cut) file(n *fileNode) *fileNode {
	if after, ok := c.files[n]; ok {
		after.links++
		return after
	}
	after := newFile()
	c.files[n] = after
	size, chunks := n.durableSize, slices.Clone(n.durable)
	if n.sizeChanged || n.cut >= 0 {
		size, chunks = c.size(n, chunks)
	}
	for _, i := range slices.Sorted(maps.Keys(n.dirty)) {
		for len(chunks) <= i {
			chunks = append(chunks, nil)
		}
		chunks[i] = c.mix(chunks[i], n.dirty[i].prev, chunkAt(n.live, i))
	}
	if keep := int((size + chunkSize - 1) / chunkSize); keep < len(chunks) {
		chunks = chunks[:keep]
	}
	if tail := size % chunkSize; tail != 0 {
		if last := int(size / chunkSize); chunkAt(chunks, last) != nil {
			cleared := *chunks[last]
			clear(cleared[tail:])
			chunks[last] = &cleared
		}
	}
	after.live, after.durable = chunks, slices.Clone(chunks)
	after.size, after.durableSize = size, size
	return after
}

// size decides which of a file's sizes reached the disk.
func (c *cut) size(n *fileNode, chunks []*chunk) (int64, []*chunk) {
	if !c.survives() {
		if n.cut < 0 || c.keep == 0 {
			return n.durableSize, chunks
		}
	}
	low := n.durableSize
	if n.cut >= 0 && n.cut < low {
		low = n.cut
		if keep := int((low + chunkSize - 1) / chunkSize); keep < len(chunks) {
			chunks = chunks[:keep]
		}
	}
	if n.size <= low || c.keep == 1 || c.rng.IntN(2) == 0 {
		return n.size, chunks
	}
	// Files grow in steps the disk knows.
	steps := (n.size - low) / int64(c.sector)
	return min(low+c.rng.Int64N(steps+1)*int64(c.sector), n.size), chunks
}

// mix builds a chunk whose sectors are the durable, the previous or the last version.
func (c *cut) mix(durable, prev, live *chunk) *chunk {
	var out chunk
	for at := 0; at < chunkSize; at += c.sector {
		from := durable
		if c.survives() {
			from = live
			if prev != nil && c.keep < 1 && c.rng.IntN(4) == 0 {
				from = prev
			}
		}
		if from != nil {
			copy(out[at:at+c.sector], from[at:])
		}
	}
	return &out
}
