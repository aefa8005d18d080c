package sandbox

import (
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/console"
)

// Run is one run of a bulk program, as the console shows it.
type Run struct {
	Name      string
	State     string // such as running, paused or done
	Total     int    // rows
	Done      int    // rows that have ended, with those that failed
	Failed    int    // rows
	StartedAt time.Time
}

// ConsoleCode returns a new code that opens the console in one browser, once and within five
// minutes, as the query parameter code of ConsolePath. It is empty if Options.Console is false.
//
// The browser gets a session cookie, which opens nothing else. Browsers send cookies to all ports of
// a host: a program that serves another port of this machine can use the session if the same browser
// visits it.
func (s *Sandbox) ConsoleCode() string {
	if s.console == nil {
		return ""
	}
	return s.console.Code()
}

// runs returns Runs for the console.
func (o Options) runs() func(context.Context) ([]console.Run, error) {
	if o.Runs == nil {
		return nil
	}
	return func(ctx context.Context) ([]console.Run, error) {
		all, err := o.Runs(ctx)
		runs := make([]console.Run, 0, len(all))
		for _, r := range all {
			runs = append(runs, console.Run(r))
		}
		return runs, err
	}
}
