package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"
)

// run is one run of the program.
type run struct {
	seeds, listings int
	blind           bool
	deadline        time.Duration
	network         network
	out             io.Writer
}

// sell sells all inventories and prints a line for each, in the order of their seeds.
func (r run) sell(ctx context.Context) error {
	r.print("%d listings a seed, settle bound %s, polls every %s to %s, items worked %s after they are queued",
		r.listings, settleBound(), pollFirst, pollMost, 2*workDelay)
	r.print("odd seeds over HTTP/1, even ones over TLS and HTTP/2, with streams reset, GOAWAY and connections closed")
	r.print("of all requests: 5 %% lose their answer, 5 %% are reset, 5 %% are answered 5xx, half of them after being done, 5 %% 429, 2 %% come late")
	r.print("unknown=0 rests on the settle bound, which the sandbox publishes and a live service does not")

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
				err = fmt.Errorf("not over at the deadline of %s: %w", r.deadline, err)
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

// outcome is what became of the listings of one inventory.
type outcome struct {
	lost, duplicated int // Listings.
	unknown          int // Batches that nobody could decide on.
	recovered        int // Batches that had landed although their answer was lost.
}

func (o outcome) String() string {
	return fmt.Sprintf("lost=%d duplicated=%d unknown=%d", o.lost, o.duplicated, o.unknown)
}

func (o outcome) plus(other outcome) outcome {
	return outcome{o.lost + other.lost, o.duplicated + other.duplicated, o.unknown + other.unknown, o.recovered + other.recovered}
}
