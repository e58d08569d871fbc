package ddl

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
)

// NewColumn is a column of a table made from a query.
type NewColumn struct {
	Name      string
	Type      OID
	Typmod    int32
	Collation OID
}

// CreateTableAs makes the table of CREATE TABLE AS and SELECT INTO, without rows. It returns nil
// where IF NOT EXISTS found one.
func CreateTableAs(e *Env, into *pg_query.IntoClause, cols []NewColumn, ifNotExists bool) (*catalog.Relation, error) {
	rv := into.Rel
	schema, err := e.creationSchema(rv)
	if err != nil {
		return nil, err
	}
	if err := e.lockName(catalog.PgClass, schema, rv.Relname); err != nil {
		return nil, err
	}
	if skip, err := e.tableThere(rv, schema, ifNotExists); skip || err != nil {
		return nil, err
	}
	if len(into.ColNames) > len(cols) {
		return nil, pgerr.New(pgerr.SyntaxError, "too many column names were specified")
	}
	d := &tableDef{e: e, rv: rv, schema: schema, persist: persistenceOf(rv)}
	action, err := onCommit(into.OnCommit, d.persist)
	if err != nil {
		return nil, err
	}
	if d.options, d.fill, err = storageOptions(into.Options); err != nil {
		return nil, err
	}
	for i, c := range cols {
		if i < len(into.ColNames) {
			c.Name = into.ColNames[i].GetString_().GetSval()
		}
		t, err := e.Cat.TypeByOID(c.Type)
		if err != nil {
			return nil, err
		}
		coll := c.Collation
		if coll == 0 {
			coll = t.Collation
		}
		if err := d.add(columnDef{column: column{name: c.Name, typ: c.Type, typmod: c.Typmod, collation: coll}}); err != nil {
			return nil, err
		}
	}
	if err := d.checkColumns(); err != nil {
		return nil, err
	}
	oid, err := d.insertTable(e.Host.User().OID)
	if err != nil {
		return nil, err
	}
	if action != OnCommitNothing {
		e.Host.OnCommit(oid, action)
	}
	return e.Cat.RelationByOID(oid)
}

// CreateTableAsSkips tells, before the query of CREATE TABLE AS is run or explained, whether IF NOT EXISTS has it
// skipped; without it a table that exists is an error.
func CreateTableAsSkips(e *Env, into *pg_query.IntoClause, ifNotExists bool) (bool, error) {
	schema, err := e.creationSchema(into.Rel)
	if err != nil {
		return false, err
	}
	return e.tableThere(into.Rel, schema, ifNotExists)
}

func (e *Env) tableThere(rv *pg_query.RangeVar, schema OID, ifNotExists bool) (skip bool, err error) {
	old, err := e.Cat.RelationOID(schema, rv.Relname)
	if err != nil || old == 0 {
		return false, err
	}
	if ifNotExists {
		e.notice(pgerr.DuplicateTable, "relation \"%s\" already exists, skipping", rv.Relname)
		return true, nil
	}
	return false, pgerr.New(pgerr.DuplicateTable, "relation \"%s\" already exists", rv.Relname)
}
