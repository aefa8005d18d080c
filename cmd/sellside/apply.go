package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/gen"
)

const applyHelp = `Make the marketplace show what an inventory says: create, update and delete listings.

With --yes, items are looked up while others are submitted. Without it the plan is shown
first, and deletes are confirmed.

A command that is stopped by Ctrl-C, or killed, is run again and continues: what was done
is not done twice. A batch whose response was lost is looked for before anything of its
rows is sent again, once the service has had the time of --settle to show it.

` + rowsHelp + `

` + ledgerHelp + `

` + connectionHelp

const syncHelp = `Keep the marketplace in step with an inventory: plan and apply it, once or every so often.

Each round reads the file, the sales and a part of all listings again. Rows that the
service refused are tried again after a day, or by sellside runs retry.

` + rowsHelp + `

` + ledgerHelp + `

` + connectionHelp

// applier is one call of apply or sync.
type applier struct {
	planner
	yes   bool
	every time.Duration
}

// applyOperations are those of a run and of its plan.
func applyOperations() []gen.OperationID {
	return append(planOperations(),
		gen.OpGetListing, gen.OpListListingOperations,
		gen.OpCreateListingsBatch, gen.OpGetCreateListingsBatch, gen.OpListCreateListingsBatchItems,
		gen.OpUpdateListingsBatch, gen.OpGetUpdateListingsBatch, gen.OpListUpdateListingsBatchItems,
		gen.OpDeleteListingsBatch, gen.OpGetDeleteListingsBatch, gen.OpListDeleteListingsBatchItems,
	)
}

func newApply(getenv func(string) string) *cobra.Command {
	a := &applier{planner: planner{ledger: newLedger(getenv)}}
	cmd := &cobra.Command{
		Use:     "apply INVENTORY",
		Short:   "Make the marketplace show what an inventory says",
		Long:    applyHelp,
		Example: "  sellside apply stock.csv\n  sellside apply stock.csv --yes --delete-missing --allow-deletes 40",
		Args:    exactly(1, "sellside apply INVENTORY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.begin(cmd)
			return a.run(cmd.Context(), args[0], a.apply)
		},
	}
	a.planFlags(cmd)
	uses(cmd, applyOperations()...)
	cmd.Flags().BoolVarP(&a.yes, "yes", "y", false, "do not ask, and submit rows as they are looked up")
	return cmd
}

func newSync(getenv func(string) string) *cobra.Command {
	a := &applier{planner: planner{ledger: newLedger(getenv)}, yes: true}
	cmd := &cobra.Command{
		Use:     "sync INVENTORY",
		Short:   "Keep the marketplace in step with an inventory",
		Long:    syncHelp,
		Example: "  sellside sync stock.csv\n  sellside sync stock.csv --every 15m",
		Args:    exactly(1, "sellside sync INVENTORY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.begin(cmd)
			if cmd.Flags().Changed("every") && a.every < time.Second {
				return invalidf("--every (%s): use a second or longer", a.every)
			}
			if a.every > 0 && args[0] == "-" {
				return invalidf("--every: name a file, standard input cannot be read again")
			}
			return a.sync(cmd.Context(), args[0])
		},
	}
	a.planFlags(cmd)
	uses(cmd, applyOperations()...)
	cmd.Flags().DurationVar(&a.every, "every", 0, "how often to do it; once by default")
	return cmd
}

// run opens the ledger and the inventory.
func (a *applier) run(
	ctx context.Context, name string, do func(context.Context, *bulk.Bulk, *inventoryFile) error,
) error {
	file, closeFile, err := a.openInventory(name, a.asOf)
	if err != nil {
		return err
	}
	defer closeFile()
	b, err := a.openMeter(ctx)
	return a.with(b, err, func(b *bulk.Bulk) error { return do(ctx, b, file) })
}

// openMeter opens the ledger with the meter.
func (a *applier) openMeter(ctx context.Context) (*bulk.Bulk, error) {
	return a.open(ctx, func(c *bulk.Config) {
		c.OnResult = func(r bulk.Result) {
			a.meter.add(r.Done, r.Failed)
			if a.json {
				_ = a.emit(r) // the reader may be gone, and the run goes on
			}
		}
	})
}

