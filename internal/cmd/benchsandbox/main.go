// Command benchsandbox fills a sandbox with listings, through its operations, and measures its
// handler on a file, without a network. It exits 0 only if the sandbox is within its limits, which
// needs a machine without other load.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// The limits of a sandbox with a million listings.
const (
	maxMedian = 5 * time.Millisecond // of a get, and of a page of 100
	maxDepth  = 3.0                  // time of the last page, relative to the first
	maxMemory = 300                  // MB, at any time
	minWorked = 20_000               // batch items a second
)

func main() {
	listings := flag.Int("listings", 1_000_000, "listings in the file")
	samples := flag.Int("samples", 100, "requests of each kind")
	flag.Parse()
	if err := run(*listings, *samples); err != nil {
		fmt.Fprintln(os.Stderr, "benchsandbox:", err)
		os.Exit(1)
	}
}

func run(listings, samples int) (err error) {
	dir, err := os.MkdirTemp("", "benchsandbox")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "sandbox.db")

	m, err := open(file, time.Now().Add(-year))
	if err != nil {
		return err
	}
	filled, err := m.fill(listings)
	if err := errors.Join(err, m.Close()); err != nil {
		return fmt.Errorf("fill the sandbox: %w", err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	fmt.Printf("%d listings of %d products, %d of them changed since, in a file of %d MB\n",
		listings, len(sandbox.Catalog()), filled.changed, info.Size()>>20)
	fmt.Printf("while filling: created %s; updated and deleted %s\n", &filled.created, &filled.others)

	start := time.Now()
	if m, err = open(file, m.now); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	fmt.Printf("opened in %s\n", time.Since(start).Round(time.Millisecond))

	var broken []error
	taken, err := m.sample(samples)
	if err != nil {
		return err
	}
	broken = append(broken, taken.report()...)
	small, wait, err := m.sell(200)
	if err != nil {
		return err
	}
	fmt.Printf("batches of 100 items, each of another variant: %s\n", &small)
	fmt.Printf("a write waited for the worker %s at most\n", wait.Round(time.Millisecond))
	broken = append(broken, memory())
	if perSecond := small.work.perSecond(); perSecond < minWorked {
		fmt.Printf("fewer than %d items a second: an item is written twice, and a listing and an operation are\n"+
			"inserted into nine indexes, by a SQLite in Go that writes on one core; a second of that core does %.0f\n",
			minWorked, small.work.perCPUSecond())
	}
	return errors.Join(broken...)
}
