// Package catalog owns what the server knows about itself: relations, columns,
// indexes, constraints, types, functions, operators, roles, databases and their
// dependencies, as the rows of PostgreSQL 15's pg_catalog relations.
//
// Three layers answer every read, the first that has the row wins:
//
//  1. the overlay of the reading transaction (Txn), its own uncommitted changes,
//  2. Pebble, the committed rows of user objects and the overridden or deleted
//     rows of built-in ones,
//  3. the generated tables (builtin_*.go, made by catalog/gen from a PostgreSQL 15),
//     static data that costs nothing at start.
//
// Built-in objects that PostgreSQL has not, such as the view pg_stat_lock and the function behind it, have
// OIDs from FirstOwnOID to LastOwnOID (9000 to 9999), which PostgreSQL 15 leaves free; catalog/gen/own.go
// lists them.
//
// On top of rows stand descriptors (Relation, Type, Proc ...): immutable structs
// that the analyzer, planner and engine work with.
//
// # Invariants
//
//  1. A descriptor that was returned is never changed; a change makes a new one.
//     Equal pointers mean an unchanged relation.
//  2. A committed change is in Pebble before the version counter moves, and the
//     shared descriptor cache takes an entry only if the counter did not move
//     while the entry was built. So the cache never holds a stale entry.
//  3. Applying the payloads since a checkpoint again, in order, over any later state gives
//     that later state: keys are put and deleted blindly, and of an updated row the changed
//     columns are set.
//  4. Pebble has no log of its own. A payload is durable when its commit record
//     is; Flush returns only after every payload between BeginCommit and
//     EndCommit when it was called is in Pebble's files.
//  5. A row's built-in form is masked by a row or a tombstone under the same
//     primary key, never by anything else.
//  6. Columns of type pg_node_tree hold SQL text (or, for pg_rewrite.ev_action,
//     the text of the SELECT), already deparsed with qualified names.
//
// # Lock order
//
// Catalog.commitGate, then Catalog.applyMu, then cache.mu. Only commitGate, shared, is held while waiting
// for the log, and none while waiting for a heavyweight lock. A Txn belongs to one session and has no lock.
//
// # Format
//
// key   = database (4, 0 for shared catalogs) | relation OID (4) | index number (1,
// 0 = rows) | key columns | for indexes: primary key columns
// value = for rows: 1 and the row, or 2 for a deleted built-in row; for indexes: the
// primary key as stored in the row key.
package catalog

//go:generate go run ./gen
