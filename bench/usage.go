package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// clockTick is the unit of the times in /proc/PID/stat, 1/100 s on every architecture of Linux that Go supports.
const clockTick = 10 * time.Millisecond

// processes are a process and all below it. Those that end meanwhile are left out.
func processes(root int) []int {
	all := []int{root}
	for i := 0; i < len(all); i++ {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", all[i], all[i]))
		if err != nil {
			continue
		}
		for word := range strings.FieldsSeq(string(b)) {
			if pid, err := strconv.Atoi(word); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// alive says whether a process is there and not only waiting to be reaped.
func alive(pid int) bool {
	fields, err := readStat(pid)
	return err == nil && fields[0] != "Z" && fields[0] != "X"
}

// readStat reads the fields of /proc/PID/stat after the name, the state being the first.
func readStat(pid int) ([]string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	// The name is in parentheses and may have any in it.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 15 {
		return nil, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	return fields, nil
}

// cpu is the CPU time the server has used since the bench knows it. A process that ends passes its time on to
// its parent's count of children, so none is lost and none counted twice.
func (s *server) cpu() time.Duration {
	sum := s.past
	if s.cmd == nil {
		return sum
	}
	for _, pid := range processes(s.cmd.Process.Pid) {
		fields, err := readStat(pid)
		if err != nil {
			continue
		}
		for _, f := range fields[11:15] { // utime, stime, cutime, cstime
			n, err := strconv.ParseInt(f, 10, 64)
			if err == nil {
				sum += time.Duration(n) * clockTick
			}
		}
	}
	return sum
}

// memory is the anonymous memory of all processes, and the shared memory once.
func memory(root int) int64 {
	var anonymous, shared int64
	for _, pid := range processes(root) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue
		}
		anonymous += kilobytes(b, "RssAnon:")
		shared = max(shared, kilobytes(b, "RssShmem:"))
	}
	return anonymous + shared
}

// proportional is the sum of the processes' proportional set sizes.
func proportional(root int) int64 {
	var sum int64
	for _, pid := range processes(root) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue
		}
		sum += kilobytes(b, "Pss:")
	}
	return sum
}

// kilobytes reads a line "NAME  N kB" of a file of /proc, in bytes.
func kilobytes(b []byte, name string) int64 {
	for line := range strings.Lines(string(b)) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64); err == nil {
			return n << 10
		}
	}
	return 0
}

// samplePeriod is how often memory is looked at.
const samplePeriod = 100 * time.Millisecond

// usage is what a server used during a run.
type usage struct {
	CPU  float64 `json:"cpu_seconds"`
	Peak int64   `json:"peak_bytes"`
}

// measured runs f and says what the server used meanwhile. The server may be restarted by f.
func (s *server) measured(ctx context.Context, f func(context.Context) error) (usage, error) {
	var u usage
	before := s.cpu()
	sampling, stop := context.WithCancel(ctx)
	var sampler sync.WaitGroup
	sampler.Go(func() {
		tick := time.NewTicker(samplePeriod)
		defer tick.Stop()
		for {
			if pid := s.pid.Load(); pid != 0 {
				u.Peak = max(u.Peak, memory(int(pid)))
			}
			select {
			case <-sampling.Done():
				return
			case <-tick.C:
			}
		}
	})
	err := f(ctx)
	stop()
	sampler.Wait()
	u.CPU = (s.cpu() - before).Seconds()
	return u, err
}
