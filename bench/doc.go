// Command bench compares minipg with PostgreSQL 15 on one machine.
//
// A row of the table is a trial: what is done before it, what is run, and what comes out of it. The trials of a
// group share a pair of servers, of the same settings and with the same data. Each trial runs on both servers
// in every round, the first of a round being the second of the next, and its figures are the medians over the
// rounds. Where pgbench is what runs, the constant-answer server of bench/constant runs it too.
//
//	bench/run.sh                 the built-in scripts at 8 clients
//	bench/run.sh all             every row: some two hours
//	bench/run.sh all -o FILE.md  puts the table into the file, and the runs beside it as JSON
//	bench/run.sh all --list      the names of the rows
//	bench/run.sh all --rows=copy --rounds=5
//
// # What the columns say
//
// The ratio says how many times better minipg is: transactions a second over PostgreSQL's, or PostgreSQL's
// seconds over minipg's; for bytes it is minipg's over PostgreSQL's. Spread is half the distance between the
// largest and smallest run, over the median.
//
// CPU is what the server's processes used while the trial ran, those included that have ended. Memory is the
// largest sum seen of the anonymous memory of all processes, and of the shared memory, counted once, as much of it
// as the process has that touched most: pages that PostgreSQL's processes share since they forked are counted in
// each, some 1 MB a process. (The proportional
// set size has no such error, but reading it walks the page tables of every process, which with 1 GB of shared
// buffers slows what is measured. The row of idle connections reads it, after the run.)
//
// # Durability
//
// Both servers have fsync, synchronous_commit, full_page_writes and checksums on, as minipg always has.
package main
