package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/recent"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/table"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/values"
	"github.com/sellside-sdk/sellside-go/gen"
)

const listingsHelp = `Read and change the listings of the account.

Changes are asynchronous: the service accepts a change and makes it a moment later. The
commands wait for that, and print a line per listing with its status:

  SUCCEEDED   the service has made the change
  FAILED      the service accepted the change, and it failed
  REFUSED     the service did not accept the change
  NOT_SENT    the change was not sent
  NOT_SEEN    the change was sent and did not arrive: send it again
  SUBMITTED   the service accepted the change, and its outcome was not read
  UNKNOWN     the change may have been made: read the listing before you send it again

If the response to a change is lost, the operations of the listing are read to find out
whether it arrived, for up to --settle. A change is never sent twice.`

func newListings(getenv func(string) string) *cobra.Command {
	return newGroup("listings", "Read and change listings", listingsHelp,
		newListingsList(getenv), newListingsGet(getenv), newListingsCreate(getenv), newListingsReprice(getenv),
		newListingsActivate(getenv), newListingsDeactivate(getenv), newListingsDelete(getenv))
}

// paging are the flags of a list.
type paging struct{ page, pageSize, limit int }

func (p *paging) check() error {
	for flag, value := range map[string]int{"page": p.page, "page-size": p.pageSize, "limit": p.limit} {
		if value < 0 {
			return invalidf("--%s (%d): use 1 or more", flag, value)
		}
	}
	return nil
}

func (p *paging) addPaging(cmd *cobra.Command) {
	cmd.Flags().IntVar(&p.page, "page", 0, "page to start from (default 1)")
	cmd.Flags().IntVar(&p.pageSize, "page-size", 0, "entries to read with a request (default as many as the service allows)")
	cmd.Flags().IntVar(&p.limit, "limit", 0, "entries to print (default all)")
}

// inventoryFlags are the flags that all lists of listings and orders have.
type inventoryFlags struct {
	inventoryTypes, shipments []string
}

func (f *inventoryFlags) addInventory(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.inventoryTypes, "inventory-type", nil, "inventory types")
	cmd.Flags().StringSliceVar(&f.shipments, "shipment", nil, "display ids of inbound shipments")
	completeFlag(cmd, "inventory-type", values.InventoryTypes())
}

// listingsList is one call of listings ls.
type listingsList struct {
	*service
	paging
	inventoryFlags
	products, variants, batches, statuses []string
	from, to                              string
	expired                               bool
}

func newListingsList(getenv func(string) string) *cobra.Command {
	l := &listingsList{service: newService(getenv)}
	cmd := l.command(&cobra.Command{
		Use:     "ls",
		Short:   "List listings",
		Long:    "List the listings that match all filters. A filter with several values matches any of them.\n\nOne request is sent for each 100 listings.",
		Example: "  sellside listings ls --status ACTIVE,INACTIVE --from 2026-11-01\n  sellside listings ls --csv > listings.csv",
		Args:    exactly(0, "sellside listings ls"),
	}, l.run, gen.OpListListings)
	flags := cmd.Flags()
	flags.StringSliceVar(&l.statuses, "status", nil, "statuses")
	flags.StringSliceVar(&l.products, "product", nil, "ids of products")
	flags.StringSliceVar(&l.variants, "variant", nil, "ids of variants")
	flags.StringSliceVar(&l.batches, "batch", nil, "ids of the batches that made the listings")
	flags.StringVar(&l.from, "from", "", "first day of creation (UTC), such as 2026-11-01")
	flags.StringVar(&l.to, "to", "", "last day of creation")
	flags.BoolVar(&l.expired, "expired", false, "also listings whose ask has expired")
	l.addInventory(cmd)
	l.addPaging(cmd)
	completeFlag(cmd, "status", values.ListingStatuses())
	l.recentFlag(cmd, "product", recent.Product)
	l.recentFlag(cmd, "variant", recent.Variant)
	l.recentFlag(cmd, "batch", recent.Batch)
	return cmd
}

