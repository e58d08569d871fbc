package locks

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/minipg/minipg/metrics"
)

func benchManager(table bool) *Manager {
	cfg := Config{Metrics: metrics.Discard()}
	if table {
		cfg.ExtensionTable = NewExtensionTable(DefaultExtensionEntries, cfg.Metrics)
	}
	return NewManager(cfg)
}

func benchExtension(b *testing.B, table bool) {
	x := benchManager(table).NewSession(1).Extension()
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if x.Lock(ctx, 5, 16384) != nil {
			b.Fatal("not locked")
		}
		x.Unlock(5, 16384)
	}
}

// BenchmarkAtomicPair is what no lock of two atomic steps can go below on this machine.
func BenchmarkAtomicPair(b *testing.B) {
	var word atomic.Uint64
	for b.Loop() {
		if w := word.Load(); !word.CompareAndSwap(w, w+entryHeld+entryAcquired) {
			b.Fatal("not locked")
		}
		word.Add(^uint64(entryHeld - 1))
	}
}

// The heavyweight lock is the whole of it: the session's local table and list, the partition, lock
// and hold. Locktype extend never goes the fast path, in PostgreSQL neither.
func BenchmarkTableUncontended(b *testing.B)       { benchExtension(b, true) }
func BenchmarkHeavyweightUncontended(b *testing.B) { benchExtension(b, false) }

func benchExtensionContended(b *testing.B, table bool) {
	for _, sessions := range []int{2, 8} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			m := benchManager(table)
			ctx := context.Background()
			var pid atomic.Int32
			b.ReportAllocs()
			b.SetParallelism((sessions + 1) / 2)
			b.RunParallel(func(pb *testing.PB) {
				x := m.NewSession(pid.Add(1)).Extension()
				for pb.Next() {
					if x.Lock(ctx, 5, 16384) != nil {
						b.Error("not locked")
					}
					x.Unlock(5, 16384)
				}
			})
		})
	}
}

func BenchmarkTableContended(b *testing.B)       { benchExtensionContended(b, true) }
func BenchmarkHeavyweightContended(b *testing.B) { benchExtensionContended(b, false) }

func BenchmarkLockModes(b *testing.B) {
	cases := []struct {
		name string
		tag  Tag
		mode Mode
	}{
		{"fastpath", RelationTag(5, 16384), RowExclusive},
		{"relation", RelationTag(5, 16384), ShareUpdateExclusive},
		{"tuple", TupleTag(5, 16384, 7, 8), Exclusive},
		{"strong", RelationTag(5, 16384), AccessExclusive},
	}
	for _, c := range cases {
		b.Run("lock="+c.name, func(b *testing.B) {
			s := benchManager(true).NewSession(1)
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				if s.Lock(ctx, c.tag, c.mode, LockOptions{}) != nil {
					b.Fatal("not locked")
				}
				s.ReleaseTransaction()
			}
		})
	}
}

func BenchmarkXID(b *testing.B) {
	s := benchManager(true).NewSession(1)
	b.ReportAllocs()
	xid := uint64(3)
	for b.Loop() {
		s.LockXID(xid)
		s.ReleaseTransaction()
		xid++
	}
}
