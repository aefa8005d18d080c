//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime returns the time that this process has used of all cores.
func processorTime() (time.Duration, error) {
	var usage syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), err
}
