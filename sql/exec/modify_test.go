package exec

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/heap"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/txn"
	"github.com/minipg/minipg/types"
)

// accounts is a table of (id int, balance int) with some rows, and what tests do with it.
type accounts struct {
	*env
	rel *catalog.Relation
	tab *fakeTable
}

type oneTable struct{ tables map[types.OID]*fakeTable }

func (o oneTable) Open(_ context.Context, rel *catalog.Relation) (Table, error) {
	return o.tables[rel.OID], nil
}

func newAccounts(t *testing.T) *accounts {
	e := newEnv(t)
	rel := fakeRelation(20000, "accounts", []string{"id", "balance"}, ints(2))
	rel.Indexes = []*catalog.Index{{
		OID: 20001, Unique: true, Immediate: true, NKeyAtts: 1, Keys: []catalog.IndexKey{{AttNum: 1, Type: types.Int4}},
	}}
	a := &accounts{env: e, rel: rel, tab: newFakeTable(rel, []any{1, 100}, []any{2, 200}, []any{3, 300})}
	a.tab.unique = 0
	e.st.Tables = oneTable{map[types.OID]*fakeTable{rel.OID: a.tab}}
	e.st.Snapshot = &txn.Snapshot{}
	return a
}

func (a *accounts) scan(filter ...analyze.Expr) *plan.SeqScan {
	return &plan.SeqScan{
		Relation: a.rel,
		Base: plan.Base{
			Targets: append(cols(0, types.Int4, types.Int4), &plan.Col{Typed: typed(types.Tid), Index: plan.CtidColumn}), Filter: filter,
		},
	}
}

func (a *accounts) byKey(id analyze.Expr) *plan.IndexScan {
	return &plan.IndexScan{
		Relation: a.rel, Index: a.rel.Indexes[0], Unique: true,
		Base: plan.Base{Targets: append(cols(0, types.Int4, types.Int4), &plan.Col{Typed: typed(types.Tid), Index: plan.CtidColumn})},
		Conds: []plan.IndexCond{{
			Strategy: plan.IndexEqual, Value: id, Source: a.op("=", col(0, 0, types.Int4), id),
		}},
	}
}

// update is UPDATE accounts SET balance = balance + 1 over an input of (id, balance, ctid).
func (a *accounts) update(in plan.Node) *plan.ModifyTable {
	in.Common().Targets[1] = a.op("+", col(0, 1, types.Int4), val(1))
	return &plan.ModifyTable{Input: in, Command: analyze.Update, Relation: a.rel, Assigned: []int{2}, CtidColumn: 2}
}

func (a *accounts) delete(in plan.Node) *plan.ModifyTable {
	in.Common().Targets = in.Common().Targets[2:]
	return &plan.ModifyTable{Input: in, Command: analyze.Delete, Relation: a.rel}
}

func (a *accounts) insert(rows ...[]any) *plan.ModifyTable {
	return &plan.ModifyTable{Input: values(ints(2), rows...), Command: analyze.Insert, Relation: a.rel, CtidColumn: -1}
}

func returning(n *plan.ModifyTable) *plan.ModifyTable {
	n.Returning = true
	n.Targets = cols(0, types.Int4, types.Int4)
	return n
}

func (a *accounts) exec(n plan.Node) ([]string, int64, error) {
	p := &plan.Plan{Root: n, Command: analyze.Select}
	if m, ok := n.(*plan.ModifyTable); ok {
		p.Command = m.Command
	}
	prog := a.compilePlan(p)
	var out []string
	affected, err := prog.Run(context.Background(), &a.st, SinkFunc(func(b *types.Batch) error {
		out = append(out, printBatch(a.env, prog, b)...)
		return nil
	}))
	return out, affected, err
}

func (a *accounts) state() string {
	var out []string
	for _, r := range a.tab.contents() {
		out = append(out, printDatums(a.env, ints(2), r))
	}
	return strings.Join(out, " ")
}

func (a *accounts) check(n plan.Node, affected int64, state string, rows ...string) {
	a.t.Helper()
	got, count, err := a.exec(n)
	if err != nil {
		a.t.Fatal(err)
	}
	a.expect(got, rows...)
	if count != affected {
		a.t.Errorf("%d rows affected, want %d", count, affected)
	}
	if s := a.state(); s != state {
		a.t.Errorf("table is %s, want %s", s, state)
	}
}

