package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/gen"
)

// sale lets a buyer take the listing whose price was lowered, and shows what the seller gets for it.
func (d *Demo) sale(ctx context.Context) error {
	number, err := d.Buy(ctx, d.offer.ListingID)
	if err != nil {
		return err
	}
	order, err := d.Client.Orders.Get(ctx, number)
	if err != nil {
		return err
	}
	if order.ListingID != d.offer.ListingID || !order.Amount.Equal(d.offer.Amount) || order.Payout == nil || order.Shipment == nil {
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

// payout writes the way from the price to what the seller is paid.
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

// padded writes a figure with so many digits after the point.
func padded(f gen.Figure, scale int) string {
	amount, err := f.Decimal()
	if err != nil {
		return string(f)
	}
	return amount.Pad(scale).String()
}

// share writes a fraction as a percentage, and nothing for a fixed amount.
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

// addsUp checks that price and adjustments make the payout, to the last digit.
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
		return fmt.Errorf("the payout is %s, but the adjustments make it %s", total, sum)
	}
	return nil
}
