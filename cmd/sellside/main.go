// Command sellside sells an inventory on a marketplace, and runs a marketplace to practise on. See
// sellside --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}

// run runs a command line and returns its exit code. It stops when ctx ends.
func run(
	ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string,
) int {
	root := newRoot(getenv)
	root.SetArgs(append([]string{}, args...)) // nil would be those of the process
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintln(stderr, "sellside:", strings.TrimRight(line, "\n"))
		}
	}
	return exitCode(ctx, err)
}

const rootHelp = `Sellside sells an inventory on a resale marketplace.

  sellside demo                 see all of it in a few seconds; needs nothing
  sellside sandbox              run a marketplace on this machine to practise on
  sellside sell INVENTORY.csv   list an inventory, and report the outcome of every listing
  sellside login                sign in to a service in the browser
  sellside market STYLE_ID      what the sizes of a product sell for
  sellside orders labels        download the labels of all open orders
  sellside doctor               find out why something does not work

Results are printed on standard output, as a table, as lines of JSON with --json or as
CSV with --csv; messages and errors on standard error. A terminal gets lines of its
width ($COLUMNS changes that), and no id is ever broken. NO_COLOR and TERM=dumb turn
colours off.

  sellside plan INVENTORY       show what an inventory needs
  sellside apply INVENTORY      make the marketplace show what an inventory says
  sellside sync INVENTORY       keep it in step, once or every so often
  sellside runs                 list the runs of sell, apply and sync, and act on one
  sellside export rows          print rows, listings or orders as the ledger knows them

Exit codes:

    0  everything was done: all listings were made, all changes succeeded
    1  something failed, was left out or is unknown
    2  the command line or the inventory is invalid, and nothing was sent
  130  stopped by Ctrl-C or SIGTERM`

func newRoot(getenv func(string) string) *cobra.Command {
	root := &cobra.Command{
		Use:     "sellside",
		Short:   "Sell an inventory on a resale marketplace",
		Long:    rootHelp,
		Version: client.Version,
	}
	asGroup(root)
	root.SilenceErrors, root.SilenceUsage = true, true // run prints them
	root.SetVersionTemplate("sellside {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return invalidf("%w: see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(newDemo(getenv), newSandbox(getenv), newSell(getenv),
		newPlan(getenv), newApply(getenv), newSync(getenv), newRuns(getenv), newExport(getenv))
	root.AddCommand(newLogin(getenv), newLogout(getenv), newWhoami(getenv), newProfiles(getenv))
	root.AddCommand(newListings(getenv), newOrders(getenv), newBatches(getenv), newMarket(getenv), newProducts(getenv), newDoctor(getenv), newMan())
	return root
}

// newGroup returns a command that only has commands below it.
func newGroup(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: use, Short: short, Long: long}
	asGroup(group)
	group.AddCommand(commands...)
	return group
}

// asGroup makes a command print its help, and report a command below it that is unknown.
func asGroup(cmd *cobra.Command) {
	cmd.SuggestionsMinimumDistance = 2
	cmd.Args = cobra.ArbitraryArgs // so that RunE reports what is unknown
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return unknownCommand(cmd, args[0])
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	hint := fmt.Sprintf("see %s --help", cmd.CommandPath())
	if similar := cmd.SuggestionsFor(name); len(similar) > 0 {
		hint = fmt.Sprintf("did you mean %s?", strings.Join(similar, " or "))
	}
	return invalidf("unknown command %q: %s", name, hint)
}

// The exit codes of all commands, as the help documents them.
const (
	exitOK      = 0
	exitFailed  = 1
	exitInvalid = 2
	exitStopped = 130 // as shells report SIGINT
)

// errInvalid marks invalid input of the user.
var errInvalid = errors.New("invalid input")

// invalidError is an error that Is errInvalid and has the text of another error.
type invalidError struct{ error }

func (invalidError) Is(target error) bool { return target == errInvalid }

func (e invalidError) Unwrap() error { return e.error }

func invalidf(format string, args ...any) error { return invalidError{fmt.Errorf(format, args...)} }

func exitCode(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil:
		return exitStopped
	case errors.Is(err, errInvalid):
		return exitInvalid
	default:
		return exitFailed
	}
}

// exactly is cobra.ExactArgs with the usage in its error.
func exactly(n int, usage string) cobra.PositionalArgs { return between(n, n, usage) }

// atLeast is cobra.MinimumNArgs with the usage in its error.
func atLeast(n int, usage string) cobra.PositionalArgs { return between(n, math.MaxInt, usage) }

func between(least, most int, usage string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return invalidf("an argument is missing: run it as %s", usage)
		case len(args) > most:
			return invalidf("unexpected argument %q: run it as %s", args[most], usage)
		}
		return nil
	}
}