func TestInsert(t *testing.T) {
	a := newAccounts(t)
	a.check(a.insert([]any{4, 1}, []any{5, nil}), 2, "1|100 2|200 3|300 4|1 5|-")
	a.check(returning(a.insert([]any{6, 2}, []any{7, 3})), 2, "1|100 2|200 3|300 4|1 5|- 6|2 7|3", "6|2", "7|3")
	_, _, err := a.exec(a.insert([]any{8, 1}, []any{1, 1}))
	if !pgerr.HasCode(err, pgerr.UniqueViolation) {
		t.Error(err)
	}
}

func TestUpdateAndDelete(t *testing.T) {
	a := newAccounts(t)
	a.check(returning(a.update(a.byKey(val(2)))), 1, "1|100 3|300 2|201", "2|201")
	a = newAccounts(t)
	a.check(a.update(a.scan(a.op(">", col(0, 0, types.Int4), val(1)))), 2, "1|100 2|201 3|301")
	a = newAccounts(t)
	a.check(returning(a.delete(a.scan(a.op("<", col(0, 0, types.Int4), val(3))))), 2, "3|300", "1|100", "2|200")
}

// A row that a join gives twice is changed once.
func TestUpdateOnce(t *testing.T) {
	a := newAccounts(t)
	join := &plan.NestLoop{
		Outer: a.byKey(val(1)), Inner: values(ints(1), []any{1}, []any{2}),
		Base: plan.Base{Targets: append(cols(0, types.Int4, types.Int4), col(0, 2, types.Tid))},
	}
	a.check(a.update(join), 1, "2|200 3|300 1|101")
}

func TestConstraints(t *testing.T) {
	a := newAccounts(t)
	a.rel.Attrs[1].NotNull = true
	_, _, err := a.exec(a.insert([]any{4, nil}))
	e := pgerr.From(err)
	if e == nil || e.Code != pgerr.NotNullViolation ||
		e.Message != `null value in column "balance" of relation "accounts" violates not-null constraint` ||
		e.Detail != "Failing row contains (4, null)." || e.Table != "accounts" || e.Column != "balance" || e.Schema != "public" {
		t.Errorf("%+v", e)
	}
	n := a.insert([]any{4, -1})
	n.Checks = []plan.Check{{Name: "positive", Expr: a.op(">", col(0, 1, types.Int4), val(0))}}
	_, _, err = a.exec(n)
	e = pgerr.From(err)
	if e == nil || e.Code != pgerr.CheckViolation || e.Constraint != "positive" ||
		e.Message != `new row for relation "accounts" violates check constraint "positive"` || e.Detail != "Failing row contains (4, -1)." {
		t.Errorf("%+v", e)
	}
	n = a.insert([]any{5, 7}, []any{6, 8})
	n.Generated = map[int]analyze.Expr{2: a.op("*", col(0, 0, types.Int4), val(10))}
	a.check(n, 2, "1|100 2|200 3|300 5|50 6|60")
}

func TestOnConflict(t *testing.T) {
	a := newAccounts(t)
	n := a.insert([]any{1, 7}, []any{4, 8})
	n.Conflict = &plan.Conflict{}
	a.check(returning(n), 1, "1|100 2|200 3|300 4|8", "4|8")

	a = newAccounts(t)
	upsert := func(rows ...[]any) *plan.ModifyTable {
		n := a.insert(rows...)
		n.Conflict = &plan.Conflict{
			Update: true, Set: []plan.Assignment{{Attno: 2, Expr: a.op("+", col(0, 1, types.Int4), col(1, 1, types.Int4))}},
			Where: []analyze.Expr{a.op("<", col(0, 0, types.Int4), val(3))},
		}
		return returning(n)
	}
	a.check(upsert([]any{1, 7}, []any{3, 7}, []any{4, 8}), 2, "2|200 3|300 1|107 4|8", "1|107", "4|8")
	_, _, err := a.exec(upsert([]any{9, 1}, []any{9, 1}))
	if !pgerr.HasCode(err, pgerr.CardinalityViolation) {
		t.Error(err)
	}
}

