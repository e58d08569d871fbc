package wal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"github.com/minipg/minipg/storage"
)

// readChunk is how much a Reader reads at a time.
const readChunk = 256 << 10

// Reader reads records in order. It is not safe for concurrent use.
type Reader struct {
	l   *Log
	pos storage.LSN // of the next record
	buf []byte      // the stream from bufAt
	at  storage.LSN // of buf's start
	rec Record

	last        storage.LSN // record read before, 0 for none
	incarnation uint16
	anyRead     bool

	file    storage.File
	seg     int64
	crcTail [crcTrailerBytes]byte
	end     error // why Next found no further record
}

// NewReader returns a reader whose first record starts at from. Close it.
func (l *Log) NewReader(from storage.LSN) *Reader {
	return &Reader{l: l, pos: from, at: from, seg: -1}
}

var (
	errEndOfFiles = errors.New("the segment files end")
	errLength     = errors.New("invalid record length")
	errChecksum   = errors.New("incorrect record checksum")
	errPrevious   = errors.New("record with incorrect prev-link")
	errStale      = errors.New("record of an earlier incarnation")
)

// Next returns the next record, valid until the next call; io.EOF at the end of the
// log, which is where the first thing that is no valid record lies. Other errors
// are failures to read.
func (r *Reader) Next() (*Record, error) {
	if r.end != nil {
		return nil, io.EOF
	}
	header, err := r.peek(headerBytes)
	if err != nil {
		return nil, r.ended(err)
	}
	length := int(binary.LittleEndian.Uint32(header))
	if length <= headerBytes || length > maxRecordBytes {
		return nil, r.ended(errLength)
	}
	b, err := r.peek(length)
	if err != nil {
		return nil, r.ended(err)
	}
	crc := finishCRC(crc32.Update(0, castagnoli, b[headerBytes:]), b, r.pos, r.l.cfg.SystemID, &r.crcTail)
	if crc != binary.LittleEndian.Uint32(b[4:]) {
		return nil, r.ended(errChecksum)
	}
	if err := r.rec.decode(b, r.pos); err != nil {
		return nil, err // the checksum is right: not a torn tail but a bug or another version
	}
	if r.anyRead {
		if r.rec.Prev != r.last {
			return nil, r.ended(errPrevious)
		}
		if int16(r.rec.incarnation-r.incarnation) < 0 {
			return nil, r.ended(errStale)
		}
	}
	r.anyRead, r.last, r.incarnation = true, r.rec.LSN, r.rec.incarnation
	r.pos = r.rec.EndLSN
	return &r.rec, nil
}

// ended remembers why the log ends here; a failure to read is not an end.
func (r *Reader) ended(err error) error {
	switch {
	case errors.Is(err, errEndOfFiles), errors.Is(err, errLength), errors.Is(err, errChecksum),
		errors.Is(err, errPrevious), errors.Is(err, errStale):
		r.end = err
		return io.EOF
	}
	return err
}

// Pos returns the LSN behind the last record read.
func (r *Reader) Pos() storage.LSN { return r.pos }

// Last returns the LSN of the last record read, 0 for none.
func (r *Reader) Last() storage.LSN { return r.last }

// Reason tells why the log ended, for the log of recovery.
func (r *Reader) Reason() error { return r.end }

// Close closes the segment at hand.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}

// peek returns n bytes from r.pos on.
func (r *Reader) peek(n int) ([]byte, error) {
	skip := int(r.pos - r.at)
	if len(r.buf)-skip >= n {
		return r.buf[skip : skip+n], nil
	}
	r.buf = r.buf[:copy(r.buf, r.buf[skip:])]
	r.at = r.pos
	for len(r.buf) < n {
		if err := r.fill(max(n-len(r.buf), readChunk)); err != nil {
			return nil, err
		}
	}
	return r.buf[:n], nil
}

// fill appends up to want bytes of one segment to the buffer.
func (r *Reader) fill(want int) error {
	next := r.at + storage.LSN(len(r.buf))
	seg := r.l.segmentOf(next)
	if err := r.open(seg); err != nil {
		return err
	}
	want = min(want, int(r.l.segmentEnd(seg)-next))
	if cap(r.buf)-len(r.buf) < want {
		bigger := make([]byte, len(r.buf), 2*(len(r.buf)+want))
		copy(bigger, r.buf)
		r.buf = bigger
	}
	dst := r.buf[len(r.buf) : len(r.buf)+want]
	n, err := r.file.ReadAt(dst, r.l.offsetInFile(next))
	r.buf = r.buf[:len(r.buf)+n]
	if n > 0 {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return errEndOfFiles
	}
	return ioError(err, "read file", r.l.segmentPath(seg))
}

func (r *Reader) open(seg int64) error {
	if r.file != nil && r.seg == seg {
		return nil
	}
	if err := r.Close(); err != nil {
		return ioError(err, "close file", r.l.segmentPath(r.seg))
	}
	f, err := r.l.cfg.FS.OpenFile(r.l.segmentPath(seg), os.O_RDONLY, filePerm)
	if errors.Is(err, fs.ErrNotExist) {
		return errEndOfFiles
	}
	if err != nil {
		return ioError(err, "open file", r.l.segmentPath(seg))
	}
	r.file, r.seg = f, seg
	return nil
}
