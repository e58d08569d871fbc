package lab

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/metrics"
)

func e5() *Experiment {
	return &Experiment{
		ID: "E5", Title: "Acquire and release of each lock",
		Question: "How much faster is the lock table than the heavyweight lock? Each session takes the lock of the same relation and " +
			"gives it back; one session is the uncontended case.",
		Published: "The thread of E4 claims about 10 times.",
		Tables: []*Table{{
			Unit: "acquire+release a second", Clients: []int{1, 2, 8}, Quick: []int{1, 8}, Few: []int{1, 8}, PublishedRatio: 10,
			NoPostgreSQL: "it is a loop inside the process", measure: measureLock,
			Configs: []Config{
				{Name: "heavyweight", Settings: []Setting{{"relation_extension_lock", "heavyweight"}}},
				{Name: "table", Settings: []Setting{{"relation_extension_lock", "table"}}},
			},
		}},
	}
}

// measureLock has sessions take and give back one lock for some seconds.
func measureLock(ctx context.Context, c *Cell, seconds int) (*Run, error) {
	cfg := locks.Config{Metrics: metrics.New()}
	for _, s := range c.Config.Settings {
		if s.Value == "table" {
			cfg.ExtensionTable = locks.NewExtensionTable(locks.DefaultExtensionEntries, cfg.Metrics)
		}
	}
	m := locks.NewManager(cfg)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	var done atomic.Int64
	var all sync.WaitGroup
	start, cpu := time.Now(), selfCPU()
	for i := range c.Clients {
		all.Go(func() { done.Add(lockLoop(ctx, m.NewSession(int32(i+1)).Extension())) })
	}
	all.Wait()
	elapsed := time.Since(start).Seconds()
	if context.Cause(ctx) != context.DeadlineExceeded {
		return nil, context.Cause(ctx)
	}
	n := float64(done.Load())
	return &Run{
		Seconds: elapsed, Transactions: done.Load(), TPS: n / elapsed, CPUSeconds: selfCPU() - cpu,
		Extra: []Measure{{"ns per acquire+release", elapsed * 1e9 / n}},
	}, nil
}

// lockLoop returns how often it took the lock.
func lockLoop(ctx context.Context, x *locks.Extension) int64 {
	const (
		batch    = 1000 // between two looks at the clock
		db, file = 5, 16384
	)
	var n int64
	for ctx.Err() == nil {
		for range batch {
			if x.Lock(ctx, db, file) != nil {
				return n // the time is over
			}
			x.Unlock(db, file)
			n++
		}
	}
	return n
}
