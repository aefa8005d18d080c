package work

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
	"github.com/sellside-sdk/sellside-go/bulk/internal/resolve"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

const (
	// pageSize is how many entries a page has at most.
	pageSize = 100
	// overlap is how much older than the newest known order an order is that ends the reading of
	// orders: an order may be shown later than one that is newer.
	overlap = time.Hour
	// historyEvery is how often ended orders are read while a process runs.
	historyEvery = 6 * time.Hour
)

// merge takes over what the service shows of a listing. It reports whether that changes anything.
func merge(known ledger.Listing, shown *gen.Listing, now time.Time) (ledger.Listing, bool) {
	l := known
	l.ID, l.ReadAt = shown.ListingID, now
	if v := shown.Variant.VariantID; v != "" {
		l.Variant = v
	}
	if p := shown.Product.ProductID; p != "" {
		l.Product = p
	}
	if shown.Batch != nil && shown.Batch.BatchID != "" {
		l.Batch = shown.Batch.BatchID
	}
	if l.CreatedAt.IsZero() {
		l.CreatedAt = shown.CreatedAt.Time
	}
	l.Active = false
	switch shown.Status {
	case gen.ListingStatusActive:
		l.Presence, l.Active = decide.PresenceLive, true
	case gen.ListingStatusInactive:
		l.Presence = decide.PresenceLive
	case gen.ListingStatusDeleted:
		l.Presence = decide.PresenceEnded
	case gen.ListingStatusMatched, gen.ListingStatusCompleted:
		l.Presence = decide.PresenceSold
	case gen.ListingStatusCanceled:
		l.Presence, l.Unpaid = decide.PresenceSold, true
	default:
		l.Presence = decide.PresenceUnknown // a status that is new: nothing is concluded from it
	}
	if o := shown.Order; o != nil && o.OrderNumber != "" && l.Presence != decide.PresenceEnded {
		l.Presence = decide.PresenceSold
		if !o.OrderCreatedAt.IsZero() {
			l.SoldAt = o.OrderCreatedAt.Time
		}
		l.Unpaid = l.Unpaid || isUnpaid(o.OrderStatus)
	}
	if l.Presence == decide.PresenceLive {
		if shown.Amount != "" {
			l.Amount, l.Currency = shown.Amount, shown.CurrencyCode
		}
		if shown.Ask != nil && !shown.Ask.AskExpiresAt.IsZero() {
			l.ExpiresAt = shown.Ask.AskExpiresAt
		}
	}
	isSame := l.Variant == known.Variant && l.Product == known.Product && l.Batch == known.Batch &&
		l.Presence == known.Presence && l.Active == known.Active && l.Amount.Equal(known.Amount) &&
		l.Currency == known.Currency && l.ExpiresAt.UnixMilli() == known.ExpiresAt.UnixMilli() &&
		l.SoldAt.Equal(known.SoldAt) && l.Unpaid == known.Unpaid && known.ID != ""
	return l, !isSame
}

func isUnpaid(s gen.OrderStatus) bool {
	switch s {
	case gen.OrderStatusAuthFailed, gen.OrderStatusDidNotShip, gen.OrderStatusCanceled, gen.OrderStatusReturned:
		return true
	}
	return false
}

