package sql

import (
	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/types"
)

// DefaultTablespace is the setting default_tablespace.
func (h ddlHost) DefaultTablespace() string { return h.s.set.Str(settings.DefaultTablespace) }

// checkTablespace is the check of default_tablespace. Outside a transaction the catalog is not looked at.
func (s *Session) checkTablespace(name string) error {
	if name == "" || s.eng.Tx() == nil {
		return nil
	}
	t, err := s.eng.Catalog().TablespaceByName(name)
	if err != nil || t != nil {
		return err
	}
	return pgerr.New(pgerr.InvalidParameterValue, "invalid value for parameter \"default_tablespace\": \"%s\"", name).
		WithDetail("Tablespace \"%s\" does not exist.", name)
}

// tablespaceDatabases is pg_tablespace_databases.
func (f systemFuncs) tablespaceDatabases(ts types.OID) (fn.Set, error) {
	t, err := f.s.eng.Catalog().TablespaceByOID(ts)
	if err != nil {
		return nil, err
	}
	out := &rowSet{}
	if t == nil {
		f.s.notice(pgerr.Notice(pgerr.SeverityWarning, pgerr.Warning, "%d is not a tablespace OID", ts))
		return out, nil
	}
	dbs, err := f.s.srv.eng.TablespaceDatabases(ts)
	for _, db := range dbs {
		out.rows = append(out.rows, []types.Datum{types.OIDDatum(db)})
	}
	return out, err
}
