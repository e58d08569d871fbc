package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/storage/faultfs"
	"github.com/minipg/minipg/types"
)

const tablespaceRows = 40

// The steps of a tablespace's life, each a transaction.
const (
	stepCreate = iota // the tablespace
	stepTable         // a table in it, with rows and an index there
	stepOut           // the table moves to the database's own tablespace
	stepBack          // and back
	stepDrop          // the table is dropped
	stepRemove        // and the tablespace
	numSteps
)

// TestTablespaceCrashes cuts the power at moments spread over a tablespace's life. What was acknowledged
// has to be there, what was not is gone without trace, and the life can go on.
func TestTablespaceCrashes(t *testing.T) {
	const cuts = 30
	ops, err := tablespaceLife(t, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a life has %d operations", ops)
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range int64(cuts) {
		at := 1 + (i*ops+rng.Int64N(ops))/cuts
		if _, err := tablespaceLife(t, at); err != nil {
			t.Fatalf("power cut at operation %d: %v", at, err)
		}
	}
}

type tablespaceSim struct {
	*simulation
	t          *testing.T
	space, oid catalog.OID
	done       int // steps acknowledged
}

// tablespaceLife cuts the power at an operation; with 0 it counts them.
func tablespaceLife(t *testing.T, at int64) (ops int64, err error) {
	hour := func() time.Duration { return time.Hour }
	l := &tablespaceSim{t: t, simulation: &simulation{
		rng: rand.New(rand.NewPCG(uint64(at), 5)), acked: make(map[string]*simState), fs: faultfs.New(faultfs.Options{}),
	}}
	l.cfg = Config{
		Dir: "data", Fatal: func(error) {}, Metrics: simMetrics(),
		Options: Options{
			SharedBuffers: 64, WALBuffers: 64 << 10, WALSegmentSize: 256 << 10, WALFirstSegmentSize: 64 << 10,
			ExtensionEntries: 16, CatalogCache: 256 << 10, CatalogMemTable: 256 << 10,
			Autovacuum: func() bool { return false }, BgwriterDelay: hour, WALWriterDelay: hour, CheckpointTimeout: hour,
		},
	}
	if err := errors.Join(l.fs.MkdirAll("/space", 0o700), l.fs.SyncDir("/")); err != nil {
		return 0, err
	}
	if err := l.start(); err != nil {
		return 0, err
	}
	before := l.fs.Ops()
	if at > 0 {
		l.fs.CrashAt(at)
	}
	for l.done < numSteps && !l.crashed() {
		err := l.unlessStuck(func() error { return l.step(l.done) })
		switch {
		case l.crashed():
		case err != nil:
			return 0, fmt.Errorf("step %d: %w", l.done, err)
		default:
			l.done++
		}
	}
	if at == 0 {
		return l.fs.Ops() - before, l.end()
	}
	if !l.crashed() { // the life was shorter than the one that was counted
		l.abandon()
		return 0, nil
	}
	if err := l.recover(); err != nil {
		return 0, err
	}
	if err := l.settle(); err != nil {
		return 0, err
	}
	for ; l.done < numSteps; l.done++ {
		if err := l.step(l.done); err != nil {
			return 0, fmt.Errorf("step %d after the crash: %w", l.done, err)
		}
	}
	return 0, l.end()
}

func (l *tablespaceSim) end() error {
	if names, err := l.fs.List("/space"); err != nil || len(names) > 0 {
		return fmt.Errorf("the location is left with %v, %v", names, err)
	}
	l.closeSessions()
	return l.e.Close(bg, CloseFast)
}

func (l *tablespaceSim) session() *testSession {
	return &testSession{Session: l.sessions[0].Session, t: failer{}}
}

// step runs a step in a transaction, and a checkpoint after some.
func (l *tablespaceSim) step(n int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	s := l.session()
	s.begin()
	switch n {
	case stepCreate:
		l.createSpace(s)
	case stepTable:
		l.oid = s.createPlain("t", catalog.KindTable, catalog.Permanent, column{"a", types.Int8}, column{"b", types.Text})
		idx := s.createIndex("t_pkey", l.oid, true, 1)
		s.ok(s.MoveRelation(bg, s.rel(l.oid), l.space))
		s.ok(s.MoveRelation(bg, s.rel(idx), l.space))
		for i := range tablespaceRows {
			s.insert(s.table(l.oid), []types.Datum{types.Int64Datum(int64(i)), types.TextDatum(strings.Repeat("t", 700))})
		}
	case stepOut:
		s.ok(s.MoveRelation(bg, s.rel(l.oid), 0))
	case stepBack:
		s.ok(s.MoveRelation(bg, s.rel(l.oid), l.space))
	case stepDrop:
		rel := s.rel(l.oid)
		for _, idx := range rel.Indexes {
			s.DropRelationFile(idx.File)
			_, err := s.Catalog().DeleteWhere(catalog.PgIndex, catalog.Eq{Col: catalog.IndexIndexrelid, Value: types.OIDDatum(idx.OID)})
			s.ok(err)
			s.forget(idx.OID)
		}
		s.DropRelationFile(rel.File)
		s.forget(l.oid)
	case stepRemove:
		s.ok(s.DropTablespace(bg, l.space, "space"))
		_, err := s.Catalog().DeleteWhere(catalog.PgTablespace, catalog.Eq{Col: catalog.TablespaceOid, Value: types.OIDDatum(l.space)})
		s.ok(err)
	}
	s.commit()
	if n%2 == 1 {
		return l.e.Checkpoint(bg)
	}
	return nil
}

func (l *tablespaceSim) createSpace(s *testSession) {
	l.space = s.newOID()
	row := make(catalog.Row, catalog.TablespaceLocation+1)
	row[catalog.TablespaceOid], row[catalog.TablespaceSpcname] = types.OIDDatum(l.space), types.TextDatum("space")
	row[catalog.TablespaceSpcowner] = types.OIDDatum(catalog.BootstrapRole)
	row[catalog.TablespaceSpcacl], row[catalog.TablespaceSpcoptions] = types.NullDatum, types.NullDatum
	row[catalog.TablespaceLocation] = types.TextDatum("/space")
	s.ok(s.Catalog().Insert(catalog.PgTablespace, row))
	s.ok(s.CreateTablespace(bg, l.space, "/space"))
}

func (s *testSession) forget(rel catalog.OID) {
	s.t.Helper()
	for class, col := range map[catalog.OID]int{
		catalog.PgClass: catalog.ClassOid, catalog.PgAttribute: catalog.AttributeAttrelid,
	} {
		_, err := s.Catalog().DeleteWhere(class, catalog.Eq{Col: col, Value: types.OIDDatum(rel)})
		s.ok(err)
	}
}

// settle finds out how far the interrupted step got, and looks at everything.
func (l *tablespaceSim) settle() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	s := l.session()
	s.begin()
	space, err := s.Catalog().TablespaceByOID(l.space)
	s.ok(err)
	rel, err := s.Catalog().RelationByOID(l.oid)
	s.ok(err)
	if err := l.judge(space != nil, rel); err != nil {
		return err
	}
	if rel != nil {
		if n := len(s.rows(s.table(l.oid))); n != tablespaceRows {
			return fmt.Errorf("the table has %d rows", n)
		}
	}
	s.commit()
	_, err = l.e.fs.Stat(path.Join("/space", storage.TablespaceDir))
	if (err == nil) != (space != nil) {
		return fmt.Errorf("the tablespace is there: %v; its directory: %v", space != nil, err)
	}
	var problem error
	_, err = l.e.Check(bg, func(p Problem) { problem = errors.New("check: " + p.String()) })
	return errorOf(err, problem)
}

