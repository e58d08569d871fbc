package engine

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// Sample is what ANALYZE looks at.
type Sample struct {
	Rows          [][]types.Datum // plain values, in physical order
	TotalRows     float64         // estimates for the whole table
	DeadRows      float64
	Pages         int64
	AllVisible    int64
	BlocksSampled int64
}

// Sample reads a random sample of at most n rows: PostgreSQL's two stages, random blocks (Knuth's
// algorithm S) and a reservoir of their live rows. The session holds a lock that keeps the
// table in being.
func (s *Session) Sample(ctx context.Context, rel *catalog.Relation, n int) (*Sample, error) {
	t, err := s.OpenTable(ctx, rel)
	if err != nil {
		return nil, err
	}
	blocks, err := t.heap.NBlocks()
	if err != nil {
		return nil, err
	}
	visible, err := t.heap.CountAllVisible()
	if err != nil {
		return nil, err
	}
	sm := &sampler{
		s: s, t: t, want: n, rng: rand.New(rand.NewPCG(s.e.cfg.Random(), uint64(rel.OID))),
		out: &Sample{Pages: int64(blocks), AllVisible: int64(visible)},
	}
	if err := sm.run(ctx, blocks); err != nil {
		return nil, err
	}
	return sm.out, nil
}

type sampler struct {
	s    *Session
	t    *Table
	want int
	rng  *rand.Rand
	out  *Sample

	live, dead int64
	taken      []sampledRow
}

type sampledRow struct {
	tid TID
	row []types.Datum
}

func (sm *sampler) run(ctx context.Context, blocks storage.BlockNumber) error {
	scan := sm.t.heap.NewScan(nil, heap.ScanOptions{All: true, Ring: sm.s.e.pool.NewRing(storage.RingVacuum)})
	defer scan.Close()
	left := min(int64(sm.want), int64(blocks))
	for b := range blocks {
		// Knuth 3.4.2, S: the block is taken with probability (still wanted) / (still there).
		if sm.rng.Int64N(int64(blocks-b)) >= left {
			continue
		}
		left--
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		sm.out.BlocksSampled++
		scan.Reset(b, b+1)
		page, ok, err := scan.NextPage()
		if err != nil {
			return err
		}
		if ok {
			if err := sm.page(page); err != nil {
				return err
			}
		}
	}
	if sm.out.BlocksSampled > 0 {
		scale := float64(blocks) / float64(sm.out.BlocksSampled)
		sm.out.TotalRows, sm.out.DeadRows = float64(sm.live)*scale, float64(sm.dead)*scale
	}
	slices.SortFunc(sm.taken, func(a, b sampledRow) int { return cmp.Or(a.tid.Compare(b.tid)) })
	for _, r := range sm.taken {
		sm.out.Rows = append(sm.out.Rows, r.row)
	}
	return nil
}

func (sm *sampler) page(page *heap.ScanPage) error {
	sm.dead += int64(page.Dead)
	for i := range page.N {
		if !sm.counts(page, i) {
			continue
		}
		sm.live++
		at := len(sm.taken)
		if at >= sm.want {
			if at = int(sm.rng.Int64N(sm.live)); at >= sm.want {
				continue
			}
		} else {
			sm.taken = append(sm.taken, sampledRow{})
		}
		row, err := sm.row(page.Data(i))
		if err != nil {
			return err
		}
		sm.taken[at] = sampledRow{page.TID(i), row}
	}
	return nil
}

// counts is acquire_sample_rows' choice: rows in progress count as their transaction would have them
// if it were ours, and deletions of others as not done.
func (sm *sampler) counts(page *heap.ScanPage, i int) bool {
	switch page.State(i) {
	case heap.StateLive:
		return true
	case heap.StateInsertInProgress:
		return sm.s.tx.IsCurrent(page.Header(i).Xmin)
	case heap.StateDeleteInProgress:
		if sm.s.tx.IsCurrent(page.Header(i).Xmax) {
			sm.dead++
			return false
		}
		return true
	}
	sm.dead++
	return false
}

func (sm *sampler) row(data []byte) ([]types.Datum, error) {
	row := make([]types.Datum, len(sm.t.rel.Attrs))
	if err := sm.t.rel.Row.Decode(slices.Clone(data), row, len(row)); err != nil {
		return nil, err
	}
	return row, sm.t.detoastRow(row)
}
