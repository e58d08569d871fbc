package engine

import (
	"context"
	"strings"

	"github.com/minipg/minipg/btree"
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// uniqueCheck is a session's answer to a tree that asks about rows with the key at hand. The
// functions are bound once, so that a check allocates nothing.
type uniqueCheck struct {
	t    *Table
	s    *Session
	self TID // the row that is being entered: no conflict with itself
	live TID // the conflicting version found

	fn      btree.UniqueCheck
	dirtyFn btree.UniqueCheck // takes a row in doubt for a duplicate instead of waiting
}

func (s *Session) uniqueCheck(t *Table, self TID) *uniqueCheck {
	c := &s.row.check
	if c.fn == nil {
		c.s = s
		c.fn, c.dirtyFn = c.check, c.checkDirty
	}
	c.t, c.self = t, self
	return c
}

func (c *uniqueCheck) check(existing btree.TID) (btree.Conflict, txn.XID, error) {
	if TID(existing) == c.self {
		return btree.ConflictNone, 0, nil
	}
	res, err := c.t.heap.LiveStatus(TID(existing), c.s.tx)
	if err != nil {
		return btree.ConflictNone, 0, err
	}
	switch res.State {
	case heap.ChainLive:
		if res.TID == c.self {
			return btree.ConflictNone, 0, nil // an earlier root of the HOT chain we are in
		}
		c.live = res.TID
		return btree.ConflictDup, 0, nil
	case heap.ChainWait:
		return btree.ConflictWait, res.Wait, nil
	case heap.ChainDead:
		if res.AllDead {
			return btree.ConflictDead, 0, nil
		}
	}
	return btree.ConflictNone, 0, nil
}

func (c *uniqueCheck) checkDirty(existing btree.TID) (btree.Conflict, txn.XID, error) {
	conflict, _, err := c.check(existing)
	if conflict == btree.ConflictWait {
		conflict = btree.ConflictDup
	}
	return conflict, 0, err
}

// CheckUnique looks again at a duplicate that DeferUnique collected: 23505 if it is still one. row
// is the row at tid; nothing is checked when it is gone by now.
func (t *Table) CheckUnique(ctx context.Context, s *Session, idx types.OID, tid TID, row []types.Datum) error {
	ti, err := t.index(idx)
	if err != nil {
		return err
	}
	if res, err := t.heap.LiveStatus(tid, s.tx); err != nil || res.State == heap.ChainDead {
		return err
	}
	e := &s.row.entry
	ok, err := ti.fill(ctx, s, row, e)
	if err != nil || !ok || !ti.unique(e) {
		return err
	}
	_, dup, err := ti.tree.CheckUnique(ctx, &s.treeW, e.key, s.uniqueCheck(t, tid).fn)
	if err == nil && dup {
		return t.errDuplicate(s, ti, e.values)
	}
	return err
}

// errDuplicate is 23505 in PostgreSQL's words.
func (t *Table) errDuplicate(s *Session, ti *tableIndex, values []types.Datum) error {
	return pgerr.New(pgerr.UniqueViolation, "duplicate key value violates unique constraint \"%s\"", ti.idx.Name).
		WithDetail("Key %s already exists.", ti.describe(s, values)).
		WithTable(s.schemaOf(t), t.rel.Name).WithConstraint(ti.idx.Name)
}

func (s *Session) schemaOf(t *Table) string {
	ns, err := s.cat.NamespaceByOID(t.rel.Namespace)
	if err != nil || ns == nil {
		return ""
	}
	return ns.Name
}

// describe is "(a, b)=(1, x)".
func (ti *tableIndex) describe(s *Session, values []types.Datum) string {
	var b strings.Builder
	b.WriteByte('(')
	for i := range ti.keys {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(ti.keyText(i))
	}
	b.WriteString(")=(")
	for i := range ti.keys {
		if i > 0 {
			b.WriteString(", ")
		}
		if values[i].Null {
			b.WriteString("null")
			continue
		}
		b.Write(types.Out(ti.keys[i].typ, values[i], nil, s.Env))
	}
	b.WriteByte(')')
	return b.String()
}

// keyText is a key column as pg_get_indexdef words it.
func (ti *tableIndex) keyText(i int) string {
	k := &ti.idx.Keys[i]
	if k.AttNum != 0 {
		return catalog.QuoteIdent(k.Name)
	}
	return k.Expr
}
