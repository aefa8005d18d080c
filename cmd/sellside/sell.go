package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/values"
	"github.com/sellside-sdk/sellside-go/gen"
)

const sellHelp = `List an inventory on the marketplace, and report the outcome of every listing: an apply
that only creates. It changes no price and deletes nothing.

All invalid rows are shown at once, and a file with invalid rows is not sent, unless
--skip-invalid says to send the other rows. A price below half the highest bid or above
ten times the lowest ask is shown as a warning; --strict-prices makes it invalid. Rows
with a variant_id are not looked up, and their prices are not compared.

A command that is stopped by Ctrl-C, or killed, is run again and continues: nothing is
listed twice, however often the file is used, and under whatever name. To list more of
a row, raise its quantity. To list again what was sold and is in stock once more, state
when the stock was counted, in the column as_of or with --as-of now.

The results go to a new CSV file with a line per listing: line, nth, listing_id, status,
error, batch_id, and the columns of the inventory. It has the listings of earlier runs as
well. A listing of status UNKNOWN may have been made: look for it, and settle it with
sellside runs resolve. With --json, results are printed as they come.

` + rowsHelp + `

` + ledgerHelp + `

` + connectionHelp

const sellExample = `  sellside sell inventory.csv
  sellside sell inventory.csv --skip-invalid --result today.csv`

// seller is one call of sell.
type seller struct {
	applier
	result       string
	skipInvalid  bool
	strictPrices bool
}

func newSell(getenv func(string) string) *cobra.Command {
	s := &seller{applier: applier{planner: planner{ledger: newLedger(getenv)}}}
	cmd := &cobra.Command{
		Use:     "sell INVENTORY.csv",
		Short:   "List an inventory on the marketplace",
		Long:    sellHelp,
		Example: sellExample,
		Args:    exactly(1, "sellside sell INVENTORY.csv"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.begin(cmd)
			return s.run(cmd.Context(), args[0])
		},
	}
	cmd.Annotations = map[string]string{operationsKey: strings.Join(values.Texts([]gen.OperationID{
		gen.OpSearchProducts, gen.OpListVariants, gen.OpListProductMarketData, gen.OpCreateListingsBatch,
		gen.OpGetCreateListingsBatch, gen.OpListCreateListingsBatchItems, gen.OpListListings, gen.OpListActiveOrders,
		gen.OpListOrderHistory,
	}), " ")}
	s.workFlags(cmd)
	cmd.Flags().StringVar(&s.asOf, "as-of", "", "when the stock was counted, for rows that do not state it: RFC 3339, a day, or now")
	cmd.Flags().StringVar(&s.result, "result", "", "new file for the results (default beside the inventory: stock.csv has stock.result.csv)")
	cmd.Flags().BoolVar(&s.skipInvalid, "skip-invalid", false, "send the valid rows even if others are not")
	cmd.Flags().BoolVar(&s.strictPrices, "strict-prices", false, "treat a price that is far from the market as invalid")
	return cmd
}

func (s *seller) run(ctx context.Context, name string) error {
	file, closeFile, err := s.readInventory(name, s.asOf)
	if err != nil {
		return err
	}
	defer closeFile()
	if s.result == "" {
		base := name
		if name == "-" {
			base = "inventory.csv"
		}
		s.result = report.ResultFile(base)
	}
	found, err := file.check(s.log)
	if err != nil {
		return err
	}
	if found.unreadable {
		return invalidf("nothing was sent: %s cannot be read: correct it", name)
	}
	b, err := s.openMeter(ctx)
	return s.with(b, err, func(b *bulk.Bulk) error { return s.sell(ctx, b, &wares{file, map[int]bool{}}, found.rows) })
}

// wares are the rows of an inventory that may be sent.
type wares struct {
	*inventoryFile
	skipped map[int]bool // Lines of rows that have no problems.
}

// rows yields the rows that have no problems and are not skipped.
func (w *wares) rows() (rows iter.Seq2[stock.Row, error], layout func() stock.Layout, err error) {
	r, err := w.reader()
	if err != nil {
		return nil, nil, err
	}
	return func(yield func(stock.Row, error) bool) {
		for row, err := range r.Rows() {
			if _, isProblem := errors.AsType[*stock.Problem](err); isProblem || w.skipped[row.Line] {
				continue
			}
			if !yield(row, err) {
				return
			}
		}
	}, r.Layout, nil
}

// sell lists what a file has. Problems is how many of its rows have problems.
func (s *seller) sell(ctx context.Context, b *bulk.Bulk, w *wares, problems int) error {
	plan, err := s.create(ctx, b, w)
	if err != nil {
		return s.notSent(ctx, err)
	}
	invalid, err := s.lookAt(ctx, plan, problems)
	if err != nil {
		return s.notSent(ctx, err)
	}
	if n := problems + len(invalid); n > 0 && !s.skipInvalid {
		return invalidf("nothing was sent: %s: correct what is invalid, or send the other rows with --skip-invalid",
			report.Count(n, "invalid row"))
	}
	if len(invalid) > 0 {
		for _, r := range invalid {
			w.skipped[r.line] = true
		}
		if plan, err = s.create(ctx, b, w); err != nil {
			return s.notSent(ctx, err)
		}
	}
	if limits, err := s.limits(); err == nil && limits != quota.Unlimited {
		s.meter.print("the quota lets this take %s or longer", plan.Least)
	}
	if err := report.CreateResults(s.result); err != nil {
		return invalidf("nothing was sent: %w", err)
	}
	s.meter.start(plan.Creates)
	run, failed := b.Apply(ctx, plan, "sell")
	s.silent.stop()
	s.meter.end()
	if s.json && run.ID > 0 {
		failed = errors.Join(failed, s.emit(run))
	}
	counts, err := s.save(context.WithoutCancel(ctx), b, plan, run, w)
	if err != nil {
		return errors.Join(s.problem(ctx, failed), err)
	}
	conflicts := s.conflicts(context.WithoutCancel(ctx), plan)
	return cmp.Or(s.outcome(ctx, counts, failed), conflicts, skipped(problems+len(invalid)))
}

