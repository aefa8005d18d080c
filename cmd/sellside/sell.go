package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/resolve"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/values"
	"github.com/sellside-sdk/sellside-go/gen"
)

const sellHelp = `List an inventory on the marketplace, and report the outcome of every listing.

The inventory is a CSV file whose first line names its columns, in any order:

  style_id     the manufacturer's style id, exactly as in the catalog: DZ5485-612
  size         as in the catalog: 10.5, 8W, XL, One Size
  price        digits and a point: 162 or 162.50
  currency     AUD, CAD, CHF, EUR, GBP, HKD, JPY, KRW, MXN, NZD, SGD or USD
  quantity     listings to make at that price
  variant_id   optional: the item itself; style_id and size are then left empty
  active       optional: false makes a listing without an ask
  expires_at   optional: when the ask ends, 2026-12-31 or 2026-12-31T18:00:00Z;
               by default 947 to 997 days from now, another time for each batch,
               so that a batch can be identified later

All invalid rows are shown at once, and a file with invalid rows is not sent, unless
--skip-invalid says to send the other rows. A price below half the highest bid or above
ten times the lowest ask is shown as a warning; --strict-prices makes it invalid. Rows
with a variant_id are not looked up, and their prices are not compared.

The products of a service on another machine are looked up once a day. A 429 or a
failure that may pass does not end the run.

A file that was listed before is not sent again, unless --again says so. It is known by
the SHA-256 of its bytes, which the result files beside it contain.

One run at a time sells an inventory: stock.lock beside it keeps others out, is empty
and stays.

The results go to a new CSV file with a line per listing: line, nth, listing_id, status,
error, batch_id, the columns of the inventory, and inventory_sha256. If the response to
a batch is lost, the listings of the account are read to find out whether the batch was
made, for up to --settle if it is not found. Only a batch that is proved not to have
arrived is sent again. A listing of status UNKNOWN may have been made: look for it
before you list it again. Ctrl-C stops, and keeps what is known.

A batch is saved in stock.unsettled.json before it is sent, and removed when its outcome
is known. If the file is left over from a run that was stopped, the next run of the same
inventory settles that batch, updates the results of the earlier run, and sends nothing.

` + connectionHelp

const sellExample = `  sellside sell inventory.csv
  sellside sell inventory.csv --skip-invalid --result today.csv`

// seller is one call of sell.
type seller struct {
	connection
	result       string
	skipInvalid  bool
	again        bool
	strictPrices bool
	settle       time.Duration

	out, log io.Writer
	look     report.Look
}

func newSell(getenv func(string) string) *cobra.Command {
	s := &seller{}
	cmd := &cobra.Command{
		Use:     "sell INVENTORY.csv",
		Short:   "List an inventory on the marketplace",
		Long:    sellHelp,
		Example: sellExample,
		Args:    exactly(1, "sellside sell INVENTORY.csv"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.out, s.log, s.look = cmd.OutOrStdout(), cmd.ErrOrStderr(), report.LookOf(cmd.OutOrStdout(), getenv)
			if err := s.complete(getenv); err != nil {
				return err
			}
			return s.run(cmd.Context(), args[0], cmd.InOrStdin())
		},
	}
	cmd.Annotations = map[string]string{operationsKey: strings.Join(values.Texts([]gen.OperationID{
		gen.OpSearchProducts, gen.OpListVariants, gen.OpListProductMarketData, gen.OpCreateListingsBatch,
		gen.OpGetCreateListingsBatch, gen.OpListCreateListingsBatchItems, gen.OpListListings,
	}), " ")}
	s.flags(cmd)
	cmd.Flags().StringVar(&s.result, "result", "", "new file for the results (default beside the inventory: stock.csv has stock.result.csv)")
	cmd.Flags().BoolVar(&s.skipInvalid, "skip-invalid", false, "send the valid rows even if others are not")
	cmd.Flags().BoolVar(&s.again, "again", false, "list an inventory once more that was listed before")
	cmd.Flags().BoolVar(&s.strictPrices, "strict-prices", false, "treat a price that is far from the market as invalid")
	cmd.Flags().DurationVar(&s.settle, "settle", 10*time.Minute,
		"how long to look for a batch whose response was lost; too short a time may make listings twice")
	return cmd
}

