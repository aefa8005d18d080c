package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/change"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/recent"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/table"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/values"
	"github.com/sellside-sdk/sellside-go/gen"
)

// terms are the flags of an ask.
type terms struct{ currency, expiresAt string }

func (t *terms) addTerms(cmd *cobra.Command, currency, expiresAt string) {
	cmd.Flags().StringVar(&t.currency, "currency", "", currency)
	cmd.Flags().StringVar(&t.expiresAt, "expires-at", "", expiresAt)
	completeFlag(cmd, "currency", values.Currencies())
}

// listingsCreate is one call of listings create.
type listingsCreate struct {
	*service
	terms
	inactive      bool
	inventoryType string
}

func newListingsCreate(getenv func(string) string) *cobra.Command {
	l := &listingsCreate{service: newService(getenv)}
	cmd := l.changes(l.command(&cobra.Command{
		Use:   "create VARIANT_ID AMOUNT --currency CODE",
		Short: "Make a listing",
		Long: `Make one listing of a variant, which is a product in one size: sellside products get
shows the ids of variants. For more than one listing, use sellside sell.

If no --expires-at is given, the ask gets an expiry 947 to 997 days from now that no
other ask has, so that the listing can be found if the response is lost.`,
		Example:           "  sellside listings create 8f4d2c4e-9d57-4a87-8a34-6b2f5d6d1e21 162 --currency USD",
		Args:              exactly(2, "sellside listings create VARIANT_ID AMOUNT --currency CODE"),
		ValidArgsFunction: l.recentArgs(recent.Variant, 0, 1),
	}, l.run, gen.OpCreateListing, gen.OpGetListingOperation, gen.OpListListings))
	l.addTerms(cmd, "currency of the amount; required", "when the ask ends, 2026-12-31 or 2026-12-31T18:00:00Z")
	cmd.Flags().BoolVar(&l.inactive, "inactive", false, "make a listing without an ask")
	cmd.Flags().StringVar(&l.inventoryType, "inventory-type", "", "STANDARD or DIRECT (default STANDARD)")
	completeFlag(cmd, "inventory-type", []gen.InventoryType{gen.InventoryTypeStandard, gen.InventoryTypeDirect})
	return cmd
}

func (l *listingsCreate) run(ctx context.Context, args []string) error {
	if l.currency == "" {
		return invalidf("--currency is missing: name the currency of %s", args[1])
	}
	expires, err := expiry(l.expiresAt)
	if err != nil {
		return err
	}
	listing := gen.CreateListingRequest{
		VariantID: args[0], Amount: gen.Amount(args[1]), ExpiresAt: expires,
		CurrencyCode:  optional(l.service, "currency", values.Currencies(), l.currency),
		InventoryType: optional(l.service, "inventory-type", values.InventoryTypes(), l.inventoryType),
	}
	if l.inactive {
		listing.Active = new(false)
	}
	results := newResults(l.service)
	result, err := l.settings().Create(ctx, listing)
	return results.end(errors.Join(results.add(result), err))
}

// listingsReprice is one call of listings reprice.
type listingsReprice struct {
	*service
	terms
}

func newListingsReprice(getenv func(string) string) *cobra.Command {
	l := &listingsReprice{service: newService(getenv)}
	cmd := l.changes(l.command(&cobra.Command{
		Use:   "reprice AMOUNT LISTING_ID...",
		Short: "Change the price of listings",
		Long: `Change the price of listings. Their currency and expiry stay as they are, unless flags
change them; so each listing is read first. Several listings are changed in batches of
100. - reads more ids from standard input.`,
		Example:           "  sellside listings reprice 158.50 98e2e748-8000-45bf-a624-5531d6a68318",
		Args:              atLeast(2, "sellside listings reprice AMOUNT LISTING_ID..."),
		ValidArgsFunction: l.recentArgs(recent.Listing, 1, 100),
	}, l.run, gen.OpGetListing, gen.OpUpdateListing, gen.OpGetListingOperation, gen.OpListListingOperations,
		gen.OpUpdateListingsBatch, gen.OpGetUpdateListingsBatch, gen.OpListUpdateListingsBatchItems))
	l.addTerms(cmd, "new currency (default that of the listing)", "when the ask ends (default as before)")
	return cmd
}

