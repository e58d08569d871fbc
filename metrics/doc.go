// Package metrics counts what the server does and exports it to Prometheus.
//
// A Set is made once per server and handed down; nothing here is global. Hot
// paths touch one padded atomic word per count; Prometheus's own types, which
// hash labels and box values, are met only when a page is scraped.
//
// # Invariants
//
//  1. A label set is resolved to its Counter when the Set is made, never on a
//     hot path.
//  2. Counting never blocks and never allocates.
//  3. Counters only grow, except through Set.Reset, which SQL's
//     pg_stat_reset_shared reaches: Prometheus sees an ordinary counter reset.
package metrics
