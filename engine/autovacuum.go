package engine

import (
	"context"
	"math"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
)

// firstWorkerPID numbers autovacuum's sessions apart from clients'.
const firstWorkerPID = 1 << 30

// launcher is autovacuum: at every nap's end it looks through the counters of all tables and has
// workers clean those that need it.
type launcher struct {
	e       *Engine
	ctx     context.Context //nolint:containedctx // the life of the launcher's goroutines
	cancel  context.CancelFunc
	running sync.WaitGroup
	nextPID int32
	wake    chan struct{}
}

func (l *launcher) init(e *Engine) {
	l.e = e
	l.nextPID = firstWorkerPID
	l.wake = make(chan struct{}, 1)
	l.ctx, l.cancel = context.WithCancel(context.Background())
}

func (l *launcher) start() { l.running.Go(l.run) }

func (l *launcher) stop() {
	l.cancel()
	l.running.Wait()
}

// Autovacuum makes autovacuum look now instead of at the end of its nap.
func (e *Engine) Autovacuum() {
	select {
	case e.vacuums.wake <- struct{}{}:
	default:
	}
}

func (l *launcher) run() {
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-l.wake:
		case <-time.After(l.e.opt.AutovacuumNaptime()):
		}
		if l.e.opt.Autovacuum() && !l.e.dead.Load() {
			l.round()
		}
	}
}

// round works through the tables that need it now, in several workers.
func (l *launcher) round() {
	work := make(chan *tableStats)
	var workers sync.WaitGroup
	for range max(l.e.opt.AutovacuumMaxWorkers(), 1) {
		l.nextPID++
		pid := l.nextPID
		workers.Go(func() {
			for t := range work {
				l.table(pid, t)
			}
		})
	}
	for _, t := range l.e.stats.all() {
		if t.dead.Load() == 0 && t.insertedSince.Load() == 0 && t.modified.Load() == 0 {
			continue
		}
		select {
		case work <- t:
		case <-l.ctx.Done():
		}
	}
	close(work)
	workers.Wait()
}

// table looks at one table and cleans it if its counters say so.
func (l *launcher) table(pid int32, st *tableStats) {
	ctx, cancel := context.WithCancelCause(l.ctx)
	defer cancel(nil)
	s := l.e.NewSession(SessionOptions{PID: pid, Database: st.key.db})
	defer s.Close()
	s.lock.SetInterrupt(func(int32) {
		cancel(pgerr.New(pgerr.QueryCanceled, "canceling autovacuum task"))
	})
	if err := l.tend(ctx, s, st); err != nil && l.ctx.Err() == nil && !l.e.dead.Load() {
		l.e.logger.Warn("autovacuum", zap.Uint32("relation", uint32(st.key.rel)), zap.Error(err))
	}
}

func (l *launcher) tend(ctx context.Context, s *Session, st *tableStats) error {
	rel, err := s.cat.RelationByOID(st.key.rel)
	if err == nil && rel == nil {
		l.e.stats.forget(st.key) // counters of a dropped table
		return nil
	}
	if err != nil || rel.Persistence == catalog.Temporary || rel.File.Number == 0 {
		return err
	}
	needs := l.needs(rel, st)
	if needs.vacuum {
		err := l.inTransaction(ctx, s, rel, func(rel *catalog.Relation) error {
			_, err := s.Vacuum(ctx, rel, VacuumOptions{Auto: true})
			return err
		})
		if err != nil {
			return err
		}
	}
	if !needs.analyze || l.e.cfg.Analyze == nil || rel.Kind == catalog.KindToast {
		return nil
	}
	return l.inTransaction(ctx, s, rel, func(rel *catalog.Relation) error { return l.e.cfg.Analyze(ctx, s, rel) })
}

// inTransaction runs fn with the table locked, or not at all where that would mean waiting.
func (l *launcher) inTransaction(ctx context.Context, s *Session, rel *catalog.Relation, fn func(rel *catalog.Relation) error) error {
	if err := s.Begin(TxOptions{}); err != nil {
		return err
	}
	defer s.Abort(ctx)
	tag := locks.RelationTag(uint32(s.db), uint32(rel.OID))
	if !s.lock.TryLock(tag, locks.ShareUpdateExclusive, locks.LockOptions{}) {
		return nil
	}
	// Under the lock it is what it is.
	rel, err := s.cat.RelationByOID(rel.OID)
	if err != nil || rel == nil {
		return err
	}
	if err := fn(rel); err != nil {
		return err
	}
	l.e.cfg.Metrics.AutovacuumRuns.Inc()
	return s.Commit(ctx, false)
}

type needs struct{ vacuum, analyze bool }

// needs is PostgreSQL's relation_needs_vacanalyze, without the wraparound it need not fear.
func (l *launcher) needs(rel *catalog.Relation, st *tableStats) needs {
	o := &l.e.opt
	if rel.Options["autovacuum_enabled"] == "false" || rel.Options["autovacuum_enabled"] == "off" {
		return needs{}
	}
	tuples := math.Max(float64(rel.Tuples), 0)
	limit := func(name string, threshold int64, scaleName string, scale float64) float64 {
		return option(rel, name, float64(threshold)) + option(rel, scaleName, scale)*tuples
	}
	var n needs
	n.vacuum = float64(st.dead.Load()) > limit("autovacuum_vacuum_threshold", o.AutovacuumThreshold(),
		"autovacuum_vacuum_scale_factor", o.AutovacuumScaleFactor())
	if option(rel, "autovacuum_vacuum_insert_threshold", float64(o.AutovacuumInsertThreshold())) >= 0 {
		n.vacuum = n.vacuum || float64(st.insertedSince.Load()) > limit("autovacuum_vacuum_insert_threshold",
			o.AutovacuumInsertThreshold(), "autovacuum_vacuum_insert_scale_factor", o.AutovacuumInsertScale())
	}
	n.analyze = float64(st.modified.Load()) > limit("autovacuum_analyze_threshold", o.AutovacuumAnalyzeThreshold(),
		"autovacuum_analyze_scale_factor", o.AutovacuumAnalyzeScale())
	return n
}

// option is a storage parameter that is a number.
func option(rel *catalog.Relation, name string, def float64) float64 {
	if text, ok := rel.Options[name]; ok {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return v
		}
	}
	return def
}
