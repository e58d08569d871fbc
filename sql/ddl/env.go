package ddl

import (
	"context"
	"hash/fnv"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// OID is an object identifier.
type OID = types.OID

// Host is the session a statement runs in.
type Host interface {
	// AnalyzeContext makes the context of one analysis.
	AnalyzeContext(ctx context.Context) *analyze.Context
	// SearchPath is the effective one; CreationSchema its first schema that search_path names.
	SearchPath() []OID
	CreationSchema() (OID, error)
	// InSchema calls f with a schema in front of the search path.
	InSchema(name string, f func() error) error
	// Schema is a schema's OID by name, 0 if there is none.
	Schema(name string) (OID, error)
	TempSchema(ctx context.Context) (OID, error)
	// OnCommit has the action of a temporary table made in this transaction done at each commit.
	OnCommit(table OID, action OnCommit)
	Notice(e *pgerr.Error)
	User() *catalog.Role
	LockOptions() locks.LockOptions
	// Evaluate computes an expression over no row.
	Evaluate(ctx context.Context, e analyze.Expr) (types.Datum, error)
	// RowFunc makes a function of an expression over a row of rel (Vars of entry 0).
	RowFunc(ctx context.Context, rel *catalog.Relation, e analyze.Expr) (RowFunc, error)
	// PreventInBlock refuses a command inside a transaction block.
	PreventInBlock(command string) error
	// CheckSetting judges a value for ALTER DATABASE or ROLE ... SET.
	CheckSetting(name, value string) error
	// DatabaseInUse counts other sessions in a database; TerminateDatabase ends them.
	DatabaseInUse(db OID) int
	TerminateDatabase(db OID)
	// DefaultTablespace is the setting, a name or "".
	DefaultTablespace() string
}

// RowFunc computes an expression from a row.
type RowFunc func(ctx context.Context, row []types.Datum) (types.Datum, error)

// Env is what one statement works with.
type Env struct {
	Ctx     context.Context //nolint:containedctx // lives as long as the statement
	Host    Host
	Session *engine.Session
	Cat     *catalog.Txn
	Text    string // the statement's text, for positions
}

// withoutText is e for expressions whose faults are shown without a position, as PostgreSQL shows those that ALTER
// TABLE comes upon when it no longer has the statement's text.
func (e *Env) withoutText() *Env {
	c := *e
	c.Text = ""
	return &c
}

func (e *Env) notice(code pgerr.Code, format string, args ...any) {
	e.Host.Notice(pgerr.Notice(pgerr.SeverityNotice, code, format, args...))
}

func (e *Env) analysis() *analyze.Context { return e.Host.AnalyzeContext(e.Ctx) }

// lock takes a table lock for the transaction.
func (e *Env) lock(rel OID, mode locks.Mode) error {
	tag := locks.RelationTag(uint32(e.Session.Database()), uint32(rel))
	return e.Session.Locks().Lock(e.Ctx, tag, mode, e.Host.LockOptions())
}

// lockName keeps others from making an object of that name until the transaction ends.
func (e *Env) lockName(class, schema OID, name string) error {
	h := fnv.New32a()
	h.Write([]byte(name)) //nolint:errcheck // never fails
	tag := locks.ObjectTag(uint32(e.Session.Database()), uint32(class), h.Sum32()^uint32(schema), 0)
	return e.Session.Locks().Lock(e.Ctx, tag, locks.Exclusive, e.Host.LockOptions())
}

// Run carries out a statement and returns its command tag.
func Run(e *Env, n *pg_query.Node) (string, error) {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_CreateStmt:
		return "CREATE TABLE", e.createTable(n.CreateStmt)
	case *pg_query.Node_IndexStmt:
		return "CREATE INDEX", e.createIndex(n.IndexStmt)
	case *pg_query.Node_AlterTableStmt:
		return e.alterTable(n.AlterTableStmt)
	case *pg_query.Node_DropStmt:
		return e.drop(n.DropStmt)
	case *pg_query.Node_TruncateStmt:
		return "TRUNCATE TABLE", e.truncate(n.TruncateStmt)
	case *pg_query.Node_CreateSchemaStmt:
		return "CREATE SCHEMA", e.createSchema(n.CreateSchemaStmt)
	case *pg_query.Node_CreateSeqStmt:
		return "CREATE SEQUENCE", e.createSequence(n.CreateSeqStmt)
	case *pg_query.Node_AlterSeqStmt:
		return "ALTER SEQUENCE", e.alterSequence(n.AlterSeqStmt)
	case *pg_query.Node_RenameStmt:
		return e.rename(n.RenameStmt)
	case *pg_query.Node_AlterObjectSchemaStmt:
		return e.setSchema(n.AlterObjectSchemaStmt)
	case *pg_query.Node_AlterOwnerStmt:
		return e.setOwner(n.AlterOwnerStmt)
	case *pg_query.Node_CommentStmt:
		return "COMMENT", e.comment(n.CommentStmt)
	case *pg_query.Node_CreatedbStmt:
		return "CREATE DATABASE", e.createDatabase(n.CreatedbStmt)
	case *pg_query.Node_DropdbStmt:
		return "DROP DATABASE", e.dropDatabase(n.DropdbStmt)
	case *pg_query.Node_CreateTableSpaceStmt:
		return "CREATE TABLESPACE", e.createTablespace(n.CreateTableSpaceStmt)
	case *pg_query.Node_DropTableSpaceStmt:
		return "DROP TABLESPACE", e.dropTablespace(n.DropTableSpaceStmt)
	case *pg_query.Node_AlterTableSpaceOptionsStmt:
		return "ALTER TABLESPACE", e.alterTablespaceOptions(n.AlterTableSpaceOptionsStmt)
	case *pg_query.Node_AlterTableMoveAllStmt:
		return e.moveAll(n.AlterTableMoveAllStmt)
	case *pg_query.Node_AlterDatabaseStmt:
		return "ALTER DATABASE", e.alterDatabase(n.AlterDatabaseStmt)
	case *pg_query.Node_AlterDatabaseSetStmt:
		return "ALTER DATABASE", e.alterDatabaseSet(n.AlterDatabaseSetStmt)
	case *pg_query.Node_AlterRoleSetStmt:
		return "ALTER ROLE", e.alterRoleSet(n.AlterRoleSetStmt)
	case *pg_query.Node_ReindexStmt:
		return "REINDEX", e.reindex(n.ReindexStmt)
	}
	return "", nil
}

