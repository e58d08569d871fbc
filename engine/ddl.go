package engine

import (
	"context"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/storage"
	"github.com/minipg/minipg/types"
)

// CreateRelationFile gives out a file number and makes the main fork of a new relation
// (and the init fork's equivalent for unlogged ones); it is unlinked if the transaction aborts.
func (s *Session) CreateRelationFile(ctx context.Context, tablespace catalog.OID, persistence byte) (storage.RelFile, error) {
	return storage.RelFile{}, nil
}

// DropRelationFile unlinks the files of a relation when the transaction commits.
func (s *Session) DropRelationFile(rel storage.RelFile) {}

// InitIndexFile makes a new, empty file an empty tree.
func (s *Session) InitIndexFile(ctx context.Context, rel *catalog.Relation, idx *catalog.Index) error {
	return nil
}

// BuildIndex fills an index, whose file is new and empty, from the table. The session
// holds ShareLock or stronger on the table. brokenHot tells that the index must
// not be used by transactions that are older.
func (s *Session) BuildIndex(ctx context.Context, rel *catalog.Relation, idx *catalog.Index) (rows float64, err error) {
	return 0, nil
}

// InitSequence writes the first state of a sequence into its new file.
func (s *Session) InitSequence(ctx context.Context, seq *catalog.Relation, last int64, called bool) error {
	return nil
}

// Nextval advances a sequence and returns its value; 2200H at the end.
func (s *Session) Nextval(ctx context.Context, seq *catalog.Relation) (int64, error) { return 0, nil }

// Setval sets a sequence; not undone by a rollback.
func (s *Session) Setval(ctx context.Context, seq *catalog.Relation, value int64, called bool) error {
	return nil
}

// Currval returns what Nextval last returned in this session; 55000 when it never did.
func (s *Session) Currval(seq *catalog.Relation) (int64, error) { return 0, nil }

// Lastval returns what the last Nextval of the session returned; 55000 when there was none.
func (s *Session) Lastval() (int64, error) { return 0, nil }

// SequenceState reads last_value, log_cnt and is_called (SELECT FROM a sequence).
func (s *Session) SequenceState(ctx context.Context, seq *catalog.Relation) (last, logCnt int64, called bool, err error) {
	return 0, 0, false, nil
}

// CreateDatabase makes the directory of a new database as a copy of template's files.
func (s *Session) CreateDatabase(ctx context.Context, db, template, tablespace catalog.OID) error {
	return nil
}

// DropDatabase removes a database's files when the transaction commits.
func (s *Session) DropDatabase(ctx context.Context, db, tablespace catalog.OID) error { return nil }

// NewOID gives out an OID.
func (e *Engine) NewOID() (types.OID, error) { return 0, nil }