func (l *listingsList) run(ctx context.Context, _ []string) error {
	from, err := day("from", l.from)
	to, errTo := day("to", l.to)
	if err := errors.Join(err, errTo, l.check()); err != nil {
		return err
	}
	listings := l.sdk.Listings.List(ctx, client.ListingFilter{
		ProductIDs: l.products, VariantIDs: l.variants, BatchIDs: l.batches,
		Statuses:       known(l.service, "status", values.ListingStatuses(), l.statuses...),
		InventoryTypes: known(l.service, "inventory-type", values.InventoryTypes(), l.inventoryTypes...),
		From:           from, To: to, Expired: l.expired, ShipmentDisplayIDs: l.shipments,
		PageNumber: l.page, PageSize: l.pageSize,
	})
	return printAll(l.service, listingColumns(), listings, l.limit, "listings", func(listing gen.Listing) {
		l.rememberListing(listing)
	})
}

func (s *service) rememberListing(l gen.Listing) {
	s.recent.Add(recent.Listing, l.ListingID)
	s.recent.Add(recent.Variant, l.Variant.VariantID)
	s.recent.Add(recent.Product, l.Product.ProductID)
	s.recent.Add(recent.Style, l.Product.StyleID)
}

// listingColumns are the columns of a list of listings.
func listingColumns() []table.Column[gen.Listing] {
	type column = table.Column[gen.Listing]
	ask := func(l gen.Listing) gen.ListingAsk { return orZero(l.Ask) }
	return []column{
		{Name: "listing_id", Value: func(l gen.Listing) string { return l.ListingID }},
		{Name: "status", Value: func(l gen.Listing) string { return string(l.Status) }},
		{Name: "price", Text: true, Right: true, Value: func(l gen.Listing) string { return price(l.Amount, string(l.CurrencyCode)) }},
		{Name: "amount", CSV: true, Value: func(l gen.Listing) string { return l.Amount.String() }},
		{Name: "currency", CSV: true, Value: func(l gen.Listing) string { return string(l.CurrencyCode) }},
		{Name: "size", Wrap: true, Value: func(l gen.Listing) string { return l.Variant.VariantValue }},
		{Name: "style_id", Wrap: true, Value: func(l gen.Listing) string { return l.Product.StyleID }},
		{Name: "product", CSV: true, Value: func(l gen.Listing) string { return l.Product.ProductName }},
		{Name: "product_id", CSV: true, Value: func(l gen.Listing) string { return l.Product.ProductID }},
		{Name: "variant_id", CSV: true, Value: func(l gen.Listing) string { return l.Variant.VariantID }},
		{Name: "inventory_type", CSV: true, Value: func(l gen.Listing) string { return string(l.InventoryType) }},
		{Name: "ask_id", CSV: true, Value: func(l gen.Listing) string { return ask(l).AskID }},
		{Name: "expires_at", CSV: true, Value: func(l gen.Listing) string { return stamp(ask(l).AskExpiresAt) }},
		{Name: "order_number", CSV: true, Value: func(l gen.Listing) string { return orZero(l.Order).OrderNumber }},
		{Name: "batch_id", CSV: true, Value: func(l gen.Listing) string { return orZero(l.Batch).BatchID }},
		{Name: "created_at", CSV: true, Value: func(l gen.Listing) string { return stamp(l.CreatedAt) }},
		{Name: "updated_at", CSV: true, Value: func(l gen.Listing) string { return stamp(l.UpdatedAt) }},
	}
}

// listingsGet is one call of listings get.
type listingsGet struct {
	*service
	operations bool
	operation  string
}

func newListingsGet(getenv func(string) string) *cobra.Command {
	l := &listingsGet{service: newService(getenv)}
	cmd := l.command(&cobra.Command{
		Use:   "get LISTING_ID",
		Short: "Show a listing, or the operations on it",
		Long: "Show a listing with what it would pay out and its last operation. With --operations, list what was\n" +
			"done to it; with --operation, show one operation.",
		Example:           "  sellside listings get 98e2e748-8000-45bf-a624-5531d6a68318 --operations",
		Args:              exactly(1, "sellside listings get LISTING_ID"),
		ValidArgsFunction: l.recentArgs(recent.Listing, 0, 1),
	}, l.run, gen.OpGetListing, gen.OpListListingOperations, gen.OpGetListingOperation)
	cmd.Flags().BoolVar(&l.operations, "operations", false, "list the operations on the listing instead")
	cmd.Flags().StringVar(&l.operation, "operation", "", "show the operation with this id instead")
	return cmd
}

