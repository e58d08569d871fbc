package wal

import "syscall"

const openDatasyncFlag = syscall.O_DSYNC