// Under read committed a change is made on the newest version of the row, if that still qualifies.
func TestReevaluation(t *testing.T) {
	small := func(a *accounts) analyze.Expr { return a.op("<", col(0, 1, types.Int4), val(250)) }
	t.Run("still qualifies", func(t *testing.T) {
		a := newAccounts(t)
		a.tab.overtake(0, 1, 150)
		a.check(returning(a.update(a.scan(small(a)))), 2, "3|300 1|151 2|201", "1|151", "2|201")
	})
	t.Run("no longer", func(t *testing.T) {
		a := newAccounts(t)
		a.tab.overtake(0, 1, 900)
		a.check(a.update(a.scan(small(a))), 1, "3|300 1|900 2|201")
	})
	t.Run("deleted", func(t *testing.T) {
		a := newAccounts(t)
		a.tab.overtake(0)
		a.check(a.update(a.scan(small(a))), 1, "3|300 2|201")
	})
	t.Run("index condition", func(t *testing.T) {
		a := newAccounts(t)
		a.tab.overtake(1, 7, 200)
		a.check(a.update(a.byKey(val(2))), 0, "1|100 3|300 7|200")
	})
	t.Run("delete", func(t *testing.T) {
		a := newAccounts(t)
		a.tab.overtake(0, 1, 150)
		a.check(returning(a.delete(a.scan(small(a)))), 2, "3|300", "1|150", "2|200")
	})
	t.Run("overtaken twice", func(t *testing.T) {
		a := newAccounts(t)
		a.tab.overtake(0, 1, 150)
		a.tab.overtake(3, 1, 160)
		a.check(a.update(a.byKey(val(1))), 1, "2|200 3|300 1|161")
	})
}

// A join evaluated again sees the row that was joined before, by the mark's ctid.
func TestReevaluationOfJoin(t *testing.T) {
	a := newAccounts(t)
	other := fakeRelation(20010, "other", []string{"id", "plus"}, ints(2))
	ot := newFakeTable(other, []any{1, 10}, []any{1, 20}, []any{2, 30})
	a.st.Tables = oneTable{map[types.OID]*fakeTable{a.rel.OID: a.tab, other.OID: ot}}
	a.tab.overtake(0, 1, 500)
	outer := a.scan()
	outer.RT = 0
	inner := &plan.SeqScan{
		RT: 1, Relation: other,
		Base: plan.Base{Targets: append(cols(0, types.Int4, types.Int4), &plan.Col{Typed: typed(types.Tid), Index: plan.CtidColumn})},
	}
	join := &plan.HashJoin{
		Outer: outer, Inner: inner, OuterKeys: cols(0, types.Int4), InnerKeys: cols(0, types.Int4),
		Base: plan.Base{Targets: []analyze.Expr{
			col(0, 0, types.Int4), a.op("+", col(0, 1, types.Int4), col(1, 1, types.Int4)), col(0, 2, types.Tid), col(1, 2, types.Tid), col(1, 1, types.Int4),
		}},
	}
	n := &plan.ModifyTable{
		Input: join, Command: analyze.Update, Relation: a.rel, Assigned: []int{2}, CtidColumn: 2,
		Marks: []plan.RowMark{{RT: 1, Relation: other, CtidColumn: 3, ReferenceOnly: true}},
	}
	returning(n)
	n.Targets = append(n.Targets, col(1, 4, types.Int4))
	// The hash table gives the newest of equal keys first: the joined row is the one with 20.
	a.check(n, 2, "3|300 1|520 2|230", "1|520|20", "2|230|30")
}