func (l *listingsReprice) run(ctx context.Context, args []string) error {
	expires, err := expiry(l.expiresAt)
	if err != nil {
		return err
	}
	amount := gen.Amount(args[0])
	if d, err := amount.Decimal(); err != nil || !d.IsPos() {
		return invalidf("AMOUNT (%q): use digits and a point, such as 158.50", args[0])
	}
	currency := optional(l.service, "currency", values.Currencies(), l.currency)
	ids, err := l.ids(args[1:])
	if err != nil {
		return err
	}
	results := newResults(l.service)
	var items []gen.UpdateItem
	for _, id := range ids {
		listing, err := l.sdk.Listings.Get(ctx, id)
		if err != nil {
			unread := change.Result{ListingID: id, Change: gen.OperationTypeUpdate, Status: change.NotSent, Error: err.Error()}
			if err := errors.Join(results.add(unread), change.Stops(ctx, err)); err != nil {
				return results.end(err)
			}
			continue
		}
		l.rememberListing(*listing)
		item := gen.UpdateItem{ListingID: id, Amount: amount, CurrencyCode: listing.CurrencyCode, ExpiresAt: orZero(listing.Ask).AskExpiresAt}
		if currency != "" {
			item.CurrencyCode = currency
		}
		if !expires.IsZero() {
			item.ExpiresAt = expires
		}
		items = append(items, item)
	}
	if len(items) != 1 {
		return results.end(l.settings().Update(ctx, items, results.add))
	}
	item := items[0]
	result, err := l.settings().One(ctx, change.One{Item: item, Type: gen.OperationTypeUpdate, Send: func(ctx context.Context) (*client.Operation, error) {
		return l.sdk.Listings.Update(ctx, item.ListingID, gen.UpdateListingRequest{
			Amount: item.Amount, CurrencyCode: item.CurrencyCode, ExpiresAt: item.ExpiresAt,
		})
	}})
	return results.end(errors.Join(results.add(result), err))
}

// listingsActivate is one call of listings activate.
type listingsActivate struct {
	*service
	terms
	amount string
}

func newListingsActivate(getenv func(string) string) *cobra.Command {
	l := &listingsActivate{service: newService(getenv)}
	cmd := l.changes(l.command(&cobra.Command{
		Use:   "activate LISTING_ID...",
		Short: "Give inactive listings an ask",
		Long: `Give inactive listings an ask, one after the other. By default the ask has the price and
the currency of the listing, which is read first. - reads more ids from standard input.`,
		Example:           "  sellside listings activate 98e2e748-8000-45bf-a624-5531d6a68318 --amount 149",
		Args:              atLeast(1, "sellside listings activate LISTING_ID..."),
		ValidArgsFunction: l.recentArgs(recent.Listing, 0, 100),
	}, l.run, gen.OpGetListing, gen.OpActivateListing, gen.OpGetListingOperation, gen.OpListListingOperations))
	cmd.Flags().StringVar(&l.amount, "amount", "", "price (default that of the listing)")
	l.addTerms(cmd, "currency (default that of the listing)", "when the ask ends (default up to the service)")
	return cmd
}

func (l *listingsActivate) run(ctx context.Context, args []string) error {
	expires, err := expiry(l.expiresAt)
	if err != nil {
		return err
	}
	currency := optional(l.service, "currency", values.Currencies(), l.currency)
	return l.oneByOne(ctx, args, gen.OperationTypeActivate, func(id string) (change.One, error) {
		item := gen.UpdateItem{ListingID: id, Amount: gen.Amount(l.amount), CurrencyCode: currency, ExpiresAt: expires}
		if item.Amount == "" || currency == "" {
			listing, err := l.sdk.Listings.Get(ctx, id)
			if err != nil {
				return change.One{}, err
			}
			item.Amount = gen.Amount(cmp.Or(l.amount, listing.Amount.String()))
			item.CurrencyCode = cmp.Or(currency, listing.CurrencyCode)
		}
		return change.One{Item: item, Send: func(ctx context.Context) (*client.Operation, error) {
			return l.sdk.Listings.Activate(ctx, id, gen.ActivateListingRequest{
				Amount: item.Amount, CurrencyCode: item.CurrencyCode, ExpiresAt: item.ExpiresAt,
			})
		}}, nil
	})
}

