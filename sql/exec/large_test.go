package exec

import (
	"context"
	"fmt"
	"testing"

	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// Large values come in small batches, whatever makes them, and all of them come.
func TestLargeValues(t *testing.T) {
	const (
		rows = 600
		step = 256
	)
	in := func() *plan.ValuesScan {
		var list [][]any
		for i := range rows {
			list = append(list, []any{(i*7 + 1) % rows * step})
		}
		return values(ints(1), list...)
	}
	lengths := make(map[int]bool, rows)
	for i := range rows {
		lengths[i*step] = true
	}
	repeat := func(e *env) analyze.Expr { return e.call("repeat", val("x"), col(0, 0, types.Int4)) }
	plans := map[string]func(e *env) plan.Node{
		"targets": func(e *env) plan.Node {
			n := in()
			n.Targets = []analyze.Expr{repeat(e)}
			return n
		},
		"filter": func(e *env) plan.Node {
			n := in()
			n.Filter = []analyze.Expr{e.op(">=", e.call("length", repeat(e)), val(0))}
			n.Targets = []analyze.Expr{repeat(e)}
			return n
		},
		"sort": func(e *env) plan.Node {
			n := in()
			n.Targets = []analyze.Expr{repeat(e)}
			return &plan.Sort{Input: n, Keys: []plan.SortKey{{Desc: true}}}
		},
	}
	for name, node := range plans {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.spillAlways()
			got := make(map[int]bool, rows)
			_, err := e.compile(node(e)).Run(context.Background(), &e.st, SinkFunc(func(b *types.Batch) error {
				bytes := 0
				for j := range b.Len() {
					n := b.RowBytes(b.Rows().At(j))
					bytes += n
					got[n] = true
				}
				if most := types.MaxBatchBytes + 2*rows*step; bytes > most {
					return fmt.Errorf("a batch of %d bytes", bytes)
				}
				return nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != fmt.Sprint(lengths) {
				t.Errorf("%d rows of %d", len(got), rows)
			}
			e.noFiles()
		})
	}

	e := newEnv(t)
	length := e.call("length", repeat(e))
	even := e.agg("sum", length)
	even.Filter = e.op("=", e.op("%", length, val(2*step)), val(0))
	n := &plan.Aggregate{Input: in(), Aggs: []plan.AggCall{e.agg("count"), e.agg("sum", length), even, e.agg("max", length)}}
	e.expect(e.run(n), fmt.Sprintf("%d|%d|%d|%d", rows, step*rows*(rows-1)/2, 2*step*(rows/2)*(rows/2-1)/2, (rows-1)*step))
}
