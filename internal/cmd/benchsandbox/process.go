package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// memory prints what the process occupies, and returns an error if that was ever
// more than promised.
func memory() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("read the memory of this process, which Linux tells: %w", err)
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
	if mb["VmHWM"] > mostMemory {
		return fmt.Errorf("the process took %d MB of memory at a time, more than %d", mb["VmHWM"], mostMemory)
	}
	return nil
}

// tick is the unit in which Linux tells how long a process has run.
const tick = 10 * time.Millisecond

// cpuTime returns how long the process has run, on all cores together.
func cpuTime() (time.Duration, error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, fmt.Errorf("read the time of this process, which Linux tells: %w", err)
	}
	_, fields, _ := strings.Cut(string(stat), ") ") // the name before may have spaces
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
