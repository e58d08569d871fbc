package sql

import (
	"context"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
)

// vacuumTask is what VACUUM or ANALYZE is to do.
type vacuumTask struct {
	vacuum, analyze, verbose, skipLocked, full bool
	noToast                                    bool
	workers                                    int
	opts                                       engine.VacuumOptions
}

// vacuum carries out VACUUM and ANALYZE.
func (u *utility) vacuum(n *pg_query.VacuumStmt) (string, error) {
	task := vacuumTask{vacuum: n.IsVacuumcmd, analyze: !n.IsVacuumcmd}
	tag := "ANALYZE"
	if n.IsVacuumcmd {
		tag = "VACUUM"
	}
	for _, o := range n.Options {
		if err := task.option(u, o.GetDefElem()); err != nil {
			return "", err
		}
	}
	if err := task.consistent(); err != nil {
		return "", err
	}
	if task.vacuum {
		if err := u.s.preventInBlock("VACUUM"); err != nil {
			return "", err
		}
	}
	targets, err := u.vacuumTargets(n, &task)
	if err != nil {
		return "", err
	}
	if task.vacuum || len(targets) > 1 && u.s.state == txImplicit {
		return tag, u.vacuumEach(targets, &task)
	}
	for _, t := range targets {
		if err := u.s.analyzeTable(u.ctx, t.oid, t.columns, &task); err != nil {
			return "", err
		}
	}
	return tag, nil
}

type vacuumTarget struct {
	oid     catalog.OID
	columns []string
}

// option reads one option. Follows ExecVacuum.
func (t *vacuumTask) option(u *utility, d *pg_query.DefElem) (err error) {
	flag := func(to *bool) { *to, err = boolOption(d) }
	switch d.Defname {
	case "verbose":
		flag(&t.verbose)
		return err
	case "skip_locked":
		flag(&t.skipLocked)
		return err
	}
	if !t.vacuum {
		return u.unrecognized("ANALYZE", d)
	}
	switch d.Defname {
	case "analyze":
		flag(&t.analyze)
	case "freeze":
		flag(&t.opts.Freeze)
	case "full":
		flag(&t.full)
	case "disable_page_skipping":
		flag(&t.opts.DisablePageSkipping)
	case "truncate":
		flag(&t.opts.NoTruncate)
		t.opts.NoTruncate = !t.opts.NoTruncate
	case "process_toast":
		flag(&t.noToast)
		t.noToast = !t.noToast
	case "index_cleanup":
		return indexCleanup(d)
	case "parallel":
		return t.parallel(u, d)
	default:
		return u.unrecognized("VACUUM", d)
	}
	return err
}

func (u *utility) unrecognized(command string, d *pg_query.DefElem) error {
	return pgerr.New(pgerr.SyntaxError, "unrecognized %s option \"%s\"", command, d.Defname).WithPosition(u.position(d))
}

func indexCleanup(d *pg_query.DefElem) error {
	if d.Arg != nil && strings.EqualFold(defString(d.Arg), "auto") {
		return nil
	}
	on, err := boolOption(d)
	if err == nil && !on {
		err = pgerr.New(pgerr.FeatureNotSupported, "VACUUM without INDEX_CLEANUP is not supported")
	}
	return err
}

// parallel reads how many workers there may be: an upper bound, which one worker meets.
func (t *vacuumTask) parallel(u *utility, d *pg_query.DefElem) error {
	const most = 1024
	if d.Arg == nil {
		return pgerr.New(pgerr.SyntaxError, "parallel option requires a value between 0 and %d", most).WithPosition(u.position(d))
	}
	n, err := strconv.Atoi(defString(d.Arg))
	if err != nil {
		return pgerr.New(pgerr.SyntaxError, "%s requires an integer value", d.Defname)
	}
	if n < 0 || n > most {
		return pgerr.New(pgerr.SyntaxError, "parallel workers for vacuum must be between 0 and %d", most).WithPosition(u.position(d))
	}
	t.workers = n
	return nil
}

func (t *vacuumTask) consistent() error {
	switch {
	case t.full && t.workers > 0:
		return pgerr.New(pgerr.FeatureNotSupported, "VACUUM FULL cannot be performed in parallel")
	case t.full && t.opts.DisablePageSkipping:
		return pgerr.New(pgerr.FeatureNotSupported, "VACUUM option DISABLE_PAGE_SKIPPING cannot be used with FULL")
	case t.full && t.noToast:
		return pgerr.New(pgerr.FeatureNotSupported, "PROCESS_TOAST required with VACUUM FULL")
	}
	return nil
}

