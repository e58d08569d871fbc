package sql

import (
	"strconv"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// lock carries out LOCK TABLE.
func (u *utility) lock(n *pg_query.LockStmt) (string, error) {
	s := u.s
	if err := s.inBlock("LOCK TABLE"); err != nil {
		return "", err
	}
	for _, r := range n.Relations {
		rv := r.GetRangeVar()
		rel, err := s.relationByName(rv.Schemaname, rv.Relname)
		if err != nil {
			return "", err
		}
		if rel == nil {
			return "", undefinedRelation(rv.Schemaname, rv.Relname)
		}
		if !rel.Kind.IsTableLike() && rel.Kind != catalog.KindView {
			return "", pgerr.New(pgerr.WrongObjectType, "cannot lock relation \"%s\"", rel.Name).
				WithDetail("This operation is not supported for %s.", rel.Kind.Plural())
		}
		if rel.System {
			continue
		}
		opts := s.lockOptions()
		opts.NoWait = n.Nowait
		tag := locks.RelationTag(uint32(s.database.OID), uint32(rel.OID))
		if err := s.eng.Locks().Lock(u.ctx, tag, locks.Mode(n.Mode), opts); err != nil {
			if n.Nowait && pgerr.HasCode(err, pgerr.LockNotAvailable) {
				return "", pgerr.New(pgerr.LockNotAvailable, "could not obtain lock on relation \"%s\"", rel.Name)
			}
			return "", err
		}
		if again, err := s.eng.Catalog().RelationByOID(rel.OID); err != nil || again == nil {
			return "", undefinedRelation(rv.Schemaname, rv.Relname)
		}
	}
	return "LOCK TABLE", nil
}

// setConstraints accepts SET CONSTRAINTS for what is there: no constraint is deferrable yet.
func (s *Session) setConstraints(n *pg_query.ConstraintsSetStmt) error {
	if len(n.Constraints) == 0 {
		return nil
	}
	rv := n.Constraints[0].GetRangeVar()
	return pgerr.New(pgerr.WrongObjectType, "constraint \"%s\" is not deferrable", rv.GetRelname())
}
