package sql

import (
	"context"
	"path"
	"strconv"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/exec"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// planContext is what the planner works in.
func (s *Session) planContext(ctx context.Context, ac *analyze.Context, lift *liftState) *plan.Context {
	c := &plan.Context{
		Catalog: s.eng.Catalog(), Size: func(rel *catalog.Relation) (float64, float64) { return s.relationSize(ctx, rel) },
		TableExprs: func(rel *catalog.Relation) ([]plan.Check, map[int]analyze.Expr, error) { return tableExprs(ac, rel) },
		IndexExprs: func(rel *catalog.Relation, idx *catalog.Index) ([]analyze.Expr, analyze.Expr, error) {
			return indexExprs(ac, rel, idx)
		},
		Settings: s.planSettings(),
	}
	if lift != nil {
		c.Pin = func(lifted int) { lift.pinned[lifted-1] = true }
	}
	return c
}

func (s *Session) planSettings() plan.Settings {
	b, r := s.set.Bool, s.set.Real
	return plan.Settings{
		EnableSeqScan: b(settings.EnableSeqscan), EnableIndexScan: b(settings.EnableIndexscan),
		EnableIndexOnlyScan: b(settings.EnableIndexonlyscan), EnableBitmapScan: b(settings.EnableBitmapscan),
		EnableHashJoin: b(settings.EnableHashjoin), EnableMergeJoin: b(settings.EnableMergejoin),
		EnableNestLoop: b(settings.EnableNestloop), EnableHashAgg: b(settings.EnableHashagg),
		EnableSort: b(settings.EnableSort), EnableIncrementalSort: b(settings.EnableIncrementalSort),
		EnableMaterial: b(settings.EnableMaterial),
		SeqPageCost:    r(settings.SeqPageCost), RandomPageCost: r(settings.RandomPageCost),
		CPUTupleCost: r(settings.CpuTupleCost), CPUIndexTupleCost: r(settings.CpuIndexTupleCost),
		CPUOperatorCost: r(settings.CpuOperatorCost), WorkMem: float64(s.cached.workMem),
		EffectiveCacheSize: float64(s.set.Int(settings.EffectiveCacheSize)),
		MaxWorkers:         int(s.set.Int(settings.MaxParallelWorkersPerGather)),
		MinParallelPages:   float64(s.set.Int(settings.MinParallelTableScanSize)),
	}
}

// defaultTablePages is the size assumed of a table that was never vacuumed or analysed.
const defaultTablePages = 10

// relationSize estimates a table as PostgreSQL does: its present pages times the row
// density of when it was last counted.
func (s *Session) relationSize(ctx context.Context, rel *catalog.Relation) (pages, tuples float64) {
	if rel.System {
		return 10, s.systemTuples(rel)
	}
	if rel.Kind == catalog.KindSequence {
		return 1, 1
	}
	t, err := s.eng.OpenTable(ctx, rel)
	if err != nil {
		return defaultTablePages, 1000
	}
	blocks, err := t.Blocks()
	if err != nil {
		return defaultTablePages, 1000
	}
	pages = float64(blocks)
	if blocks < defaultTablePages && rel.Tuples < 0 {
		pages = defaultTablePages
	}
	if rel.Tuples >= 0 && rel.Pages > 0 {
		return pages, float64(rel.Tuples) / float64(rel.Pages) * pages
	}
	const usable, overhead = 8192 - 24, 28
	width := overhead
	for i := range rel.Attrs {
		if l := rel.Attrs[i].Len; l > 0 {
			width += int(l)
		} else {
			width += 32
		}
	}
	return pages, pages * float64(usable/width)
}

// systemTuples guesses the size of a catalog relation.
func (s *Session) systemTuples(rel *catalog.Relation) float64 {
	switch rel.Name {
	case "pg_proc", "pg_attribute", "pg_depend", "pg_description":
		return 3000
	case "pg_operator", "pg_amop", "pg_amproc", "pg_collation":
		return 800
	case "pg_type", "pg_class":
		return 600
	case "pg_cast", "pg_opclass", "pg_opfamily", "pg_conversion", "pg_index", "pg_aggregate":
		return 200
	}
	return 20
}

// tableExprs analyses a table's CHECK constraints and generated columns.
func tableExprs(ac *analyze.Context, rel *catalog.Relation) ([]plan.Check, map[int]analyze.Expr, error) {
	var checks []plan.Check
	for _, c := range rel.Checks {
		e, err := analyze.StoredExpr(ac, rel, c.Expr)
		if err != nil {
			return nil, nil, err
		}
		checks = append(checks, plan.Check{Name: c.Name, Expr: e})
	}
	var generated map[int]analyze.Expr
	for i := range rel.Attrs {
		a := &rel.Attrs[i]
		if a.Generated == 0 || a.Dropped {
			continue
		}
		e, err := analyze.GeneratedExpr(ac, rel, a)
		if err != nil {
			return nil, nil, err
		}
		if generated == nil {
			generated = make(map[int]analyze.Expr)
		}
		generated[i+1] = e
	}
	return checks, generated, nil
}

// indexExprs analyses an index's expressions and predicate.
func indexExprs(ac *analyze.Context, rel *catalog.Relation, idx *catalog.Index) (keys []analyze.Expr, predicate analyze.Expr, err error) {
	keys = make([]analyze.Expr, len(idx.Keys))
	for i, k := range idx.Keys {
		if k.AttNum != 0 {
			continue
		}
		if keys[i], err = analyze.StoredExpr(ac, rel, k.Expr); err != nil {
			return nil, nil, err
		}
	}
	if idx.Predicate != "" {
		predicate, err = analyze.StoredExpr(ac, rel, idx.Predicate)
	}
	return keys, predicate, err
}

// execDeps is what compilation of a plan asks.
func (s *Session) execDeps(ctx context.Context, ac *analyze.Context) *exec.Deps {
	return &exec.Deps{
		Catalog: s.eng.Catalog(), Fold: &s.fn, Function: s.userFunction,
		DomainChecks: func(domain types.OID) ([]exec.DomainCheck, error) { return s.domainChecks(ac, domain) },
	}
}

// userFunction gives the Go form of functions that are not built in.
func (s *Session) userFunction(p *catalog.Proc) (*fn.Builtin, error) { return nil, nil }

// domainChecks lists a domain's constraints, those of its base domains first.
func (s *Session) domainChecks(ac *analyze.Context, domain types.OID) ([]exec.DomainCheck, error) {
	cat := s.eng.Catalog()
	t, err := cat.TypeByOID(domain)
	if err != nil || t == nil || t.Kind != 'd' {
		return nil, err
	}
	list, err := s.domainChecks(ac, t.BaseType)
	if err != nil {
		return nil, err
	}
	if t.NotNull {
		list = append(list, exec.DomainCheck{Domain: t.Name})
	}
	cons, err := cat.DomainConstraints(domain)
	if err != nil {
		return nil, err
	}
	for _, c := range cons {
		e, err := analyze.StoredDomainExpr(ac, t.BaseType, t.Typmod, c.Expr)
		if err != nil {
			return nil, err
		}
		list = append(list, exec.DomainCheck{Domain: t.Name, Name: c.Name, Expr: plan.DomainExpr(e)})
	}
	return list, nil
}

// prepareState fills in what every execution needs of the session as it is now.
func (s *Session) prepareState(st *exec.ExecState) {
	st.WorkMem, st.HashMultiplier = s.cached.workMem, s.cached.hashMultiplier
	st.CurrentOf = s.currentOf
	st.RepeatableRead = s.block.isolation != engine.ReadCommitted
}

// tempFiles says where this session's operators spill.
func (s *Session) tempFiles() exec.TempFiles {
	return exec.TempFiles{
		FS: s.srv.eng.FS(), Dir: s.srv.tempDir(), Prefix: "pgsql_tmp" + strconv.Itoa(int(s.opts.PID)),
	}
}

// tempDir holds the files of operators that spilled.
func (srv *Server) tempDir() string { return path.Join(srv.eng.Dir(), "base", "pgsql_tmp") }

// sweepTemp removes temporary files that a crash left behind.
func (srv *Server) sweepTemp() {
	names, err := srv.eng.FS().List(srv.tempDir())
	if err != nil {
		return // there is no such directory yet
	}
	for _, name := range names {
		if err := srv.eng.FS().Remove(path.Join(srv.tempDir(), name)); err != nil {
			srv.log.Sugar().Warnf("could not remove temporary file %s: %v", name, err)
		}
	}
}

// indexCompiler makes functions of the index expressions the catalog stores as text.
type indexCompiler struct{}

// IndexExprs is what an engine needs to read and check indexes with expressions or predicates.
func IndexExprs() engine.IndexExprCompiler { return indexCompiler{} }

// CompileIndex satisfies engine.IndexExprCompiler.
func (indexCompiler) CompileIndex(ctx context.Context, es *engine.Session, rel *catalog.Relation, idx *catalog.Index) ([]engine.IndexExpr, engine.IndexPredicate, error) {
	env := types.DefaultEnv()
	env.Types = es.Catalog().Types()
	ac := &analyze.Context{
		Catalog: es.Catalog(), SearchPath: []types.OID{pgCatalogSchema}, Env: env, Parse: parseOne,
	}
	keys, predicate, err := indexExprs(ac, rel, idx)
	if err != nil {
		return nil, nil, err
	}
	deps := &exec.Deps{Catalog: es.Catalog()}
	out := make([]engine.IndexExpr, len(keys))
	for i, k := range keys {
		if k == nil {
			continue
		}
		e, err := exec.CompileRowExpr(plan.RowExpr(k), deps, rel)
		if err != nil {
			return nil, nil, err
		}
		out[i] = func(ctx context.Context, es *engine.Session, row []types.Datum) (types.Datum, error) {
			return e.Eval(ctx, es, row)
		}
	}
	if predicate == nil {
		return out, nil, nil
	}
	e, err := exec.CompileRowExpr(plan.RowExpr(predicate), deps, rel)
	if err != nil {
		return nil, nil, err
	}
	return out, func(ctx context.Context, es *engine.Session, row []types.Datum) (bool, error) {
		d, err := e.Eval(ctx, es, row)
		return err == nil && !d.Null && d.Bool(), err
	}, nil
}
