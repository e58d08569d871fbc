package engine

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
	"github.com/minipg/minipg/wal"
)

// How many numbers one log record covers.
const (
	oidsAhead  = 8192
	filesAhead = 1024
)

// counter gives out numbers that are logged ahead: Invariant 5.
type counter struct {
	sync.Mutex
	next    uint64
	limit   uint64 // logged; below it numbers may be given out
	builder wal.Builder
}

// take returns the next number.
func (c *counter) take(log *wal.Log, kind wal.Kind, ahead uint64) (uint64, error) {
	c.Lock()
	defer c.Unlock()
	if c.next >= c.limit {
		c.builder.Reset(wal.RMEngine, kind, 0, 0)
		c.builder.Data(binary.AppendUvarint(nil, c.next+ahead)...)
		if err := log.Reserve(c.builder.InsertLen()); err != nil {
			return 0, err
		}
		log.Insert(&c.builder)
		c.limit = c.next + ahead
	}
	c.next++
	return c.next - 1, nil
}

// logged returns what a checkpoint that begins before the call keeps: numbers up
// to it may be in use.
func (c *counter) logged() uint64 {
	c.Lock()
	defer c.Unlock()
	return max(c.limit, c.next)
}

// used returns the next number exactly, for a shutdown.
func (c *counter) used() uint64 {
	c.Lock()
	defer c.Unlock()
	return c.next
}

// start sets the counter at start-up.
func (c *counter) start(next uint64) { c.next, c.limit = next, next }

// note raises the counter to what replay met.
func (c *counter) note(limit uint64) {
	if limit > c.next {
		c.next, c.limit = limit, limit
	}
}

// NewOID gives out an OID. It is unique until four billion have been given out.
func (e *Engine) NewOID() (types.OID, error) {
	for {
		n, err := e.oids.take(e.log, kindNextOID, oidsAhead)
		if err != nil {
			return 0, err
		}
		if n <= math.MaxUint32 && n >= firstUserOID {
			return types.OID(n), nil
		}
		e.oids.wrap()
	}
}

// wrap starts again behind the built-in OIDs.
func (c *counter) wrap() {
	c.Lock()
	defer c.Unlock()
	if c.next > math.MaxUint32 || c.next < firstUserOID {
		c.next, c.limit = firstUserOID, firstUserOID
	}
}

// newFile gives out a file number, which is never used again.
func (e *Engine) newFile() (storage.FileNumber, error) {
	n, err := e.files.take(e.log, kindNextFile, filesAhead)
	return storage.FileNumber(n), err
}

func readUvarint(b []byte) (v uint64, rest []byte, err error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, pgerr.New(pgerr.DataCorrupted, "malformed engine log record")
	}
	return v, b[n:], nil
}
