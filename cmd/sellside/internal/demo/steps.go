package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/gen"
)

// offer is a listing beside its market.
type offer struct {
	*gen.Listing
	market *gen.MarketData
}

// name returns the product and the size. A service may leave out the name.
func (o offer) name() string {
	return fmt.Sprintf("%s, size %s", o.product(), o.Variant.VariantValue)
}

func (o offer) product() string {
	return cmp.Or(o.Product.ProductName, o.Product.StyleID, "listing "+o.ListingID)
}

func (o offer) price(a gen.Amount) string { return fmt.Sprintf("%s %s", a, o.CurrencyCode) }

// lower lowers a price to one unit of its currency below the lowest ask.
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
	d.say("A competitor asks less than we do: %s.\n", o.name())
	d.table(
		"our price", o.price(o.Amount),
		"lowest ask", o.price(o.market.LowestAskAmount),
		"highest bid", o.price(o.market.HighestBidAmount),
		"new price", o.price(price),
	)
	terms := gen.UpdateListingRequest{Amount: price, CurrencyCode: o.CurrencyCode}
	op, err := d.Client.Listings.Update(ctx, o.ListingID, terms)
	if err != nil {
		return err
	}
	if _, err := op.Wait(ctx); err != nil {
		return err
	}
	if d.offer, err = d.look(ctx, o.ListingID); err != nil {
		return err
	}
	if !d.offer.Amount.Equal(price) || !d.offer.market.LowestAskAmount.Equal(price) {
		return fmt.Errorf("the price is %s and the lowest ask %s, want %s",
			d.offer.Amount, d.offer.market.LowestAskAmount, price)
	}
	d.say("\nThe update %s, and the lowest ask is ours: %s.", d.Look.Good("succeeded"), d.offer.price(price))
	return nil
}

// undercut returns the first listing that does not have the lowest ask.
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
			continue // no ask
		}
		if err != nil {
			return o, err
		}
		isUndercut := lowest.Less(ours) && decimal.One.Less(lowest)
		if isUndercut && o.Status == gen.ListingStatusActive && o.market.HighestBidAmount != "" {
			return o, nil
		}
	}
	return offer{}, errors.New("no listing is undercut")
}

// look reads a listing and its market.
func (d *Demo) look(ctx context.Context, listingID string) (o offer, err error) {
	if o.Listing, err = d.Client.Listings.Get(ctx, listingID); err != nil {
		return o, err
	}
	o.market, err = d.Client.Catalog.GetMarketData(ctx, o.Product.ProductID, o.Variant.VariantID, o.CurrencyCode)
	return o, err
}

// deactivate removes the ask of a listing, which remains.
func (d *Demo) deactivate(ctx context.Context) error {
	o, err := d.look(ctx, d.another().ListingID)
	if err != nil {
		return err
	}
	op, err := d.Client.Listings.Deactivate(ctx, o.ListingID)
	if err != nil {
		return err
	}
	if _, err := op.Wait(ctx); err != nil {
		return err
	}
	after, err := d.look(ctx, o.ListingID)
	if err != nil {
		return err
	}
	if after.Status != gen.ListingStatusInactive || after.Ask != nil {
		return fmt.Errorf("listing %s is %s, want it inactive and without an ask",
			o.ListingID, after.Status)
	}
	d.say("Not for sale today: %s.\n", o.name())
	d.table("listing", o.ListingID, "before", string(o.Status), "now", string(after.Status))
	return nil
}

// another returns an active listing of another row than the one whose price was lowered.
func (d *Demo) another() report.Result {
	for _, r := range d.listed {
		row := d.rows[r.Line]
		isActive := row.Active == nil || *row.Active
		if isActive && r.ListingID != d.offer.ListingID && row.VariantID != d.offer.Variant.VariantID {
			return r
		}
	}
	return report.Result{}
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
	items, err := batch.Wait(ctx)
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
	d.say("The whole case went to a friend: %s.\n", o.product())
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

// sale buys the listing whose price was lowered, and shows the payout.
func (d *Demo) sale(ctx context.Context) error {
	number, err := d.Buy(ctx, d.offer.ListingID)
	if err != nil {
		return err
	}
	order, err := d.Client.Orders.Get(ctx, number)
	if err != nil {
		return err
	}
	isSale := order.ListingID == d.offer.ListingID && order.Amount.Equal(d.offer.Amount)
	if !isSale || order.Payout == nil || order.Shipment == nil {
		return fmt.Errorf("order %s is of listing %s for %s, want listing %s for %s with payout and shipment",
			number, order.ListingID, order.Amount, d.offer.ListingID, d.offer.Amount)
	}
	d.say("The lower price worked: %s, is sold.\n", d.offer.name())
	d.table(
		"order", order.OrderNumber,
		"status", string(order.Status),
		"ship by", shipBy(order.Shipment),
		"with", order.Shipment.CarrierCode+" "+order.Shipment.TrackingNumber,
	)
	d.say("")
	d.payout(order.Payout)
	return addsUp(order.Payout)
}

func shipBy(s *gen.Shipment) string {
	var at gen.Time
	if err := at.UnmarshalText([]byte(s.ShipByDate)); err != nil {
		return s.ShipByDate
	}
	return at.Format(time.RFC1123)
}

// payout prints the price, the adjustments and the payout.
func (d *Demo) payout(p *gen.Payout) {
	figures := []gen.Figure{p.SalePrice, p.TotalPayout}
	for _, a := range p.Adjustments {
		figures = append(figures, a.Amount)
	}
	scale := 0
	for _, f := range figures {
		if amount, err := f.Decimal(); err == nil {
			scale = max(scale, amount.Scale())
		}
	}
	const line = "  %s %10s%s"
	d.say(line, column("sale price"), padded(p.SalePrice, scale), " "+p.CurrencyCode)
	for _, a := range p.Adjustments {
		d.say(line, column(a.AdjustmentType), padded(a.Amount, scale), d.Look.Faint(share(a)))
	}
	d.say(line, d.Look.Good(column("payout")), padded(p.TotalPayout, scale), " "+p.CurrencyCode)
}

func column(name string) string { return fmt.Sprintf("%-24s", report.Plain(name)) }

// padded returns a figure with scale digits after the point.
func padded(f gen.Figure, scale int) string {
	amount, err := f.Decimal()
	if err != nil {
		return string(f)
	}
	return amount.Pad(scale).String()
}

// share returns the percentage of an adjustment, and "" for a fixed amount.
func share(a gen.Adjustment) string {
	fraction, err := a.Percentage.Decimal()
	if err != nil || fraction.IsZero() {
		return ""
	}
	percent, err := fraction.Mul(decimal.Hundred)
	if err != nil {
		return ""
	}
	return " " + percent.Trim(0).String() + " %"
}

// addsUp checks that price and adjustments add up to the payout exactly.
func addsUp(p *gen.Payout) error {
	sum, err := p.SalePrice.Decimal()
	for _, a := range p.Adjustments {
		amount, unreadable := a.Amount.Decimal()
		if err = errors.Join(err, unreadable); err != nil {
			return err
		}
		if sum, err = sum.Add(amount); err != nil {
			return err
		}
	}
	total, unreadable := p.TotalPayout.Decimal()
	if err = errors.Join(err, unreadable); err != nil {
		return err
	}
	if !sum.Equal(total) {
		return fmt.Errorf("the payout is %s, and price and adjustments add up to %s", total, sum)
	}
	return nil
}
