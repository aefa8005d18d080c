// Command sellside sells an inventory on a marketplace, and runs a marketplace to practise on. See
// sellside --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	root.SetArgs(args)
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

  sellside plan INVENTORY       show what an inventory needs
  sellside apply INVENTORY      make the marketplace show what an inventory says
  sellside sync INVENTORY       keep it in step, once or every so often
  sellside runs                 list the runs of apply and sync, and act on one
  sellside export rows          print rows, listings or orders as the ledger knows them

Exit codes:

    0  all listings were made
    1  something failed, was left out or is unknown
    2  the command line or the inventory is invalid, and nothing was sent
  130  stopped by Ctrl-C or SIGTERM`

func newRoot(getenv func(string) string) *cobra.Command {
	root := &cobra.Command{
		Use:     "sellside",
		Short:   "Sell an inventory on a resale marketplace",
		Long:    rootHelp,
		Version: client.Version,
		Args:    cobra.ArbitraryArgs, // so that RunE reports what is unknown
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.SilenceErrors, root.SilenceUsage = true, true // run prints them
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetVersionTemplate("sellside {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return invalidf("%w: see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(newDemo(getenv), newSandbox(getenv), newSell(getenv),
		newPlan(getenv), newApply(getenv), newSync(getenv), newRuns(getenv), newExport(getenv))
	return root
}

func unknownCommand(root *cobra.Command, name string) error {
	hint := "see sellside --help"
	if similar := root.SuggestionsFor(name); len(similar) > 0 {
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
func exactly(n int, usage string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < n:
			return invalidf("an argument is missing: run it as %s", usage)
		case len(args) > n:
			return invalidf("unexpected argument %q: run it as %s", args[n], usage)
		}
		return nil
	}
}