// apply plans and applies an inventory.
func (a *applier) apply(ctx context.Context, b *bulk.Bulk, file *inventoryFile) error {
	plan, err := a.plan(ctx, b, file, bulk.PlanOptions{Resolve: !a.yes})
	if err != nil {
		return a.problem(ctx, err)
	}
	if !a.json {
		if err := a.showRows(ctx, plan); err != nil {
			return a.problem(ctx, err)
		}
		a.showCounts(plan)
	}
	if plan.Refused != nil {
		return plan.Refused
	}
	if plan.Deletes > 0 && !a.yes {
		if err := a.confirm(plan); err != nil {
			return err
		}
	}
	return a.submit(ctx, b, plan, "apply")
}

// submit applies a plan and prints its outcome.
func (a *applier) submit(ctx context.Context, b *bulk.Bulk, plan *bulk.Plan, command string) error {
	a.meter.start(plan.Creates + plan.Updates + plan.Deletes)
	run, err := b.Apply(ctx, plan, command)
	a.meter.end()
	if run.ID > 0 {
		if a.json {
			err = errors.Join(err, a.emit(run))
		} else {
			fmt.Fprintf(a.out, "run %d %s: %s done, %d failed, %d of unknown outcome\n", run.ID, run.State,
				report.Count(run.Done, "listing"), run.Failed, run.Unknown)
		}
	}
	if err != nil {
		return a.problem(ctx, err)
	}
	if err := a.applied(run); err != nil {
		return err
	}
	return a.unlisted(ctx, b)
}

// unlisted returns an error if rows wait for the seller.
func (a *applier) unlisted(ctx context.Context, b *bulk.Bulk) error {
	counts, err := b.Counts(ctx)
	if err != nil {
		return err
	}
	var parts []string
	for _, class := range []bulk.Class{bulk.ClassConflict, bulk.ClassInvalid, bulk.ClassFailed, bulk.ClassWaiting} {
		if n := counts[class].Rows; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", report.Count(n, "row"), class))
		}
	}
	if len(parts) > 0 {
		return fmt.Errorf("not everything is listed (%s): see sellside plan; "+
			"a write whose outcome stays unknown is settled with sellside runs resolve", strings.Join(parts, ", "))
	}
	return nil
}

// confirm asks whether the deletes of a plan are meant.
func (a *applier) confirm(plan *bulk.Plan) error {
	fmt.Fprintf(a.log, "Delete %s? [y/N] ", report.Count(plan.Deletes, "listing"))
	line, err := bufio.NewReader(a.in).ReadString('\n')
	if reply := strings.ToLower(strings.TrimSpace(line)); reply == "y" || reply == "yes" {
		return nil
	}
	if err != nil {
		fmt.Fprintln(a.log)
	}
	return invalidf("%w: deletes were not confirmed: type y, or use --yes", errDeclined)
}

// sync applies an inventory once, or again and again.
func (a *applier) sync(ctx context.Context, name string) error {
	if a.asOf != "" { // once: a later round must not state that stock was counted again
		at, err := parseAsOf(a.asOf)
		if err != nil {
			return err
		}
		a.asOf = at.Format(time.RFC3339Nano)
	}
	b, err := a.openMeter(ctx)
	return a.with(b, err, func(b *bulk.Bulk) error {
		for {
			began := time.Now()
			err := a.round(ctx, b, name)
			if a.every == 0 || ctx.Err() != nil {
				return err
			}
			if err != nil {
				a.meter.print("%s", report.Plain(err.Error()))
			}
			select {
			case <-time.After(time.Until(began.Add(a.every))):
			case <-ctx.Done():
				return errors.New("stopped")
			}
		}
	})
}

// round is one round of sync.
func (a *applier) round(ctx context.Context, b *bulk.Bulk, name string) error {
	file, closeFile, err := a.openInventory(name, a.asOf)
	if err != nil {
		return err
	}
	defer closeFile()
	plan, err := a.plan(ctx, b, file, bulk.PlanOptions{KeepRefusals: true})
	if err != nil {
		return a.problem(ctx, err)
	}
	if a.json {
		if err := a.emit(plan); err != nil {
			return err
		}
	} else {
		a.showCounts(plan)
		if plan.MarketRound > 0 {
			fmt.Fprintf(a.out, "the prices of all products with rules are read again within %s\n", plan.MarketRound)
		}
	}
	if plan.Refused != nil {
		return plan.Refused
	}
	return a.submit(ctx, b, plan, "sync")
}