// Supports tells whether Run carries out statements of this kind.
func Supports(n *pg_query.Node) bool {
	switch n.GetNode().(type) {
	case *pg_query.Node_CreateStmt, *pg_query.Node_IndexStmt, *pg_query.Node_AlterTableStmt, *pg_query.Node_DropStmt,
		*pg_query.Node_TruncateStmt, *pg_query.Node_CreateSchemaStmt, *pg_query.Node_CreateSeqStmt,
		*pg_query.Node_AlterSeqStmt, *pg_query.Node_RenameStmt, *pg_query.Node_AlterObjectSchemaStmt,
		*pg_query.Node_AlterOwnerStmt, *pg_query.Node_CommentStmt, *pg_query.Node_CreatedbStmt, *pg_query.Node_DropdbStmt,
		*pg_query.Node_AlterDatabaseStmt, *pg_query.Node_AlterDatabaseSetStmt, *pg_query.Node_AlterRoleSetStmt, *pg_query.Node_ReindexStmt,
		*pg_query.Node_CreateTableSpaceStmt, *pg_query.Node_DropTableSpaceStmt, *pg_query.Node_AlterTableSpaceOptionsStmt,
		*pg_query.Node_AlterTableMoveAllStmt:
		return true
	}
	return false
}

func unsupported(format string, args ...any) error {
	return pgerr.New(pgerr.FeatureNotSupported, format, args...)
}

// at gives an error a position from a byte offset of the statement's text.
func (e *Env) at(err *pgerr.Error, location int32) error {
	if location < 0 || int(location) > len(e.Text) {
		return err
	}
	n := 0
	for range e.Text[:location] {
		n++
	}
	return err.WithPosition(n + 1)
}