// judge compares what is there with the steps that were acknowledged, of which the next one may have
// happened as well.
func (l *tablespaceSim) judge(space bool, rel *catalog.Relation) error {
	at := func(n int) bool {
		inSpace := rel != nil && rel.Tablespace == l.space
		switch n {
		case stepCreate:
			return !space
		case stepTable, stepRemove:
			return space && rel == nil
		case stepOut, stepDrop:
			return space && rel != nil && inSpace
		case stepBack:
			return space && rel != nil && !inSpace
		}
		return !space && rel == nil
	}
	switch {
	case at(l.done):
	case l.done < numSteps && at(l.done+1):
		l.done++
	default:
		return fmt.Errorf("%d steps were acknowledged; tablespace %v, table %v", l.done, space, rel)
	}
	return nil
}

// A location is one tablespace's, and one with files in it stays.
func TestTablespaceInUse(t *testing.T) {
	f := newFixture(t, nil)
	if err := f.fs.MkdirAll("/space", 0o700); err != nil {
		t.Fatal(err)
	}
	s := f.session()
	defer s.Close()
	s.begin()
	s.ok(s.CreateTablespace(bg, 20000, "/space"))
	if err := s.CreateTablespace(bg, 20001, "/space"); !pgerr.HasCode(err, pgerr.ObjectInUse) {
		t.Errorf("a second tablespace in one place: %v", err)
	}
	if err := s.CreateTablespace(bg, 20001, "/nowhere"); !pgerr.HasCode(err, pgerr.UndefinedFile) {
		t.Errorf("a tablespace nowhere: %v", err)
	}
	_, err := s.CreateRelationFile(bg, 20000, catalog.Permanent)
	s.ok(err)
	if err := s.DropTablespace(bg, 20000, "space"); !pgerr.HasCode(err, pgerr.ObjectNotInPrerequisiteState) {
		t.Errorf("a tablespace with a file in it: %v", err)
	}
	s.Abort(bg)
	if names, err := f.fs.List("/space"); err != nil || len(names) > 0 {
		t.Errorf("the aborted transaction left %v, %v", names, err)
	}
}