// readPage reads the next page of all listings.
func (e *Engine) readPage(ctx context.Context, number int64) error {
	page, err := e.Client.Listings.ListPage(ctx, client.ListingFilter{PageNumber: int(max(number, 1)), PageSize: pageSize})
	if err != nil {
		return err
	}
	now := time.Now()
	return e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
		reading, err := tx.IntMark(ctx, markReading)
		if err != nil {
			return err
		}
		if number == 0 {
			reading++
			number = 1
			if err := errors.Join(tx.SetIntMark(ctx, markReading, reading), tx.SetTimeMark(ctx, markBegan, now)); err != nil {
				return err
			}
		}
		if err := putShown(ctx, tx, page.Listings, reading, now); err != nil {
			return err
		}
		if err := tx.SetTimeMark(ctx, markTurned, now); err != nil {
			return err
		}
		if page.HasNextPage && len(page.Listings) > 0 {
			return tx.SetIntMark(ctx, markPage, number+1)
		}
		began, err := tx.TimeMark(ctx, markBegan)
		if err != nil {
			return err
		}
		// The pages may not show yet what was made or read within the settle time.
		if err := tx.EndReading(ctx, reading, began.Add(-e.Settle)); err != nil {
			return err
		}
		if err := tx.SetIntMark(ctx, markPage, 0); err != nil {
			return err
		}
		newest, err := tx.TimeMark(ctx, markNew)
		if err == nil && began.After(newest) {
			err = tx.SetTimeMark(ctx, markNew, began)
		}
		return errors.Join(err, tx.SetTimeMark(ctx, markEnded, now))
	})
}

// putShown records the listings of a page.
func putShown(ctx context.Context, tx ledger.Tx, shown []gen.Listing, reading int64, now time.Time) error {
	ids := make([]string, len(shown))
	for i := range shown {
		ids[i] = shown[i].ListingID
	}
	known, err := tx.Listings(ctx, ids...)
	if err != nil {
		return err
	}
	var seen []string
	for i := range shown {
		l, changed := merge(known[shown[i].ListingID], &shown[i], now)
		l.Reading = reading
		if !changed {
			seen = append(seen, l.ID)
			continue
		}
		if err := tx.PutListing(ctx, l); err != nil {
			return err
		}
	}
	return tx.Seen(ctx, reading, now, seen...)
}

// readListing reads a listing by its id. One that the service does not have any more has ended.
func (e *Engine) readListing(ctx context.Context, l *ledger.Listing) error {
	shown, err := e.Client.Listings.Get(ctx, l.ID)
	now := time.Now()
	next := *l
	isGone := errors.Is(err, client.ErrNotFound) || errors.Is(err, client.ErrBadRequest)
	switch {
	case isGone && l.Presence == decide.PresenceLive && now.Sub(l.CreatedAt) < e.Settle: // it may not be shown yet
	case isGone:
		next.Presence, next.Active, next.ReadAt = decide.PresenceEnded, false, now
	case err != nil:
		return err
	default:
		next, _ = merge(*l, shown, now)
	}
	return e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
		return tx.PutListing(ctx, next)
	})
}

// readSales reads the orders that are new or have changed.
func (e *Engine) readSales(ctx context.Context) error {
	type marks struct{ newest, history, oldest time.Time }
	m, err := ledger.Read(ctx, e.Ledger, func(ctx context.Context, tx ledger.Tx) (m marks, err error) {
		if m.newest, err = tx.TimeMark(ctx, markNewest); err != nil {
			return m, err
		}
		if m.history, err = tx.TimeMark(ctx, markHistory); err != nil {
			return m, err
		}
		m.oldest, err = tx.OldestOpenSale(ctx)
		return m, err
	})
	if err != nil {
		return err
	}
	began, newest := time.Now(), m.newest
	for number := 1; ; number++ {
		page, err := e.Client.Orders.ListActivePage(ctx, client.ActiveOrderFilter{
			Sort: gen.OrderSortCreatedAt, PageNumber: number, PageSize: pageSize,
		})
		if err != nil {
			return err
		}
		isOld, err := e.putSales(ctx, page.Orders, m.newest, &newest)
		if err != nil {
			return err
		}
		if !page.HasNextPage || isOld {
			break
		}
	}
	readHistory := m.history.IsZero() || began.Sub(m.history) > historyEvery || m.history.Before(e.needs.Sales)
	if readHistory {
		// Orders are listed by the day of their creation. Those that the ledger knows as active may
		// have ended since.
		from := m.newest
		if !m.oldest.IsZero() && m.oldest.Before(from) {
			from = m.oldest
		}
		if from.IsZero() {
			from = began
		}
		for number := 1; ; number++ {
			page, err := e.Client.Orders.ListHistoryPage(ctx, client.OrderHistoryFilter{
				From: from.AddDate(0, 0, -1), PageNumber: number, PageSize: pageSize,
			})
			if err != nil {
				return err
			}
			if _, err := e.putSales(ctx, page.Orders, time.Time{}, &newest); err != nil {
				return err
			}
			if !page.HasNextPage || len(page.Orders) == 0 {
				break
			}
		}
	}
	return e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
		if readHistory {
			if err := tx.SetTimeMark(ctx, markHistory, began); err != nil {
				return err
			}
		}
		return errors.Join(tx.SetTimeMark(ctx, markSales, began), tx.SetTimeMark(ctx, markNewest, newest))
	})
}

