package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/minipg/minipg/pgerr"
)

// Object addresses a catalog row, and with Sub a column of a relation.
type Object struct {
	Class OID // the catalog relation: PgClass, PgType ...
	OID   OID
	Sub   int32
}

// DepType is pg_depend.deptype.
type DepType byte

// The kinds of dependencies.
const (
	DepNormal       DepType = 'n'
	DepAuto         DepType = 'a'
	DepInternal     DepType = 'i'
	DepPartitionPri DepType = 'P'
	DepPartitionSec DepType = 'S'
	DepExtension    DepType = 'e'
	DepAutoExt      DepType = 'x'
)

// maxReportedDeps bounds the DETAIL lines sent to a client, as in PostgreSQL.
const maxReportedDeps = 100

// Pinned objects cannot be dropped and are not worth a dependency. See PostgreSQL's IsPinnedObject.
func (o Object) Pinned() bool {
	if o.OID >= FirstUnpinnedOID {
		return false
	}
	switch o.Class {
	case PgNamespace:
		return o.OID != NamespacePublic
	case PgDatabase, PgLargeobjectMetadata:
		return false
	}
	return true
}

// AddDependency records that obj depends on ref. Dependencies on pinned (built-in) objects are left out.
func (t *Txn) AddDependency(obj, ref Object, kind DepType) error {
	if ref.Pinned() {
		return nil
	}
	row := Row{
		DependClassid: oidDatum(obj.Class), DependObjid: oidDatum(obj.OID), DependObjsubid: intDatum(obj.Sub),
		DependRefclassid: oidDatum(ref.Class), DependRefobjid: oidDatum(ref.OID), DependRefobjsubid: intDatum(ref.Sub),
		DependDeptype: charDatum(byte(kind)),
	}
	return t.Insert(PgDepend, row)
}

// SetOwner records the owner of an object, replacing what was recorded.
func (t *Txn) SetOwner(obj Object, role OID) error {
	return t.setShared(obj, Object{Class: PgAuthid, OID: role}, 'o')
}

// SetTablespace records the tablespace of a relation without files of its own (partitioned ones).
func (t *Txn) SetTablespace(obj Object, spc OID) error {
	return t.setShared(obj, Object{Class: PgTablespace, OID: spc}, 't')
}

func (t *Txn) setShared(obj, ref Object, kind byte) error {
	eq := t.sharedDepender(obj)
	if _, err := t.DeleteWhere(PgShdepend, append(eq, Eq{ShdependDeptype, charDatum(kind)})...); err != nil {
		return err
	}
	if ref.OID == 0 || ref.Pinned() {
		return nil
	}
	return t.insertShared(obj, ref, kind)
}

