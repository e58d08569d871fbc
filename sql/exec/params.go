package exec

import (
	"bytes"
	"slices"

	"github.com/minipg/minipg/types"
)

// paramState is one executor parameter.
type paramState struct {
	d types.Datum
	// gen changes whenever the value does.
	gen uint64
	buf []byte
	// init computes the value when it is read, for the output of an init plan.
	init   *initPlanState
	column int
}

// param reads an executor parameter.
func (rt *runtime) param(id int) (types.Datum, error) {
	p := &rt.params[id]
	if p.init != nil {
		return p.init.value(p.column)
	}
	return p.d, nil
}

// setParam gives a parameter a value, whose bytes it copies. Setting the same value again keeps
// what was computed from it.
func (rt *runtime) setParam(id int, d types.Datum) {
	p := &rt.params[id]
	if p.gen != 0 && p.d.Null == d.Null && (d.Null || p.d.W == d.W && bytes.Equal(p.d.B, d.B)) {
		return
	}
	p.gen++
	if d.B != nil {
		p.buf = append(p.buf[:0], d.B...)
		d.B = p.buf
	}
	p.d = d
}

// dependOn notes that the node being compiled reads a parameter, or what an init plan was computed from.
func (c *compiler) dependOn(id int) error {
	if c.initOf[id] == nil {
		// The node that has the init plan may be compiled later than what reads it.
		for _, sp := range c.prog.plan.SubPlans {
			if sp.Param == id {
				if err := c.in(newScope(), func() error { return c.initPlan(sp) }); err != nil {
					return err
				}
				break
			}
		}
	}
	if ip := c.initOf[id]; ip != nil {
		c.depends.add(ip.depends...)
		if c.usedInits != nil {
			c.usedInits.add(id)
		}
		return nil
	}
	c.depends.add(id)
	return nil
}

// paramSet is a set of parameter numbers, ascending.
type paramSet struct{ ids []int }

func (s *paramSet) add(ids ...int) {
	for _, id := range ids {
		if i, found := slices.BinarySearch(s.ids, id); !found {
			s.ids = slices.Insert(s.ids, i, id)
		}
	}
}

func (s *paramSet) remove(ids ...int) {
	for _, id := range ids {
		if i, found := slices.BinarySearch(s.ids, id); found {
			s.ids = slices.Delete(s.ids, i, i+1)
		}
	}
}

// freshness tells whether what an operator keeps is still good (invariant 6).
type freshness struct {
	epoch uint64
	gens  []uint64
}

// record notes the present parameters. Call it before the rows are made.
func (f *freshness) record(rt *runtime, depends []int) {
	f.epoch = rt.epoch
	f.gens = f.gens[:0]
	for _, id := range depends {
		f.gens = append(f.gens, rt.params[id].gen)
	}
}

func (f *freshness) holds(rt *runtime, depends []int) bool {
	if f.epoch != rt.epoch {
		return false
	}
	for i, id := range depends {
		if f.gens[i] != rt.params[id].gen {
			return false
		}
	}
	return true
}

func (f *freshness) forget() { f.epoch = 0 }
