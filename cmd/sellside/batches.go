package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/recent"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/table"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/values"
	"github.com/sellside-sdk/sellside-go/gen"
)

const batchesHelp = `Read the batches of earlier commands, or wait for them.

No operation lists batches: their ids are printed when they are submitted, and are in the
result files of sellside sell. The service has batches that create, update and delete
listings. Without --kind, each of them is asked for the id in turn.`

func newBatches(getenv func(string) string) *cobra.Command {
	return newGroup("batches", "Read batches of listings, and wait for them", batchesHelp,
		newBatchesGet(getenv), newBatchesWait(getenv))
}

// batchKind is what a batch does to listings.
type batchKind string

// batchKinds are the kinds, in the order in which they are tried.
func batchKinds() []batchKind { return []batchKind{"create", "update", "delete"} }

// batch is a batch of any kind.
type batch interface {
	ID() string
	Poll(ctx context.Context) (gen.Batch, error)
	Snapshot() gen.Batch
	results(ctx context.Context, status gen.BatchItemStatus) ([]batchItem, error)
	wait(ctx context.Context, opts ...client.WaitOption) ([]batchItem, error)
}

// batchItem is an item of a batch of any kind. JSON has the item as the service sent it.
type batchItem struct {
	id        string
	status    gen.BatchItemStatus
	listingID string
	input     gen.CreateBatchItemInput
	err       gen.Reason
	item      any
}

// MarshalJSON implements [json.Marshaler].
func (i batchItem) MarshalJSON() ([]byte, error) { return json.Marshal(i.item) }

// batchOf is a batch whose items are of type T.
type batchOf[T any] struct {
	*client.Batch[T]
	view func(T) batchItem
}

func (b batchOf[T]) results(ctx context.Context, status gen.BatchItemStatus) ([]batchItem, error) {
	items, err := b.Results(ctx, status)
	return b.items(items), err
}

func (b batchOf[T]) wait(ctx context.Context, opts ...client.WaitOption) ([]batchItem, error) {
	items, err := b.Wait(ctx, opts...)
	return b.items(items), err
}

func (b batchOf[T]) items(items []T) []batchItem {
	views := make([]batchItem, len(items))
	for i, item := range items {
		views[i] = b.view(item)
	}
	return views
}

// resume returns the batch of a kind with an id.
func resume(batches *client.Batches, kind batchKind, id string) batch {
	switch kind {
	case "update":
		return batchOf[gen.UpdateBatchItem]{batches.ResumeUpdate(id), func(i gen.UpdateBatchItem) batchItem {
			in := gen.CreateBatchItemInput{Amount: i.ListingInput.Amount, CurrencyCode: i.ListingInput.CurrencyCode}
			return batchItem{i.ItemID, i.Status, i.ListingInput.ListingID, in, i.Error, i}
		}}
	case "delete":
		return batchOf[gen.DeleteBatchItem]{batches.ResumeDelete(id), func(i gen.DeleteBatchItem) batchItem {
			return batchItem{i.ItemID, i.Status, i.ListingInput.ID, gen.CreateBatchItemInput{}, i.Error, i}
		}}
	default:
		return batchOf[gen.CreateBatchItem]{batches.ResumeCreate(id), func(i gen.CreateBatchItem) batchItem {
			return batchItem{i.ItemID, i.Status, i.Result.ListingID, i.ListingInput, i.Error, i}
		}}
	}
}

// batchCall is one call of a command about a batch.
type batchCall struct {
	*service
	kind   string
	items  bool
	status string
}

func (b *batchCall) addKind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&b.kind, "kind", "", "create, update or delete (default found out by reading)")
	completeFlag(cmd, "kind", batchKinds())
}