func (s *seller) run(ctx context.Context, name string, stdin io.Reader) (err error) {
	if s.settle <= 0 {
		return invalidf("sell: --settle (%s): use a time above 0", s.settle)
	}
	progress := report.NewProgress(s.log)
	defer progress.End()
	silent := &silence{print: progress.Print}
	defer silent.stop()
	sdk, err := s.client(client.WithMiddleware(silent.watch))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	base := name
	if name == "-" {
		base = "inventory.csv"
	}
	content, unread := read("inventory", name, stdin)
	if unread != nil && !report.FilesOf(base).IsUnsettled() {
		return unread
	}
	unlock, err := report.Lock(context.WithoutCancel(ctx), base) // a run that is stopped says so below
	if err != nil {
		return s.notSent(ctx, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	files := report.FilesOf(base)
	if s.result != "" {
		files.Results = s.result
	}
	run := sell.Run{Client: sdk, Watch: progress, SettleTime: s.settle}
	earlier, unsettled, err := files.Load()
	if err != nil {
		return invalidf("nothing was sent: %w", err)
	}
	if unsettled != nil {
		run.Save = earlier.Save
		results, err := run.Settle(ctx, *unsettled)
		silent.stop()
		progress.End()
		forget(s.cache(), earlier.Inventory, results)
		s.report(earlier, results)
		return s.settled(ctx, earlier, sell.Count(results), err)
	}
	if unread != nil {
		return unread
	}
	if err := files.CheckResults(base); err != nil {
		return invalidf("nothing was sent: %w", err)
	}
	file, err := inventory.Parse(bytes.NewReader(content))
	if err != nil {
		return err
	}
	files.Inventory = report.InventoryOf(content, file)
	if err := s.refuseEarlier(files); err != nil {
		return err
	}
	lookup := &resolve.Lookup{
		Catalog: sdk.Catalog, Cache: s.cache(), Progress: progress.LookedUp, Retrying: progress.Retrying,
	}
	if err := s.announce(progress, lookup.Requests(file), file); err != nil {
		return err
	}
	if err := s.lookUp(ctx, lookup, file, progress); err != nil {
		return s.notSent(ctx, err)
	}
	if err := s.check(file); err != nil {
		return err
	}
	if err := files.Create(); err != nil {
		return invalidf("nothing was sent: %w", err)
	}
	run.Save, run.Known = files.Save, files.Batches()
	results, err := run.Sell(ctx, file.Valid())
	silent.stop()
	progress.End()
	forget(lookup.Cache, files.Inventory, results)
	s.report(files, results)
	return s.outcome(ctx, files, sell.Count(results), len(file.InvalidLines()), err)
}

// maxInventory bounds an inventory in bytes. A row has about 50.
const maxInventory = 64 << 20

// read returns the content of a file of the user, such as an inventory.
func read(what, name string, stdin io.Reader) ([]byte, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, invalidf("read %s: %w", what, err)
		}
		defer f.Close()
		stdin = f
	}
	content, err := io.ReadAll(io.LimitReader(stdin, maxInventory+1))
	if err != nil {
		return nil, invalidf("read %s: %w", what, err)
	}
	if len(content) > maxInventory {
		return nil, invalidf("read %s: more than %d MiB: split the file", what, maxInventory>>20)
	}
	return content, nil
}

// refuseEarlier refuses an inventory that an earlier run has listed, which would list everything
// twice.
func (s *seller) refuseEarlier(files report.Files) error {
	if s.again {
		return nil
	}
	path, c, err := files.Earlier()
	switch {
	case err != nil:
		return invalidf("nothing was sent: %w", err)
	case path != "":
		return invalidf("nothing was sent: the same inventory was listed before (%s), see %s: "+
			"list new rows from another file, or list all rows once more with --again", countsOf(c), path)
	}
	return nil
}

// cache returns the cache of products, nil if there is none.
func (s *seller) cache() *resolve.Cache {
	userCacheDir, err := os.UserCacheDir()
	if err != nil {
		return nil // the products are looked up in every run
	}
	if dir := s.cacheDir(userCacheDir); dir != "" {
		return resolve.OpenCache(dir)
	}
	return nil
}

// forget drops the products of listings that the service refused: their variants may be gone.
func forget(cache *resolve.Cache, sold report.Inventory, results []sell.Result) {
	column := slices.Index(sold.Columns, "style_id")
	for _, r := range results {
		fields := sold.Fields[r.Line]
		isRefused := r.Status == string(gen.BatchItemStatusFailed) || r.Status == sell.StatusRefused
		if isRefused && 0 <= column && column < len(fields) {
			cache.Drop(fields[column])
		}
	}
}

// announce prints how long the quota lets a run take at least.
func (s *seller) announce(progress *report.Progress, requests int, file *inventory.File) error {
	limits, err := s.limits()
	if err != nil || limits == quota.Unlimited {
		return err
	}
	listings := 0
	for _, row := range file.Valid() {
		listings += row.Quantity
	}
	const perBatch = 3 // it is submitted, polled once or more, and its items are read
	requests += perBatch * ((listings + sell.MaxListings - 1) / sell.MaxListings)
	progress.Print("the quota allows %s a second and %d listings in %s: this run takes %s or longer",
		report.Count(limits.RequestsPerSecond, "request"), limits.ItemsPerWindow, limits.ItemsWindow, leastTime(limits, requests, listings))
	return nil
}

