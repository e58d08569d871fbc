package storage

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// modelItem is what a line pointer should stand for.
type modelItem struct {
	state  LineState
	data   []byte
	target uint16
}

func checkPage(t interface {
	Fatalf(string, ...any)
	Helper()
}, p Page, model []modelItem,
) {
	t.Helper()
	if p.ItemCount() != len(model) {
		t.Fatalf("%d items, want %d", p.ItemCount(), len(model))
	}
	for i, m := range model {
		off := uint16(i + 1)
		if p.State(off) != m.state {
			t.Fatalf("item %d: state %d, want %d", off, p.State(off), m.state)
		}
		switch m.state {
		case LineNormal:
			if !bytes.Equal(p.Item(off), m.data) {
				t.Fatalf("item %d: %q, want %q", off, p.Item(off), m.data)
			}
		case LineRedirect:
			if p.RedirectTarget(off) != m.target {
				t.Fatalf("item %d: target %d, want %d", off, p.RedirectTarget(off), m.target)
			}
		}
	}
	if p.Lower() > p.Upper() || p.Upper() > p.SpecialOffset() {
		t.Fatalf("lower %d, upper %d, special %d", p.Lower(), p.Upper(), p.SpecialOffset())
	}
}

// A heap page: items keep their numbers, pointers are freed and reused.
func TestHeapPageModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Page(make([]byte, PageSize))
		special := rapid.SampledFrom([]int{0, 16, 100}).Draw(t, "special")
		p.Init(special)
		copy(p.Special(), "tail")
		var model []modelItem
		pick := func(t *rapid.T, state LineState) uint16 {
			var of []uint16
			for i, m := range model {
				if m.state == state {
					of = append(of, uint16(i+1))
				}
			}
			if len(of) == 0 {
				t.Skip("none")
			}
			return rapid.SampledFrom(of).Draw(t, "off")
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				data := bytes.Repeat([]byte{byte(rapid.IntRange(1, 255).Draw(t, "b"))}, rapid.IntRange(0, 900).Draw(t, "n"))
				fits := p.FreeSpace() >= len(data)
				off := p.AddItem(0, data, AddAnywhere)
				if off == 0 {
					if fits {
						t.Fatalf("no room for %d in %d", len(data), p.FreeSpace())
					}
					return
				}
				if int(off) > len(model) {
					model = append(model, modelItem{})
				}
				if model[off-1].state != LineUnused {
					t.Fatalf("item %d was in use", off)
				}
				model[off-1] = modelItem{state: LineNormal, data: data}
			},
			"unused": func(t *rapid.T) {
				off := pick(t, LineNormal)
				p.SetUnused(off)
				model[off-1] = modelItem{}
			},
			"dead": func(t *rapid.T) {
				off := pick(t, LineNormal)
				p.SetDead(off)
				model[off-1] = modelItem{state: LineDead}
			},
			"redirect": func(t *rapid.T) {
				off := pick(t, LineNormal)
				p.SetRedirect(off, 7)
				model[off-1] = modelItem{state: LineRedirect, target: 7}
			},
			"free dead": func(t *rapid.T) {
				off := pick(t, LineDead)
				p.SetUnused(off)
				model[off-1] = modelItem{}
			},
			"overwrite": func(t *rapid.T) {
				off := pick(t, LineUnused)
				if p.AddItem(off, []byte("redo"), AddOverwrite) == 0 {
					return
				}
				model[off-1] = modelItem{state: LineNormal, data: []byte("redo")}
			},
			"compact": func(t *rapid.T) {
				p.Compact()
				for len(model) > 0 && model[len(model)-1].state == LineUnused {
					model = model[:len(model)-1]
				}
				used := 0
				for _, m := range model {
					used += len(m.data)
				}
				if want := p.SpecialOffset() - used; p.Upper() != want {
					t.Fatalf("upper %d after compaction, want %d", p.Upper(), want)
				}
			},
			"": func(t *rapid.T) {
				checkPage(t, p, model)
				if special > 0 && string(p.Special()[:4]) != "tail" {
					t.Fatalf("special space overwritten")
				}
			},
		})
	})
}

// An index page: items are in order, without gaps.
func TestIndexPageModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Page(make([]byte, PageSize))
		p.Init(16)
		var model []modelItem
		draw := func(t *rapid.T) []byte {
			return bytes.Repeat([]byte{byte(rapid.IntRange(1, 255).Draw(t, "b"))}, rapid.IntRange(0, 300).Draw(t, "n"))
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				off := rapid.IntRange(1, len(model)+1).Draw(t, "off")
				data := draw(t)
				if p.AddItem(uint16(off), data, AddInsert) == 0 {
					return
				}
				model = append(model[:off-1], append([]modelItem{{state: LineNormal, data: data}}, model[off-1:]...)...)
			},
			"delete": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				off := rapid.IntRange(1, len(model)).Draw(t, "off")
				p.DeleteItem(uint16(off))
				model = append(model[:off-1], model[off:]...)
			},
			"delete many": func(t *rapid.T) {
				var offs []uint16
				var kept []modelItem
				for i, m := range model {
					if rapid.Bool().Draw(t, fmt.Sprint(i)) {
						offs = append(offs, uint16(i+1))
					} else {
						kept = append(kept, m)
					}
				}
				p.DeleteItems(offs)
				model = kept
			},
			"replace": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				off := rapid.IntRange(1, len(model)).Draw(t, "off")
				data := draw(t)
				if p.ReplaceItem(uint16(off), data) {
					model[off-1].data = data
				} else if len(data)-len(model[off-1].data) <= p.ExactFreeSpace() {
					t.Fatalf("refused a replacement that fits")
				}
			},
			"": func(t *rapid.T) { checkPage(t, p, model) },
		})
	})
}

func TestChecksum(t *testing.T) {
	p := Page(make([]byte, PageSize))
	if !p.IsNew() || !p.VerifyChecksum(3) {
		t.Fatal("an all-zero page is new and valid")
	}
	p.Init(0)
	p.AddItem(0, []byte("hello"), AddAnywhere)
	p.SetLSN(0x16_b374d848)
	p.SetPruneXID(1<<47 + 5)
	p.SetChecksum(3)
	tests := []struct {
		name  string
		block BlockNumber
		flip  int // byte, -1 none
		want  bool
	}{
		{"whole", 3, -1, true},
		{"another block's", 4, -1, false},
		{"header", 3, pageLSN, false},
		{"middle", 3, 4000, false},
		{"last byte", 3, PageSize - 1, false},
		{"checksum", 3, pageChecksum, false},
		{"upper gone", 3, pageUpper + 1, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			q := Page(bytes.Clone(p))
			if tc.flip >= 0 {
				q[tc.flip] ^= 0x40
			}
			if got := q.VerifyChecksum(tc.block); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
	torn := Page(make([]byte, PageSize))
	copy(torn[512:], p[512:])
	torn[PageSize-1] = 1
	if torn.VerifyChecksum(3) {
		t.Error("a page whose first sector was lost is not new")
	}
	if p.LSN() != 0x16_b374d848 || p.PruneXID() != 1<<47+5 || p.LSN().String() != "16/B374D848" {
		t.Errorf("header: LSN %v, prune %d", p.LSN(), p.PruneXID())
	}
}

func BenchmarkChecksum(b *testing.B) {
	p := Page(make([]byte, PageSize))
	p.Init(0)
	b.SetBytes(PageSize)
	for b.Loop() {
		p.SetChecksum(1)
	}
}
