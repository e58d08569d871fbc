// Package ddl carries out the statements that define objects: it writes catalog
// rows and makes files, all in the session's transaction, so that a rollback undoes them.
//
// # Invariants
//
//  1. A name is locked before it is looked at: two sessions cannot both find it free.
//  2. A relation is locked in the statement's mode before its descriptor is used.
//  3. Catalog rows of an object are complete, with their dependencies, when the statement ends.
//  4. Expressions are stored as SQL text that reads the same under any search path.
package ddl
