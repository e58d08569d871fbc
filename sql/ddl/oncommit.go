package ddl

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/locks"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/storage"
)

// OnCommit is what becomes of a temporary table when a transaction commits.
type OnCommit uint8

// The actions of ON COMMIT.
const (
	OnCommitNothing OnCommit = iota
	OnCommitDeleteRows
	OnCommitDrop
)

func onCommit(a pg_query.OnCommitAction, persistence byte) (OnCommit, error) {
	switch a {
	case pg_query.OnCommitAction_ON_COMMIT_ACTION_UNDEFINED, pg_query.OnCommitAction_ONCOMMIT_NOOP:
		return OnCommitNothing, nil
	}
	if persistence != catalog.Temporary {
		return 0, pgerr.New(pgerr.InvalidTableDefinition, "ON COMMIT can only be used on temporary tables")
	}
	switch a {
	case pg_query.OnCommitAction_ONCOMMIT_DELETE_ROWS:
		return OnCommitDeleteRows, nil
	case pg_query.OnCommitAction_ONCOMMIT_DROP:
		return OnCommitDrop, nil
	}
	return OnCommitNothing, nil
}

// RunOnCommit does it, in the transaction that is about to commit.
func RunOnCommit(e *Env, table OID, action OnCommit) error {
	rel, err := e.Cat.RelationByOID(table)
	if err != nil || rel == nil {
		return err
	}
	switch action {
	case OnCommitDrop:
		return dropAll(e, []catalog.Object{{Class: catalog.PgClass, OID: table}})
	case OnCommitDeleteRows:
		return e.emptyTable(rel)
	}
	return nil
}

// emptyTable deletes the rows of a table, if it has a block that could hold one.
func (e *Env) emptyTable(rel *catalog.Relation) error {
	n, err := e.Session.Engine().Pool().Files().NBlocks(rel.File, storage.MainFork)
	if err != nil || n == 0 {
		return err
	}
	if err := e.lock(rel.OID, locks.AccessExclusive); err != nil {
		return err
	}
	return e.Session.NewStorage(e.Ctx, rel)
}

// dropAll drops objects with all that depends on them, without a word.
func dropAll(e *Env, targets []catalog.Object) error {
	list, err := e.Cat.Drops(targets, true, e.Host.SearchPath())
	if err != nil {
		return err
	}
	for _, o := range list.Objects {
		if err := e.dropObject(o); err != nil {
			return err
		}
	}
	return nil
}
