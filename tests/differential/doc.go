// Package differential runs random SQL on minipg and on PostgreSQL and compares every answer.
//
// A seed makes one statement over a small schema full of nulls, duplicates and indexes of every
// kind. Minipg runs it by the simple protocol with two sets of literals, so that the second finds the first
// one's plan; with parameters in place of the literals; and with planner settings switched off, so that
// other plans than the cheapest are tried. All must answer as PostgreSQL does: names and types of columns,
// rows (in order where ORDER BY settles it), command tags, SQLSTATE and message.
//
// The test needs MINIPG_ORACLE, the DSN of a PostgreSQL 15 superuser. MINIPG_SUBJECT, the DSN of a running
// minipg, spares starting one.
package differential
