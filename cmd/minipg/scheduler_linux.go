package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// calmMonitor lets the sleeps of the runtime's monitor end later. It runs on a thread of its own, which
// is the first the runtime starts: the one whose number comes behind the process's. Where that
// cannot be told, or the kernel does not let us, all stays as it is.
func calmMonitor(slack time.Duration) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	ids := make([]int, 0, len(threads))
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			return
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	at := slices.Index(ids, os.Getpid())
	if at != 0 || len(ids) < 2 {
		return // thread numbers have wrapped around
	}
	file := filepath.Join("/proc", strconv.Itoa(ids[1]), "timerslack_ns")
	if err := os.WriteFile(file, strconv.AppendInt(nil, slack.Nanoseconds(), 10), 0); err != nil {
		return
	}
}
