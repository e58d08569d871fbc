package sql

import (
	"bytes"
	"context"
	"encoding/binary"
	"strconv"
	"sync"

	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/parse"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// The bounds of the plan caches.
const (
	maxSessionPlans = 256
	maxSharedPlans  = 1024 // in each shard
	sharedShards    = 16
	maxVariants     = 32   // plans of one text for different pinned literals
	maxCachedText   = 8192 // bytes of a statement worth remembering
)

// planEntry is all that is remembered of one text without its literals.
type planEntry struct {
	mu struct {
		sync.RWMutex
		variants []planVariant
	}
}

// planVariant is a plan and the pinned literals it is good for.
type planVariant struct {
	pinned string
	c      *compiled
	stmt   *parse.Stmt // of a statement with parameters
}

// find returns the plan of version for these literals.
func (e *planEntry) find(sql string, lits []parse.Literal, version uint64) *compiled {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for i := range e.mu.variants {
		v := &e.mu.variants[i]
		if v.c.version == version && matchesPinned(v, sql, lits) {
			return v.c
		}
	}
	return nil
}

func matchesPinned(v *planVariant, sql string, lits []parse.Literal) bool {
	rest := v.pinned
	for _, i := range v.c.pinned {
		text := sql[lits[i].Start:lits[i].End]
		if len(rest) <= len(text) || rest[:len(text)] != text || rest[len(text)] != 0 {
			return false
		}
		rest = rest[len(text)+1:]
	}
	return rest == ""
}

// statement returns the plan of version of a statement with parameters, and its tree.
func (e *planEntry) statement(version uint64) (*compiled, *parse.Stmt) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for i := range e.mu.variants {
		if v := &e.mu.variants[i]; v.c.version == version {
			return v.c, v.stmt
		}
	}
	return nil, nil
}

// putStatement remembers the plan of a statement with parameters, in place of an older one.
func (e *planEntry) putStatement(c *compiled, stmt *parse.Stmt) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.variants = append(e.mu.variants[:0:0], planVariant{c: c, stmt: stmt})
}

