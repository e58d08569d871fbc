// Package sql is a session: it takes the statements and protocol messages of one
// client and carries them out on the engine.
//
// A statement's way is parse -> analyze -> plan -> exec, each a package below.
// This package joins them: transactions and their blocks, prepared statements and
// portals, the plan cache, COPY, cursors, settings, and the functions that look at
// the session or the catalog. DDL is in sql/ddl.
//
// # Invariants
//
//  1. A Session is used by one goroutine at a time; only Cancel, Terminate and what
//     pg_stat_activity shows are safe from others.
//  2. While a statement runs there is a transaction: the block the client opened, or
//     an implicit one that ends with the message (a simple query) or at Sync.
//  3. An error inside a block leaves it failed: until it ends, every statement but
//     those that end it is 25P02.
//  4. A compiled plan is used only while the catalog version is the one it was made at, checked after
//     its relations were locked.
//  5. A plan found for other literals gives the same answer as one made for the
//     text: literals that shaped it are compared (pinned), the others are converted
//     by their type's input function, and an error in that is raised anew on the text.
package sql
