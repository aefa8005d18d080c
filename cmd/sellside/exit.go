package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// The exit codes of all commands, as the help states them.
const (
	exitOK      = 0
	exitFailed  = 1 // Something did not work out, or only in part.
	exitInvalid = 2 // The command line or the inventory is wrong, and nothing was sent.
)

// errInvalid marks mistakes of the user's.
var errInvalid = errors.New("invalid input")

// invalidError is an error that is errInvalid and does not say so.
type invalidError struct{ error }

func (invalidError) Is(target error) bool { return target == errInvalid }

func (e invalidError) Unwrap() error { return e.error }

func invalidf(format string, args ...any) error { return invalidError{fmt.Errorf(format, args...)} }

func exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errInvalid):
		return exitInvalid
	default:
		return exitFailed
	}
}

// exactly is cobra.ExactArgs with an error that helps.
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
