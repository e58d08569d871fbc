package server

import (
	"encoding/binary"
	"io"
	"net"

	"github.com/minipg/minipg/pgerr"
)

const (
	minReadBuffer  = 4 << 10
	keepReadBuffer = 64 << 10
)

// reader is the pgproto3.ChunkReader of a connection. What Next returns is valid
// until the next call of Next but one: a message's body outlives its header.
type reader struct {
	conn  net.Conn
	limit int // of one message
	// beforeRead is called when Next would block.
	beforeRead func() error
	buf        []byte
	r, w       int
}

// Next returns the next n bytes.
func (r *reader) Next(n int) ([]byte, error) {
	if n < 0 || n > r.limit {
		return nil, pgerr.Fatal(pgerr.ProtocolViolation, "invalid message length")
	}
	if r.w-r.r < n {
		if err := r.fill(n); err != nil {
			return nil, err
		}
	}
	b := r.buf[r.r : r.r+n : r.r+n]
	r.r += n
	return b, nil
}

// buffered tells whether a whole message is there already.
func (r *reader) buffered() bool {
	have := r.w - r.r
	if have < 5 {
		return false
	}
	return have-1 >= int(binary.BigEndian.Uint32(r.buf[r.r+1:]))
}

func (r *reader) fill(n int) error {
	rest := r.w - r.r
	switch {
	case n > len(r.buf):
		size := max(minReadBuffer, n)
		if n > minReadBuffer && n < keepReadBuffer {
			size = keepReadBuffer
		}
		buf := make([]byte, size)
		copy(buf, r.buf[r.r:r.w])
		r.buf = buf
	case rest == 0 && len(r.buf) > keepReadBuffer:
		r.buf = make([]byte, max(minReadBuffer, n))
	default:
		copy(r.buf, r.buf[r.r:r.w])
	}
	r.r, r.w = 0, rest
	for r.w < n {
		if err := r.beforeRead(); err != nil {
			return err
		}
		m, err := r.conn.Read(r.buf[r.w:])
		r.w += m
		if err != nil && r.w < n {
			if err == io.EOF && r.w > 0 {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// shrink gives up a large buffer while the connection is idle.
func (r *reader) shrink() {
	if r.r == r.w && len(r.buf) > keepReadBuffer {
		r.buf, r.r, r.w = nil, 0, 0
	}
}
