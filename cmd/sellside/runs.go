package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
)

const runsHelp = `List the runs of apply, sync and sell, and act on one.

  sellside runs                             list them
  sellside runs show ID [--rows failed]     the outcome of each row
  sellside runs cancel ID                   submit nothing more; what is in flight is settled
  sellside runs retry ID                    let refused rows be tried again by the next apply or sync
  sellside runs resolve ID --row SKU ...    state what became of a write of unknown outcome`

func newRuns(getenv func(string) string) *cobra.Command {
	l := newLedger(getenv)
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs of this ledger, and act on one",
		Long:  runsHelp,
		Args:  exactly(0, "sellside runs"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l.begin(cmd)
			b, err := l.read(cmd.Context())
			return l.with(b, err, func(b *bulk.Bulk) error { return l.listRuns(cmd.Context(), b) })
		},
	}
	l.ledgerFlags(cmd)
	cmd.AddCommand(newRunsShow(getenv), newRunsCancel(getenv), newRunsRetry(getenv), newRunsResolve(getenv))
	return cmd
}

func (l *ledger) listRuns(ctx context.Context, b *bulk.Bulk) error {
	runs, err := b.Runs(ctx)
	if err != nil {
		return err
	}
	if l.json {
		for _, r := range runs {
			if err := l.emit(r); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(l.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tCOMMAND\tINVENTORY\tSTATE\tSTARTED\tDONE\tFAILED\tOPEN\tUNKNOWN")
	for _, r := range runs {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\n", r.ID, r.Command, report.Plain(r.Source), r.State,
			r.StartedAt.Local().Format(time.DateTime), r.Done, r.Failed, r.Open, r.Unknown)
	}
	return table.Flush()
}

// onRun returns a command that acts on one run.
func onRun(
	l *ledger, use, short string, act func(ctx context.Context, b *bulk.Bulk, id int64) error,
) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use + " ID",
		Short: short,
		Args:  exactly(1, "sellside runs "+use+" ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l.begin(cmd)
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return invalidf("run %q: use a number from sellside runs", args[0])
			}
			b, err := l.read(cmd.Context())
			err = l.with(b, err, func(b *bulk.Bulk) error { return act(cmd.Context(), b, id) })
			if errors.Is(err, bulk.ErrNotFound) {
				err = invalidError{err}
			}
			return err
		},
	}
	l.ledgerFlags(cmd)
	return cmd
}

func newRunsShow(getenv func(string) string) *cobra.Command {
	l := newLedger(getenv)
	rows := ""
	cmd := onRun(l, "show", "Show the outcome of each row", func(ctx context.Context, b *bulk.Bulk, id int64) error {
		return l.showRun(ctx, b, id, rows)
	})
	cmd.Flags().StringVar(&rows, "rows", "", "only rows in a state: done, failed, open, stuck or \"not made\"")
	return cmd
}

func (l *ledger) showRun(ctx context.Context, b *bulk.Bulk, id int64, rows string) error {
	run, err := b.Run(ctx, id)
	if err != nil {
		return err
	}
	if l.json {
		if err := l.emit(run); err != nil {
			return err
		}
		for r, err := range b.Results(ctx, id, rows) {
			if err != nil {
				return err
			}
			if err := l.emit(r); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Fprintf(l.out, "run %d %s: %s done, %d failed, %d open, %d of unknown outcome\n", run.ID, run.State,
		report.Count(run.Done, "listing"), run.Failed, run.Open, run.Unknown)
	if run.Note != "" {
		fmt.Fprintln(l.out, report.Plain(run.Note))
	}
	table := tabwriter.NewWriter(l.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SKU\tWRITE\tSTATE\tDONE\tLISTING\tERROR")
	for r, err := range b.Results(ctx, id, rows) {
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d of %d\t%s\t%s\n", report.Plain(r.SKU), r.Kind, r.State, r.Done, r.Quantity,
			report.Plain(r.Listing), report.Plain(r.Error))
	}
	return table.Flush()
}

func newRunsCancel(getenv func(string) string) *cobra.Command {
	l := newLedger(getenv)
	return onRun(l, "cancel", "Submit nothing more of a run", func(ctx context.Context, b *bulk.Bulk, id int64) error {
		if err := b.Cancel(ctx, id); err != nil {
			return err
		}
		fmt.Fprintf(l.out, "run %d is canceled: what is in flight is settled by its process, or by the next plan\n", id)
		return nil
	})
}

func newRunsRetry(getenv func(string) string) *cobra.Command {
	l := newLedger(getenv)
	return onRun(l, "retry", "Let refused rows be tried again", func(ctx context.Context, b *bulk.Bulk, id int64) error {
		n, err := b.Retry(ctx, id)
		if err != nil {
			return err
		}
		fmt.Fprintf(l.out, "%s can be tried again: apply or sync the inventory\n", report.Count(n, "row"))
		return nil
	})
}

func newRunsResolve(getenv func(string) string) *cobra.Command {
	l := newLedger(getenv)
	var row string
	var made []string
	notMade := false
	cmd := onRun(l, "resolve", "State what became of a write of unknown outcome",
		func(ctx context.Context, b *bulk.Bulk, id int64) error {
			if row == "" || notMade == (len(made) > 0) {
				return invalidf("say which row it is, and what was made: --row SKU with --made LISTING or with --not-made")
			}
			if err := b.Resolve(ctx, id, row, made...); err != nil {
				return err
			}
			fmt.Fprintf(l.out, "row %s is settled: apply or sync the inventory\n", report.Plain(row))
			return nil
		})
	cmd.Use = "resolve ID --row SKU (--made LISTING... | --not-made)"
	cmd.Flags().StringVar(&row, "row", "", "SKU of the row")
	cmd.Flags().StringSliceVar(&made, "made", nil, "ids of the listings that the write made, changed or deleted")
	cmd.Flags().BoolVar(&notMade, "not-made", false, "the write was not made")
	cmd.Args = cobra.MinimumNArgs(1)
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		made = append(made, args[1:]...) // --made A B C
		return run(cmd, args[:1])
	}
	return cmd
}
