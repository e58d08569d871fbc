// Package lab reruns the experiments minipg exists for: it starts servers, drives stock pgbench
// against them and against a real PostgreSQL, and writes a report in which each measured figure
// stands beside the published one.
//
//	catalogue (e1.go ...)   what is run: scripts, configurations, published figures
//	plan.go                 in which order: A B B A, the first configuration again as control
//	run.go                  one run: server, reset, warm-up, reset, pgbench between two scrapes
//	results.go              what is kept: results.json, written after each run
//	report.go ...           what is shown, all of it computed from results.json
//
// # Invariants
//
//  1. Every run starts from the same state: minipg on a new data directory, PostgreSQL on dropped and
//     newly made tables after a checkpoint.
//  2. results.json is replaced whole after each run; whatever ends the lab, what was measured is there.
//  3. A report is a function of results.json: report DIR writes the same one again.
//  4. In a foreign PostgreSQL the lab touches nothing but the database minipg_lab and the tablespaces
//     minipg_lab_a and minipg_lab_b, and drops them when it ends.
package lab
