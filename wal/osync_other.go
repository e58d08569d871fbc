//go:build !linux

package wal

import "os"

const openDatasyncFlag = os.O_SYNC
