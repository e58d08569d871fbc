//go:build !linux

package main

import "time"

func calmMonitor(time.Duration) {}
