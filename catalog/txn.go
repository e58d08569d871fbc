package catalog

import (
	"github.com/minipg/minipg/types"
)

// Row is a row of a catalog relation in the order of its attributes. The constants of
// columns_gen.go name the positions: row[catalog.ClassRelname].
type Row = []types.Datum

// Eq is the condition that a column (its position in Row) equals a value.
type Eq struct {
	Col   int
	Value types.Datum
}

// Txn is a transaction's view of the catalog: the committed rows with its own changes
// over them. It belongs to one session. Lookups return nil without an error for what
// does not exist; an error is a failed read.
type Txn struct {
	cat *Catalog
	db  OID
}

// Mark is a savepoint of a Txn.
type Mark struct{ undo int }

// DB is the database.
func (t *Txn) DB() OID { return t.db }

// Catalog is what the transaction was begun on.
func (t *Txn) Catalog() *Catalog { return t.cat }

// Changed tells whether there is anything to commit.
func (t *Txn) Changed() bool { return false }

// Version changes whenever what the transaction sees may have: by commits and by its own changes.
func (t *Txn) Version() uint64 { return 0 }

// Savepoint marks the present state for RollbackTo. Releasing a savepoint needs no call.
func (t *Txn) Savepoint() Mark { return Mark{} }

// RollbackTo undoes the changes made since the mark.
func (t *Txn) RollbackTo(m Mark) {}

// Reset forgets all changes and starts anew in the same database: after commit or abort.
func (t *Txn) Reset() {}

// Batch is the payload of the commit record, nil if nothing changed.
func (t *Txn) Batch() []byte { return nil }

// NewOID allocates an OID that no row of rel (a catalog with an oid column) has.
func (t *Txn) NewOID(rel OID) (OID, error) { return 0, nil }

// Get returns the row of a catalog relation with that primary key.
func (t *Txn) Get(rel OID, key ...types.Datum) (Row, error) { return nil, nil }

// Scan calls fn for each row that meets all conditions, in no particular order, until
// it returns an error. The row may be reused after fn returns; its bytes may not change.
func (t *Txn) Scan(rel OID, eq []Eq, fn func(Row) error) error { return nil }

// Rows collects what Scan yields.
func (t *Txn) Rows(rel OID, eq ...Eq) ([]Row, error) { return nil, nil }

// Insert adds a row. A row with the same unique key is 23505 naming the catalog's index.
func (t *Txn) Insert(rel OID, row Row) error { return nil }

// Update replaces the row with the same primary key (for built-in rows it makes an override).
func (t *Txn) Update(rel OID, row Row) error { return nil }

// Delete removes the row with row's primary key; only the key columns of row are read.
func (t *Txn) Delete(rel OID, row Row) error { return nil }

// DeleteWhere removes the rows that meet the conditions and returns how many.
func (t *Txn) DeleteWhere(rel OID, eq ...Eq) (int, error) { return 0, nil }

// CopyDatabase copies every row of database src's own catalogs to dst.
func (t *Txn) CopyDatabase(src, dst OID) error { return nil }

// DropDatabase removes every row of database db's own catalogs.
func (t *Txn) DropDatabase(db OID) error { return nil }
