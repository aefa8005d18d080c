package main

import (
	"context"
	"fmt"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// outcome compares the listings of the sandbox with the stock. Counts are of listings but for late.
type outcome struct {
	live           int
	lost           int // In stock and not listed.
	duplicated     int // Listed more often than in stock.
	oversold       int // Listed, and not in stock when a buyer wanted it.
	touchedForeign int // Of another application, and changed or gone.
	wrongTerms     int // At another price than the inventory says, or active although it says inactive.
	late           int // Batches that arrived when they could not be sent any more.
}

func (o outcome) String() string {
	return fmt.Sprintf("lost=%d duplicated=%d oversold=%d touched-foreign=%d wrong-terms=%d late=%d",
		o.lost, o.duplicated, o.oversold, o.touchedForeign, o.wrongTerms, o.late)
}

func (o outcome) isRight() bool {
	return o.lost+o.duplicated+o.oversold+o.touchedForeign+o.wrongTerms+o.late == 0
}

// check compares all listings with the stock. note gets a line for each deviation.
func (w *world) check(ctx context.Context, note func(format string, args ...any)) (outcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := outcome{oversold: w.oversold}
	byVariant := map[string]*group{}
	for _, g := range w.groups {
		byVariant[g.variant] = g
	}
	counts, untouched := map[*group]int{}, 0
	for l, err := range w.truth.Listings.List(ctx, client.ListingFilter{
		Expired: true, Statuses: []gen.ListingStatus{gen.ListingStatusActive, gen.ListingStatusInactive},
	}) {
		if err != nil {
			return o, fmt.Errorf("count the listings: %w", err)
		}
		if f, ok := w.foreign[l.ListingID]; ok {
			if l.Status == f.status && l.Amount.Equal(f.amount) {
				untouched++
			} else {
				note("foreign listing %s: %s at %s, was %s at %s", l.ListingID, l.Status, l.Amount, f.status, f.amount)
			}
			continue
		}
		g := byVariant[l.Variant.VariantID]
		if g == nil {
			o.duplicated++
			note("listing %s: variant %s is not in stock", l.ListingID, l.Variant.VariantID)
			continue
		}
		counts[g]++
		o.live++
		if !g.hasTerms(l) {
			o.wrongTerms++
			note("%s: listing %s: %s at %s, wanted active=%t at %d (rule: %t)",
				g.rows[0].sku, l.ListingID, l.Status, l.Amount, g.active, g.price, g.isRule)
		}
	}
	o.touchedForeign = len(w.foreign) - untouched
	for _, g := range w.groups {
		if n := counts[g]; n != g.stock {
			o.lost += max(0, g.stock-n)
			o.duplicated += max(0, n-g.stock)
			note("%s and %d more rows (variant %s): %d listed, %d in stock", g.rows[0].sku, len(g.rows)-1, g.variant, n, g.stock)
		}
	}
	return o, nil
}

// hasTerms reports whether a listing has the terms of its rows. What a rule asks depends on when the
// market was read, so only its limits are compared.
func (g *group) hasTerms(l gen.Listing) bool {
	switch {
	case !g.active:
		return l.Status == gen.ListingStatusInactive
	case l.Status != gen.ListingStatusActive:
		return false
	case !g.isRule:
		return l.Amount.Equal(gen.AmountOf(whole(g.price)))
	}
	d, err := l.Amount.Decimal()
	return err == nil && d.Cmp(whole(floor)) >= 0 && d.Cmp(whole(bookAsk)) < 0
}

func whole(amount int) decimal.Decimal { return decimal.MustNew(int64(amount), 0) }
