package sql

import (
	"sync"

	"github.com/minipg/minipg/heap"
)

// copyMemory is most of the memory that COPY FROM works in. It is used again: a COPY of some thousand rows would
// spend more time on having a megabyte made and collected than on its rows.
type copyMemory struct {
	file []byte      // for a read of the file
	data []byte      // what was read and is not used yet
	rows []heap.Rows // encoded, of the batches
}

const (
	copyReadBytes = 256 << 10
	// copyKeepBytes bounds each piece of memory that is kept.
	copyKeepBytes = 1 << 20
)

var copyMemories = sync.Pool{New: func() any { return new(copyMemory) }}

// read returns room for a read of the file.
func (m *copyMemory) read() []byte {
	if m.file == nil {
		m.file = make([]byte, copyReadBytes)
	}
	return m.file
}

// take returns the memory of a batch's encoded rows: none if none is left.
func (m *copyMemory) take() (r heap.Rows) {
	if n := len(m.rows); n > 0 {
		r, m.rows = m.rows[n-1], m.rows[:n-1]
		r.Reset()
	}
	return r
}

// giveBack is called when nothing refers to the memory any more.
func (m *copyMemory) giveBack(data []byte, batches []*copyBatch) {
	if m.data = nil; cap(data) <= copyKeepBytes {
		m.data = data[:0]
	}
	for _, b := range batches {
		if rows := b.encoded.Rows; cap(rows.Bytes) > 0 && cap(rows.Bytes) <= copyKeepBytes {
			m.rows = append(m.rows, rows)
		}
	}
	copyMemories.Put(m)
}
