package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/gen"
)

const rowsHelp = `An inventory is CSV or NDJSON. Its rows are keyed by sku and have an item (style_id and
size, or gtin, or variant_id), a price or a rule, a currency and a quantity:

  sku,style_id,size,price,currency,quantity,as_of
  A-1,DZ5485-612,10.5,162,USD,2,2026-11-21T09:00:00Z

Optional columns are rule (lowest, lowest-1.50, lowest-5%, bid), floor, ceiling, fallback,
as_of, active and expires_at. Others are kept. Without a column sku the item is the key.

The quantity is what was in stock at as_of. What is sold later is not listed again, however
often the file is used. Without as_of it is the time at which this quantity was first seen.
A restock is stated by a newer as_of.`

const planHelp = `Show what an inventory needs: what would be created, updated and deleted, what is sold
out, and what conflicts. Nothing is sent.

` + rowsHelp + `

` + ledgerHelp + `

` + connectionHelp

// planner are the flags of commands that plan.
type planner struct {
	*ledger
	asOf          string
	deleteMissing bool
	allowDeletes  int
	adopt         bool
	reread        bool
	all           bool
}

func (p *planner) planFlags(cmd *cobra.Command) {
	p.workFlags(cmd)
	cmd.Flags().StringVar(&p.asOf, "as-of", "", "when the stock was counted, for rows that do not state it: RFC 3339, a day, or now")
	cmd.Flags().BoolVar(&p.deleteMissing, "delete-missing", false, "delete the listings of SKUs that the inventory no longer has")
	cmd.Flags().IntVar(&p.allowDeletes, "allow-deletes", -1,
		"the most listings to delete (default: 10, or 10 percent of the account)")
	cmd.Flags().BoolVar(&p.adopt, "adopt", false, "match listings that were made elsewhere to rows of the same item")
	cmd.Flags().BoolVar(&p.reread, "reread", false, "read all listings again; otherwise only the first plan does")
}

// planOperations are those that a plan reads the account and the catalog with. What an earlier command
// left in flight is settled too, with those of [applyOperations] that read.
func planOperations() []gen.OperationID {
	return []gen.OperationID{
		gen.OpListListings, gen.OpListActiveOrders, gen.OpListOrderHistory, gen.OpSearchProducts, gen.OpListVariants,
		gen.OpGetVariantByGTIN, gen.OpListProductMarketData,
	}
}

func newPlan(getenv func(string) string) *cobra.Command {
	p := &planner{ledger: newLedger(getenv)}
	cmd := &cobra.Command{
		Use:     "plan INVENTORY",
		Short:   "Show what an inventory needs",
		Long:    planHelp,
		Example: "  sellside plan stock.csv\n  sellside plan stock.csv --delete-missing --json",
		Args:    exactly(1, "sellside plan INVENTORY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.begin(cmd)
			return p.runPlan(cmd.Context(), args[0])
		},
	}
	p.planFlags(cmd)
	uses(cmd, planOperations()...)
	cmd.Flags().BoolVar(&p.all, "all", false, "show all rows that are not unchanged, not only the first of each class")
	return cmd
}

func (p *planner) runPlan(ctx context.Context, name string) error {
	file, closeFile, err := p.openInventory(name, p.asOf)
	if err != nil {
		return err
	}
	defer closeFile()
	b, err := p.open(ctx)
	return p.with(b, err, func(b *bulk.Bulk) error {
		plan, err := p.plan(ctx, b, file, bulk.PlanOptions{Resolve: true})
		if err != nil {
			return p.problem(ctx, err)
		}
		if err := p.show(ctx, plan); err != nil {
			return p.problem(ctx, err)
		}
		return plan.Refused
	})
}

// plan makes a plan of an inventory.
func (p *planner) plan(ctx context.Context, b *bulk.Bulk, file *inventoryFile, opts bulk.PlanOptions) (*bulk.Plan, error) {
	r, err := file.reader()
	if err != nil {
		return nil, err
	}
	opts.Source, opts.Layout = file.name, r.Layout
	opts.DeleteMissing, opts.Adopt, opts.Reread = p.deleteMissing, p.adopt, p.reread
	if p.allowDeletes >= 0 {
		opts.AllowDeletes = &p.allowDeletes
	}
	return b.Plan(ctx, r.Rows(), opts)
}

