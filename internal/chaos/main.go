// Command chaos sells inventories through a broken network and counts what that did to them. Each seed is an
// inventory of its own, sold to a sandbox behind a proxy that loses answers, resets connections and answers
// 5xx and 429. It exits 0 only if no listing was lost, none was made twice, and no batch was left undecided.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sync/errgroup"
)

// How the run is set up. Nothing of it is a property of a live service.
const (
	workDelay = 20 * time.Millisecond  // How long the sandbox leaves an item queued, and then in progress.
	pollFirst = 10 * time.Millisecond  // Pause after the first poll of a batch.
	pollMost  = 100 * time.Millisecond // Longest pause between polls.
	inFlight  = 2                      // Seeds sold at a time.
)

func main() {
	seeds := flag.Int("seeds", 20, "how many inventories are sold")
	listings := flag.Int("listings", 10_000, "listings of each inventory")
	blind := flag.Bool("blind", false, "send a batch of unknown outcome again instead of recovering it, to see what that does")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *seeds, *listings, *blind); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1) //nolint:gocritic // stop only restores the signal's default
	}
}

// run sells all inventories and prints a line for each, in the order of their seeds.
func run(ctx context.Context, seeds, listings int, blind bool) error {
	fmt.Printf("%d listings a seed, settle bound %s, polls every %s to %s, items worked %s after they are queued\n",
		listings, settleBound(), pollFirst, pollMost, 2*workDelay)
	fmt.Println("of all requests: 5 % lose their answer, 5 % are reset, 5 % are answered 5xx, 5 % 429, 2 % come late")
	fmt.Println("unknown=0 rests on the settle bound, which the sandbox publishes and a live service does not")

	start := time.Now()
	outcomes := make([]chan outcome, seeds)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(inFlight + 1)
	for i := range outcomes {
		outcomes[i] = make(chan outcome, 1)
	}
	group.Go(func() error { // the limit leaves room for this one
		for i := range outcomes {
			select {
			case o := <-outcomes[i]:
				fmt.Printf("seed=%d %s recovered=%d\n", i+1, o, o.recovered)
				outcomes[i] <- o
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for i := range outcomes {
		group.Go(func() error {
			seed := uint64(i + 1)
			plan, err := faults(seed)
			if err != nil {
				return err
			}
			o, err := sellSeed(ctx, seed, listings, plan.Decide, blind)
			outcomes[i] <- o
			if err != nil {
				return fmt.Errorf("seed %d: %w", i+1, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}

	var total outcome
	for _, c := range outcomes {
		o := <-c
		total.lost, total.duplicated, total.unknown = total.lost+o.lost, total.duplicated+o.duplicated, total.unknown+o.unknown
	}
	fmt.Printf("%d seeds in %s\n%s\n", seeds, time.Since(start).Round(time.Second), total)
	if total.lost+total.duplicated+total.unknown > 0 {
		return fmt.Errorf("%s", total)
	}
	return nil
}

// outcome is what became of the listings of one inventory.
type outcome struct {
	lost, duplicated int // Listings.
	unknown          int // Batches that nobody could decide on.
	recovered        int // Batches that had landed although their answer was lost.
}

func (o outcome) String() string {
	return fmt.Sprintf("lost=%d duplicated=%d unknown=%d", o.lost, o.duplicated, o.unknown)
}
