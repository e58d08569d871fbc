// Package minipgtest gives a Go test a server of its own.
//
//	func TestOrders(t *testing.T) {
//		srv := minipgtest.New(t)
//		conn, err := pgx.Connect(t.Context(), srv.DSN("postgres"))
//		...
//	}
//
// The server listens on a free loopback port, keeps its data in a directory of the test's (or in
// memory) and is stopped when the test ends.
//
// # Invariants
//
//  1. When New returns, the server accepts connections.
//  2. After the test nothing is left: no goroutine, no port, no file.
package minipgtest
