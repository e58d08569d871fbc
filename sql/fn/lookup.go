package fn

import (
	"sync"

	"github.com/minipg/minipg/types"
)

// registry collects the entries of the tables in this package.
type registry struct {
	bySrc map[string]*Builtin
	byOID map[types.OID]*Builtin
	aggs  map[types.OID]*Agg
}

func (r *registry) entry(name string) *Builtin {
	b := r.bySrc[name]
	if b == nil {
		b = &Builtin{Name: name}
		r.bySrc[name] = b
	}
	return b
}

// fn enters a scalar function.
func (r *registry) fn(name string, f Func) { r.entry(name).Func = f }

// vec enters a scalar function with its vector form.
func (r *registry) vec(name string, f Func, v VecFunc) {
	b := r.entry(name)
	b.Func, b.Vec = f, v
}

// set enters a set-returning function.
func (r *registry) set(name string, f SRF) { r.entry(name).Set = f }

// sql enters a function that pg_proc has in SQL, by its OID.
func (r *registry) sql(oid types.OID, name string, f Func) {
	r.byOID[oid] = &Builtin{Name: name, Func: f}
}

// builtins fills the registry at the first lookup, so that a process that never evaluates pays nothing.
var builtins = sync.OnceValue(func() *registry {
	r := &registry{
		bySrc: make(map[string]*Builtin, 2600),
		byOID: make(map[types.OID]*Builtin, 64),
		aggs:  make(map[types.OID]*Agg, 192),
	}
	for _, register := range tables {
		register(r)
	}
	return r
})

// Lookup finds a function by pg_proc.prosrc.
func Lookup(prosrc string) (*Builtin, bool) {
	b, ok := builtins().bySrc[prosrc]
	return b, ok
}

// LookupProc finds a function by the OID of its pg_proc row if it is one of those that PostgreSQL writes in SQL and this package in Go,
// else by prosrc.
func LookupProc(oid types.OID, prosrc string) (*Builtin, bool) {
	if b, ok := builtins().byOID[oid]; ok {
		return b, true
	}
	return Lookup(prosrc)
}

// LookupAgg finds an aggregate by the OID of its pg_proc row.
func LookupAgg(oid types.OID) (*Agg, bool) {
	a, ok := builtins().aggs[oid]
	return a, ok
}
