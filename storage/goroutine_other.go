//go:build !amd64 && !arm64

package storage

// Goroutine is 0 where nobody has written the instruction: waits for latches are counted all the
// same, but belong to no session.
func Goroutine() uintptr { return 0 }
