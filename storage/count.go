package storage

import "github.com/minipg/minipg/metrics"

// countLatch counts one acquisition.
func (b *Buffer) countLatch(class LatchClass, mode LatchMode) {
	if metrics.Counting {
		b.chunk().latchCounts[class][mode].AddAt(b.stripe(), 1)
	}
}

// stripe spreads counts over the goroutines that count: the buffers' numbers would send the line of each counter
// back and forth between the cores. Where goroutines have no number the buffer's must do.
func (b *Buffer) stripe() uint32 {
	if g := Goroutine(); g != 0 {
		return uint32(uint64(g) * 0x9E3779B97F4A7C15 >> 40)
	}
	return b.id
}