// create plans what a file lacks.
func (s *seller) create(ctx context.Context, b *bulk.Bulk, w *wares) (*bulk.Plan, error) {
	rows, layout, err := w.rows()
	if err != nil {
		return nil, err
	}
	return b.Plan(ctx, rows, bulk.PlanOptions{Source: w.name, Layout: layout, Resolve: true, CreateOnly: true})
}

// lookAt prints what is wrong with the items and the prices of a plan, and returns the rows that may
// not be sent.
func (s *seller) lookAt(ctx context.Context, plan *bulk.Plan, problems int) (invalid []remark, err error) {
	for c, err := range plan.Changes(ctx, bulk.ClassInvalid) {
		if err != nil {
			return nil, err
		}
		invalid = append(invalid, remark{c.Line, c.Detail})
	}
	var warnings []remark
	if problems+len(invalid) == 0 || s.skipInvalid || s.strictPrices {
		if warnings, err = doubts(ctx, s.sdk.Catalog, plan); err != nil {
			return nil, err
		}
	}
	if s.strictPrices {
		invalid, warnings = append(invalid, warnings...), nil
	}
	s.print(invalid, "")
	s.print(warnings, "warning: ")
	return invalid, nil
}

// print prints remarks in the order of their lines.
func (s *seller) print(remarks []remark, prefix string) {
	slices.SortStableFunc(remarks, func(a, b remark) int { return a.line - b.line })
	for _, r := range remarks {
		s.meter.print("line %d: %s%s", r.line, prefix, report.Plain(r.text))
	}
}

// save writes the results and prints their summary.
func (s *seller) save(ctx context.Context, b *bulk.Bulk, plan *bulk.Plan, run bulk.Run, w *wares) (report.Counts, error) {
	rows, layout, err := w.rows()
	if err != nil {
		return report.Counts{}, err
	}
	results, err := report.Collect(ctx, b, plan, run, rows)
	if err != nil {
		return report.Counts{}, err
	}
	if err := report.SaveResults(s.result, layout().Columns, results); err != nil {
		return report.Counts{}, err
	}
	if !s.json {
		report.Summary(s.out, s.look, results)
		fmt.Fprintf(s.out, "\nresults: %s\n", s.result)
	}
	return report.CountOf(results), nil
}

// conflicts prints the rows that the seller has to settle. It returns the error of a run that has
// any.
func (s *seller) conflicts(ctx context.Context, plan *bulk.Plan) error {
	var remarks []remark
	for c, err := range plan.Changes(ctx, bulk.ClassConflict) {
		if err != nil {
			return err
		}
		remarks = append(remarks, remark{c.Line, c.Detail})
	}
	if len(remarks) == 0 {
		return nil
	}
	s.print(remarks, "conflict: ")
	return fmt.Errorf("%s in conflict: state when the stock was counted, with as_of or --as-of", report.Count(len(remarks), "row"))
}

// notSent returns the error of a run that has sent nothing.
func (s *seller) notSent(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("stopped: nothing was sent")
	}
	return fmt.Errorf("nothing was sent: %w", s.problem(ctx, err))
}

// countsOf returns the counts of a run for its last line.
func countsOf(c report.Counts) string {
	text := fmt.Sprintf("%d made, %d not made", c.Made, c.NotMade)
	if c.UnderWay > 0 {
		text += fmt.Sprintf(", %d under way", c.UnderWay)
	}
	if c.Unknown > 0 {
		text += fmt.Sprintf(", %d unknown", c.Unknown)
	}
	return text
}

// outcome returns the error of a run, nil if every listing was made.
func (s *seller) outcome(ctx context.Context, c report.Counts, err error) error {
	const again = "run the same command again to continue"
	if failed, ok := errors.AsType[*client.APIError](err); ok {
		err = failed // without the advice for programs
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("stopped (%s): %s", countsOf(c), again)
	case err != nil: // what has worked before is not invalid input
		return errors.New("stopped (" + countsOf(c) + "): " + s.problem(ctx, err).Error() + ": " + again)
	case c.Unknown > 0:
		return fmt.Errorf("not all listings were made (%s): see the result file, which names the commands that settle "+
			"those that are unknown", countsOf(c))
	case c.NotMade+c.UnderWay > 0:
		return fmt.Errorf("not all listings were made (%s): see the result file", countsOf(c))
	}
	return nil
}

// skipped returns the error of a run that has left out rows.
func skipped(rows int) error {
	if rows == 0 {
		return nil
	}
	return fmt.Errorf("skipped %s: correct what is invalid and run the same command again", report.Count(rows, "invalid row"))
}
