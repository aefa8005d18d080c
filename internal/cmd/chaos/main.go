// Command chaos sells inventories through a broken network and counts the listings that are lost or
// duplicated. Each seed is one inventory and one sandbox, behind a server that loses responses,
// resets connections and streams, and responds 5xx and 429: over HTTP/1 if the seed is odd,
// otherwise over TLS and HTTP/2.
//
// It exits 0 only if no listing was lost, none was made twice, and the outcome of every batch was
// decided. A step is given up after several failures in a row, and a seed at its deadline.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sync/errgroup"
)

// The settings of a run. None is a property of a live service.
const (
	workDelay = 20 * time.Millisecond  // How long an item is QUEUED in the sandbox, and then IN_PROGRESS.
	pollFirst = 10 * time.Millisecond  // Pause after the first poll of a batch.
	pollMost  = 100 * time.Millisecond // Longest pause between polls.
	inFlight  = 2                      // Seeds sold at a time.
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr, broken)
	stop()
	os.Exit(code)
}

// command runs the program with the given network and returns its exit code.
func command(ctx context.Context, args []string, out, failed io.Writer, net network) int {
	r := run{out: out, network: net}
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(failed)
	flags.IntVar(&r.seeds, "seeds", 20, "how many inventories are sold")
	flags.IntVar(&r.listings, "listings", 10_000, "listings of each inventory")
	flags.BoolVar(&r.quirks, "quirks", false, "let the service respond as a live one does, instead of as the document shows")
	flags.BoolVar(&r.blind, "blind", false, "send a batch of unknown outcome again instead of recovering it, to see what that does")
	flags.DurationVar(&r.deadline, "deadline", 5*time.Minute, "how long one inventory may take")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := r.sell(ctx); err != nil {
		_, _ = fmt.Fprintln(failed, "chaos:", err)
		return 1
	}
	return 0
}

// run is one run of the program.
type run struct {
	seeds, listings int
	blind, quirks   bool
	deadline        time.Duration
	network         network
	out             io.Writer
}

// sell sells all inventories and prints a line for each, in the order of their seeds.
func (r run) sell(ctx context.Context) error {
	r.print("%d listings a seed, settle bound %s, polls every %s to %s, items worked %s after they are queued",
		r.listings, settleBound(), pollFirst, pollMost, 2*workDelay)
	r.print("odd seeds over HTTP/1, even ones over TLS and HTTP/2, with streams reset, GOAWAY and connections closed")
	r.print("of all requests: 5 %% lose the response, 5 %% are reset, 5 %% get a 5xx, half of them after they were applied, 5 %% get a 429, 2 %% are late")
	r.print("unknown=0 depends on the settle bound, which the sandbox publishes and a live service does not")

	start := time.Now()
	outcomes := make([]chan outcome, r.seeds)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(inFlight + 1)
	for i := range outcomes {
		outcomes[i] = make(chan outcome, 1)
	}
	var total outcome
	group.Go(func() error { // the limit leaves room for this one
		for i := range outcomes {
			select {
			case o := <-outcomes[i]:
				r.print("seed=%d %s recovered=%d", i+1, o, o.recovered)
				total = total.plus(o)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for i := range outcomes {
		group.Go(func() error {
			o, err := r.sellSeed(ctx, uint64(i+1))
			if errors.Is(err, context.DeadlineExceeded) {
				err = fmt.Errorf("not done at the deadline of %s: %w", r.deadline, err)
			}
			if err != nil {
				return fmt.Errorf("seed %d: %w", i+1, err)
			}
			outcomes[i] <- o
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}

	r.print("%d seeds in %s\n%s", r.seeds, time.Since(start).Round(time.Second), total)
	if total.lost+total.duplicated+total.unknown > 0 {
		return fmt.Errorf("%s", total)
	}
	return nil
}

func (r run) print(format string, args ...any) { _, _ = fmt.Fprintf(r.out, format+"\n", args...) }

// outcome counts the listings and batches of one inventory.
type outcome struct {
	lost, duplicated int // Listings.
	unknown          int // Batches whose outcome could not be decided.
	recovered        int // Batches that had landed without a response.
}

func (o outcome) String() string {
	return fmt.Sprintf("lost=%d duplicated=%d unknown=%d", o.lost, o.duplicated, o.unknown)
}

func (o outcome) plus(other outcome) outcome {
	return outcome{
		lost: o.lost + other.lost, duplicated: o.duplicated + other.duplicated,
		unknown: o.unknown + other.unknown, recovered: o.recovered + other.recovered,
	}
}