func newListingsDeactivate(getenv func(string) string) *cobra.Command {
	s := newService(getenv)
	run := func(ctx context.Context, args []string) error {
		return s.oneByOne(ctx, args, gen.OperationTypeDeactivate, func(id string) (change.One, error) {
			return change.One{Item: gen.UpdateItem{ListingID: id}, Send: func(ctx context.Context) (*client.Operation, error) {
				return s.sdk.Listings.Deactivate(ctx, id)
			}}, nil
		})
	}
	return s.changes(s.command(&cobra.Command{
		Use:               "deactivate LISTING_ID...",
		Short:             "Remove the asks of listings from the market",
		Long:              "Remove the asks of listings from the market and keep the listings, one after the other. - reads more ids\nfrom standard input.",
		Example:           "  sellside listings deactivate 98e2e748-8000-45bf-a624-5531d6a68318",
		Args:              atLeast(1, "sellside listings deactivate LISTING_ID..."),
		ValidArgsFunction: s.recentArgs(recent.Listing, 0, 100),
	}, run, gen.OpDeactivateListing, gen.OpGetListingOperation, gen.OpListListingOperations))
}

// oneByOne sends a change to each listing.
func (s *service) oneByOne(
	ctx context.Context, args []string, kind gen.OperationType, prepare func(id string) (change.One, error),
) error {
	ids, err := s.ids(args)
	if err != nil {
		return err
	}
	results := newResults(s)
	for i, id := range ids {
		result := change.Result{ListingID: id, Change: kind, Status: change.NotSent}
		one, err := prepare(id)
		if err == nil {
			one.Type = kind
			result, err = s.settings().One(ctx, one)
		} else {
			result.Error, err = err.Error(), change.Stops(ctx, err)
		}
		if failed := results.add(result); failed != nil {
			return failed
		}
		if err != nil {
			for _, id := range ids[i+1:] {
				left := change.Result{ListingID: id, Change: kind, Status: change.NotSent, Error: "not sent, because an earlier change could not be completed"}
				if failed := results.add(left); failed != nil {
					return failed
				}
			}
			return results.end(err)
		}
	}
	return results.end(nil)
}

// listingsDelete is one call of listings delete.
type listingsDelete struct {
	*service
	yes bool
}

func newListingsDelete(getenv func(string) string) *cobra.Command {
	l := &listingsDelete{service: newService(getenv)}
	cmd := l.changes(l.command(&cobra.Command{
		Use:   "delete LISTING_ID...",
		Short: "Delete listings",
		Long: `Delete listings, after a question that --yes leaves out. A listing that is sold cannot be
deleted. Several listings are deleted in batches of 100. - reads more ids from standard
input, and needs --yes.`,
		Example:           "  sellside listings delete 98e2e748-8000-45bf-a624-5531d6a68318",
		Args:              atLeast(1, "sellside listings delete LISTING_ID..."),
		ValidArgsFunction: l.recentArgs(recent.Listing, 0, 100),
	}, l.run, gen.OpDeleteListing, gen.OpGetListingOperation, gen.OpListListingOperations,
		gen.OpDeleteListingsBatch, gen.OpGetDeleteListingsBatch, gen.OpListDeleteListingsBatchItems))
	cmd.Flags().BoolVar(&l.yes, "yes", false, "do not ask")
	return cmd
}