// defString is the value of an option as text.
func defString(n *pg_query.Node) string {
	switch v := n.GetNode().(type) {
	case *pg_query.Node_String_:
		return v.String_.Sval
	case *pg_query.Node_Integer:
		return itoa(int64(v.Integer.Ival))
	case *pg_query.Node_Float:
		return v.Float.Fval
	case *pg_query.Node_Boolean:
		if v.Boolean.Boolval {
			return "true"
		}
		return "false"
	case *pg_query.Node_AConst:
		s, _ := settingArg("", n)
		return s
	case *pg_query.Node_TypeName:
		names := v.TypeName.Names
		return names[len(names)-1].GetString_().GetSval()
	}
	return ""
}

// vacuumTargets lists the tables named, or all of the database's.
func (u *utility) vacuumTargets(n *pg_query.VacuumStmt, task *vacuumTask) ([]vacuumTarget, error) {
	s := u.s
	var out []vacuumTarget
	for _, r := range n.Rels {
		vr := r.GetVacuumRelation()
		rel, err := s.relationByName(vr.Relation.Schemaname, vr.Relation.Relname)
		if err != nil {
			return nil, err
		}
		if rel == nil {
			return nil, undefinedRelation(vr.Relation.Schemaname, vr.Relation.Relname)
		}
		if rel.System {
			continue
		}
		if !rel.Kind.IsTableLike() {
			verb := "analyze"
			if task.vacuum {
				verb = "vacuum"
			}
			s.notice(pgerr.Notice(pgerr.SeverityWarning, pgerr.Warning,
				"skipping \"%s\" --- cannot %s non-tables or special system tables", rel.Name, verb))
			continue
		}
		t := vacuumTarget{oid: rel.OID}
		for _, c := range vr.VaCols {
			t.columns = append(t.columns, c.GetString_().GetSval())
		}
		if len(t.columns) > 0 && !task.analyze {
			return nil, pgerr.New(pgerr.FeatureNotSupported, "ANALYZE option must be specified when a column list is provided")
		}
		out = append(out, t)
	}
	if len(n.Rels) > 0 {
		return out, nil
	}
	rows, err := s.eng.Catalog().Rows(catalog.PgClass)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		kind := catalog.RelKind(row[catalog.ClassRelkind].W)
		oid := row[catalog.ClassOid].OID()
		if oid >= firstUserOID && (kind == catalog.KindTable || kind == catalog.KindMatView) {
			out = append(out, vacuumTarget{oid: oid})
		}
	}
	return out, nil
}

const firstUserOID catalog.OID = 16384

// vacuumEach handles each table in a transaction of its own; the statement's transaction ends before.
func (u *utility) vacuumEach(targets []vacuumTarget, task *vacuumTask) error {
	s := u.s
	if err := s.commitTransaction(u.ctx); err != nil {
		return err
	}
	for _, t := range targets {
		if task.vacuum {
			if err := s.ensureTransaction(); err != nil {
				return err
			}
			if err := s.vacuumTable(u.ctx, t.oid, task); err != nil {
				return err
			}
			if err := s.commitTransaction(u.ctx); err != nil {
				return err
			}
		}
		if task.analyze {
			if err := s.ensureTransaction(); err != nil {
				return err
			}
			if err := s.analyzeTable(u.ctx, t.oid, t.columns, task); err != nil {
				return err
			}
			if err := s.commitTransaction(u.ctx); err != nil {
				return err
			}
		}
	}
	return s.ensureTransaction()
}

// vacuumTable vacuums one table, which may be gone.
func (s *Session) vacuumTable(ctx context.Context, oid catalog.OID, task *vacuumTask) error {
	if task.full {
		return pgerr.New(pgerr.FeatureNotSupported, "VACUUM FULL is not supported")
	}
	rel, err := s.lockForMaintenance(ctx, oid, locks.ShareUpdateExclusive, task, "vacuum")
	if err != nil || rel == nil {
		return err
	}
	res, err := s.eng.Vacuum(ctx, rel, task.opts)
	if err == nil && task.verbose {
		s.notice(pgerr.Notice(pgerr.SeverityInfo, pgerr.SuccessfulCompletion,
			"finished vacuuming \"%s\": %d dead row versions removed, %d remain, %d pages",
			rel.Name, res.TuplesRemoved, res.RecentlyDead, res.Pages))
	}
	return err
}

func (s *Session) lockForMaintenance(ctx context.Context, oid catalog.OID, mode locks.Mode, task *vacuumTask, verb string) (*catalog.Relation, error) {
	rel, err := s.eng.Catalog().RelationByOID(oid)
	if err != nil || rel == nil {
		return nil, err
	}
	opts := s.lockOptions()
	opts.NoWait = task.skipLocked
	err = s.eng.Locks().Lock(ctx, locks.RelationTag(uint32(s.database.OID), uint32(oid)), mode, opts)
	if task.skipLocked && pgerr.HasCode(err, pgerr.LockNotAvailable) {
		s.notice(pgerr.Notice(pgerr.SeverityWarning, pgerr.LockNotAvailable,
			"skipping %s of \"%s\" --- lock not available", verb, rel.Name))
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.eng.Catalog().RelationByOID(oid)
}
