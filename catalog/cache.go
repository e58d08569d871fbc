package catalog

import (
	"encoding/binary"
	"sync"
)

// cache keeps descriptors of the committed state.
type cache struct {
	mu struct {
		sync.RWMutex
		rels map[relKey]*Relation
		// names maps the key of pg_class's name index (without the row key) to OIDs, 0 for none.
		names map[string]OID
		// objs keeps other objects; an entry counts while its catalog's generation is the same.
		objs map[objKey]objEntry
		gens map[relKey]uint64
	}
}

// maxCached bounds each map: past it, the map starts anew.
const maxCached = 1 << 16

type relKey struct{ db, rel OID }

// objKey names a cached lookup: one of the lookups on a catalog and its arguments.
type objKey struct {
	db, rel OID
	kind    uint8
	a, b    uint64
	s       string
}

type objEntry struct {
	gen uint64
	val any
}

func (c *cache) reset() {
	c.mu.rels = map[relKey]*Relation{}
	c.mu.names = map[string]OID{}
	c.mu.objs = map[objKey]objEntry{}
	c.mu.gens = map[relKey]uint64{}
}

// invalidation is what a payload makes stale.
type invalidation struct {
	rels  map[relKey]struct{}
	gens  map[relKey]struct{}
	names []string
}

func (v *invalidation) touched(db, rel OID) {
	if v.rels == nil {
		v.rels = map[relKey]struct{}{}
	}
	v.rels[relKey{db, rel}] = struct{}{}
}

const (
	keyPrefixLen = 9
	// classPKLen is the length of pg_class's row key columns at the end of its index keys.
	classPKLen = 5
	// classNameSlot is pg_class_relname_nsp_index's number in keys.
	classNameSlot = 1
)

func (v *invalidation) key(k []byte) {
	g := relKey{OID(binary.BigEndian.Uint32(k)), OID(binary.BigEndian.Uint32(k[4:]))}
	if v.gens == nil {
		v.gens = map[relKey]struct{}{}
	}
	v.gens[g] = struct{}{}
	if g.rel == PgClass && k[8] == classNameSlot && len(k) > classPKLen {
		v.names = append(v.names, string(k[:len(k)-classPKLen]))
	}
}

// invalidate moves the version. Requires: the caller holds applyMu, and the changes are readable.
func (c *cache) invalidate(cat *Catalog, v *invalidation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cat.version.Add(1)
	for k := range v.rels {
		if r := c.mu.rels[k]; r != nil {
			r.stale.Store(true)
			delete(c.mu.rels, k)
		}
	}
	for k := range v.gens {
		c.mu.gens[k]++
	}
	for _, n := range v.names {
		delete(c.mu.names, n)
	}
}

func (c *cache) relation(k relKey) *Relation {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.mu.rels[k]
}

// putRelation caches r, built while the version was v, unless a commit came in between, and
// returns the descriptor to use: another's if there is one, so that pointers stay equal.
func (c *cache) putRelation(cat *Catalog, k relKey, r *Relation, v uint64) *Relation {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cat.version.Load() != v {
		return r
	}
	if have := c.mu.rels[k]; have != nil {
		return have
	}
	if len(c.mu.rels) >= maxCached {
		for _, r := range c.mu.rels {
			r.stale.Store(true)
		}
		clear(c.mu.rels)
	}
	c.mu.rels[k] = r
	return r
}

func (c *cache) name(k string) (OID, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	oid, ok := c.mu.names[k]
	return oid, ok
}

func (c *cache) putName(cat *Catalog, k string, oid OID, v uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cat.version.Load() != v {
		return
	}
	if len(c.mu.names) >= maxCached {
		clear(c.mu.names)
	}
	c.mu.names[k] = oid
}

// object returns a cached lookup, and the generation to put one under if there is none.
func (c *cache) object(k objKey) (val any, gen uint64, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	gen = c.mu.gens[relKey{k.db, k.rel}]
	e, found := c.mu.objs[k]
	if !found || e.gen != gen {
		return nil, gen, false
	}
	return e.val, gen, true
}

func (c *cache) putObject(k objKey, gen uint64, val any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.gens[relKey{k.db, k.rel}] != gen {
		return
	}
	if len(c.mu.objs) >= maxCached {
		clear(c.mu.objs)
	}
	c.mu.objs[k] = objEntry{gen, val}
}
