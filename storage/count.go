//go:build !minipg_nocount

package storage

// countLatch counts one acquisition, on the stripe of the buffer: whoever contends for the
// count contends for the latch already. The tag minipg_nocount compiles it out, to measure it.
func (b *Buffer) countLatch(class LatchClass, mode LatchMode) {
	b.chunk().latchCounts[class][mode].AddAt(b.id, 1)
}
