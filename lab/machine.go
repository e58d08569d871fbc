package lab

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine is what a run was made on.
type Machine struct {
	CPU         string       `json:"cpu"`
	Cores       int          `json:"cores"`
	MemoryMB    int64        `json:"memory_mb"`
	Kernel      string       `json:"kernel"`
	FileSystems []FileSystem `json:"file_systems"`
	Go          string       `json:"go"`
	Revision    string       `json:"revision,omitempty"` // of minipg
	Pgbench     string       `json:"pgbench"`
}

// FileSystem is where files were.
type FileSystem struct {
	Use     string `json:"use"`
	Type    string `json:"type"`
	Device  string `json:"device"`
	Options string `json:"options"`
}

func thisMachine(pgbench string) Machine {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), CPU: "unknown", Kernel: "unknown"}
	if line := fieldOf("/proc/cpuinfo", "model name"); line != "" {
		m.CPU = line
	}
	if words := strings.Fields(fieldOf("/proc/meminfo", "MemTotal")); len(words) > 0 {
		if kb, err := strconv.ParseInt(words[0], 10, 64); err == nil {
			m.MemoryMB = kb / 1024
		}
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.Kernel = unix.ByteSliceToString(name.Sysname[:]) + " " + unix.ByteSliceToString(name.Release[:])
	}
	if out, err := exec.Command(pgbench, "--version").Output(); err == nil {
		m.Pgbench = strings.TrimSpace(string(out))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				m.Revision = s.Value + m.Revision
			case s.Key == "vcs.modified" && s.Value == "true":
				m.Revision += " with changes"
			}
		}
	}
	return m
}

// fieldOf is the value of the first line "name : value" of a file.
func fieldOf(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// fileSystem says what a directory is on.
func fileSystem(use, dir string) FileSystem {
	found := FileSystem{Use: use, Type: "unknown"}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	data, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return found
	}
	longest := 0
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) < 4 {
			continue
		}
		at := words[1]
		under := dir == at || at == "/" || strings.HasPrefix(dir, at+"/")
		if under && len(at) >= longest {
			longest = len(at)
			found.Device, found.Type, found.Options = words[0], words[2], words[3]
		}
	}
	return found
}

// selfCPU is the CPU time of this process in seconds.
func selfCPU() float64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// clockTicks is the unit of times in /proc/PID/stat: USER_HZ, which Linux fixed at 100.
const clockTicks = 100

// processTimes are a process's own CPU time and that of its children it has waited for, in seconds.
func processTimes(pid int) (own, children float64, parent int, ok bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, 0, false
	}
	// The command, in brackets, may have spaces and brackets in it.
	_, rest, found := strings.Cut(string(data[strings.LastIndexByte(string(data), ')'):]), " ")
	words := strings.Fields(rest)
	if !found || len(words) < 15 {
		return 0, 0, 0, false
	}
	number := func(i int) float64 {
		n, err := strconv.ParseFloat(words[i], 64)
		if err != nil {
			ok = false
		}
		return n
	}
	ok = true
	parent = int(number(1))
	return (number(11) + number(12)) / clockTicks, (number(13) + number(14)) / clockTicks, parent, ok
}

// familyCPU is the CPU time of a process, of its children that are there and of those that are gone.
func familyCPU(pid int) (float64, bool) {
	own, gone, _, ok := processTimes(pid)
	if !ok {
		return 0, false
	}
	total := own + gone
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, false
	}
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if own, gone, parent, ok := processTimes(child); ok && parent == pid {
			total += own + gone
		}
	}
	return total, true
}
