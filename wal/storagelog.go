package wal

import (
	"encoding/binary"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
)

// The kinds of RMStorage. Storage lies below the log, so its records are made and
// redone here.
const (
	KindImage    Kind = iota // whole pages
	KindCreate               // a fork's file: relation, fork
	KindTruncate             // relation, fork, blocks left
)

// LogHint logs buf's page whole and returns the LSN to stamp it with. The caller holds the
// exclusive latch and has marked the buffer dirty. (storage.HintLogger)
func (l *Log) LogHint(buf *storage.Buffer) (storage.LSN, error) {
	if err := l.Reserve(2 * storage.PageSize); err != nil {
		return 0, err
	}
	b := l.hintBuilders.Get()
	defer l.hintBuilders.Put(b)
	b.Reset(RMStorage, KindImage, 0, buf.Tag().Rel.Database)
	b.RegisterBuffer(0, buf, ForceImage|Standard)
	return l.Insert(b), nil
}

// LogPages logs whole pages, at most MaxBlocks, for callers that fill a new relation
// without logging each change. The buffers are latched exclusively and marked dirty.
func (l *Log) LogPages(b *Builder, xid uint64, bufs []*storage.Buffer, flags BufferFlags) storage.LSN {
	b.Reset(RMStorage, KindImage, xid, bufs[0].Tag().Rel.Database)
	for i, buf := range bufs {
		b.RegisterBuffer(i, buf, flags|ForceImage)
	}
	return l.Insert(b)
}

// LogCreate logs that a fork's file is made.
func (l *Log) LogCreate(b *Builder, xid uint64, rel storage.RelFile, fork storage.Fork) storage.LSN {
	b.Reset(RMStorage, KindCreate, xid, rel.Database)
	b.relation(rel, fork)
	return l.Insert(b)
}

// LogTruncate logs that a fork is cut to n blocks. It is flushed by the caller before the
// file is cut.
func (l *Log) LogTruncate(b *Builder, xid uint64, rel storage.RelFile, fork storage.Fork, n storage.BlockNumber) storage.LSN {
	b.Reset(RMStorage, KindTruncate, xid, rel.Database)
	b.relation(rel, fork)
	b.bytes = binary.LittleEndian.AppendUint32(b.bytes, uint32(n))
	b.pieces[len(b.pieces)-1].end = int32(len(b.bytes))
	return l.Insert(b)
}

func (b *Builder) relation(rel storage.RelFile, fork storage.Fork) {
	b.Data(AppendRelFile(nil, rel)...)
	b.Data(byte(fork))
}

// AppendRelFile appends rel in the form ReadRelFile reads.
func AppendRelFile(dst []byte, rel storage.RelFile) []byte {
	dst = binary.AppendUvarint(dst, uint64(rel.Tablespace))
	dst = binary.AppendUvarint(dst, uint64(rel.Database))
	return binary.AppendUvarint(dst, uint64(rel.Number))
}

// ReadRelFile takes a relation off the front of b; ok is false when it is not whole.
func ReadRelFile(b []byte) (rel storage.RelFile, rest []byte, ok bool) {
	d := decoder{b: b}
	rel.Tablespace = uint32(d.uvarint())
	rel.Database = uint32(d.uvarint())
	rel.Number = storage.FileNumber(d.uvarint())
	return rel, d.b, !d.bad
}

// StorageRedo redoes RMStorage.
type StorageRedo struct{}

// Redo implements Redoer.
func (StorageRedo) Redo(rec *Record, r *RedoContext) error {
	if rec.Kind == KindImage {
		for i := range rec.Blocks {
			buf, action, err := r.Block(rec, i)
			if err != nil {
				return err
			}
			if action != ActionRestored {
				return pgerr.New(pgerr.DataCorrupted, "log record at %v lacks its image", rec.LSN)
			}
			buf.ReleaseExclusive()
		}
		return nil
	}
	rel, rest, ok := ReadRelFile(rec.Data)
	if !ok || len(rest) < 1 {
		return errMalformed
	}
	fork := storage.Fork(rest[0])
	switch rec.Kind {
	case KindCreate:
		return r.Pool.Files().Create(rel, fork)
	case KindTruncate:
		if len(rest) < 5 {
			return errMalformed
		}
		return redoTruncate(r, rel, fork, storage.BlockNumber(binary.LittleEndian.Uint32(rest[1:])))
	}
	return pgerr.New(pgerr.DataCorrupted, "unknown storage log record kind %d at %v", rec.Kind, rec.LSN)
}

func redoTruncate(r *RedoContext, rel storage.RelFile, fork storage.Fork, n storage.BlockNumber) error {
	r.Forget(rel, fork, n)
	exists, err := r.Pool.Files().Exists(rel, fork)
	if err != nil || !exists {
		return err
	}
	if have, err := r.Pool.Files().NBlocks(rel, fork); err != nil || have <= n {
		return err
	}
	return r.Pool.TruncateRelation(rel, fork, n)
}
