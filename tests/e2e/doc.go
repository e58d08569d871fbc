// Package e2e drives the minipg command as its users do: with stock psql and pgbench, with raw
// protocol messages, and by killing it.
//
// What psql prints and what the wire carries is compared with recordings of PostgreSQL 15; -rewrite with
// MINIPG_ORACLE, the DSN of one, records them anew.
package e2e
