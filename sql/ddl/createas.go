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
	if into.OnCommit == pg_query.OnCommitAction_ONCOMMIT_DROP || into.OnCommit == pg_query.OnCommitAction_ONCOMMIT_DELETE_ROWS {
		return nil, unsupported("ON COMMIT DELETE ROWS and DROP are not supported")
	}
	schema, err := e.creationSchema(rv)
	if err != nil {
		return nil, err
	}
	if err := e.lockName(catalog.PgClass, schema, rv.Relname); err != nil {
		return nil, err
	}
	if old, err := e.Cat.RelationOID(schema, rv.Relname); err != nil {
		return nil, err
	} else if old != 0 {
		if ifNotExists {
			e.notice(pgerr.DuplicateTable, "relation \"%s\" already exists, skipping", rv.Relname)
			return nil, nil
		}
		return nil, pgerr.New(pgerr.DuplicateTable, "relation \"%s\" already exists", rv.Relname)
	}
	if len(into.ColNames) > len(cols) {
		return nil, pgerr.New(pgerr.SyntaxError, "too many column names were specified")
	}
	d := &tableDef{e: e, rv: rv, schema: schema, persist: persistenceOf(rv)}
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
		if t == nil || t.Kind == 'p' {
			return nil, pgerr.New(pgerr.InvalidTableDefinition, "column \"%s\" has pseudo-type %s", c.Name, typeText(e, c.Type))
		}
		coll := c.Collation
		if coll == 0 {
			coll = t.Collation
		}
		if err := d.add(columnDef{column: column{name: c.Name, typ: c.Type, typmod: c.Typmod, collation: coll}}); err != nil {
			return nil, err
		}
	}
	oid, err := d.insertTable(e.Host.User().OID)
	if err != nil {
		return nil, err
	}
	return e.Cat.RelationByOID(oid)
}
