package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/gen"
)

// offer is a listing beside its market.
type offer struct {
	*gen.Listing
	market *gen.MarketData
}

func (o offer) name() string {
	return fmt.Sprintf("%s, size %s", o.Product.ProductName, o.Variant.VariantValue)
}

func (o offer) price(a gen.Amount) string { return fmt.Sprintf("%s %s", a, o.CurrencyCode) }

// lower puts a listing first in line, one unit of its currency below the lowest ask.
func (d *Demo) lower(ctx context.Context) error {
	o, err := d.undercut(ctx)
	if err != nil {
		return err
	}
	lowest, err := o.market.LowestAskAmount.Decimal()
	if err != nil {
		return err
	}
	lower, err := lowest.Sub(decimal.One)
	if err != nil {
		return err
	}
	price := gen.AmountOf(lower)
	d.say("Somebody sells for less than we do: %s.\n", o.name())
	d.table(
		"our price", o.price(o.Amount),
		"lowest ask", o.price(o.market.LowestAskAmount),
		"highest bid", o.price(o.market.HighestBidAmount),
		"new price", o.price(price),
	)
	op, err := d.Client.Listings.Update(ctx, o.ListingID, gen.UpdateListingRequest{Amount: price})
	if err != nil {
		return err
	}
	if _, err := op.Wait(ctx, d.Pace...); err != nil {
		return err
	}
	if d.offer, err = d.look(ctx, o.ListingID); err != nil {
		return err
	}
	if !d.offer.Amount.Equal(price) || !d.offer.market.LowestAskAmount.Equal(price) {
		return fmt.Errorf("the price is %s and the lowest ask %s, want %s", d.offer.Amount, d.offer.market.LowestAskAmount, price)
	}
	d.say("\nThe update %s, and the lowest ask is ours: %s.", d.Look.Good("succeeded"), d.offer.price(price))
	return nil
}

// undercut finds the first listing that is not the cheapest of its kind.
func (d *Demo) undercut(ctx context.Context) (offer, error) {
	for _, r := range d.listed {
		o, err := d.look(ctx, r.ListingID)
		if err != nil {
			return o, err
		}
		ours, err := o.Amount.Decimal()
		if err != nil {
			return o, err
		}
		lowest, err := o.market.LowestAskAmount.Decimal()
		if errors.Is(err, gen.ErrAbsent) {
			continue // nobody sells it, so nobody sells it for less
		}
		if err != nil {
			return o, err
		}
		if o.Status == gen.ListingStatusActive && lowest.Less(ours) && decimal.One.Less(lowest) && o.market.HighestBidAmount != "" {
			return o, nil
		}
	}
	return offer{}, errors.New("no listing is undercut by anybody")
}

// look reads a listing and its market.
func (d *Demo) look(ctx context.Context, listingID string) (o offer, err error) {
	if o.Listing, err = d.Client.Listings.Get(ctx, listingID); err != nil {
		return o, err
	}
	o.market, err = d.Client.Catalog.GetMarketData(ctx, o.Product.ProductID, o.Variant.VariantID, o.CurrencyCode)
	return o, err
}
