package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// PostgreSQL's sizes for 8 kB pages: four tuples, or four chunks, fit on one.
const (
	toastThreshold = 2032 // rows longer than this are made shorter
	toastChunk     = 1996
	compressMin    = 32 // shorter values are not compressed
)

// Values of pg_attribute.attstorage.
const (
	storagePlain    = 'p'
	storageExternal = 'e'
	storageMain     = 'm'
	storageExtended = 'x'
)

// toastTable keeps a table's long values in chunks: rows of (chunk_id, chunk_seq, chunk_data)
// with a unique index on the first two.
type toastTable struct {
	table   *Table
	index   *tableIndex
	cursors sync.Pool // *toastCursor
	target  int       // rows are made no longer than this
	most    int       // a row's length without its bytes is at most this
}

type toastCursor struct {
	cursor *btree.Cursor
	fetch  heap.FetchBuf
	row    [3]types.Datum
	key    []byte
}

func (s *Session) openToast(rel *catalog.Relation) (*toastTable, error) {
	r, err := s.cat.RelationByOID(rel.Toast)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, pgerr.New(pgerr.InternalError, "cache lookup failed for relation %d", rel.Toast)
	}
	t, err := s.newTable(context.Background(), r, r.Indexes)
	if err != nil {
		return nil, err
	}
	if len(t.indexes) == 0 {
		return nil, pgerr.New(pgerr.InternalError, "TOAST table \"%s\" has no index", r.Name)
	}
	tt := &toastTable{table: t, index: t.indexes[0], target: toastTarget(rel)}
	for i := range rel.Row.Attrs {
		tt.most += max(int(rel.Row.Attrs[i].Len), longestLength)
	}
	tt.most += heap.HeaderSize + 1 + (len(rel.Row.Attrs)+7)/8
	tt.cursors.New = func() any { return &toastCursor{cursor: tt.index.tree.NewCursor()} }
	return tt, nil
}

// toastTarget is the storage parameter toast_tuple_target.
func toastTarget(rel *catalog.Relation) int {
	n := 0
	for _, c := range rel.Options["toast_tuple_target"] {
		if c < '0' || c > '9' {
			return toastThreshold
		}
		n = n*10 + int(c-'0')
	}
	if n < 128 || n > heap.MaxRowSize {
		return toastThreshold
	}
	return n
}

// A pointer to a value out of line: its length, the bytes stored, their number, and whether
// they are compressed.
const toastPointerBytes = 13

type toastPointer struct {
	rawBytes, storedBytes uint32
	value                 types.OID
	compressed            bool
}

func (p toastPointer) datum() types.Datum {
	b := make([]byte, toastPointerBytes)
	binary.LittleEndian.PutUint32(b, p.rawBytes)
	binary.LittleEndian.PutUint32(b[4:], p.storedBytes)
	binary.LittleEndian.PutUint32(b[8:], uint32(p.value))
	if p.compressed {
		b[12] = 1
	}
	return types.Datum{W: types.ToastExternal, B: b}
}

func parseToastPointer(b []byte) (toastPointer, error) {
	if len(b) != toastPointerBytes {
		return toastPointer{}, pgerr.New(pgerr.DataCorrupted, "malformed TOAST pointer of %d bytes", len(b))
	}
	return toastPointer{
		rawBytes: binary.LittleEndian.Uint32(b), storedBytes: binary.LittleEndian.Uint32(b[4:]),
		value: types.OID(binary.LittleEndian.Uint32(b[8:])), compressed: b[12] != 0,
	}, nil
}

// longestLength is what a value of class Bytes takes beside its bytes, at most.
const longestLength = 4

// rowBytes is the length of the row's tuple.
func (t *Table) rowBytes(row []types.Datum) int {
	n := heap.HeaderSize + 1 + (len(row)+7)/8
	for i := range row {
		n += types.EncodedLen(&t.rel.Row.Attrs[i], &row[i])
	}
	return n
}

// mayToast tells whether toastRow has anything to do.
func (t *Table) mayToast(row []types.Datum) bool {
	if t.toast == nil {
		return false
	}
	most := t.toast.most
	for i := range row {
		most += len(row[i].B)
	}
	return most > t.toast.target && t.rowBytes(row) > t.toast.target
}

// toastRow makes a row short enough for a page by compressing values and moving them out of
// line, in PostgreSQL's order (heap_toast_insert_or_update). before is the old version as stored, where
// that has values out of line: those that are the same are kept. The result is valid until the next
// call.
func (t *Table) toastRow(ctx context.Context, s *Session, row, before []types.Datum) (stored []types.Datum, external bool, err error) {
	if !t.mayToast(row) {
		return row, false, nil
	}
	s.row.values = append(s.row.values[:0], row...)
	j := toastJob{t: t, s: s, row: s.row.values, bytes: t.rowBytes(row), target: t.toast.target}
	j.done = make([]bool, len(row))
	if before != nil {
		if err := j.keepSame(before); err != nil {
			return nil, false, err
		}
	}
	if err := j.run(ctx); err != nil {
		return nil, false, err
	}
	return j.row, j.external, nil
}

