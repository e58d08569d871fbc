package wal

// Critical runs fn, in which pages are changed and the change is logged. A panic
// in fn would leave a changed page without its record, so it ends the process:
// nobody above may recover from it; the next start replays the log.
func Critical(fn func()) {
	done := false
	defer func() {
		if !done {
			Die(recover())
		}
	}()
	fn()
	done = true
}

// Die ends the process: it panics where nobody can recover.
func Die(cause any) {
	go func() { panic(cause) }()
	select {}
}
