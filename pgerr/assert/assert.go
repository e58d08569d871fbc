// Package assert checks what only a bug of our own can break. Assertions stay
// on in production: a session turns one into FATAL XX000, and inside a logged
// change the process stops and recovers.
package assert

import "fmt"

// Failure is the value a failed assertion panics with.
type Failure struct{ Message string }

func (f Failure) Error() string { return "assertion failed: " + f.Message }

// That panics with a Failure unless cond holds. The arguments are evaluated
// either way: keep them cheap on hot paths.
func That(cond bool, format string, args ...any) {
	if !cond {
		fail(format, args)
	}
}

//go:noinline
func fail(format string, args []any) {
	panic(Failure{Message: fmt.Sprintf(format, args...)})
}
