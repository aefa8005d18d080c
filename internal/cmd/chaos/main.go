// Command chaos sells inventories through a broken network and counts what that did to them. Each seed is an
// inventory of its own, sold to a sandbox behind a server that loses responses, resets connections and streams and
// responds 5xx and 429: over HTTP/1 if its number is odd, else over TLS and HTTP/2. It exits 0 only if no listing was lost, none was made twice, and no batch was left undecided.
// What does not get on is given up after a number of failures in a row, and a seed as a whole at its deadline.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

// How the run is set up. Nothing of it is a property of a live service.
const (
	workDelay = 20 * time.Millisecond  // How long the sandbox leaves an item queued, and then in progress.
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

// command runs the program against networks of the given kind and returns its exit code.
func command(ctx context.Context, args []string, out, failed io.Writer, net network) int {
	r := run{out: out, network: net}
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(failed)
	flags.IntVar(&r.seeds, "seeds", 20, "how many inventories are sold")
	flags.IntVar(&r.listings, "listings", 10_000, "listings of each inventory")
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
