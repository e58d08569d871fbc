//go:build minipg_nocount

package storage

func (b *Buffer) countLatch(LatchClass, LatchMode) {}
