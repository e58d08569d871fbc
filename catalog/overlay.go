package catalog

import "sort"

// overlay is an ordered map of the keys a transaction changed, with a log of what each
// change replaced, so that savepoints nest at no cost: a mark is a length of that log.
//
// The keys lie in sorted chunks: a transaction that makes thousands of tables inserts
// in a few microseconds, and small ones stay in one slice.
type overlay struct {
	chunks [][]entry
	undo   []entry
	n      int
}

type entry struct {
	key string
	val []byte
	op  entryOp
	// cols, if not 0, are the columns of a row that was there before in which val differs from it.
	cols uint64
}

type entryOp uint8

const (
	opAbsent entryOp = iota // only in the undo log: there was no entry
	opPut
	opDelete
)

const maxChunk = 256

// find returns the chunk and the place in it where key is or belongs.
func (o *overlay) find(key string) (c, i int, ok bool) {
	if len(o.chunks) == 0 {
		return 0, 0, false
	}
	c = sort.Search(len(o.chunks), func(i int) bool { return o.chunks[i][0].key > key }) - 1
	if c < 0 {
		return 0, 0, false
	}
	ch := o.chunks[c]
	i = sort.Search(len(ch), func(i int) bool { return ch[i].key >= key })
	return c, i, i < len(ch) && ch[i].key == key
}

func (o *overlay) get(key string) (e entry, ok bool) {
	c, i, ok := o.find(key)
	if !ok {
		return entry{}, false
	}
	return o.chunks[c][i], true
}

func (o *overlay) put(key string, val []byte) { o.set(entry{key: key, val: val, op: opPut}, true) }

// patch is put for a row of which only some columns changed. What was put whole stays whole.
func (o *overlay) patch(key string, val []byte, cols uint64) {
	if e, ok := o.get(key); ok {
		if e.op == opPut && e.cols != 0 {
			cols |= e.cols
		} else {
			cols = 0
		}
	}
	o.set(entry{key: key, val: val, op: opPut, cols: cols}, true)
}

func (o *overlay) del(key string) { o.set(entry{key: key, op: opDelete}, true) }

func (o *overlay) set(e entry, log bool) {
	c, i, ok := o.find(e.key)
	if ok {
		if log {
			o.undo = append(o.undo, o.chunks[c][i])
		}
		if e.op == opAbsent {
			o.remove(c, i)
		} else {
			o.chunks[c][i] = e
		}
		return
	}
	if log {
		o.undo = append(o.undo, entry{key: e.key})
	}
	if e.op == opAbsent {
		return
	}
	o.n++
	if len(o.chunks) == 0 {
		o.chunks = append(o.chunks, []entry{e})
		return
	}
	ch := append(o.chunks[c], entry{})
	copy(ch[i+1:], ch[i:])
	ch[i] = e
	o.chunks[c] = ch
	if len(ch) > maxChunk {
		right := append([]entry(nil), ch[maxChunk/2:]...)
		o.chunks[c] = ch[: maxChunk/2 : maxChunk/2]
		o.chunks = append(o.chunks, nil)
		copy(o.chunks[c+2:], o.chunks[c+1:])
		o.chunks[c+1] = right
	}
}

func (o *overlay) remove(c, i int) {
	o.n--
	ch := o.chunks[c]
	ch = append(ch[:i], ch[i+1:]...)
	if len(ch) > 0 {
		o.chunks[c] = ch
		return
	}
	o.chunks = append(o.chunks[:c], o.chunks[c+1:]...)
}

// mark is the length of the undo log.
func (o *overlay) mark() int { return len(o.undo) }

// rollback undoes changes, the latest first, until the undo log is as long as it was.
func (o *overlay) rollback(mark int) {
	for len(o.undo) > mark {
		e := o.undo[len(o.undo)-1]
		o.undo = o.undo[:len(o.undo)-1]
		o.set(e, false)
	}
}

// ascend calls fn for the entries whose key starts with prefix, in order.
func (o *overlay) ascend(prefix string, fn func(e *entry)) {
	if o.n == 0 {
		return
	}
	c, i, _ := o.find(prefix)
	for ; c < len(o.chunks); c++ {
		for ; i < len(o.chunks[c]); i++ {
			e := &o.chunks[c][i]
			if len(e.key) < len(prefix) || e.key[:len(prefix)] != prefix {
				return
			}
			fn(e)
		}
		i = 0
	}
}

func (o *overlay) reset() { *o = overlay{} }
