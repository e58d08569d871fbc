package wal

import (
	"fmt"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
)

// Action is what redo has to do about a block.
type Action uint8

// The actions RedoContext.Block returns.
const (
	ActionNeeds    Action = iota // change the page
	ActionDone                   // the page already has the change
	ActionRestored               // the page was restored from the record's image
	ActionMissing                // the block or its file went away later in the log
)

// Redoer applies the records of one resource manager.
type Redoer interface {
	Redo(rec *Record, r *RedoContext) error
}

// RedoContext gives redo its buffers. Redo runs in one goroutine.
type RedoContext struct {
	Pool *storage.Pool

	// missing are blocks records wanted to change that were not there. Each must be explained
	// by a later record that drops or cuts off its relation.
	missing map[storage.BlockTag]storage.LSN
}

// NewRedoContext returns a context over pool.
func NewRedoContext(pool *storage.Pool) *RedoContext {
	return &RedoContext{Pool: pool, missing: make(map[storage.BlockTag]storage.LSN)}
}

// Block returns block reference i of rec. Unless the action is Missing the
// buffer is pinned and latched exclusively, and the caller ends with Finish (or
// unlatches and unpins itself). With WillInit the page comes zeroed and the
// action is Needs.
func (r *RedoContext) Block(rec *Record, i int) (buf *storage.Buffer, action Action, err error) {
	if i >= len(rec.Blocks) {
		return nil, ActionMissing, pgerr.New(pgerr.InternalError, "log record at %v has no block %d", rec.LSN, i)
	}
	ref := &rec.Blocks[i]
	if ref.WillInit || ref.HasImage {
		return r.makeBlock(rec, ref)
	}
	ok, err := r.present(rec, ref.Tag)
	if err != nil || !ok {
		return nil, ActionMissing, err
	}
	if buf, err = r.Pool.Read(ref.Tag, nil); err != nil {
		return nil, ActionMissing, err
	}
	buf.LockExclusive(redoClass(ref.Tag.Fork))
	if buf.Page().LSN() >= rec.EndLSN {
		return buf, ActionDone, nil
	}
	return buf, ActionNeeds, nil
}

// makeBlock returns a block that is written whole, whatever the file holds: where the page is
// newer than the record, the records between are applied to it again.
func (r *RedoContext) makeBlock(rec *Record, ref *BlockRef) (*storage.Buffer, Action, error) {
	if err := r.Pool.Files().EnsureBlocks(ref.Tag.Rel, ref.Tag.Fork, ref.Tag.Block+1); err != nil {
		return nil, ActionMissing, err
	}
	buf, err := r.Pool.ReadZeroed(ref.Tag)
	if err != nil {
		return nil, ActionMissing, err
	}
	buf.LockExclusive(redoClass(ref.Tag.Fork))
	if !ref.HasImage {
		clear(buf.Page())
		return buf, ActionNeeds, nil
	}
	if err := ref.RestoreImage(buf.Page()); err != nil {
		buf.ReleaseExclusive()
		return nil, ActionMissing, fmt.Errorf("image of %v in the log record at %v: %w", ref.Tag, rec.LSN, err)
	}
	buf.MarkDirty()
	if !buf.Page().IsNew() {
		buf.Page().SetLSN(rec.EndLSN)
	}
	return buf, ActionRestored, nil
}

// present reports whether the block is there, and notes it when it is not. The maps are
// made longer instead: their pages may be lost as they can be made anew.
func (r *RedoContext) present(rec *Record, tag storage.BlockTag) (bool, error) {
	files := r.Pool.Files()
	if tag.Fork != storage.MainFork {
		exists, err := files.Exists(tag.Rel, storage.MainFork)
		if err != nil || !exists {
			return false, err
		}
		return true, files.EnsureBlocks(tag.Rel, tag.Fork, tag.Block+1)
	}
	exists, err := files.Exists(tag.Rel, tag.Fork)
	if err != nil {
		return false, err
	}
	if exists {
		n, err := files.NBlocks(tag.Rel, tag.Fork)
		if err != nil {
			return false, err
		}
		if tag.Block < n {
			return true, nil
		}
	}
	if _, known := r.missing[tag]; !known {
		r.missing[tag] = rec.LSN
	}
	return false, nil
}

// Forget drops the missing blocks from block on of a relation's fork: the
// record being redone cuts them off.
func (r *RedoContext) Forget(rel storage.RelFile, fork storage.Fork, from storage.BlockNumber) {
	r.forget(func(tag storage.BlockTag) bool {
		return tag.Rel == rel && tag.Fork == fork && tag.Block >= from
	})
}

// ForgetRelation drops the missing blocks of a relation whose files the record being redone
// removes.
func (r *RedoContext) ForgetRelation(rel storage.RelFile) {
	r.forget(func(tag storage.BlockTag) bool { return tag.Rel == rel })
}

// ForgetDatabase does so for a whole database.
func (r *RedoContext) ForgetDatabase(db uint32) {
	r.forget(func(tag storage.BlockTag) bool { return tag.Rel.Database == db })
}

func (r *RedoContext) forget(gone func(storage.BlockTag) bool) {
	for tag := range r.missing {
		if gone(tag) {
			delete(r.missing, tag)
		}
	}
}

// CheckMissing returns an error when a record's block was missing and nothing in
// the log explains it.
func (r *RedoContext) CheckMissing() error {
	for tag, lsn := range r.missing {
		return pgerr.New(pgerr.DataCorrupted, "log contains references to invalid pages").
			WithDetail("%v is missing; the record at %v changes it (one of %d blocks).", tag, lsn, len(r.missing))
	}
	return nil
}

// Finish stamps a page that redo changed with the record's end, marks it dirty
// and lets it go. changed is false after ActionDone. A nil buf is ignored.
func (r *RedoContext) Finish(buf *storage.Buffer, rec *Record, changed bool) {
	if buf == nil {
		return
	}
	if changed {
		buf.MarkDirty()
		buf.Page().SetLSN(rec.EndLSN)
	}
	buf.ReleaseExclusive()
}

func redoClass(fork storage.Fork) storage.LatchClass {
	switch fork {
	case storage.FSMFork:
		return storage.ClassFSM
	case storage.VMFork:
		return storage.ClassVM
	}
	return storage.ClassOther
}
