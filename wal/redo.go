package wal

import "github.com/minipg/minipg/storage"

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

// RedoContext gives redo its buffers.
type RedoContext struct {
	Pool *storage.Pool
}

// NewRedoContext returns a context over pool.
func NewRedoContext(pool *storage.Pool) *RedoContext { return &RedoContext{Pool: pool} }

// Block returns block reference i of rec. Unless the action is Missing the
// buffer is pinned and latched exclusively, and the caller ends with Finish (or
// unlatches and unpins itself). With WillInit the page comes zeroed
// and the action is Needs or Done.
func (r *RedoContext) Block(rec *Record, i int) (buf *storage.Buffer, action Action, err error) {
	return nil, ActionMissing, nil
}

// Finish stamps a page that redo changed with the record's end, marks it dirty
// and lets it go. changed is false after ActionDone. A nil buf is ignored.
func (r *RedoContext) Finish(buf *storage.Buffer, rec *Record, changed bool) {}