// putSales records orders. It reports whether the page is in the order of the newest first and ends
// with an order that is older than the newest one of the last reading.
func (e *Engine) putSales(
	ctx context.Context, orders []gen.Order, last time.Time, newest *time.Time,
) (isOld bool, err error) {
	if len(orders) == 0 {
		return true, nil
	}
	now := time.Now()
	err = e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
		for i := range orders {
			o := &orders[i]
			if o.CreatedAt.After(*newest) {
				*newest = o.CreatedAt.Time
			}
			known, err := tx.PutSale(ctx, ledger.Sale{
				Number: o.OrderNumber, Listing: o.ListingID, SoldAt: o.CreatedAt.Time, Status: o.Status,
			})
			if err != nil {
				return err
			}
			if known || o.ListingID == "" {
				continue
			}
			if err := putSold(ctx, tx, o, now); err != nil {
				return err
			}
		}
		return nil
	})
	first, end := orders[0].CreatedAt, orders[len(orders)-1].CreatedAt
	return !last.IsZero() && end.Before(first.Time) && end.Before(last.Add(-overlap)), err
}

// putSold records that the listing of an order is sold. A listing that the ledger does not know yet
// may be that of a batch of unknown outcome: its order is looked up again when it is known.
func putSold(ctx context.Context, tx ledger.Tx, o *gen.Order, now time.Time) error {
	found, err := tx.Listings(ctx, o.ListingID)
	if err != nil {
		return err
	}
	l, ok := found[o.ListingID]
	if !ok {
		l = ledger.Listing{Product: o.Product.ProductID}
		l.ID, l.Variant = o.ListingID, o.Variant.VariantID
	}
	l.Presence, l.Active, l.SoldAt, l.ReadAt = decide.PresenceSold, false, o.CreatedAt.Time, now
	if isUnpaid(o.Status) && !l.Unpaid {
		l.Unpaid, l.EndedAt = true, o.UpdatedAt.Time
	}
	return tx.PutListing(ctx, l)
}

// lookUp looks up an item in the catalog.
func (e *Engine) lookUp(ctx context.Context, item string) error {
	p, err := resolve.LookUp(ctx, e.Client.Catalog, item)
	if err != nil {
		return err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
		return tx.PutLookup(ctx, ledger.Lookup{Item: item, Body: string(text), ReadAt: time.Now()})
	})
}

// readMarket reads the market of a product.
func (e *Engine) readMarket(ctx context.Context, m *ledger.Market) error {
	data, err := e.Client.Catalog.ListMarketData(ctx, m.Product, m.Currency)
	prices := map[string]decide.Market{}
	switch {
	case errors.Is(err, client.ErrNotFound), errors.Is(err, client.ErrBadRequest):
	case err != nil:
		return err
	}
	now := time.Now()
	for _, d := range data {
		prices[d.VariantID] = decide.Market{LowestAsk: d.LowestAskAmount, HighestBid: d.HighestBidAmount, ReadAt: now}
	}
	return e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
		return tx.PutMarket(ctx, *m, prices, now)
	})
}
