package minipg_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/minipg/minipg"
)

// TestSocketOnly: a server without TCP is reached by its DSN, and may be closed more than once.
func TestSocketOnly(t *testing.T) {
	ctx := context.Background()
	srv, err := minipg.Open(ctx, minipg.Options{Dir: t.TempDir(), SocketDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, srv.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	var one int
	if err := conn.QueryRow(ctx, "SELECT 1").Scan(&one); err != nil || one != 1 {
		t.Errorf("SELECT 1 is %d, %v", one, err)
	}
	if err := conn.Close(ctx); err != nil {
		t.Error(err)
	}
	for _, mode := range []minipg.Mode{minipg.Immediate, minipg.Fast, minipg.Smart} {
		if err := srv.Close(ctx, mode); err != nil {
			t.Errorf("close %d: %v", mode, err)
		}
	}
}
