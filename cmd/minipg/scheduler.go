package main

import (
	"os"
	"runtime"
	"time"
)

const (
	// extraProcs are processors for goroutines in the kernel, beyond the machine's: one that syncs the
	// log and one that reads a block keep theirs until the runtime's monitor takes it away.
	extraProcs = 2
	// monitorSlack is by how much a sleep of the runtime's monitor may be late. Asked to, it wakes up every
	// 20 us for as long as it has anything to do, which with many short system calls is always: a sixth of
	// the server's CPU time, taken from the goroutines it looks after. See docs/design/0020.
	monitorSlack = 400 * time.Microsecond
)

// tuneScheduler fits the runtime's scheduler to a server whose goroutines do little but short system
// calls. What the environment says goes before.
func tuneScheduler() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + extraProcs)
	}
	calmMonitor(monitorSlack)
}