// findRelation looks a relation up by a name with or without schema; nil if there is none.
func (e *Env) findRelation(rv *pg_query.RangeVar) (*catalog.Relation, error) {
	if rv.Catalogname != "" {
		db, err := e.Cat.DatabaseByOID(e.Session.Database())
		if err != nil {
			return nil, err
		}
		if db.Name != rv.Catalogname {
			return nil, unsupported("cross-database references are not implemented: \"%s.%s.%s\"", rv.Catalogname, rv.Schemaname, rv.Relname)
		}
	}
	if rv.Schemaname != "" {
		ns, err := e.Host.Schema(rv.Schemaname)
		if err != nil || ns == 0 {
			return nil, err
		}
		return e.Cat.RelationByName(ns, rv.Relname)
	}
	for _, ns := range e.Host.SearchPath() {
		rel, err := e.Cat.RelationByName(ns, rv.Relname)
		if err != nil || rel != nil {
			return rel, err
		}
	}
	return nil, nil
}

func rangeName(rv *pg_query.RangeVar) string {
	if rv.Schemaname != "" {
		return rv.Schemaname + "." + rv.Relname
	}
	return rv.Relname
}

func undefinedRelation(rv *pg_query.RangeVar) *pgerr.Error {
	return pgerr.New(pgerr.UndefinedTable, "relation \"%s\" does not exist", rangeName(rv))
}

// openRelation finds and locks a relation; its descriptor is read again under the lock.
func (e *Env) openRelation(rv *pg_query.RangeVar, mode locks.Mode) (*catalog.Relation, error) {
	rel, err := e.findRelation(rv)
	if err != nil {
		return nil, err
	}
	if rel == nil {
		return nil, undefinedRelation(rv)
	}
	if rel.System {
		return nil, pgerr.New(pgerr.InsufficientPrivilege, "permission denied: \"%s\" is a system catalog", rel.Name)
	}
	if err := e.lock(rel.OID, mode); err != nil {
		return nil, err
	}
	rel, err = e.Cat.RelationByOID(rel.OID)
	if err == nil && rel == nil {
		err = undefinedRelation(rv)
	}
	if err != nil {
		return nil, err
	}
	return rel, e.checkOwner(rel.Owner, "table", rel)
}

// checkOwner refuses changes by others than the owner and superusers.
func (e *Env) checkOwner(owner OID, kind string, rel *catalog.Relation) error {
	u := e.Host.User()
	if u.Super || u.OID == owner {
		return nil
	}
	return pgerr.New(pgerr.InsufficientPrivilege, "must be owner of %s %s", kind, rel.Name)
}

// creationSchema is the schema a new object named by rv goes to.
func (e *Env) creationSchema(rv *pg_query.RangeVar) (OID, error) {
	if rv.Relpersistence == "t" && rv.Schemaname != "" && rv.Schemaname != "pg_temp" {
		temp, err := e.Host.TempSchema(e.Ctx)
		if err != nil {
			return 0, err
		}
		if ns, err := e.Host.Schema(rv.Schemaname); err != nil || ns != temp {
			if err == nil {
				err = e.at(pgerr.New(pgerr.InvalidTableDefinition, "cannot create temporary relation in non-temporary schema"), rv.Location)
			}
			return 0, err
		}
	}
	if rv.Relpersistence == "t" || rv.Schemaname == "pg_temp" {
		return e.Host.TempSchema(e.Ctx)
	}
	if rv.Schemaname == "" {
		ns, err := e.Host.CreationSchema()
		if err != nil {
			return 0, e.at(pgerr.From(err), rv.Location)
		}
		return ns, nil
	}
	ns, err := e.Host.Schema(rv.Schemaname)
	if err != nil {
		return 0, err
	}
	if ns == 0 {
		return 0, e.at(pgerr.New(pgerr.UndefinedSchema, "schema \"%s\" does not exist", rv.Schemaname), rv.Location)
	}
	if ns == catalog.NamespacePgCatalog {
		return 0, pgerr.New(pgerr.InsufficientPrivilege, "permission denied to create \"pg_catalog.%s\"", rv.Relname).
			WithDetail("System catalog modifications are currently disallowed.")
	}
	return ns, nil
}
