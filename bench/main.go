// Command bench measures the SDK against other ways to make the same calls: reading without
// decoding, the default client of oapi-codegen, and net/http with three JSON packages. It prints a
// table, and the figures that have limits in limits.json.
//
// Everything runs in one process, and the contenders take turns. So ratios of one run compare; a
// time compares only with times of the same run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
)

func main() {
	o := options{listings: streamed}
	flag.BoolVar(&o.markdown, "markdown", false, "print the tables as Markdown, as in docs/performance.md")
	flag.BoolVar(&o.check, "check", false, "measure only the figures with limits, and exit 1 if one exceeds its limit twice")
	flag.IntVar(&o.rounds, "rounds", 31, "how often the contenders take turns")
	flag.Parse()
	if err := o.run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// streamed is how many listings are iterated.
const streamed = 1_000_000

type options struct {
	markdown, check bool
	rounds          int
	listings        int // That are iterated.
}

func (o options) run(ctx context.Context, w io.Writer) error {
	if o.rounds < 1 {
		return fmt.Errorf("rounds (%d): use 1 or more", o.rounds)
	}
	calls, err := loadCalls()
	if err != nil {
		return err
	}
	limits, err := loadLimits()
	if err != nil {
		return err
	}
	write := printText
	if o.markdown {
		write = printMarkdown
	}
	if o.check {
		return check(limits, func() (map[string]float64, error) {
			_, figures, err := o.measure(ctx, calls, compared())
			return figures, err
		}, func(t table) { write(w, t) })
	}
	rows, figures, err := o.measure(ctx, calls, contenders())
	if err != nil {
		return err
	}
	write(w, callTable(calls, rows))
	write(w, figureTable(limits, figures, openedByNetHTTP))
	return nil
}

// compared returns the contenders that the figures compare.
func compared() []contender {
	return slices.DeleteFunc(contenders(), func(c contender) bool {
		return c.name != rawRead && c.name != encodingJSON && c.name != sdk
	})
}

// measure measures the calls of the contenders, and all figures.
func (o options) measure(
	ctx context.Context, calls []call, contenders []contender,
) ([]row, map[string]float64, error) {
	figures, err := longFigures(ctx, calls, o.listings)
	if err != nil {
		return nil, nil, err
	}
	rows, err := measure(ctx, calls, contenders, o.rounds)
	if err != nil {
		return nil, nil, err
	}
	addRows(figures, rows)
	return rows, figures, nil
}

// errLimit is the error of a check with a figure that exceeds its limit.
var errLimit = errors.New("a figure exceeds its limit in limits.json, twice: make the code faster, or explain a new limit in the commit")

// check compares figures with their limits. If one exceeds its limit, it measures once more.
func check(limits []limit, measure func() (map[string]float64, error), report func(table)) error {
	for range 2 {
		figures, err := measure()
		if err != nil {
			return err
		}
		report(figureTable(limits, figures))
		limits = slices.DeleteFunc(slices.Clone(limits), func(l limit) bool { return l.allows(figures) })
		if len(limits) == 0 {
			return nil
		}
	}
	return errLimit
}
