// Package server listens, and carries the messages of PostgreSQL's protocol
// between a connection and its SQL session. It also serves the HTTP page with
// the metrics.
//
// # Invariants
//
//  1. One goroutine serves one connection; only cancel requests and shutdown reach it from others.
//  2. No length a client sends is believed before it was checked against the limits.
//  3. Answers are collected in one buffer and written when the client would otherwise wait for them:
//     before the next read that would block, or when the buffer is full.
//  4. After an error in the extended protocol everything up to Sync is read and thrown away.
//  5. An idle connection keeps no buffer larger than its smallest.
package server
