package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// One thread's slack changes, and no other's.
func TestCalmMonitor(t *testing.T) {
	slacks := func() (n int) {
		files, err := filepath.Glob("/proc/self/task/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(filepath.Join("/proc", filepath.Base(f), "timerslack_ns"))
			if err != nil {
				t.Skip("the kernel does not tell of the slack")
			}
			if strings.TrimSpace(string(b)) == "777000" {
				n++
			}
		}
		return n
	}
	if n := slacks(); n != 0 {
		t.Fatalf("%d threads before", n)
	}
	calmMonitor(777 * time.Microsecond)
	if n := slacks(); n > 1 {
		t.Errorf("%d threads have the monitor's slack", n)
	} else if n == 0 {
		t.Skip("not permitted here, or thread numbers have wrapped around")
	}
}
