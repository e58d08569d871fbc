package main

import (
	"context"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestConstant asks with simple and extended queries. pgx asks for no statement's description in the latter mode:
// a server that parses nothing could not give one.
func TestConstant(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"simple_protocol", "exec"} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			c, err := l.Accept()
			if err == nil {
				serve(c)
			}
		}()
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, "postgres://"+l.Addr().String()+"/x?sslmode=disable&default_query_exec_mode="+mode)
		if err != nil {
			t.Fatal(err)
		}
		var n string
		var none *string
		if err := conn.QueryRow(ctx, "any words").Scan(&n, &none, nil); err != nil || n != "1" || none != nil {
			t.Errorf("%s: got %q, %v, %v", mode, n, none, err)
		}
		if err := conn.Close(ctx); err != nil {
			t.Error(err)
		}
		<-done
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
