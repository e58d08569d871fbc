package catalog

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestOverlayAgainstMap changes an overlay and a map alike, with nested marks.
func TestOverlayAgainstMap(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	var o overlay
	model := map[string]entry{}
	type state struct {
		mark  int
		model map[string]entry
	}
	var marks []state
	for step := range 8000 {
		key := fmt.Sprintf("%c%05d", 'a'+rng.IntN(3), rng.IntN(3000))
		switch r := rng.IntN(100); {
		case r < 60:
			v := []byte(fmt.Sprint(step))
			o.put(key, v)
			model[key] = entry{key: key, val: v, op: opPut}
		case r < 95:
			o.del(key)
			model[key] = entry{key: key, op: opDelete}
		case r < 97 && len(marks) < 20:
			marks = append(marks, state{o.mark(), maps.Clone(model)})
		case r < 98 && len(marks) > 0:
			i := rng.IntN(len(marks))
			o.rollback(marks[i].mark)
			model = marks[i].model
			marks = marks[:i]
		default:
			checkOverlay(t, &o, model, key[:1+rng.IntN(4)])
		}
		if t.Failed() {
			t.Fatalf("step %d", step)
		}
	}
	checkOverlay(t, &o, model, "")
}

func checkOverlay(t *testing.T, o *overlay, model map[string]entry, prefix string) {
	t.Helper()
	var got, want []string
	o.ascend(prefix, func(e *entry) { got = append(got, fmt.Sprint(e.key, e.op, string(e.val))) })
	for _, k := range slices.Sorted(maps.Keys(model)) {
		if strings.HasPrefix(k, prefix) {
			want = append(want, fmt.Sprint(k, model[k].op, string(model[k].val)))
			if e, ok := o.get(k); !ok || e.op != model[k].op {
				t.Errorf("get %s: %v %v", k, e, ok)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("prefix %q: %d entries, want %d", prefix, len(got), len(want))
	}
	if o.n != len(model) {
		t.Errorf("%d entries counted, want %d", o.n, len(model))
	}
}
