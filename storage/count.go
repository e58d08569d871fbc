package storage

import "github.com/minipg/minipg/metrics"

// countLatch counts one acquisition, on the stripe of the buffer: whoever contends for the
// count contends for the latch already.
func (b *Buffer) countLatch(class LatchClass, mode LatchMode) {
	if metrics.Counting {
		b.chunk().latchCounts[class][mode].AddAt(b.id, 1)
	}
}
