package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// memory prints the memory of the process, and returns an error if it exceeded the limit.
func memory() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("read the memory of this process (Linux only): %w", err)
	}
	mb := map[string]int{}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		if kb, ok := strings.CutSuffix(strings.TrimSpace(value), " kB"); ok {
			if mb[name], err = strconv.Atoi(kb); err != nil {
				return err
			}
			mb[name] >>= 10
		}
	}
	fmt.Printf("memory: %d MB now (VmRSS), %d MB at most (VmHWM), filling it included\n", mb["VmRSS"], mb["VmHWM"])
	if mb["VmHWM"] > maxMemory {
		return fmt.Errorf("memory (%d MB): more than %d MB", mb["VmHWM"], maxMemory)
	}
	return nil
}

// tick is the unit of CPU times on Linux.
const tick = 10 * time.Millisecond

// cpuTime returns the CPU time of the process, on all cores together.
func cpuTime() (time.Duration, error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, fmt.Errorf("read the CPU time of this process (Linux only): %w", err)
	}
	_, fields, _ := strings.Cut(string(stat), ") ") // the name before that may have spaces
	var sum time.Duration
	for _, field := range strings.Fields(fields)[11:13] { // in user mode and in the kernel
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}
