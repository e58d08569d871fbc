package main

import (
	"fmt"
	"log"
	"slices"
	"strconv"
	"strings"
)

// minipg's own system objects have OIDs from 9000 to 9999, which PostgreSQL 15 leaves free: functions
// from 9000 on, and for each view, from 9100 on in steps of ten, the view, its row type, the array
// of that, and its rule. Their rows are made from those of pg_lock_status and pg_locks.

type ownColumn struct {
	name string
	typ  int
}

type ownFunction struct {
	oid, rows int
	name      string
	columns   []ownColumn
}

type ownView struct {
	oid     int
	name    string
	columns []ownColumn
}

// Types of the columns.
const (
	boolean     = 16
	bigint      = 20
	integer     = 23
	text        = 25
	oid         = 26
	float8      = 701
	timestamptz = 1184
	name        = 19
)

var (
	lockColumns = []ownColumn{
		{"locktype", text}, {"waits", bigint}, {"wait_time", float8}, {"fastpath_exceeded", bigint}, {"stats_reset", timestamptz},
	}
	latchColumns = []ownColumn{
		{"class", text},
		{"mode", text},
		{"acquisitions", bigint},
		{"waits", bigint},
		{"wait_time", float8},
		{"stats_reset", timestamptz},
	}
	extensionCounts = []ownColumn{
		{"fork", text},
		{"extends", bigint},
		{"blocks", bigint},
		{"waits", bigint},
		{"fsm_hits_after_wait", bigint},
		{"stats_reset", timestamptz},
	}
	waitColumns = []ownColumn{
		{"waiter", integer},
		{"holder", integer},
		{"wait_event_type", text},
		{"wait_event", text},
		{"object", text},
		{"mode", text},
		{"database", oid},
		{"relation", oid},
		{"block", bigint},
		{"duration", float8},
		{"time", timestamptz},
	}
)

var ownFunctions = []ownFunction{
	{9000, 10, "pg_stat_get_lock", lockColumns},
	{9001, 20, "minipg_stat_get_latch", latchColumns},
	{9002, 100, "minipg_stat_get_extension", append([]ownColumn{{"relid", oid}}, extensionCounts...)},
	{9003, 1000, "minipg_get_wait_history", waitColumns},
}

var ownViews = []ownView{
	{9100, "pg_stat_lock", lockColumns},
	{9110, "minipg_stat_latch", latchColumns},
	{9120, "minipg_stat_extension", append([]ownColumn{{"relid", oid}, {"schemaname", name}, {"relname", name}}, extensionCounts...)},
	{9130, "minipg_wait_history", waitColumns},
}

// template copies the row whose column i is name.
func template(rows []row, i int, name string) row {
	for _, r := range rows {
		if r.s(i) == name {
			return slices.Clone(r)
		}
	}
	log.Fatalf("there is no %s to copy", name)
	return nil
}

func (r row) set(i int, v any) {
	s := fmt.Sprint(v)
	r[i] = &s
}

// byOID sorts rows by their first column.
func byOID(rows []row) []row {
	slices.SortStableFunc(rows, func(a, b row) int {
		x, _ := strconv.Atoi(a.s(0))
		y, _ := strconv.Atoi(b.s(0))
		return x - y
	})
	return rows
}

// withOwnViews adds the rows of pg_class, and those of pg_attribute.
func withOwnViews(rows []row, attrs map[string][]row) []row {
	for _, v := range ownViews {
		r := template(rows, 1, "pg_locks")
		columns := attrs[r.s(0)]
		r.set(0, v.oid)
		r.set(1, v.name)
		r.set(3, v.oid+1)
		rows = append(rows, r)
		for _, c := range v.columns {
			a := slices.Clone(columns[0])
			a.set(0, v.oid)
			a.set(1, c.name)
			a.set(2, c.typ)
			attrs[r.s(0)] = append(attrs[r.s(0)], a)
		}
	}
	return byOID(rows)
}

// withOwnTypes adds the row types of the views and their arrays.
func withOwnTypes(rows []row) []row {
	for _, v := range ownViews {
		composite, array := template(rows, 1, "pg_locks"), template(rows, 1, "_pg_locks")
		composite.set(0, v.oid+1)
		composite.set(1, v.name)
		composite.set(11, v.oid)
		composite.set(14, v.oid+2)
		array.set(0, v.oid+2)
		array.set(1, "_"+v.name)
		array.set(13, v.oid+1)
		rows = append(rows, composite, array)
	}
	return byOID(rows)
}

// withOwnFunctions adds the functions behind the views.
func withOwnFunctions(rows []row) []row {
	for _, f := range ownFunctions {
		r := template(rows, 1, "pg_lock_status")
		var types, names []string
		for _, c := range f.columns {
			types = append(types, strconv.Itoa(c.typ))
			names = append(names, c.name)
		}
		r.set(0, f.oid)
		r.set(1, f.name)
		r.set(6, f.rows)
		r.set(18, strings.Join(types, " "))
		r.set(19, strings.Repeat("o", len(types)))
		r.set(20, strings.Join(names, ","))
		r.set(22, f.name)
		rows = append(rows, r)
	}
	return byOID(rows)
}

// withOwnRules adds the rules of the views, whose order is that of their OIDs as text.
func withOwnRules(rows []row, locks string) []row {
	for _, v := range ownViews {
		r := template(rows, 2, locks)
		r.set(0, v.oid+3)
		r.set(2, v.oid)
		rows = append(rows, r)
	}
	return byOID(rows)
}
