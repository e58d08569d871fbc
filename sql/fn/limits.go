package fn

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// maxAlloc is what PostgreSQL allocates at most in one piece, and so the bound of every value; valueHeader of it are
// a value's own length. A function that makes a value longer than its arguments asks before it allocates, so that
// no statement takes memory by the gigabyte.
const (
	maxAlloc    = 1<<30 - 1
	valueHeader = 4
	maxTextLen  = maxAlloc - valueHeader
)

// maxCollected is how many elements array_agg holds: the next doubling of their array would pass maxAlloc.
const maxCollected = 1 << 26

func errTooLarge() error {
	return pgerr.New(pgerr.ProgramLimitExceeded, "requested length too large")
}

func errAlloc(size int) error {
	return pgerr.New(pgerr.InternalError, "invalid memory alloc request size %d", size)
}

// CheckLen is for values whose length is known before they are made.
func CheckLen(n int) error {
	if n > maxTextLen {
		return errAlloc(n + valueHeader)
	}
	return nil
}

// checkGrow is for values that grow piece by piece: have bytes are there, and more are to come.
func checkGrow(have, more int) error {
	if more >= maxAlloc-have {
		return pgerr.New(pgerr.ProgramLimitExceeded, "out of memory").
			WithDetail("Cannot enlarge string buffer containing %d bytes by %d more bytes.", have, more)
	}
	return nil
}

// checkOut is checkGrow for text that types.Out appended from start on, which knows no bound: it grows a value to
// a small multiple at most.
func checkOut(out []byte, start int) error { return checkGrow(start, len(out)-start) }

// textSize is what the text of a value takes at least: nothing is known of values that are not bytes.
func textSize(typ types.OID, d types.Datum) int {
	switch {
	case d.Null:
		return 0
	case typ == types.Bytea:
		return 2 * len(d.B)
	case typ == types.Text || typ == types.Varchar || typ == types.Bpchar || typ == types.Unknown:
		return len(d.B)
	}
	return 0
}

// checkArray is for an array of elements before it is made.
func checkArray(elems []types.Datum) error {
	size := 0
	for i := range elems {
		size += len(elems[i].B)
	}
	if size > maxAlloc {
		return pgerr.New(pgerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxAlloc)
	}
	return nil
}
