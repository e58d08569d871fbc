// Package waits tests that every wait is counted, shown while it lasts and remembered: each metric of
// the experiments is provoked in a server and read from its page, and in SQL from pg_stat_lock,
// minipg_stat_latch, minipg_stat_extension, minipg_wait_history and pg_stat_activity.
package waits
