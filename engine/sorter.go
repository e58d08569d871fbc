package engine

import (
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"slices"
	"sync/atomic"

	"github.com/minipg/minipg/storage"
)

const (
	tempDir       = "pgsql_tmp"
	sortReadBytes = 256 << 10
	sortHeadBytes = 8 // of an entry in a spilled run: lengths of key and payload
	// sortFlagBytes and sortTIDBytes follow an entry's key.
	sortTIDBytes  = 6
	sortFlagBytes = 1

	sortChunkBytes = 1 << 20
	sortEntryBytes = 32 // roughly, of an entry in memory beside its bytes
)

// Flags of a sorted entry.
const (
	sortNull = 1 << iota // a key column is null
	sortDead             // only older snapshots see the row: no duplicate of anything
)

// sortEntry is an index entry in a sorter: key, TID and flags, payload lie behind each other in
// one of its chunks.
type sortEntry struct {
	prefix   uint64 // the key's first eight bytes, big-endian
	chunk    uint32
	off      uint32 // in the chunk
	keyBytes uint32 // without TID and flags
	allBytes uint32
}

// sorter orders index entries by key and TID, in memory as far as its budget goes, then in runs in a
// temporary file that are merged. It serves one goroutine.
type sorter struct {
	fs      storage.FS
	dir     string
	budget  int
	chunks  [][]byte // the first used of them hold entries; their bytes never move
	used    int
	bytes   int
	entries []sortEntry
	file    storage.File
	name    string
	size    int64
	runs    []sortRun
}

// sortRun is a part of the temporary file.
type sortRun struct{ start, end int64 }

var sorterSerial atomic.Uint64 // only keeps the names of temporary files apart

// newSorter makes a sorter; expected is how many entries are likely, so that few are moved.
func newSorter(fs storage.FS, dir string, budget, expected int) *sorter {
	return &sorter{fs: fs, dir: dir, budget: budget, entries: make([]sortEntry, 0, max(0, min(expected, budget/(2*sortEntryBytes))))}
}

// add takes an entry over; the bytes are copied.
func (s *sorter) add(key []byte, tid TID, flags byte, payload []byte) error {
	all := len(key) + sortTIDBytes + sortFlagBytes + len(payload)
	c := s.chunkFor(all)
	b := *c
	off := len(b)
	b = append(b, key...)
	b = binary.BigEndian.AppendUint32(b, uint32(tid.Block))
	b = binary.BigEndian.AppendUint16(b, tid.Offset)
	b = append(b, flags)
	*c = append(b, payload...)
	s.bytes += all
	s.entries = append(s.entries, sortEntry{
		prefix: keyPrefix64(key), chunk: uint32(s.used - 1), off: uint32(off), keyBytes: uint32(len(key)), allBytes: uint32(all),
	})
	if s.bytes+len(s.entries)*sortEntryBytes > s.budget {
		return s.spill()
	}
	return nil
}

// chunkFor returns a chunk with room for n bytes.
func (s *sorter) chunkFor(n int) *[]byte {
	if s.used > 0 {
		if c := &s.chunks[s.used-1]; len(*c)+n <= cap(*c) {
			return c
		}
	}
	if s.used == len(s.chunks) {
		s.chunks = append(s.chunks, nil)
	}
	c := &s.chunks[s.used]
	s.used++
	if *c = (*c)[:0]; cap(*c) < n {
		*c = make([]byte, 0, max(n, sortChunkBytes))
	}
	return c
}

// at returns the first n bytes of an entry.
func (s *sorter) at(e *sortEntry, n uint32) []byte { return s.chunks[e.chunk][e.off : e.off+n] }

func keyPrefix64(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// sort orders what is in memory.
func (s *sorter) sort() {
	slices.SortFunc(s.entries, func(a, b sortEntry) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		// No key is a prefix of another, so keys that differ differ before their TIDs do.
		return bytes.Compare(s.at(&a, a.keyBytes+sortTIDBytes), s.at(&b, b.keyBytes+sortTIDBytes))
	})
}

// spill writes the entries as a sorted run.
func (s *sorter) spill() error {
	s.sort()
	if s.file == nil {
		if err := s.fs.MkdirAll(s.dir, dirPerm); err != nil {
			return dirError(err, "could not create directory", s.dir)
		}
		s.name = path.Join(s.dir, fmt.Sprintf("pgsql_tmp.index%d", sorterSerial.Add(1)))
		f, err := s.fs.OpenFile(s.name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return dirError(err, "could not create temporary file", s.name)
		}
		s.file = f
	}
	run := sortRun{start: s.size}
	buf := make([]byte, 0, sortReadBytes+1<<16)
	for i := range s.entries {
		e := &s.entries[i]
		buf = binary.LittleEndian.AppendUint32(buf, e.keyBytes)
		buf = binary.LittleEndian.AppendUint32(buf, e.allBytes)
		buf = append(buf, s.at(e, e.allBytes)...)
		if len(buf) >= sortReadBytes || i == len(s.entries)-1 {
			if _, err := s.file.WriteAt(buf, s.size); err != nil {
				return dirError(err, "could not write to file", s.name)
			}
			s.size += int64(len(buf))
			buf = buf[:0]
		}
	}
	run.end = s.size
	s.runs = append(s.runs, run)
	s.used, s.bytes, s.entries = 0, 0, s.entries[:0]
	return nil
}

