package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-?"}, {"serve", "--help"}, {"check", "--help"}} {
		if code := run(args); code != 0 {
			t.Errorf("%q: exit status %d", args, code)
		}
	}
	if run([]string{"--nothing"}) == 0 {
		t.Error("an unknown flag is taken")
	}
}

func TestReady(t *testing.T) {
	status := http.StatusServiceUnavailable
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(status)
	}))
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ready := func() int { return run([]string{"ready", "--metrics-listen", "0.0.0.0:" + port}) }
	if ready() == 0 {
		t.Error("a server that recovers is ready")
	}
	status = http.StatusOK
	if code := ready(); code != 0 {
		t.Errorf("a server that is ready: exit status %d", code)
	}
	srv.Close()
	if ready() == 0 {
		t.Error("a server that is not there is ready")
	}
}