// find returns the batch with an id, which has been read once.
func (b *batchCall) find(ctx context.Context, id string) (batch, error) {
	kinds := batchKinds()
	if b.kind != "" {
		kind, ok := values.Find(kinds, b.kind)
		if !ok {
			return nil, invalidf("--kind (%q): use create, update or delete", b.kind)
		}
		kinds = []batchKind{kind}
	}
	var errs []error
	for _, kind := range kinds {
		found := resume(b.sdk.Batches, kind, id)
		_, err := found.Poll(ctx)
		if err == nil {
			b.recent.Add(recent.Batch, id)
			return found, nil
		}
		if !errors.Is(err, client.ErrNotFound) {
			return nil, err
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func newBatchesGet(getenv func(string) string) *cobra.Command {
	b := &batchCall{service: newService(getenv)}
	cmd := b.command(&cobra.Command{
		Use:               "get BATCH_ID",
		Short:             "Show a batch, or its items",
		Long:              "Show how far a batch is. With --items, list its items instead; with --status, those in one status.",
		Example:           "  sellside batches get 5ee0ab0e-2a2b-4a3e-9a46-bd8d4ee8c54f --status FAILED",
		Args:              exactly(1, "sellside batches get BATCH_ID"),
		ValidArgsFunction: b.recentArgs(recent.Batch, 0, 1),
	}, b.get, gen.OpGetCreateListingsBatch, gen.OpGetUpdateListingsBatch, gen.OpGetDeleteListingsBatch,
		gen.OpListCreateListingsBatchItems, gen.OpListUpdateListingsBatchItems, gen.OpListDeleteListingsBatchItems)
	b.addKind(cmd)
	cmd.Flags().BoolVar(&b.items, "items", false, "list the items of the batch instead")
	cmd.Flags().StringVar(&b.status, "status", "", "list the items in this status instead")
	completeFlag(cmd, "status", values.BatchItemStatuses())
	return cmd
}

func (b *batchCall) get(ctx context.Context, args []string) error {
	found, err := b.find(ctx, args[0])
	if err != nil {
		return err
	}
	if !b.items && b.status == "" {
		return printOne(b.service, batchColumns(), found.Snapshot())
	}
	items, err := found.results(ctx, optional(b.service, "status", values.BatchItemStatuses(), b.status))
	if err != nil {
		return err
	}
	return b.print(items)
}

func newBatchesWait(getenv func(string) string) *cobra.Command {
	b := &batchCall{service: newService(getenv)}
	cmd := b.command(&cobra.Command{
		Use:   "wait BATCH_ID",
		Short: "Wait until a batch is done, and list its items",
		Long: `Wait until a batch is done, and list its items. The batch is polled every second at first
and every 30 seconds later, for up to 30 minutes. The exit code is 1 unless every item has
succeeded.`,
		Example:           "  sellside batches wait 5ee0ab0e-2a2b-4a3e-9a46-bd8d4ee8c54f",
		Args:              exactly(1, "sellside batches wait BATCH_ID"),
		ValidArgsFunction: b.recentArgs(recent.Batch, 0, 1),
	}, b.wait, gen.OpGetCreateListingsBatch, gen.OpGetUpdateListingsBatch, gen.OpGetDeleteListingsBatch,
		gen.OpListCreateListingsBatchItems, gen.OpListUpdateListingsBatchItems, gen.OpListDeleteListingsBatchItems)
	b.addKind(cmd)
	return cmd
}

func (b *batchCall) wait(ctx context.Context, args []string) error {
	found, err := b.find(ctx, args[0])
	if err != nil {
		return err
	}
	items, err := found.wait(ctx, client.WithProgress(func(batch gen.Batch) {
		b.log.print("%s: %s", batch.Status, counts(batch))
	}))
	_, isComplete := errors.AsType[*client.BatchError](err)
	if err != nil && !isComplete {
		return err
	}
	return errors.Join(b.print(items), err)
}

func (b *batchCall) print(items []batchItem) error {
	for _, item := range items {
		b.recent.Add(recent.Listing, item.listingID)
	}
	return printAll(b.service, batchItemColumns(), sequence(items), 0, "items", nil)
}

// counts returns the counts of the items of a batch in words.
func counts(b gen.Batch) string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(b.ItemStatuses)) {
		parts = append(parts, fmt.Sprintf("%d %s", b.ItemStatuses[status], strings.ReplaceAll(status, "_", " ")))
	}
	return fmt.Sprintf("%s of %d", strings.Join(parts, ", "), b.TotalItems)
}

func batchColumns() []table.Column[gen.Batch] {
	return []table.Column[gen.Batch]{
		{Name: "batch_id", Value: func(b gen.Batch) string { return b.BatchID }},
		{Name: "status", Value: func(b gen.Batch) string { return string(b.Status) }},
		{Name: "total_items", Value: func(b gen.Batch) string { return strconv.Itoa(int(b.TotalItems)) }},
		{Name: "items", Wrap: true, Value: counts},
		{Name: "created_at", Value: func(b gen.Batch) string { return stamp(b.CreatedAt) }},
		{Name: "updated_at", Value: func(b gen.Batch) string { return stamp(b.UpdatedAt) }},
		{Name: "completed_at", Value: func(b gen.Batch) string { return stamp(b.CompletedAt) }},
	}
}

func batchItemColumns() []table.Column[batchItem] {
	return []table.Column[batchItem]{
		{Name: "item_id", CSV: true, Value: func(i batchItem) string { return i.id }},
		{Name: "listing_id", Value: func(i batchItem) string { return i.listingID }},
		{Name: "status", Value: func(i batchItem) string { return string(i.status) }},
		{Name: "price", Text: true, Right: true, Value: func(i batchItem) string { return price(i.input.Amount, i.input.CurrencyCode) }},
		{Name: "amount", CSV: true, Value: func(i batchItem) string { return i.input.Amount.String() }},
		{Name: "currency", CSV: true, Value: func(i batchItem) string { return i.input.CurrencyCode }},
		{Name: "variant_id", CSV: true, Value: func(i batchItem) string { return i.input.VariantID }},
		{Name: "expires_at", CSV: true, Value: func(i batchItem) string { return i.input.ExpiresAt }},
		{Name: "error", Wrap: true, Value: func(i batchItem) string { return string(i.err) }},
	}
}