// leastTime returns how long a quota lets requests and listings take, if the account has used
// nothing of it.
func leastTime(q quota.Quota, requests, listings int) time.Duration {
	after := func(n, limit int, window time.Duration) time.Duration {
		return time.Duration(max(0, n-1)/limit) * window
	}
	const day = 24 * time.Hour
	return max(
		after(requests, q.RequestsPerSecond, time.Second), after(requests, q.RequestsPerDay, day),
		after(listings, q.ItemsPerWindow, q.ItemsWindow), after(listings, q.ItemsPerDay, day),
	)
}

// lookUp looks up the variants of a file, and compares its prices with the market unless the file
// cannot be sent.
func (s *seller) lookUp(
	ctx context.Context, lookup *resolve.Lookup, file *inventory.File, progress *report.Progress,
) error {
	if err := lookup.Variants(ctx, file); err != nil {
		return err
	}
	if len(file.Problems()) > 0 && !s.skipInvalid && !s.strictPrices {
		return nil
	}
	if s.strictPrices {
		return lookup.Prices(ctx, file, file.Add)
	}
	return lookup.Prices(ctx, file, func(line int, format string, args ...any) {
		progress.Print("line %d: warning: %s", line, report.Plain(fmt.Sprintf(format, args...)))
	})
}

// check prints the problems of a file. It returns an error unless the valid rows may be sent.
func (s *seller) check(file *inventory.File) error {
	for _, p := range file.Problems() {
		fmt.Fprintln(s.log, report.Plain(p.String()))
	}
	rows := len(file.InvalidLines())
	switch {
	case rows == 0, s.skipInvalid && !file.Unreadable:
		return nil
	case file.Unreadable:
		return invalidf("nothing was sent: the header is invalid: correct it")
	default:
		return invalidf("nothing was sent: %s: correct what is invalid, or send the other rows with --skip-invalid",
			report.Count(rows, "invalid row"))
	}
}

func (s *seller) report(files report.Files, results []sell.Result) {
	report.Summary(s.out, s.look, results)
	fmt.Fprintf(s.out, "\nresults: %s\n", files.Results)
}

// notSent returns the error of a run that has sent no batch.
func (s *seller) notSent(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("stopped: nothing was sent")
	}
	return fmt.Errorf("nothing was sent: %w", s.explain(err))
}

// countsOf returns the counts of a run for its last line.
func countsOf(c sell.Counts) string {
	text := fmt.Sprintf("%d made, %d not made", c.Listed, c.NotMade)
	if c.UnderWay > 0 {
		text += fmt.Sprintf(", %d under way", c.UnderWay)
	}
	if c.Unknown > 0 {
		text += fmt.Sprintf(", %d unknown", c.Unknown)
	}
	return text
}

// settleAdvice has a verb for the file of the unsettled batch.
const settleAdvice = "run the same command again to settle it, or look for its listings and remove %s"

// outcome returns the error of a run, nil if every row of the inventory was listed.
func (s *seller) outcome(ctx context.Context, files report.Files, c sell.Counts, skipped int, err error) error {
	unsettled := errors.Is(err, sell.ErrUnsettled)
	switch {
	case unsettled && ctx.Err() != nil:
		return fmt.Errorf("stopped (%s): the outcome of a batch was not read: "+settleAdvice, countsOf(c), files.Unsettled)
	case unsettled:
		return fmt.Errorf("stopped (%s): %s: "+settleAdvice, countsOf(c), s.explain(err).Error(), files.Unsettled)
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("stopped (%s): see the result file", countsOf(c))
	case err != nil && c.Listed+c.UnderWay+c.Unknown > 0: // a base URL that has worked is not invalid input
		return errors.New("stopped (" + countsOf(c) + "): " + s.explain(err).Error())
	case err != nil:
		return fmt.Errorf("stopped (%s): %w", countsOf(c), s.explain(err))
	case c.NotMade+c.UnderWay+c.Unknown > 0:
		return fmt.Errorf("not all listings were made (%s): see the result file", countsOf(c))
	case skipped > 0:
		return fmt.Errorf("skipped %s: correct what is invalid and list it from a separate file",
			report.Count(skipped, "invalid row"))
	}
	return nil
}

// settled returns the error of a run that has only settled the batch of an earlier run.
func (s *seller) settled(ctx context.Context, files report.Files, c sell.Counts, err error) error {
	switch {
	case errors.Is(err, sell.ErrUnsettled) && ctx.Err() != nil:
		return fmt.Errorf("nothing was sent: stopped before the batch of an earlier run was settled (%s): "+settleAdvice,
			countsOf(c), files.Unsettled)
	case errors.Is(err, sell.ErrUnsettled):
		return fmt.Errorf("nothing was sent: an earlier run was stopped (%s): %w: "+settleAdvice,
			countsOf(c), s.explain(err), files.Unsettled)
	case err != nil:
		return fmt.Errorf("nothing was sent: settle the batch of an earlier run: %w", err)
	}
	return fmt.Errorf("nothing was sent: settled the batch of an earlier run (%s): "+
		"list the rows that were not made from a separate file", countsOf(c))
}
