package wal

import "github.com/minipg/minipg/storage"

// Builder collects one record. It is reusable and allocates nothing once
// warm; one belongs to a session or worker and is not safe for concurrent use.
type Builder struct {
	rm   RMID
	kind Kind
	xid  uint64
	db   uint32
}

// Reset starts a record of kind for the transaction xid (0 for none) in
// database db.
func (b *Builder) Reset(rm RMID, kind Kind, xid uint64, db uint32) {}

// RegisterBuffer makes buf block reference i. The caller holds its exclusive
// latch until the record is inserted. References are registered in order from 0.
func (b *Builder) RegisterBuffer(i int, buf *storage.Buffer, flags BufferFlags) {}

// RegisterBlock makes a block without a buffer at hand reference i (no image).
func (b *Builder) RegisterBlock(i int, tag storage.BlockTag, flags BufferFlags) {}

// BufData appends data that redo needs for block i; left out when the record
// holds the block's image (unless KeepData). The bytes are copied.
func (b *Builder) BufData(i int, data ...byte) {}

// Data appends to the record's own data. The bytes are copied.
func (b *Builder) Data(data ...byte) {}