func TestSerializationFailures(t *testing.T) {
	for name, c := range map[string]struct {
		row  []any
		what string
	}{
		"update": {[]any{1, 5}, "could not serialize access due to concurrent update"},
		"delete": {nil, "could not serialize access due to concurrent delete"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccounts(t)
			a.st.RepeatableRead = true
			a.tab.overtake(0, c.row...)
			_, _, err := a.exec(a.update(a.scan()))
			if e := pgerr.From(err); e == nil || e.Code != pgerr.TRSerializationFailure || e.Message != c.what {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestLockRows(t *testing.T) {
	lock := func(a *accounts, strength analyze.LockStrength) plan.Node {
		scan := a.scan(a.op("<", col(0, 1, types.Int4), val(250)))
		return &plan.LockRows{Input: scan, Marks: []plan.RowMark{{Relation: a.rel, Strength: strength, CtidColumn: 2}}}
	}
	a := newAccounts(t)
	a.check(lock(a, analyze.ForUpdate), 2, "1|100 2|200 3|300", "1|100|(0,1)", "2|200|(0,2)")
	if len(a.tab.locked) != 2 || a.tab.locked[fakeTID(0)] != heap.Update {
		t.Errorf("locked %v", a.tab.locked)
	}
	a = newAccounts(t)
	a.check(&plan.Limit{Input: lock(a, analyze.ForShare), Count: val(int64(1))}, 1, "1|100 2|200 3|300", "1|100|(0,1)")
	if len(a.tab.locked) != 1 || a.tab.locked[fakeTID(0)] != heap.Share {
		t.Errorf("a limit locked %v", a.tab.locked)
	}
	a = newAccounts(t)
	a.tab.overtake(0, 1, 150)
	a.tab.overtake(1, 2, 999)
	a.check(lock(a, analyze.ForNoKeyUpdate), 1, "3|300 1|150 2|999", "1|150|(0,4)")
	a = newAccounts(t)
	a.tab.overtake(0)
	a.check(lock(a, analyze.ForUpdate), 1, "2|200 3|300", "2|200|(0,2)")
	a = newAccounts(t)
	a.st.RepeatableRead = true
	a.tab.overtake(0, 1, 150)
	if _, _, err := a.exec(lock(a, analyze.ForUpdate)); !pgerr.HasCode(err, pgerr.TRSerializationFailure) {
		t.Errorf("got %v", err)
	}
}

// A WITH query that changes tables is run to its end whether it is read or not, and once.
func TestModifyingCTE(t *testing.T) {
	for name, root := range map[string]plan.Node{
		"unread": &plan.Result{Base: plan.Base{Targets: []analyze.Expr{val(1)}}},
		"partly": &plan.Limit{Input: &plan.CTEScan{}, Count: val(int64(1))},
		"twice":  &plan.Append{Children: []plan.Node{&plan.CTEScan{}, &plan.CTEScan{}}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccounts(t)
			p := &plan.Plan{
				Root: root, HasModifyingCTE: true,
				CTEs: []plan.CTEPlan{{Name: "d", Modifying: true, Node: returning(a.delete(a.scan()))}},
			}
			prog := a.compilePlan(p)
			x := prog.Start(&a.st)
			defer x.Close()
			n, done, err := x.Fetch(context.Background(), 1, nil)
			if err != nil || n != 1 {
				t.Fatal(n, done, err)
			}
			if s := a.state(); s != "" {
				t.Errorf("left %s", s)
			}
		})
	}
}

func TestPortal(t *testing.T) {
	a := newAccounts(t)
	prog := a.compilePlan(&plan.Plan{Root: a.scan(), ReadOnly: true})
	x := prog.Start(&a.st)
	defer x.Close()
	var got []string
	for i := range 3 {
		n, done, err := x.Fetch(context.Background(), 2, SinkFunc(func(b *types.Batch) error {
			got = append(got, fmt.Sprint(b.Len()))
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(n, done))
		_ = i
	}
	a.expect(got, "2", "2 false", "1", "1 true", "0 true")
	if x.Affected() != 3 {
		t.Errorf("%d", x.Affected())
	}
}

func TestCancel(t *testing.T) {
	a := newAccounts(t)
	ctx, cancel := context.WithCancel(context.Background())
	prog := a.compile(&plan.NestLoop{Outer: a.series(val(1), val(1000000)), Inner: a.series(val(1), val(1000000))})
	x := prog.Start(&a.st)
	defer x.Close()
	_, _, err := x.Fetch(ctx, 0, SinkFunc(func(*types.Batch) error { cancel(); return nil }))
	if !pgerr.HasCode(pgerr.From(err), pgerr.QueryCanceled) {
		t.Errorf("got %v", err)
	}
}

var _ Tables = oneTable{}
