package btree

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
)

const benchRows = 200_000

func benchEnv(b *testing.B, persistence byte) *env {
	return newEnv(b, envConfig{persistence: persistence, buffers: 16384})
}

// benchTree is a tree of benchRows entries.
func benchTree(b *testing.B, persistence byte) *env {
	e := benchEnv(b, persistence)
	if err := e.pool.TruncateRelation(testRel, 0, 0); err != nil {
		b.Fatal(err)
	}
	i := 0
	tree, err := BulkBuild(context.Background(), e.deps(), e.config(), e.session().w,
		func() (Entry, bool, error) {
			i++
			return Entry{Key: intKey(i), TID: tidOf(i)}, i <= benchRows, nil
		})
	if err != nil {
		b.Fatal(err)
	}
	e.tree = tree
	return e
}

func BenchmarkLookup(b *testing.B) {
	e := benchTree(b, 'u')
	rng := rand.New(rand.NewPCG(1, 1))
	c := e.tree.NewCursor()
	var buf [8]byte
	b.ReportAllocs()
	for b.Loop() {
		key := binary.BigEndian.AppendUint32(append(buf[:0], 1), uint32(1+rng.IntN(benchRows)))
		c.Seek(Bounds{Lo: key, Hi: key}, false)
		if _, _, _, ok, err := c.Next(); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkLookupParallel(b *testing.B) {
	e := benchTree(b, 'u')
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		rng := rand.New(rand.NewPCG(1, 1))
		c := e.tree.NewCursor()
		var buf [8]byte
		for pb.Next() {
			key := binary.BigEndian.AppendUint32(append(buf[:0], 1), uint32(1+rng.IntN(benchRows)))
			c.Seek(Bounds{Lo: key, Hi: key}, false)
			if _, _, _, ok, err := c.Next(); !ok || err != nil {
				b.Error(ok, err)
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	e := benchTree(b, 'u')
	c := e.tree.NewCursor()
	b.ReportAllocs()
	for b.Loop() {
		c.Seek(Bounds{}, false)
		n := 0
		for {
			_, _, _, ok, err := c.Next()
			if err != nil {
				b.Fatal(err)
			}
			if !ok {
				break
			}
			n++
		}
		if n != benchRows {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/entry")
}

func BenchmarkInsert(b *testing.B) {
	for _, persistence := range []byte{'u', 'p'} {
		for _, order := range []string{"ascending", "random"} {
			for _, fast := range []bool{true, false} {
				b.Run(fmt.Sprintf("persistence=%c/order=%s/fastpath=%v", persistence, order, fast), func(b *testing.B) {
					e := benchEnv(b, persistence)
					s := e.session()
					s.w.NoFastPath = !fast
					s.begin()
					rng := rand.New(rand.NewPCG(1, 1))
					var buf [8]byte
					n := 0
					b.ReportAllocs()
					for b.Loop() {
						n++
						k := n
						if order == "random" {
							k = int(rng.Uint32())
						}
						key := binary.BigEndian.AppendUint32(append(buf[:0], 1), uint32(k))
						if err := e.tree.Insert(context.Background(), s.w, key, tidOf(n), nil); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func BenchmarkInsertParallel(b *testing.B) {
	for _, mode := range []LeafLock{LeafLockExclusive, LeafLockUpgrade} {
		b.Run(fmt.Sprintf("leaflock=%d", mode), func(b *testing.B) {
			e := benchEnv(b, 'u')
			var n atomic.Int64
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				s := e.session()
				s.w.LeafLock = mode
				s.begin()
				for pb.Next() {
					k := int(n.Add(1))
					if err := s.insert(intKey(k), tidOf(k)); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}