func (l *listingsDelete) run(ctx context.Context, args []string) error {
	isAsked := !l.yes && !l.dryRun
	if isAsked && slices.Contains(args, "-") {
		return invalidf("nothing was sent: the ids come from standard input, so no question can be asked: use --yes")
	}
	ids, err := l.ids(args)
	if err != nil {
		return err
	}
	if isAsked {
		question := fmt.Sprintf("Delete %s? This cannot be undone.", report.Count(len(ids), "listing"))
		if err := l.confirm(ctx, question); err != nil {
			return err
		}
	}
	results := newResults(l.service)
	if len(ids) > 1 {
		return results.end(l.settings().Delete(ctx, ids, results.add))
	}
	one := change.One{
		Item: gen.UpdateItem{ListingID: ids[0]}, Type: gen.OperationTypeDelete,
		Send: func(ctx context.Context) (*client.Operation, error) { return l.sdk.Listings.Delete(ctx, ids[0]) },
	}
	result, err := l.settings().One(ctx, one)
	return results.end(errors.Join(results.add(result), err))
}

// maxIDs bounds the ids that a command reads from standard input.
const maxIDs = 50_000

// ids returns the ids in arguments, each once. The argument - stands for the words of standard input.
func (s *service) ids(args []string) ([]string, error) {
	var ids []string
	seen := map[string]bool{}
	add := func(id string) {
		if key := strings.ToLower(id); !seen[key] {
			seen[key] = true
			ids = append(ids, id)
		}
	}
	for _, arg := range args {
		if arg != "-" {
			add(arg)
			continue
		}
		words := bufio.NewScanner(s.stdin)
		words.Split(bufio.ScanWords)
		for words.Scan() {
			if add(words.Text()); len(ids) > maxIDs {
				return nil, invalidf("standard input: more than %d ids: split them", maxIDs)
			}
		}
		if err := words.Err(); err != nil {
			return nil, invalidf("read ids from standard input: %w", err)
		}
	}
	if len(ids) == 0 {
		return nil, invalidf("no listing ids in standard input")
	}
	return ids, nil
}

// changeResults prints what became of changes, and counts them.
type changeResults struct {
	s      *service
	rows   *table.Rows[change.Result]
	counts map[change.Status]int
	total  int
}

func newResults(s *service) *changeResults {
	type result = change.Result
	return &changeResults{s, table.New(s.out, []table.Column[result]{
		{Name: "listing_id", Value: func(r result) string { return r.ListingID }},
		{Name: "change", Wrap: true, Value: func(r result) string { return string(r.Change) }},
		{Name: "status", Value: func(r result) string { return string(r.Status) }},
		{Name: "operation_id", CSV: true, Value: func(r result) string { return r.OperationID }},
		{Name: "batch_id", CSV: true, Value: func(r result) string { return r.BatchID }},
		{Name: "error", Wrap: true, Value: func(r result) string { return r.Error }},
	}), map[change.Status]int{}, 0}
}

// add prints a result, unless it is zero.
func (r *changeResults) add(result change.Result) error {
	if result.Status == "" {
		return nil
	}
	r.s.recent.Add(recent.Listing, result.ListingID)
	r.s.recent.Add(recent.Batch, result.BatchID)
	r.counts[result.Status]++
	r.total++
	return r.rows.Write(result)
}

// end returns the error of a command that has made changes: err, or that some did not succeed.
func (r *changeResults) end(err error) error {
	if failed := r.rows.Flush(); failed != nil {
		return failed
	}
	missed := r.total - r.counts[change.Succeeded]
	if r.s.noWait {
		missed -= r.counts[change.Submitted]
	}
	if missed == 0 {
		return err
	}
	text := fmt.Sprintf("%d of %s succeeded", r.counts[change.Succeeded], report.Count(r.total, "change"))
	if n := r.counts[change.Unknown]; n > 0 {
		text += fmt.Sprintf(", %d may have been made", n)
	}
	if n := r.counts[change.Submitted]; n > 0 {
		text += fmt.Sprintf(", %d under way", n)
	}
	if err != nil {
		text += ": " + r.s.explain(err).Error()
	}
	return errors.New(text)
}
