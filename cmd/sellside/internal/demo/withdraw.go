package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
	"github.com/sellside-sdk/sellside-go/gen"
)

// deactivate takes the ask of a listing off the market; the listing stays.
func (d *Demo) deactivate(ctx context.Context) error {
	o, err := d.look(ctx, d.another().ListingID)
	if err != nil {
		return err
	}
	op, err := d.Client.Listings.Deactivate(ctx, o.ListingID)
	if err != nil {
		return err
	}
	if _, err := op.Wait(ctx, d.Pace...); err != nil {
		return err
	}
	after, err := d.look(ctx, o.ListingID)
	if err != nil {
		return err
	}
	if after.Status != gen.ListingStatusInactive || after.Ask != nil {
		return fmt.Errorf("listing %s is %s, want it inactive and without an ask", o.ListingID, after.Status)
	}
	d.say("Not for sale today: %s.\n", o.name())
	d.table("listing", o.ListingID, "before", string(o.Status), "now", string(after.Status))
	return nil
}

// another is a listing of another row than the one whose price was lowered, to be sold at once.
func (d *Demo) another() sell.Result {
	for _, r := range d.listed {
		if active := d.rows[r.Line].Active; r.ListingID != d.offer.ListingID && (active == nil || *active) && d.rows[r.Line].VariantID != d.offer.Variant.VariantID {
			return r
		}
	}
	return sell.Result{}
}

// deleteCase deletes the listings of the largest row with one batch.
func (d *Demo) deleteCase(ctx context.Context) error {
	ids := d.largestRow()
	if len(ids) == 0 {
		return errors.New("there are no listings")
	}
	o, err := d.look(ctx, ids[0])
	if err != nil {
		return err
	}
	batch, err := d.Client.Batches.Delete(ctx, ids)
	if err != nil {
		return err
	}
	items, err := batch.Wait(ctx, d.Pace...)
	if err != nil {
		return err
	}
	if len(items) != len(ids) {
		return fmt.Errorf("%d of %d listings have a result", len(items), len(ids))
	}
	for _, id := range ids {
		l, err := d.Client.Listings.Get(ctx, id)
		if err != nil {
			return err
		}
		if l.Status != gen.ListingStatusDeleted {
			return fmt.Errorf("listing %s is %s, want it deleted", id, l.Status)
		}
	}
	d.say("The whole case went to a friend: %s.\n", o.Product.ProductName)
	d.table("batch", batch.ID(), "deleted", fmt.Sprintf("%d of %d listings", len(items), len(ids)))
	return nil
}

// largestRow returns the listings of the row that has most of them.
func (d *Demo) largestRow() []string {
	byLine := map[int][]string{}
	var most []string
	for _, r := range d.listed {
		byLine[r.Line] = append(byLine[r.Line], r.ListingID)
		if ids := byLine[r.Line]; len(ids) > len(most) {
			most = ids
		}
	}
	return most
}
