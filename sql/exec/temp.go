package exec

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// tempFile is a file of chunks of rows, written once and read any number of times.
type tempFile struct {
	fs     storage.FS
	name   string
	f      storage.File
	cols   []vecSpec
	chunks []chunkRef
	size   int64
	buf    []byte // the end of the file, not written yet
	ahead  struct {
		next  int // the chunk behind the one read last
		off   int64
		bytes []byte
	}
}

const (
	// tempWriteBytes is how much is written with one call: chunks may be small.
	tempWriteBytes = 16 << 10
	// tempReadBytes is how much is read with one call by who reads one chunk after the other.
	tempReadBytes = 32 << 10
)

// chunkRef tells where a chunk lies.
type chunkRef struct {
	off   int64
	bytes int64
	rows  int32
}

// spillable tells whether there is a place for temporary files.
func (rt *runtime) spillable() bool { return rt.st.Temp.FS != nil }

// newTempFile creates a file for rows of the given columns.
func (rt *runtime) newTempFile(cols []vecSpec) (*tempFile, error) {
	t := &rt.st.Temp
	for try := 0; ; try++ {
		rt.x.tempFiles.Add(1)
		name := t.Dir + "/" + t.Prefix + "." + strconv.FormatInt(rt.x.tempFiles.Load(), 10)
		f, err := t.FS.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case errors.Is(err, fs.ErrNotExist) && try == 0:
			if err := t.FS.MkdirAll(t.Dir, 0o700); err != nil {
				return nil, tempError(err, "create", t.Dir)
			}
			continue
		case err != nil:
			return nil, tempError(err, "create", name)
		}
		return &tempFile{fs: t.FS, name: name, f: f, cols: cols}, nil
	}
}

func tempError(err error, what, name string) error {
	code := pgerr.IoError
	if errors.Is(err, syscall.ENOSPC) {
		code = pgerr.DiskFull
	}
	return pgerr.Wrap(err, code, "could not %s temporary file \"%s\": %v", what, name, err)
}

func (t *tempFile) close() {
	if t == nil || t.f == nil {
		return
	}
	// A file that cannot be removed is swept at the next start.
	_ = t.f.Close()
	_ = t.fs.Remove(t.name)
	t.f = nil
}

// rows is how many rows the file holds.
func (t *tempFile) rows() int {
	n := 0
	for _, c := range t.chunks {
		n += int(c.rows)
	}
	return n
}

// add writes the rows of b as one chunk.
func (t *tempFile) add(b *types.Batch, rows types.Rows) error {
	n := rows.Len()
	if n == 0 {
		return nil
	}
	start := len(t.buf)
	for c := range t.cols {
		t.buf = appendColumn(t.buf, &b.Cols[c], rows)
	}
	bytes := len(t.buf) - start
	t.chunks = append(t.chunks, chunkRef{t.size, int64(bytes), int32(n)})
	t.size += int64(bytes)
	if len(t.buf) < tempWriteBytes {
		return nil
	}
	return t.flush()
}

// flush writes what add has put off.
func (t *tempFile) flush() error {
	if len(t.buf) == 0 {
		return nil
	}
	if _, err := t.f.WriteAt(t.buf, t.size-int64(len(t.buf))); err != nil {
		return tempError(err, "write to", t.name)
	}
	if t.buf = t.buf[:0]; cap(t.buf) > 2*tempWriteBytes {
		t.buf = nil
	}
	return nil
}

// finish is flush for a file that nothing will be added to.
func (t *tempFile) finish() error {
	err := t.flush()
	t.buf = nil
	return err
}

// chunk returns the bytes of chunk k, which nobody changes afterwards.
func (t *tempFile) chunk(k int) ([]byte, error) {
	c, a := t.chunks[k], &t.ahead
	end := c.off + int64(c.bytes)
	inOrder := k == a.next
	a.next = k + 1
	if c.off >= a.off && end <= a.off+int64(len(a.bytes)) {
		return a.bytes[c.off-a.off : end-a.off], nil
	}
	if err := t.flush(); err != nil {
		return nil, err
	}
	n := int64(c.bytes)
	if inOrder {
		n = max(n, min(tempReadBytes, t.size-c.off))
	}
	a.off, a.bytes = c.off, make([]byte, n)
	if _, err := t.f.ReadAt(a.bytes, c.off); err != nil {
		a.bytes = nil
		return nil, tempError(err, "read from", t.name)
	}
	return a.bytes[:c.bytes], nil
}

// appendColumn writes a column: a byte a row that tells nulls, then the words, or lengths and bytes,
// of those that are not null.
func appendColumn(buf []byte, v *types.Vector, rows types.Rows) []byte {
	n := rows.Len()
	for j := range n {
		buf = append(buf, byte(boolWord(v.Null[rows.At(j)])))
	}
	for j := range n {
		i := rows.At(j)
		switch {
		case v.Null[i]:
		case v.Class == types.Word:
			buf = binary.LittleEndian.AppendUint64(buf, v.W[i])
		default:
			buf = binary.AppendUvarint(buf, uint64(len(v.B[i])))
			buf = append(buf, v.B[i]...)
		}
	}
	return buf
}

// read reads chunk k into b, which has room for it. The bytes are new ones.
func (t *tempFile) read(k int, b *types.Batch) error {
	buf, err := t.chunk(k)
	if err != nil {
		return err
	}
	n := int(t.chunks[k].rows)
	for i := range t.cols {
		v := &b.Cols[i]
		nulls := buf[:n]
		buf = buf[n:]
		for j, null := range nulls {
			v.Null[j] = null != 0
			switch {
			case v.Null[j]:
			case v.Class == types.Word:
				v.W[j] = binary.LittleEndian.Uint64(buf)
				buf = buf[8:]
			default:
				l, k := binary.Uvarint(buf)
				v.B[j] = buf[k : k+int(l) : k+int(l)]
				buf = buf[k+int(l):]
			}
		}
	}
	b.N, b.Sel = n, nil
	return nil
}

// tempReader reads a file front to back.
type tempReader struct {
	t    *tempFile
	next int
	b    *types.Batch
	view types.Batch
	at   int
}

func (t *tempFile) reader() *tempReader {
	return &tempReader{t: t, b: newChunk(t.cols, maxBatch)}
}

// read returns at most max of the next rows, or nil.
func (r *tempReader) read(max int) (*types.Batch, error) {
	if r.at == r.b.N {
		if r.next == len(r.t.chunks) {
			return nil, nil
		}
		if err := r.t.read(r.next, r.b); err != nil {
			return nil, err
		}
		r.next++
		r.at = 0
	}
	window(&r.view, r.b, r.at, max)
	r.at += r.view.N
	return &r.view, nil
}
