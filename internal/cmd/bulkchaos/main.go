// Command bulkchaos keeps an inventory in step with a marketplace while everything breaks, and
// compares the live listings with the stock. It builds the command line and runs it as a seller
// does: apply and sync, on an inventory that changes in between.
//
// The network loses requests and responses, responds 5xx (before and after it has applied the
// request) and 429, and is late. Buyers buy. Another application changes and deletes listings of the
// inventory, and has listings that look like them. The process is killed with -9, at any moment or
// with a batch on its way, and stopped for longer than its submissions may be sent.
//
// Then the faults end, and sync runs until it plans nothing. The program exits 0 only if each SKU has
// as many live listings as items are in stock, with the terms of the inventory, no listing of the
// other application was touched, no buyer bought what was not in stock, and no batch was sent later
// than the ledger let it be.
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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is one run of the program.
type run struct {
	seed         uint64
	seeds        int
	rows         int
	kills, stops int
	deadline     time.Duration
	keep         bool
	out          io.Writer
}

// command runs the program and returns its exit code.
func command(ctx context.Context, args []string, out, failed io.Writer) int {
	r := run{out: out}
	flags := flag.NewFlagSet("bulkchaos", flag.ContinueOnError)
	flags.SetOutput(failed)
	flags.Uint64Var(&r.seed, "seed", 1, "the first seed")
	flags.IntVar(&r.seeds, "seeds", 1, "how many seeds are run, one after the other")
	flags.IntVar(&r.rows, "rows", 20_000, "rows of the inventory")
	flags.IntVar(&r.kills, "kills", 10, "how often the process is killed")
	flags.IntVar(&r.stops, "stops", 5, "how often the process is stopped and continued")
	flags.DurationVar(&r.deadline, "deadline", 15*time.Minute, "how long one seed may take")
	flags.BoolVar(&r.keep, "keep", false, "keep the ledger, the inventory and the log also if all is right")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if r.rows < 1 || r.kills < 0 || r.stops < 0 || r.seeds < 1 {
		fmt.Fprintln(failed, "bulkchaos: -rows and -seeds must be 1 or more, -kills and -stops 0 or more")
		return 2
	}
	if err := r.all(ctx); err != nil {
		fmt.Fprintln(failed, "bulkchaos:", err)
		return 1
	}
	return 0
}

// all runs all seeds. It returns the errors of those that failed.
func (r run) all(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "bulkchaos")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(dir) }() // if it is empty
	binary, err := build(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(binary) }()
	var errs []error
	for i := range r.seeds {
		seed := r.seed + uint64(i)
		if err := r.one(ctx, binary, seed); err != nil {
			errs = append(errs, fmt.Errorf("seed %d: %w", seed, err))
		}
	}
	return errors.Join(errs...)
}

// one runs a seed and prints its line.
func (r run) one(ctx context.Context, binary string, seed uint64) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.deadline, fmt.Errorf("not done at the deadline of %s", r.deadline))
	defer cancel()
	dir, err := os.MkdirTemp("", fmt.Sprintf("bulkchaos-seed%d-", seed))
	if err != nil {
		return err
	}
	defer func() {
		if ctx.Err() != nil {
			err = errors.Join(context.Cause(ctx), err)
		}
		if err == nil && !r.keep {
			err = os.RemoveAll(dir)
			return
		}
		r.print("seed=%d inventory, ledger and log: %s", seed, dir)
	}()
	t, err := newTrial(ctx, r, binary, seed, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	began := time.Now()
	if err := t.chaos(ctx); err != nil {
		return err
	}
	broken := time.Since(began)
	rounds, err := t.converge(ctx)
	if err != nil {
		r.print("seed=%d %s", seed, err)
	}
	o, unread := t.world.check(ctx, func(format string, args ...any) {
		if t.notes++; t.notes <= 20 {
			r.print("seed=%d "+format, append([]any{seed}, args...)...)
		}
	})
	if unread == nil {
		o.late, unread = t.world.late(ctx, t.worker.ledger)
	}
	if unread != nil {
		return errors.Join(err, unread)
	}
	r.print("seed=%d rows=%d live=%d %s; sold=%d edited-outside=%d foreign=%d; killed=%d stopped=%d rounds-of-edits=%d, "+
		"resumed in %s (first request) and %s (first batch) in the median; %d syncs until nothing was planned; %s broken, %s in all",
		seed, r.rows, o.live, o, t.world.sold, t.world.edited, len(t.world.foreign), t.killed, t.stopped, t.edits,
		median(t.requests), median(t.writes), rounds, broken.Round(time.Second), time.Since(began).Round(time.Second))
	if err == nil && !o.isRight() {
		err = errors.New(o.String())
	}
	return err
}

func (r run) print(format string, args ...any) { _, _ = fmt.Fprintf(r.out, format+"\n", args...) }
