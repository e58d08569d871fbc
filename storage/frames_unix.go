//go:build unix && !linux && !race

package storage

func adviseHuge([]byte) {}