// close removes the temporary file.
func (s *sorter) close() {
	if s.file != nil {
		_ = s.file.Close()
		_ = s.fs.Remove(s.name)
		s.file = nil
	}
}

// sortedEntry is an entry coming out of a merge.
type sortedEntry struct {
	key, payload []byte
	tid          TID
	flags        byte
	full         []byte // key and TID
}

func (e *sortedEntry) set(b []byte, keyBytes int) {
	e.full = b[:keyBytes+sortTIDBytes]
	e.key = b[:keyBytes:keyBytes]
	tid := b[keyBytes:]
	e.tid = TID{Block: storage.BlockNumber(binary.BigEndian.Uint32(tid)), Offset: binary.BigEndian.Uint16(tid[4:])}
	e.flags = tid[sortTIDBytes]
	e.payload = tid[sortTIDBytes+sortFlagBytes:]
}

// sortSource yields the entries of one run in order.
type sortSource interface {
	next(e *sortedEntry) (bool, error)
}

// memorySource is what a sorter has in memory.
type memorySource struct {
	s  *sorter
	at int
}

func (m *memorySource) next(e *sortedEntry) (bool, error) {
	if m.at >= len(m.s.entries) {
		return false, nil
	}
	x := &m.s.entries[m.at]
	m.at++
	e.set(m.s.at(x, x.allBytes), int(x.keyBytes))
	return true, nil
}

// fileSource is a run in the temporary file.
type fileSource struct {
	s        *sorter
	pos, end int64
	buf      []byte
	at       int
}

func (f *fileSource) next(e *sortedEntry) (bool, error) {
	head, err := f.peek(sortHeadBytes)
	if err != nil || head == nil {
		return false, err
	}
	keyBytes := int(binary.LittleEndian.Uint32(head))
	all := int(binary.LittleEndian.Uint32(head[4:]))
	b, err := f.peek(sortHeadBytes + all)
	if err != nil {
		return false, err
	}
	e.set(b[sortHeadBytes:], keyBytes)
	f.at += sortHeadBytes + all
	return true, nil
}

// peek returns the next n bytes, nil at the end of the run. What next returned before is gone.
func (f *fileSource) peek(n int) ([]byte, error) {
	if len(f.buf)-f.at >= n {
		return f.buf[f.at : f.at+n], nil
	}
	have := copy(f.buf, f.buf[f.at:])
	f.buf, f.at = f.buf[:have], 0
	want := int(min(int64(max(n-have, sortReadBytes)), f.end-f.pos))
	if want == 0 {
		return nil, nil
	}
	f.buf = slices.Grow(f.buf, want)[:have+want]
	if _, err := f.s.file.ReadAt(f.buf[have:], f.pos); err != nil {
		return nil, dirError(err, "could not read file", f.s.name)
	}
	f.pos += int64(want)
	return f.buf[f.at : f.at+n], nil
}

// sources returns the runs of a sorter, the last of them in memory.
func (s *sorter) sources() []sortSource {
	s.sort()
	var out []sortSource
	for _, r := range s.runs {
		out = append(out, &fileSource{s: s, pos: r.start, end: r.end})
	}
	if len(s.entries) > 0 {
		out = append(out, &memorySource{s: s})
	}
	return out
}

// merge yields the entries of several sorters in one order.
type merge struct {
	heads mergeHeap
	top   bool // heads[0] was returned and has to move on
}

type mergeHead struct {
	src sortSource
	e   sortedEntry
}

type mergeHeap []*mergeHead

func (h mergeHeap) Len() int           { return len(h) }
func (h mergeHeap) Less(i, j int) bool { return bytes.Compare(h[i].e.full, h[j].e.full) < 0 }
func (h mergeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *mergeHeap) Push(x any)        { *h = append(*h, x.(*mergeHead)) }
func (h *mergeHeap) Pop() any {
	x := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return x
}

func newMerge(sorters []*sorter) (*merge, error) {
	m := &merge{}
	for _, s := range sorters {
		for _, src := range s.sources() {
			head := &mergeHead{src: src}
			ok, err := src.next(&head.e)
			if err != nil {
				return nil, err
			}
			if ok {
				m.heads = append(m.heads, head)
			}
		}
	}
	heap.Init(&m.heads)
	return m, nil
}

// next returns the next entry, valid until the next call; nil at the end.
func (m *merge) next() (*sortedEntry, error) {
	if m.top {
		m.top = false
		ok, err := m.heads[0].src.next(&m.heads[0].e)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			heap.Pop(&m.heads)
		case len(m.heads) > 1:
			heap.Fix(&m.heads, 0)
		}
	}
	if len(m.heads) == 0 {
		return nil, nil
	}
	m.top = true
	return &m.heads[0].e, nil
}