// toastJob is one row being made shorter.
type toastJob struct {
	t        *Table
	s        *Session
	row      []types.Datum
	done     []bool // no more to be gained by compressing it
	bytes    int
	target   int
	external bool
}

// keepSame takes over the old row's pointers where the value did not change.
func (j *toastJob) keepSame(before []types.Datum) error {
	for i := range before {
		old, d := &before[i], &j.row[i]
		if old.Null || old.W != types.ToastExternal || d.Null || d.W != types.ToastNone {
			continue
		}
		p, err := parseToastPointer(old.B)
		if err != nil {
			return err
		}
		if int(p.rawBytes) != len(d.B) {
			continue
		}
		value, err := j.t.Detoast(*old)
		if err != nil {
			return err
		}
		if bytes.Equal(value, d.B) {
			j.replace(i, types.Datum{W: types.ToastExternal, B: bytes.Clone(old.B)})
			j.external = true
		}
	}
	return nil
}

func (j *toastJob) replace(i int, d types.Datum) {
	a := &j.t.rel.Row.Attrs[i]
	j.bytes += types.EncodedLen(a, &d) - types.EncodedLen(a, &j.row[i])
	j.row[i] = d
}

func (j *toastJob) run(ctx context.Context) error {
	// Compress what may be compressed and moved, longest first; move at once what alone is too long.
	for j.bytes > j.target {
		i := j.longest(false, storageExtended, storageExternal)
		if i < 0 {
			break
		}
		if j.t.rel.Attrs[i].Storage == storageExtended {
			j.compress(i)
		}
		j.done[i] = true
		if len(j.row[i].B) > j.target {
			if err := j.move(ctx, i); err != nil {
				return err
			}
		}
	}
	for j.bytes > j.target {
		i := j.longest(true, storageExtended, storageExternal)
		if i < 0 {
			break
		}
		if err := j.move(ctx, i); err != nil {
			return err
		}
	}
	for j.bytes > j.target {
		i := j.longest(false, storageMain)
		if i < 0 {
			break
		}
		j.compress(i)
		j.done[i] = true
	}
	// MAIN columns stay as long as the row fits on a page at all.
	for j.bytes > heap.HeaderSize+heap.MaxRowSize {
		i := j.longest(true, storageMain)
		if i < 0 {
			break
		}
		if err := j.move(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// longest returns the longest value in line of the storages, -1 for none: of those not tried yet, or
// (moved) of all that are longer than a pointer.
func (j *toastJob) longest(moving bool, storages ...byte) int {
	best, bestLen := -1, toastPointerBytes
	if !moving {
		bestLen = compressMin - 1
	}
	for i := range j.row {
		d := &j.row[i]
		if d.Null || d.W == types.ToastExternal || j.t.rel.Row.Attrs[i].Len >= 0 ||
			!bytes.Contains(storages, []byte{j.t.rel.Attrs[i].Storage}) {
			continue
		}
		if !moving && (j.done[i] || d.W == types.ToastCompressed) {
			continue
		}
		if len(d.B) > bestLen {
			best, bestLen = i, len(d.B)
		}
	}
	return best
}

func (j *toastJob) compress(i int) {
	raw := j.row[i].B
	packed := s2.EncodeBetter(nil, raw)
	if len(packed)+2 < len(raw) {
		j.replace(i, types.Datum{W: types.ToastCompressed, B: packed})
	}
}

// move writes a value to the TOAST table.
func (j *toastJob) move(ctx context.Context, i int) error {
	d := j.row[i]
	p := toastPointer{rawBytes: uint32(len(d.B)), storedBytes: uint32(len(d.B)), compressed: d.W == types.ToastCompressed}
	if p.compressed {
		n, err := s2.DecodedLen(d.B)
		if err != nil {
			return err
		}
		p.rawBytes = uint32(n)
	}
	var err error
	if p.value, err = j.t.toast.newValue(j.s.e); err != nil {
		return err
	}
	row := make([]types.Datum, 3)
	row[0] = types.OIDDatum(p.value)
	for seq, rest := 0, d.B; len(rest) > 0 || seq == 0; seq++ {
		n := min(len(rest), toastChunk)
		row[1], row[2] = types.Int64Datum(int64(seq)), types.BytesDatum(rest[:n])
		if _, err := j.t.toast.table.Insert(ctx, j.s, row, InsertOptions{}); err != nil {
			return err
		}
		rest = rest[n:]
	}
	j.replace(i, p.datum())
	j.external = true
	return nil
}

// newValue gives out a number no value of the table has.
func (tt *toastTable) newValue(e *Engine) (types.OID, error) {
	for {
		oid, err := e.NewOID()
		if err != nil {
			return 0, err
		}
		taken := false
		err = tt.chunks(oid, func(TID, *toastCursor) (bool, error) {
			taken = true
			return false, nil
		})
		if err != nil || !taken {
			return oid, err
		}
	}
}

// chunks calls fn for the index entries of a value, in order, until it returns false.
func (tt *toastTable) chunks(value types.OID, fn func(tid TID, c *toastCursor) (bool, error)) error {
	c := tt.cursors.Get().(*toastCursor)
	defer func() {
		c.cursor.Close()
		tt.cursors.Put(c)
	}()
	k := &tt.index.keys[0]
	c.key = types.EncodeKey(c.key[:0], k.typ, types.OIDDatum(value), k.opt)
	c.cursor.Seek(btree.Bounds{Lo: c.key, Hi: c.key}, false)
	for {
		_, tid, _, ok, err := c.cursor.Next()
		if err != nil || !ok {
			return err
		}
		if more, err := fn(TID(tid), c); err != nil || !more {
			return err
		}
	}
}

// Detoast gives the plain bytes of a compressed or moved value: types.Detoaster.
func (t *Table) Detoast(d types.Datum) ([]byte, error) {
	if d.W == types.ToastCompressed {
		return decompress(d.B)
	}
	if d.W != types.ToastExternal {
		return d.B, nil
	}
	p, err := parseToastPointer(d.B)
	if err != nil {
		return nil, err
	}
	if t.toast == nil {
		return nil, pgerr.New(pgerr.DataCorrupted, "relation \"%s\" has values out of line but no TOAST table", t.rel.Name)
	}
	stored, err := t.toast.read(p)
	if err != nil || !p.compressed {
		return stored, err
	}
	return decompress(stored)
}

func decompress(b []byte) ([]byte, error) {
	raw, err := s2.Decode(nil, b)
	if err != nil {
		return nil, pgerr.Wrap(err, pgerr.DataCorrupted, "compressed data is corrupted")
	}
	return raw, nil
}

// read collects a value's chunks. They are read whatever their visibility: who has a visible pointer
// may see what it points at.
func (tt *toastTable) read(p toastPointer) ([]byte, error) {
	out := make([]byte, 0, p.storedBytes)
	seq := int64(0)
	err := tt.chunks(p.value, func(tid TID, c *toastCursor) (bool, error) {
		data, ok, err := tt.table.heap.FetchVersion(tid, &c.fetch)
		if err != nil {
			return false, err
		}
		if !ok {
			return false, tt.missing(p, seq)
		}
		if err := tt.table.rel.Row.Decode(data, c.row[:], 3); err != nil {
			return false, err
		}
		if c.row[0].OID() != p.value || c.row[1].Int64() != seq {
			return false, tt.missing(p, seq)
		}
		out = append(out, c.row[2].B...)
		seq++
		return true, nil
	})
	if err == nil && len(out) != int(p.storedBytes) {
		err = tt.missing(p, seq)
	}
	return out, err
}

func (tt *toastTable) missing(p toastPointer, seq int64) error {
	return pgerr.New(pgerr.DataCorrupted, "missing chunk number %d for toast value %d in %s", seq, p.value, tt.table.rel.Name)
}

// detoastRow makes all values plain.
func (t *Table) detoastRow(row []types.Datum) error {
	for i := range row {
		d := &row[i]
		if d.Null || d.W == types.ToastNone || t.rel.Row.Attrs[i].Len >= 0 {
			continue
		}
		b, err := t.Detoast(*d)
		if err != nil {
			return err
		}
		*d = types.BytesDatum(b)
	}
	return nil
}

// storedExternal returns the version at tid as stored if it has values out of line, else nil. It
// is valid until the session's next call.
func (t *Table) storedExternal(s *Session, tid TID) ([]types.Datum, error) {
	r := &s.row.fetched
	data, ok, err := t.heap.FetchVersion(tid, &r.fetch)
	if err != nil || !ok || !r.fetch.Header.External() {
		return nil, err
	}
	n := len(t.rel.Attrs)
	if cap(r.Values) < n {
		r.Values = make([]types.Datum, n)
	}
	r.Values = r.Values[:n]
	return r.Values, t.rel.Row.Decode(data, r.Values, n)
}

// dropUnused removes the values out of line that row has and keep (may be nil) has not.
func (t *Table) dropUnused(ctx context.Context, s *Session, row, keep []types.Datum) error {
	for i := range row {
		d := &row[i]
		if d.Null || d.W != types.ToastExternal || t.rel.Row.Attrs[i].Len >= 0 {
			continue
		}
		if keep != nil && !keep[i].Null && keep[i].W == types.ToastExternal && bytes.Equal(keep[i].B, d.B) {
			continue
		}
		p, err := parseToastPointer(d.B)
		if err != nil {
			return err
		}
		if err := t.toast.remove(ctx, s, p); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes a value's chunks.
func (tt *toastTable) remove(ctx context.Context, s *Session, p toastPointer) error {
	s.tx.CommandCounterIncrement() // the chunks may be of this very command
	snap := s.tx.TakeSnapshot()
	defer s.tx.ReleaseSnapshot(snap)
	return tt.chunks(p.value, func(tid TID, _ *toastCursor) (bool, error) {
		res, err := tt.table.heap.Delete(ctx, &s.heapW, snap, tid, heap.DeleteOptions{})
		if err == nil && res.Status != heap.Ok {
			err = errUnexpected("removal of a TOAST chunk", res)
		}
		if err == nil {
			s.count(tt.table.stats, tableDelta{deleted: 1})
		}
		return err == nil, err
	})
}
