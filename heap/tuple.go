package heap

import (
	"encoding/binary"

	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/txn"
)

// HeaderSize is the length of a tuple header; the row's bytes follow at once.
const HeaderSize = 24

// MaxRowSize is the longest row a page holds: a page less its header, one line
// pointer and a tuple header.
const MaxRowSize = storage.PageSize - storage.PageHeaderSize - storage.LinePointerSize - HeaderSize

const (
	offXmin  = 0
	offXmax  = 6
	offCID   = 12
	offCtid  = 16
	offFlags = 22

	xidMask = 1<<48 - 1
)

// Flags are a tuple's flag bits.
type Flags uint16

// The flag bits. XminCommitted and XminInvalid together mean frozen: visible to every snapshot.
const (
	FlagXminCommitted Flags = 1 << iota
	FlagXminInvalid
	FlagXmaxCommitted
	FlagXmaxInvalid // xmax is 0, aborted, or a lock whose holder ended
	FlagXmaxLockOnly
	FlagKeysUpdated // xmax deleted, changed a key, or locks FOR UPDATE
	FlagReplaced    // xmax updated it: ctid is the next version, else it is the tuple itself
	FlagHotUpdated  // and that is a heap-only tuple on this page
	FlagHeapOnly    // no index entry leads here
	FlagComboCID    // cid is a combo of cmin and cmax
	FlagExternal    // the row points at out-of-line values
	FlagUpdated     // this version came from an update

	flagsXminFrozen = FlagXminCommitted | FlagXminInvalid
	flagsXmax       = FlagXmaxCommitted | FlagXmaxInvalid | FlagXmaxLockOnly | FlagKeysUpdated | FlagReplaced | FlagHotUpdated
	flagsHint       = FlagXminCommitted | FlagXminInvalid | FlagXmaxCommitted | FlagXmaxInvalid
)

// tuple is a tuple's bytes, header first, on a page or in a private copy.
type tuple []byte

func (t tuple) xmin() txn.XID {
	return txn.XID(binary.LittleEndian.Uint64(t[offXmin:]) & xidMask)
}

func (t tuple) xmax() txn.XID {
	return txn.XID(binary.LittleEndian.Uint64(t[offXmax:]) & xidMask)
}

func (t tuple) cid() txn.CID { return txn.CID(binary.LittleEndian.Uint32(t[offCID:])) }

func (t tuple) ctid() TID {
	return TID{
		Block:  storage.BlockNumber(binary.LittleEndian.Uint32(t[offCtid:])),
		Offset: binary.LittleEndian.Uint16(t[offCtid+4:]),
	}
}

func (t tuple) flags() Flags { return Flags(binary.LittleEndian.Uint16(t[offFlags:])) }

func (t tuple) data() []byte { return t[HeaderSize:] }

func putXID(b []byte, x txn.XID) {
	binary.LittleEndian.PutUint32(b, uint32(x))
	binary.LittleEndian.PutUint16(b[4:], uint16(x>>32))
}

func (t tuple) setXmin(x txn.XID) { putXID(t[offXmin:], x) }
func (t tuple) setXmax(x txn.XID) { putXID(t[offXmax:], x) }
func (t tuple) setCID(c txn.CID)  { binary.LittleEndian.PutUint32(t[offCID:], uint32(c)) }
func (t tuple) setFlags(f Flags)  { binary.LittleEndian.PutUint16(t[offFlags:], uint16(f)) }

func (t tuple) setCtid(c TID) {
	binary.LittleEndian.PutUint32(t[offCtid:], uint32(c.Block))
	binary.LittleEndian.PutUint16(t[offCtid+4:], c.Offset)
}

// Header is a decoded tuple header, for system columns and checks.
type Header struct {
	Xmin, Xmax txn.XID
	CID        txn.CID // raw: cmin, cmax or combo
	CTID       TID
	Flags      Flags
}

func (t tuple) header() Header {
	return Header{Xmin: t.xmin(), Xmax: t.xmax(), CID: t.cid(), CTID: t.ctid(), Flags: t.flags()}
}

// Replaced tells whether an update made another version of the row, at CTID; it may have been rolled back.
func (hd Header) Replaced() bool { return hd.Flags&FlagReplaced != 0 && hd.Flags&FlagXmaxInvalid == 0 }

// External tells whether the row points at out-of-line values, which the engine
// must remove with it.
func (hd Header) External() bool { return hd.Flags&FlagExternal != 0 }

// XmaxShown is the xmax system column: 0 where nobody deleted or locked.
func (hd Header) XmaxShown() txn.XID {
	if hd.Flags&FlagXmaxInvalid != 0 {
		return 0
	}
	return hd.Xmax
}
