// Package settings owns the server's configuration parameters: what exists
// (Registry, generated from PostgreSQL 15 plus minipg's own), what the
// configuration files and command line say (Server), and what a session sees
// (Session), with SET, SET LOCAL and RESET undone by aborted (sub)transactions.
//
// # Invariants
//
//  1. A parameter's value is always valid: parsed, in range, in its base unit.
//  2. A session reads its own values without locks; a reload hands a new set to
//     sessions, which take it between statements (Session.Refresh).
//  3. The value in effect is that of the highest source that set it: default,
//     file, auto file, command line, database, role, role in database, client, session.
//  4. What minipg does not implement is only accepted at its default, or where a
//     different value cannot change a result; else 0A000.
package settings
