package server

import "golang.org/x/sys/unix"

// processAlive tells whether a process exists.
func processAlive(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || err == unix.EPERM
}