// classes are the classes of rows in the order in which they are shown.
var classes = [...]bulk.Class{
	bulk.ClassCreate, bulk.ClassUpdate, bulk.ClassDelete, bulk.ClassUnchanged, bulk.ClassSoldOut, bulk.ClassConflict,
	bulk.ClassWaiting, bulk.ClassInvalid, bulk.ClassFailed, bulk.ClassMissing,
}

// show prints a plan: the rows that are not unchanged, and counts.
func (p *planner) show(ctx context.Context, plan *bulk.Plan) error {
	if p.json {
		for _, class := range classes {
			if class == bulk.ClassUnchanged {
				continue
			}
			for change, err := range plan.Changes(ctx, class) {
				if err != nil {
					return err
				}
				if err := p.emit(change); err != nil {
					return err
				}
			}
		}
		return p.emit(plan)
	}
	if err := p.showRows(ctx, plan); err != nil {
		return err
	}
	p.showCounts(plan)
	return nil
}

// showRows prints rows as a table.
func (p *planner) showRows(ctx context.Context, plan *bulk.Plan) error {
	const most = 10
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	shown := 0
	for _, class := range classes {
		count := plan.Counts[class]
		if class == bulk.ClassUnchanged || count.Rows == 0 {
			continue
		}
		n := 0
		for change, err := range plan.Changes(ctx, class) {
			if err != nil {
				return err
			}
			if n++; n > most && !p.all {
				fmt.Fprintf(table, "\t%s\tand %d more\t\t\n", class, count.Rows-most)
				break
			}
			if shown++; shown == 1 {
				fmt.Fprintln(table, "SKU\tCLASS\tCHANGES\tLINE\tWHY")
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\n", report.Plain(change.SKU), class, changesOf(change), change.Line,
				report.Plain(change.Detail))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if shown > 0 {
		fmt.Fprintln(p.out)
	}
	return nil
}

func changesOf(c bulk.Change) string {
	var parts []string
	for _, part := range []struct {
		n    int
		sign string
	}{{c.Creates, "+"}, {c.Updates, "~"}, {c.Deletes, "-"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%s%d", part.sign, part.n))
		}
	}
	return strings.Join(parts, " ")
}

// showCounts prints the counts of a plan.
func (p *planner) showCounts(plan *bulk.Plan) {
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, class := range classes {
		c := plan.Counts[class]
		if c.Rows == 0 {
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t", class, report.Count(c.Rows, "row"))
		for _, part := range []struct {
			n    int
			verb string
		}{{c.Creates, "create"}, {c.Updates, "update"}, {c.Deletes, "delete"}} {
			if part.n > 0 {
				fmt.Fprintf(table, "%s %s  ", part.verb, report.Count(part.n, "listing"))
			}
		}
		fmt.Fprintln(table)
	}
	if plan.Foreign > 0 {
		fmt.Fprintf(table, "foreign\t%s\tnot in the ledger: not touched\n", report.Count(plan.Foreign, "listing"))
	}
	if plan.Adopted > 0 {
		fmt.Fprintf(table, "adopted\t%s\tmatched to rows\n", report.Count(plan.Adopted, "listing"))
	}
	if plan.AdoptLater {
		fmt.Fprintf(table, "adopted\tnothing\tbatches are in flight: adopt when they have ended\n")
	}
	if plan.InFlight > 0 {
		fmt.Fprintf(table, "in flight\t%s\tof earlier runs\n", report.Count(plan.InFlight, "submission"))
	}
	_ = table.Flush() // the terminal may be gone
	limits, err := p.limits()
	if err == nil && limits.ItemsPerWindow > 0 && plan.Least > 0 {
		fmt.Fprintf(p.out, "the quota lets this take %s or longer\n", plan.Least)
	}
	fmt.Fprintf(p.out, "all listings were read %s ago, sales %s ago\n", ago(plan.ListedAt), ago(plan.SalesAt))
}

func ago(at time.Time) time.Duration { return max(0, time.Since(at)).Round(time.Second) }

// applied returns the error of a run that has ended, nil if nothing of it failed.
func (l *ledger) applied(run bulk.Run) error {
	switch {
	case run.Unknown > 0:
		return fmt.Errorf("run %d: %s of unknown outcome: see sellside runs show %d --rows stuck, then sellside runs resolve %d",
			run.ID, report.Count(run.Unknown, "row"), run.ID, run.ID)
	case run.Failed > 0:
		return fmt.Errorf("run %d: %s failed: see sellside runs show %d --rows failed", run.ID,
			report.Count(run.Failed, "listing"), run.ID)
	}
	return nil
}

var errDeclined = errors.New("nothing was sent")
