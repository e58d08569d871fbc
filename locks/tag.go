package locks

import (
	"fmt"

	"github.com/minipg/minipg/metrics"
)

// LockType says what a Tag names.
type LockType uint8

// The lock types, in the order of their metric labels.
const (
	TypeRelation      LockType = metrics.LockRelation
	TypeExtend        LockType = metrics.LockExtend
	TypePage          LockType = metrics.LockPage
	TypeTuple         LockType = metrics.LockTuple
	TypeTransactionID LockType = metrics.LockTransactionID
	TypeVirtualXID    LockType = metrics.LockVirtualXID
	TypeObject        LockType = metrics.LockObject
	TypeAdvisory      LockType = metrics.LockAdvisory
	TypeDatabase      LockType = metrics.LockDatabase

	numTypes = metrics.NumLockTypes
)

// String is the locktype as pg_locks shows it.
func (t LockType) String() string { return metrics.LockTypeNames[t] }

// Tag names one lockable thing. The constructors say what the fields hold.
type Tag struct {
	Type       LockType
	F1, F2, F3 uint64
}

// Advisory locks have two key spaces, told apart by F3 as PostgreSQL's objsubid.
const (
	AdvisoryBigint = 1 // F2 is the 64-bit key
	AdvisoryPair   = 2 // F2 is the two 32-bit keys, first one high
)

// rowFlag in F3 tells the row locks that last to the end of the transaction
// from the tuple lock that orders those who wait for the row.
const rowFlag = 1 << 63

// RelationTag names a relation: F1 database OID (0 when shared), F2 relation OID.
func RelationTag(db, rel uint32) Tag {
	return Tag{Type: TypeRelation, F1: uint64(db), F2: uint64(rel)}
}

// ExtendTag names the right to extend a relation's file: F1 database OID,
// F2 file number.
func ExtendTag(db uint32, file uint64) Tag {
	return Tag{Type: TypeExtend, F1: uint64(db), F2: file}
}

// PageTag names a page: F1 database OID, F2 relation OID, F3 block.
func PageTag(db, rel, block uint32) Tag {
	return Tag{Type: TypePage, F1: uint64(db), F2: uint64(rel), F3: uint64(block)}
}

// TupleTag names the right to be next at a tuple: F1 database OID, F2 relation
// OID, F3 block and offset.
func TupleTag(db, rel, block uint32, offset uint16) Tag {
	return Tag{
		Type: TypeTuple, F1: uint64(db), F2: uint64(rel),
		F3: uint64(block)<<16 | uint64(offset),
	}
}

// RowTag names a row version that transactions hold in a shared row mode until
// they end. It shows in pg_locks as a tuple.
func RowTag(db, rel, block uint32, offset uint16) Tag {
	t := TupleTag(db, rel, block, offset)
	t.F3 |= rowFlag
	return t
}

// TransactionTag names a transaction that runs: F2 is its XID.
func TransactionTag(xid uint64) Tag { return Tag{Type: TypeTransactionID, F2: xid} }

// VirtualXIDTag names a transaction with or without XID: F1 is the session's
// process id, F2 its local transaction number.
func VirtualXIDTag(pid int32, lxid uint64) Tag {
	return Tag{Type: TypeVirtualXID, F1: uint64(uint32(pid)), F2: lxid}
}

// ObjectTag names any other catalog object: F1 database OID, F2 catalog and
// object OID, F3 sub-object.
func ObjectTag(db, class, object uint32, sub uint16) Tag {
	return Tag{
		Type: TypeObject, F1: uint64(db),
		F2: uint64(class)<<32 | uint64(object), F3: uint64(sub),
	}
}

// AdvisoryTag names an application's lock with a 64-bit key.
func AdvisoryTag(db uint32, key int64) Tag {
	return Tag{Type: TypeAdvisory, F1: uint64(db), F2: uint64(key), F3: AdvisoryBigint}
}

// AdvisoryPairTag names an application's lock with two 32-bit keys.
func AdvisoryPairTag(db uint32, key1, key2 int32) Tag {
	return Tag{
		Type: TypeAdvisory, F1: uint64(db),
		F2: uint64(uint32(key1))<<32 | uint64(uint32(key2)), F3: AdvisoryPair,
	}
}

// DatabaseTag names a database as a whole: F1 is its OID.
func DatabaseTag(db uint32) Tag { return Tag{Type: TypeDatabase, F1: uint64(db)} }

// Database is the database OID of tags that have one, else 0.
func (t Tag) Database() uint32 {
	switch t.Type {
	case TypeTransactionID, TypeVirtualXID:
		return 0
	default:
		return uint32(t.F1)
	}
}

// Block is the block number of a page or tuple tag.
func (t Tag) Block() uint32 {
	if t.Type == TypePage {
		return uint32(t.F3)
	}
	return uint32(t.F3 >> 16)
}

// Offset is the line pointer number of a tuple tag.
func (t Tag) Offset() uint16 { return uint16(t.F3) }

// String describes the tag in the words of PostgreSQL's DescribeLockTag.
func (t Tag) String() string {
	switch t.Type {
	case TypeRelation:
		return fmt.Sprintf("relation %d of database %d", t.F2, t.F1)
	case TypeExtend:
		return fmt.Sprintf("extension of relation %d of database %d", t.F2, t.F1)
	case TypePage:
		return fmt.Sprintf("page %d of relation %d of database %d", t.F3, t.F2, t.F1)
	case TypeTuple:
		return fmt.Sprintf("tuple (%d,%d) of relation %d of database %d",
			t.Block(), t.Offset(), t.Relation(), t.Database())
	case TypeTransactionID:
		return fmt.Sprintf("transaction %d", t.F2)
	case TypeVirtualXID:
		return fmt.Sprintf("virtual transaction %d/%d", t.F1, t.F2)
	case TypeObject:
		return fmt.Sprintf("object %d of class %d of database %d",
			uint32(t.F2), t.F2>>32, t.F1)
	case TypeAdvisory:
		// The four fields as PostgreSQL lays them out.
		return fmt.Sprintf("advisory lock [%d,%d,%d,%d]",
			t.F1, t.F2>>32, uint32(t.F2), t.F3)
	case TypeDatabase:
		return fmt.Sprintf("object %d of class 1262 of database 0", t.F1)
	default:
		return fmt.Sprintf("unrecognized locktag type %d", t.Type)
	}
}

// hash mixes the tag into 32 bits: the low ones choose the partition, the
// others the bucket.
func (t *Tag) hash() uint32 {
	const m1, m2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9
	h := t.F2*m1 ^ t.F3*m2 ^ (t.F1<<8 | uint64(t.Type))
	h ^= h >> 32
	h *= m2
	return uint32(h >> 32)
}