func (e *planEntry) put(sql string, lits []parse.Literal, c *compiled) {
	var pinned []byte
	for _, i := range c.pinned {
		pinned = append(append(pinned, sql[lits[i].Start:lits[i].End]...), 0)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	keep := e.mu.variants[:0:0]
	for _, v := range e.mu.variants {
		if v.c.version == c.version && v.pinned != string(pinned) {
			keep = append(keep, v)
		}
	}
	if len(keep) >= maxVariants {
		keep = keep[1:]
	}
	e.mu.variants = append(keep, planVariant{pinned: string(pinned), c: c})
}

// planCache is a session's view of the plans: its own maps, which need no lock, over the server's.
type planCache struct {
	lifted     planMap // by text without its literals
	statements planMap // by text with parameters, and the types declared for them
	env        []byte  // prefix of keys in the server's maps: what plans depend on besides the text
	key        []byte
	shared     []byte // the key in the server's map
}

// planMap is the session's part of one of the server's maps.
type planMap map[string]*planEntry

func (p *planCache) init() { p.lifted, p.statements = make(planMap), make(planMap) }

func (p *planCache) clear() {
	clear(p.lifted)
	clear(p.statements)
	p.env = p.env[:0]
}

// sharedPlans is the server's map of plans.
type sharedPlans struct {
	shards [sharedShards]struct {
		sync.Mutex
		entries map[string]*planEntry
	}
}

func (p *sharedPlans) entry(key []byte) *planEntry {
	var h uint32 = 2166136261
	for _, b := range key {
		h = (h ^ uint32(b)) * 16777619
	}
	sh := &p.shards[h%sharedShards]
	sh.Lock()
	defer sh.Unlock()
	e := sh.entries[string(key)]
	if e != nil {
		return e
	}
	if sh.entries == nil || len(sh.entries) >= maxSharedPlans {
		sh.entries = make(map[string]*planEntry)
	}
	e = &planEntry{}
	sh.entries[string(key)] = e
	return e
}

// cacheEntry finds the entry of key in m, or in the server's map behind it.
func (s *Session) cacheEntry(m planMap, behind *sharedPlans, key []byte) *planEntry {
	if e, ok := m[string(key)]; ok {
		return e
	}
	p := &s.plans
	if len(p.env) == 0 {
		p.env = s.planEnvironment(p.env)
	}
	p.shared = append(append(p.shared[:0], p.env...), key...)
	e := behind.entry(p.shared)
	if len(m) >= maxSessionPlans {
		clear(m)
	}
	m[string(key)] = e
	return e
}

// statementEntry finds the entry of a text with parameters of these types, 0 for those to be found
// out. It is nil for what is not kept.
func (s *Session) statementEntry(text string, declared []types.OID) (*planEntry, error) {
	if len(text) > maxCachedText || s.state == txFailed {
		return nil, nil
	}
	p := &s.plans
	p.key = append(p.key[:0], text...)
	if !plannable(p.key) {
		return nil, nil
	}
	if err := s.ensureTransaction(); err != nil {
		return nil, err
	}
	p.key = append(p.key, 0)
	for _, t := range declared {
		p.key = binary.BigEndian.AppendUint32(p.key, uint32(t))
	}
	return s.cacheEntry(p.statements, &s.srv.statements, p.key), nil
}

// planEnvironment writes down what analysis and planning depend on besides the text and the catalog.
func (s *Session) planEnvironment(dst []byte) []byte {
	dst = strconv.AppendUint(dst, uint64(s.database.OID), 10)
	dst = append(dst, '/')
	dst = strconv.AppendUint(dst, uint64(s.role.OID), 10)
	for _, ns := range s.searchPath() {
		dst = append(dst, '/')
		dst = strconv.AppendUint(dst, uint64(ns), 10)
	}
	dst = append(dst, 0)
	for _, name := range planSettings {
		dst = append(dst, s.setting(name)...)
		dst = append(dst, 0)
	}
	return dst
}

// planSettings are the settings that shape analysis or plans.
var planSettings = []string{
	"enable_seqscan", "enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan", "enable_hashjoin",
	"enable_mergejoin", "enable_nestloop", "enable_hashagg", "enable_sort", "enable_incremental_sort", "enable_material", "seq_page_cost",
	"random_page_cost", "cpu_tuple_cost", "cpu_index_tuple_cost", "cpu_operator_cost", "work_mem",
	"effective_cache_size", "max_parallel_workers_per_gather", "DateStyle", "IntervalStyle", "TimeZone",
	"transform_null_equals", "standard_conforming_strings", "extra_float_digits", "bytea_output",
}

// cachedPlan finds or makes a plan for a statement given as text without parameters. It
// returns nil for what is not kept: utility statements, several statements, long texts.
func (s *Session) cachedPlan(ctx context.Context, text string) (*compiled, error) {
	if len(text) > maxCachedText || !s.lift.Lift(text, s.standardStrings()) || !plannable(s.lift.Key) {
		return nil, nil
	}
	e := s.cacheEntry(s.plans.lifted, &s.srv.plans, s.lift.Key)
	if c := e.find(text, s.lift.Literals, s.eng.Catalog().Version()); c != nil {
		s.srv.metrics.PlanCacheHits.AddAt(s.hint(), 1)
		return c, nil
	}
	s.srv.metrics.PlanCacheMisses.Inc()
	c, err := s.compileLifted(ctx, text)
	if err != nil || c == nil {
		return nil, err
	}
	if !s.eng.Catalog().Changed() {
		e.put(text, s.lift.Literals, c)
	}
	return c, nil
}

// plannable tells from the first word whether a statement has a plan.
func plannable(key []byte) bool {
	for len(key) > 0 && (key[0] == ' ' || key[0] == '\n' || key[0] == '\t' || key[0] == '\r') {
		key = key[1:]
	}
	if len(key) > 0 && key[0] == '(' {
		return true
	}
	var word [len("select")]byte
	n := 0
	for n < len(key) && n < len(word) && (key[n]|0x20) >= 'a' && (key[n]|0x20) <= 'z' {
		word[n] = key[n] | 0x20
		n++
	}
	switch string(word[:n]) {
	case "select", "insert", "update", "delete", "values", "with", "table":
		return true
	}
	return n == 0 && len(key) > 0 && (key[0] == '/' || key[0] == '-') // a comment: the parser decides
}

// compileLifted compiles text with its literals left open. It returns nil, and no
// error, where that cannot be done: the caller goes the ordinary way.
func (s *Session) compileLifted(ctx context.Context, text string) (*compiled, error) {
	stmts, err := parse.Parse(text)
	if err != nil || len(stmts) != 1 || !hasPlan(stmts[0].Node) {
		return nil, err
	}
	lift := &liftState{
		literals: append([]parse.Literal(nil), s.lift.Literals...), pinned: make([]bool, len(s.lift.Literals)),
	}
	var c *compiled
	// A literal pinned late may have been lifted before: once more, with it kept.
	for range len(lift.pinned) + 2 {
		before := countTrue(lift.pinned)
		c, err = s.compile(ctx, stmts[0].Node, text, nil, lift)
		if err != nil {
			return nil, err
		}
		if lift.noticed {
			return nil, nil
		}
		conflict := s.findSlots(c, lift, text)
		if !conflict && countTrue(lift.pinned) == before {
			break
		}
	}
	for i, pinned := range lift.pinned {
		if pinned {
			c.pinned = append(c.pinned, i)
		}
	}
	c.lifted = len(lift.pinned)
	return c, nil
}

func countTrue(list []bool) int {
	n := 0
	for _, b := range list {
		if b {
			n++
		}
	}
	return n
}

// findSlots looks through the plan for the literals it left open and how each is to be
// converted. A literal used as two types, or one that no longer stands in the plan, is pinned.
func (s *Session) findSlots(c *compiled, lift *liftState, text string) (conflict bool) {
	c.slots = c.slots[:0]
	found := make(map[int]literalSlot)
	plan.VisitExprs(c.prog.Plan(), func(e analyze.Expr) {
		k, ok := e.(*analyze.Const)
		if !ok || k.Lifted == 0 {
			return
		}
		slot := literalSlot{literal: k.Lifted - 1, typ: k.Typ, typmod: k.Mod}
		negate, sure := negated(k, s.lift.Literals[slot.literal], text)
		slot.negate = negate
		if old, dup := found[slot.literal]; !sure || dup && old != slot {
			lift.pinned[slot.literal] = true
			conflict = true
			return
		}
		found[slot.literal] = slot
	})
	for i := range lift.pinned {
		slot, ok := found[i]
		switch {
		case ok && !lift.pinned[i]:
			c.slots = append(c.slots, slot)
		case !lift.pinned[i] && lift.literals[i].Same == i:
			lift.pinned[i] = true // analysis looked at its value, or dropped it
		}
	}
	return conflict
}

// negated tells whether the constant is the literal with the minus sign before it folded
// in; sure is false where that cannot be told from its value.
func negated(k *analyze.Const, lit parse.Literal, text string) (negate, sure bool) {
	if lit.Class == parse.LiteralString {
		return false, true
	}
	i := lit.Start - 1
	for i >= 0 && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t') {
		i--
	}
	if i < 0 || text[i] != '-' {
		return false, true
	}
	switch k.Typ {
	case types.Int2, types.Int4, types.Int8:
		v := k.Value.Int64()
		return v < 0, v != 0
	case types.Float4, types.Float8:
		v := k.Value.Float64()
		return v < 0, v != 0
	case types.Numeric:
		out := types.Out(types.Numeric, k.Value, nil, nil)
		zero := len(bytes.Trim(out, "0.")) == 0
		return len(out) > 0 && out[0] == '-', !zero
	}
	return false, false
}

// bindLiterals converts the literals of text for a plan found in the cache. false means
// that one could not be: the statement is analysed on its own text, which raises the error.
func (s *Session) bindLiterals(c *compiled, text string) bool {
	for len(s.literals) < c.lifted {
		s.literals = append(s.literals, types.Datum{})
	}
	for i := range c.slots {
		slot := &c.slots[i]
		lit := &s.lift.Literals[slot.literal]
		d, ok := s.literal(slot, lit, text)
		if !ok {
			return false
		}
		s.literals[slot.literal] = d
	}
	return true
}

func (s *Session) literal(slot *literalSlot, lit *parse.Literal, text string) (types.Datum, bool) {
	raw := text[lit.Start:lit.End]
	if lit.Class == parse.LiteralInt4 && (slot.typ == types.Int4 || slot.typ == types.Int8) {
		var v int64
		for i := range len(raw) {
			v = v*10 + int64(raw[i]-'0')
		}
		if slot.negate {
			v = -v
		}
		return types.Int64Datum(v), true
	}
	value := lit.Value(nil, text)
	if slot.negate {
		value = append([]byte{'-'}, value...)
	}
	d, err := types.In(slot.typ, slot.typmod, value, &s.env)
	return d, err == nil
}