func (l *listingsGet) run(ctx context.Context, args []string) error {
	switch {
	case l.operations && l.operation != "":
		return invalidf("--operations and --operation: use one of them")
	case l.operations:
		operations := l.sdk.Listings.ListOperations(ctx, args[0])
		return printAll(l.service, operationColumns(), operations, 0, "operations", nil)
	case l.operation != "":
		operation, err := l.sdk.Listings.GetOperation(ctx, args[0], l.operation)
		if err != nil {
			return err
		}
		return printOne(l.service, operationColumns(), *operation)
	}
	listing, err := l.sdk.Listings.Get(ctx, args[0])
	if err != nil {
		return err
	}
	l.rememberListing(*listing)
	return printOne(l.service, listingDetails(), *listing)
}

// listingDetails are the columns of one listing.
func listingDetails() []table.Column[gen.Listing] {
	type column = table.Column[gen.Listing]
	columns := listingColumns()
	for i := range columns {
		if columns[i].Name != "amount" && columns[i].Name != "currency" {
			columns[i].CSV = false
		}
	}
	last := func(l gen.Listing) gen.LastOperation { return orZero(l.LastOperation) }
	return append(
		columns,
		column{Name: "condition", Wrap: true, Value: func(l gen.Listing) string { return joined(l.Condition, l.ConditionDescription) }},
		column{Name: "authentication", Wrap: true, Value: func(l gen.Listing) string {
			return joined(l.AuthenticationDetails.Status, l.AuthenticationDetails.FailureNotes)
		}},
		column{Name: "payout", Value: func(l gen.Listing) string { return payoutTotal(l.Payout) }},
		column{Name: "adjustments", Wrap: true, Value: func(l gen.Listing) string { return adjustments(l.Payout) }},
		column{Name: "last_operation", Value: func(l gen.Listing) string {
			return joined(string(last(l).OperationType), string(last(l).OperationStatus))
		}},
		column{Name: "last_operation_id", Value: func(l gen.Listing) string { return last(l).OperationID }},
		column{Name: "last_error", Wrap: true, Value: func(l gen.Listing) string { return string(last(l).Error) }},
	)
}

func operationColumns() []table.Column[gen.ListingOperation] {
	type operation = gen.ListingOperation
	return []table.Column[operation]{
		{Name: "operation_id", Value: func(o operation) string { return o.OperationID }},
		{Name: "type", Wrap: true, Value: func(o operation) string { return string(o.OperationType) }},
		{Name: "status", Value: func(o operation) string { return string(o.OperationStatus) }},
		{Name: "started", Text: true, Wrap: true, Value: func(o operation) string { return minute(o.CreatedAt) }},
		{Name: "created_at", CSV: true, Value: func(o operation) string { return stamp(o.CreatedAt) }},
		{Name: "updated_at", CSV: true, Value: func(o operation) string { return stamp(o.UpdatedAt) }},
		{Name: "listing_id", CSV: true, Value: func(o operation) string { return o.ListingID }},
		{Name: "initiated_by", CSV: true, Value: func(o operation) string { return string(o.OperationInitiatedBy) }},
		{Name: "initiated_via", CSV: true, Value: func(o operation) string { return string(o.OperationInitiatedVia) }},
		{Name: "error", Wrap: true, Value: func(o operation) string { return string(o.Error) }},
	}
}

// adjustments returns the parts of a payout in words.
func adjustments(p *gen.Payout) string {
	parts := make([]string, 0, len(orZero(p).Adjustments))
	for _, a := range orZero(p).Adjustments {
		parts = append(parts, fmt.Sprintf("%s %s", a.AdjustmentType, a.Amount))
	}
	return strings.Join(parts, ", ")
}

// payoutTotal returns the total of a payout with its currency.
func payoutTotal(p *gen.Payout) string {
	return price(gen.Amount(orZero(p).TotalPayout), orZero(p).CurrencyCode)
}

// orZero returns what a pointer points to, or the zero value.
func orZero[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

// joined returns texts that are not empty, separated by commas.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), ", ")
}
