//go:build !minipg_nocount

package metrics

// Counting tells whether anything is counted. The build tag minipg_nocount compiles every count, the
// history of waits, and every clock read for the sake of one, out of the program, so that their cost
// can be measured (bench/counting.sh). What pg_stat_activity and pg_locks show of this moment stays.
const Counting = true
