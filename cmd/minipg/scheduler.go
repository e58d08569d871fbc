package main

import (
	"os"
	"runtime"
	"time"
)

const (
	// extraProcs are processors beyond the machine's, for goroutines in the kernel: the one that syncs the
	// log keeps its own until the runtime's monitor takes it away. More only make threads look for work.
	extraProcs = 1
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