// AddACLDependencies records that an object's privileges name the roles.
func (t *Txn) AddACLDependencies(obj Object, owner OID, acl []ACLItem) error {
	if _, err := t.DeleteWhere(PgShdepend, append(t.sharedDepender(obj), Eq{ShdependDeptype, charDatum('a')})...); err != nil {
		return err
	}
	seen := map[OID]bool{0: true, owner: true}
	for _, item := range acl {
		for _, role := range []OID{item.Grantor, item.Grantee} {
			ref := Object{Class: PgAuthid, OID: role}
			if seen[role] || ref.Pinned() {
				continue
			}
			seen[role] = true
			if err := t.insertShared(obj, ref, 'a'); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Txn) insertShared(obj, ref Object, kind byte) error {
	return t.Insert(PgShdepend, Row{
		ShdependDbid: oidDatum(t.sharedDB(obj.Class)), ShdependClassid: oidDatum(obj.Class), ShdependObjid: oidDatum(obj.OID),
		ShdependObjsubid: intDatum(obj.Sub), ShdependRefclassid: oidDatum(ref.Class), ShdependRefobjid: oidDatum(ref.OID),
		ShdependDeptype: charDatum(kind),
	})
}

// sharedDB is what pg_shdepend.dbid says for objects of a catalog.
func (t *Txn) sharedDB(class OID) OID {
	if def := defOf(class); def != nil && def.shared {
		return 0
	}
	return t.db
}

func (t *Txn) sharedDepender(obj Object) []Eq {
	return []Eq{
		{ShdependDbid, oidDatum(t.sharedDB(obj.Class))}, {ShdependClassid, oidDatum(obj.Class)}, {ShdependObjid, oidDatum(obj.OID)},
	}
}

// DeleteDependencies removes obj's own pg_depend and pg_shdepend rows; with Sub 0 those of its columns too.
func (t *Txn) DeleteDependencies(obj Object) error {
	eq := []Eq{{DependClassid, oidDatum(obj.Class)}, {DependObjid, oidDatum(obj.OID)}}
	sh := t.sharedDepender(obj)
	if obj.Sub != 0 {
		eq = append(eq, Eq{DependObjsubid, intDatum(obj.Sub)})
		sh = append(sh, Eq{ShdependObjsubid, intDatum(obj.Sub)})
	}
	if _, err := t.DeleteWhere(PgDepend, eq...); err != nil {
		return err
	}
	_, err := t.DeleteWhere(PgShdepend, sh...)
	return err
}

// DeleteDependenciesOn removes obj's rows of one kind on objects of one catalog (DROP IDENTITY, OWNED BY NONE ...).
func (t *Txn) DeleteDependenciesOn(obj Object, refClass OID, kind DepType) (int, error) {
	return t.DeleteWhere(PgDepend, Eq{DependClassid, oidDatum(obj.Class)}, Eq{DependObjid, oidDatum(obj.OID)},
		Eq{DependRefclassid, oidDatum(refClass)}, Eq{DependDeptype, charDatum(byte(kind))})
}

// Dependency is one row of pg_depend.
type Dependency struct {
	Object, Ref Object
	Kind        DepType
}

func dependencyFromRow(r Row) (*Dependency, error) {
	return &Dependency{
		Object: Object{r[DependClassid].OID(), r[DependObjid].OID(), int32(r[DependObjsubid].W)},
		Ref:    Object{r[DependRefclassid].OID(), r[DependRefobjid].OID(), int32(r[DependRefobjsubid].W)},
		Kind:   DepType(r[DependDeptype].W),
	}, nil
}

// DependenciesOf returns what obj depends on.
func (t *Txn) DependenciesOf(obj Object) ([]*Dependency, error) {
	return all(t, PgDepend, dependencyFromRow, objectEq(obj, DependClassid)...)
}

// Dependents returns what depends on obj; with Sub 0 on its columns too.
func (t *Txn) Dependents(obj Object) ([]*Dependency, error) {
	return all(t, PgDepend, dependencyFromRow, objectEq(obj, DependRefclassid)...)
}

// objectEq selects by the three columns that begin at class.
func objectEq(obj Object, class int) []Eq {
	eq := []Eq{{class, oidDatum(obj.Class)}, {class + 1, oidDatum(obj.OID)}}
	if obj.Sub != 0 {
		eq = append(eq, Eq{class + 2, intDatum(obj.Sub)})
	}
	return eq
}

// OwnedSequences returns the sequences owned by a table's column, or by any column with att 0.
func (t *Txn) OwnedSequences(table OID, att int16) ([]OID, error) {
	deps, err := t.Dependents(Object{PgClass, table, int32(att)})
	if err != nil {
		return nil, err
	}
	var out []OID
	for _, d := range deps {
		if d.Object.Class != PgClass || d.Ref.Sub == 0 || d.Kind != DepAuto && d.Kind != DepInternal {
			continue
		}
		row, err := t.Get(PgClass, oidDatum(d.Object.OID))
		if err != nil {
			return nil, err
		}
		if row != nil && RelKind(row[ClassRelkind].W) == KindSequence {
			out = append(out, d.Object.OID)
		}
	}
	slices.Sort(out)
	return out, nil
}

// SequenceOwner returns the column that owns a sequence, and how.
func (t *Txn) SequenceOwner(seq OID) (table OID, att int16, kind DepType, err error) {
	deps, err := t.DependenciesOf(Object{Class: PgClass, OID: seq})
	for _, d := range deps {
		if d.Ref.Class == PgClass && (d.Kind == DepAuto || d.Kind == DepInternal) {
			return d.Ref.OID, int16(d.Ref.Sub), d.Kind, nil
		}
	}
	return 0, 0, 0, err
}

// DropList is what goes with objects that are dropped.
type DropList struct {
	// Objects in the order to drop: dependents before what they depend on.
	Objects []Object
	// Cascaded are the descriptions of those that only CASCADE drops, in the order of the notice.
	Cascaded []string
}

// Notice is what DROP ... CASCADE tells the client, nil if nothing was cascaded to.
func (l *DropList) Notice() *pgerr.Error {
	switch n := len(l.Cascaded); {
	case n == 0:
		return nil
	case n == 1:
		return pgerr.Notice("NOTICE", pgerr.SuccessfulCompletion, "drop cascades to %s", l.Cascaded[0])
	default:
		lines := make([]string, 0, min(n, maxReportedDeps)+1)
		for _, c := range l.Cascaded[:min(n, maxReportedDeps)] {
			lines = append(lines, "drop cascades to "+c)
		}
		lines = appendOthers(lines, n)
		return pgerr.Notice("NOTICE", pgerr.SuccessfulCompletion, "drop cascades to %d other objects", n).
			WithDetail("%s", strings.Join(lines, "\n"))
	}
}

func appendOthers(lines []string, n int) []string {
	switch more := n - maxReportedDeps; {
	case more == 1:
		lines = append(lines, "and 1 other object (see server log for list)")
	case more > 1:
		lines = append(lines, fmt.Sprintf("and %d other objects (see server log for list)", more))
	}
	return lines
}

type depFlag uint8

const (
	depOriginal depFlag = 1 << iota
	depNormal
	depAuto
	depReverse
	depSubObject
)

// dropWalk is PostgreSQL's findDependentObjects over pg_depend.
type dropWalk struct {
	t       *Txn
	targets []Object
	list    []dropItem
	stack   []*dropItem
}

type dropItem struct {
	obj      Object
	flags    depFlag
	dependee Object
}

// Drops walks the dependents of targets. Without cascade, a dependent that is not automatic is
// 2BP01 with PostgreSQL's DETAIL and HINT. path is the search path, which decides what names are
// qualified with their schema.
func (t *Txn) Drops(targets []Object, cascade bool, path []OID) (*DropList, error) {
	w := &dropWalk{t: t, targets: targets}
	for _, o := range targets {
		if o.Pinned() {
			desc, err := t.Describe(o, path)
			if err != nil {
				return nil, err
			}
			return nil, pgerr.New(pgerr.DependentObjectsStillExist,
				"cannot drop %s because it is required by the database system", desc)
		}
		if err := w.visit(o, depOriginal, 0, path); err != nil {
			return nil, err
		}
	}
	return w.report(cascade, path)
}

// visit adds obj to the list, after everything that depends on it. parent is how the caller was reached.
func (w *dropWalk) visit(obj Object, flags depFlag, depth int, path []OID) error {
	if depth > maxDropDepth {
		return pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded")
	}
	for _, s := range w.stack {
		if s.obj == obj {
			s.flags |= flags
			return nil
		}
		if s.obj.Class == obj.Class && s.obj.OID == obj.OID && s.obj.Sub == 0 {
			return nil
		}
	}
	if w.present(obj, flags) {
		return nil
	}
	owner, err := w.owner(obj, path)
	if err != nil {
		return err
	}
	if owner != nil {
		// Not this object but the one it belongs to is dropped, and this one with it.
		return w.visit(*owner, depReverse, depth+1, path)
	}
	item := &dropItem{obj: obj, flags: flags}
	if n := len(w.stack); n > 0 {
		item.dependee = w.stack[n-1].obj
	}
	deps, err := w.t.Dependents(obj)
	if err != nil {
		return err
	}
	deps = slices.DeleteFunc(deps, func(d *Dependency) bool {
		return d.Object.Class == obj.Class && d.Object.OID == obj.OID && obj.Sub == 0
	})
	slices.SortStableFunc(deps, func(a, b *Dependency) int {
		// Newest first, as PostgreSQL drops and reports them.
		return cmp.Or(cmp.Compare(b.Object.OID, a.Object.OID), cmp.Compare(a.Object.Class, b.Object.Class),
			cmp.Compare(uint32(a.Object.Sub), uint32(b.Object.Sub)))
	})
	w.stack = append(w.stack, item)
	for _, d := range deps {
		f := depAuto
		if d.Kind == DepNormal {
			f = depNormal
		}
		if err := w.visit(d.Object, f, depth+1, path); err != nil {
			return err
		}
	}
	w.stack = w.stack[:len(w.stack)-1]
	w.list = append(w.list, *item)
	return nil
}

const maxDropDepth = 10000

// present tells whether obj is on the list, alone or as part of its whole, and adds flags.
func (w *dropWalk) present(obj Object, flags depFlag) bool {
	found := false
	for i := range w.list {
		it := &w.list[i]
		if it.obj.Class != obj.Class || it.obj.OID != obj.OID {
			continue
		}
		switch {
		case it.obj.Sub == obj.Sub:
			it.flags |= flags
			found = true
		case it.obj.Sub == 0:
			found = true
		case obj.Sub == 0:
			// A column was listed first; it goes with the whole.
			it.flags |= depSubObject
		}
	}
	return found
}

// owner returns the object that obj belongs to internally and that is dropped instead, nil for none.
func (w *dropWalk) owner(obj Object, path []OID) (*Object, error) {
	deps, err := w.t.DependenciesOf(obj)
	if err != nil {
		return nil, err
	}
	for _, d := range deps {
		switch d.Kind {
		case DepInternal, DepExtension, DepPartitionPri, DepPartitionSec:
		default:
			continue
		}
		if d.Object.Sub != obj.Sub || d.Ref.Class == obj.Class && d.Ref.OID == obj.OID {
			continue
		}
		if w.going(d.Ref) {
			return nil, nil
		}
		if len(w.stack) > 0 {
			if d.Kind == DepExtension || d.Kind == DepPartitionSec {
				continue
			}
			return &d.Ref, nil
		}
		if w.isTarget(d.Ref) || d.Kind == DepPartitionSec {
			continue
		}
		this, err := w.t.Describe(obj, path)
		if err != nil {
			return nil, err
		}
		other, err := w.t.Describe(d.Ref, path)
		if err != nil {
			return nil, err
		}
		return nil, pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop %s because %s requires it", this, other).
			WithHint("You can drop %s instead.", other)
	}
	return nil, nil
}

// going tells whether obj, or the whole it is part of, is being walked or listed.
func (w *dropWalk) going(obj Object) bool {
	part := func(o Object) bool {
		return o.Class == obj.Class && o.OID == obj.OID && (o.Sub == 0 || o.Sub == obj.Sub)
	}
	for _, s := range w.stack {
		if part(s.obj) {
			return true
		}
	}
	for i := range w.list {
		if part(w.list[i].obj) {
			return true
		}
	}
	return false
}

func (w *dropWalk) isTarget(obj Object) bool {
	for _, o := range w.targets {
		if o.Class == obj.Class && o.OID == obj.OID && (o.Sub == 0 || o.Sub == obj.Sub) {
			return true
		}
	}
	return false
}

func (w *dropWalk) report(cascade bool, path []OID) (*DropList, error) {
	out := &DropList{}
	for i := range w.list {
		if w.list[i].flags&depSubObject == 0 {
			out.Objects = append(out.Objects, w.list[i].obj)
		}
	}
	var restrict []string
	for _, it := range slices.Backward(w.list) {
		if it.flags&(depOriginal|depSubObject|depAuto) != 0 || w.isTarget(it.obj) {
			continue
		}
		desc, err := w.t.Describe(it.obj, path)
		if err != nil {
			return nil, err
		}
		if cascade {
			out.Cascaded = append(out.Cascaded, desc)
			continue
		}
		on, err := w.t.Describe(it.dependee, path)
		if err != nil {
			return nil, err
		}
		restrict = append(restrict, desc+" depends on "+on)
	}
	if len(restrict) == 0 {
		return out, nil
	}
	msg := "cannot drop desired object(s) because other objects depend on them"
	if len(w.targets) == 1 {
		desc, err := w.t.Describe(w.targets[0], path)
		if err != nil {
			return nil, err
		}
		msg = fmt.Sprintf("cannot drop %s because other objects depend on it", desc)
	}
	lines := appendOthers(restrict[:min(len(restrict), maxReportedDeps):min(len(restrict), maxReportedDeps)], len(restrict))
	return nil, pgerr.New(pgerr.DependentObjectsStillExist, "%s", msg).
		WithDetail("%s", strings.Join(lines, "\n")).
		WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
}

// SharedDependents describes what depends on a role or tablespace, as the DETAIL of DROP ROLE; "" if nothing does.
func (t *Txn) SharedDependents(ref Object, path []OID) (string, error) {
	var lines []string
	others := map[OID]int{}
	err := t.Scan(PgShdepend, []Eq{{ShdependRefclassid, oidDatum(ref.Class)}, {ShdependRefobjid, oidDatum(ref.OID)}}, func(r Row) error {
		db := r[ShdependDbid].OID()
		if db != 0 && db != t.db {
			others[db]++
			return nil
		}
		desc, err := t.Describe(Object{r[ShdependClassid].OID(), r[ShdependObjid].OID(), int32(r[ShdependObjsubid].W)}, path)
		switch r[ShdependDeptype].W {
		case 'o':
			desc = "owner of " + desc
		case 'a':
			desc = "privileges for " + desc
		case 'r':
			desc = "target of " + desc
		case 't':
			desc = "tablespace for " + desc
		}
		lines = append(lines, desc)
		return err
	})
	if err != nil {
		return "", err
	}
	slices.Sort(lines)
	for db, n := range others {
		desc, err := t.Describe(Object{Class: PgDatabase, OID: db}, path)
		if err != nil {
			return "", err
		}
		word := "objects"
		if n == 1 {
			word = "object"
		}
		lines = append(lines, fmt.Sprintf("%d %s in %s", n, word, desc))
	}
	if len(lines) > maxReportedDeps {
		more := len(lines) - maxReportedDeps
		lines = append(lines[:maxReportedDeps:maxReportedDeps],
			fmt.Sprintf("and %d other objects (see server log for list)", more))
	}
	return strings.Join(lines, "\n"), nil
}
