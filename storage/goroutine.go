//go:build amd64 || arm64

package storage

// Goroutine names the goroutine that runs, while it lives. Latches, pins and reads know no
// session; whoever has to sleep for one is found by this, at the price of one instruction, and
// only then. It is the address of the runtime's g, which means nothing else to anybody.
func Goroutine() uintptr
