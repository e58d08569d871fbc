package engine

import (
	"context"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/wal"
)

// paceSleep is how long a checkpoint that is ahead of its schedule rests.
const paceSleep = 100 * time.Millisecond

// checkpointer runs one checkpoint at a time.
type checkpointer struct {
	mu       sync.Mutex // held through a checkpoint
	requests chan checkpointRequest
	wal      chan struct{} // the log entered another segment
	hurry    atomic.Int32  // requests that wait: nobody sleeps

	builder  wal.Builder
	last     time.Time   // when the last one began
	end      storage.LSN // behind the last one's record
	distance float64     // bytes of log between checkpoints, smoothed as PostgreSQL does
}

type checkpointRequest struct {
	immediate bool // without sleeping
	force     bool // also where nothing was logged since the last one
	timed     bool // asked for by the clock
	done      chan<- error
}

func (c *checkpointer) init() {
	c.requests = make(chan checkpointRequest)
	c.wal = make(chan struct{}, 1)
}

// kick is called by the log when it enters a segment.
func (c *checkpointer) kick() {
	select {
	case c.wal <- struct{}{}:
	default:
	}
}

// Checkpoint makes one at once (CHECKPOINT).
func (e *Engine) Checkpoint(ctx context.Context) error {
	e.ckpt.hurry.Add(1)
	defer e.ckpt.hurry.Add(-1)
	done := make(chan error, 1)
	select {
	case e.ckpt.requests <- checkpointRequest{immediate: true, force: true, done: done}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-e.bg.ctx.Done():
		return pgerr.New(pgerr.AdminShutdown, "the database system is shutting down")
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (e *Engine) runCheckpointer(ctx context.Context) {
	c := &e.ckpt
	c.mu.Lock()
	c.last = e.cfg.Now()
	c.mu.Unlock()
	timer := time.NewTimer(e.opt.CheckpointTimeout())
	defer timer.Stop()
	for {
		req := checkpointRequest{timed: true}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-c.wal:
			if e.log.InsertLSN()-e.log.RedoPoint() < storage.LSN(e.checkpointDistance()) {
				continue
			}
			req = checkpointRequest{}
		case req = <-c.requests:
		}
		err := e.checkpoint(ctx, req)
		if err != nil && ctx.Err() == nil && !e.dead.Load() {
			e.logger.Error("checkpoint failed", zap.Error(err))
		}
		if req.done != nil {
			req.done <- err
		}
		timer.Reset(e.opt.CheckpointTimeout())
	}
}

// checkpointDistance is how much log makes a checkpoint begin: so much that the log stays below
// max_wal_size when the next one ends.
func (e *Engine) checkpointDistance() int64 {
	return int64(float64(e.opt.MaxWALSize()) / (1 + e.opt.CheckpointCompletion()))
}

// checkpoint is Invariant 3.
func (e *Engine) checkpoint(ctx context.Context, req checkpointRequest) error {
	c := &e.ckpt
	c.mu.Lock()
	defer c.mu.Unlock()
	if !req.force && e.log.InsertLSN() == c.end {
		return nil // nothing happened since the last one
	}
	began := e.cfg.Now()
	c.last = began
	redo := e.log.AdvanceRedoPoint()
	rec := checkpointRecord{
		redo: redo, nextXID: uint64(e.txn.NextXID()), oldestXID: uint64(e.txn.Horizon()),
		nextOID: e.oids.logged(), nextFile: e.files.logged(),
	}
	written, err := e.flushEverything(ctx, storage.FlushOptions{
		SkipUnlogged: true, // a crash empties them
		Pace:         c.pace(e, req, redo, began),
	})
	if err != nil {
		return err
	}
	if err := e.recordCheckpoint(kindCheckpoint, rec); err != nil {
		return err
	}
	e.cfg.Metrics.Checkpoints[requestKind(req)].Inc()
	e.cfg.Metrics.CheckpointWrite.Observe(e.cfg.Now().Sub(began).Seconds())
	e.logger.Info("checkpoint complete", zap.Int("buffers", written), zap.Stringer("redo", redo),
		zap.Duration("total", e.cfg.Now().Sub(began)))
	return e.recycleLog(redo)
}

func requestKind(req checkpointRequest) int {
	if req.timed {
		return 0
	}
	return 1
}

// flushEverything makes durable what was logged before the redo point.
func (e *Engine) flushEverything(ctx context.Context, opts storage.FlushOptions) (written int, err error) {
	e.txn.DelayBarrier()
	if err := e.txn.FlushAll(); err != nil {
		return 0, err
	}
	if err := e.cat.Flush(ctx); err != nil {
		return 0, err
	}
	if written, err = e.pool.FlushAll(ctx, opts); err != nil {
		return written, err
	}
	return written, e.syncFiles(ctx)
}

// syncFiles syncs the relation files. A file whose sync failed may have lost what was written, and
// syncing it again would only say that it is clean now: the server stops, and replays the log.
func (e *Engine) syncFiles(ctx context.Context) error {
	err := e.pool.SyncPending(ctx)
	if err != nil && ctx.Err() == nil {
		e.fatal(err)
	}
	return err
}

// recordCheckpoint logs the record, flushes it and writes the control file.
func (e *Engine) recordCheckpoint(kind wal.Kind, rec checkpointRecord) error {
	c := &e.ckpt
	c.builder.Reset(wal.RMEngine, kind, 0, 0)
	c.builder.Data(rec.encode()...)
	if err := e.log.Reserve(c.builder.InsertLen()); err != nil {
		return err
	}
	c.end = e.log.Insert(&c.builder)
	if err := e.log.Flush(c.end); err != nil {
		return err
	}
	e.control.Lock()
	defer e.control.Unlock()
	ctl := &e.control.Control
	ctl.State = wal.StateInProduction
	if kind == kindShutdown {
		ctl.State = wal.StateShutDown
	}
	ctl.Checkpoint, ctl.Redo = c.builder.LSN(), rec.redo
	ctl.NextXID, ctl.OldestXID = rec.nextXID, rec.oldestXID
	ctl.NextOID, ctl.NextFile = uint32(min(rec.nextOID, 1<<32-1)), storage.FileNumber(rec.nextFile)
	return e.writeControl()
}

func (e *Engine) writeControl() error {
	e.control.Time = e.cfg.Now().UnixMicro()
	return wal.WriteControl(e.fs, e.cfg.Dir, &e.control.Control)
}

// recycleLog lets go of the log before redo, keeping as many segments as the next checkpoints will
// probably fill.
func (e *Engine) recycleLog(redo storage.LSN) error {
	c := &e.ckpt
	gone := float64(e.log.InsertLSN() - redo)
	// PostgreSQL's: rise at once, fall slowly.
	if gone > c.distance {
		c.distance = gone
	} else {
		c.distance = 0.9*c.distance + 0.1*gone
	}
	keep := int64(c.distance * (1 + e.opt.CheckpointCompletion()) * 1.1)
	keep = min(max(keep, e.opt.MinWALSize()), e.opt.MaxWALSize())
	keep = max(keep-int64(e.log.InsertLSN()-redo), 0)
	removed, recycled, err := e.log.Recycle(redo, keep)
	if removed+recycled > 0 {
		e.logger.Debug("log segments", zap.Int("removed", removed), zap.Int("recycled", recycled))
	}
	return err
}

// pace spreads a checkpoint's writes over checkpoint_completion_target of the time, or of the
// log, that passes until the next one is due.
func (c *checkpointer) pace(e *Engine, req checkpointRequest, redo storage.LSN, began time.Time) func(done, total int) error {
	if req.immediate {
		return nil
	}
	target := e.opt.CheckpointCompletion()
	return func(done, total int) error {
		for c.hurry.Load() == 0 {
			progress := float64(done) / float64(total) * target
			byLog := float64(e.log.InsertLSN()-redo) / float64(e.checkpointDistance())
			byTime := float64(e.cfg.Now().Sub(began)) / float64(e.opt.CheckpointTimeout())
			if progress <= byLog || progress <= byTime || done == total {
				return nil
			}
			select {
			case <-e.bg.ctx.Done():
				return e.bg.ctx.Err()
			case <-time.After(paceSleep):
			}
		}
		return nil
	}
}

// shutdownCheckpoint leaves nothing to replay.
func (e *Engine) shutdownCheckpoint(ctx context.Context) error {
	e.ckpt.mu.Lock()
	defer e.ckpt.mu.Unlock()
	redo := e.log.AdvanceRedoPoint()
	if _, err := e.flushEverything(ctx, storage.FlushOptions{}); err != nil {
		return err
	}
	return e.recordCheckpoint(kindShutdown, checkpointRecord{
		redo: redo, nextXID: uint64(e.txn.NextXID()), oldestXID: uint64(e.txn.NextXID()),
		nextOID: e.oids.used(), nextFile: e.files.used(),
	})
}

// checkpointRecord is what a checkpoint's log record says.
type checkpointRecord struct {
	redo                                  storage.LSN
	nextXID, oldestXID, nextOID, nextFile uint64
}

func (r *checkpointRecord) encode() []byte {
	var b []byte
	for _, v := range []uint64{uint64(r.redo), r.nextXID, r.oldestXID, r.nextOID, r.nextFile} {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

func decodeCheckpoint(b []byte) (r checkpointRecord, err error) {
	var redo uint64
	for _, v := range []*uint64{&redo, &r.nextXID, &r.oldestXID, &r.nextOID, &r.nextFile} {
		if *v, b, err = readUvarint(b); err != nil {
			return r, err
		}
	}
	r.redo = storage.LSN(redo)
	return r, nil
}
