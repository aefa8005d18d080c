package bulk

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/gen"
)

// markLayout is the name of the mark that has the layout of the newest inventory.
const markLayout = "layout"

// Listing is a listing of the account as the ledger knows it.
type Listing struct {
	ID        string
	SKU       string // "" if it is foreign.
	VariantID string
	BatchID   string // That made it; "" if it is not known.
	Presence  string // live, sold, ended or unknown.
	Active    bool
	Amount    gen.Amount
	Currency  gen.CurrencyCode
	ExpiresAt gen.Time
	CreatedAt time.Time
	SoldAt    time.Time // Zero if it is not sold, or if that is not known.
	ReadAt    time.Time // When the service last showed it.
}

// Order is a sale of the account as the ledger knows it.
type Order struct {
	Number    string
	ListingID string
	SKU       string // "" if the listing is foreign.
	SoldAt    time.Time
	Status    gen.OrderStatus
}

// Rows yields the rows of the newest plan in the order of their SKUs. It costs no requests. An error
// ends it.
func (b *Bulk) Rows(ctx context.Context) iter.Seq2[stock.Row, error] {
	return func(yield func(stock.Row, error) bool) {
		state, err := ledger.Read(ctx, b.ledger, func(ctx context.Context, tx ledger.Tx) (ledger.Account, error) {
			return tx.State(ctx)
		})
		if err != nil {
			yield(stock.Row{}, err)
			return
		}
		for row, err := range b.rows(ctx, "") {
			if err == nil && row.Generation < state.Generation {
				continue
			}
			if !yield(row.Row.Row, err) {
				return
			}
		}
	}
}

// Layout returns the layout of the newest inventory, the zero layout if it is not known.
func (b *Bulk) Layout(ctx context.Context) (layout stock.Layout, err error) {
	text, err := ledger.Read(ctx, b.ledger, func(ctx context.Context, tx ledger.Tx) (string, error) {
		return tx.Mark(ctx, markLayout)
	})
	if err != nil || text == "" {
		return layout, err
	}
	return layout, json.Unmarshal([]byte(text), &layout)
}

func (b *Bulk) setLayout(ctx context.Context, layout stock.Layout) error {
	text, err := json.Marshal(layout)
	if err != nil {
		return err
	}
	return b.ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error { return tx.SetMark(ctx, markLayout, string(text)) })
}

// Listings yields the listings of the account in the order of their ids. It costs no requests. An
// error ends it.
func (b *Bulk) Listings(ctx context.Context) iter.Seq2[Listing, error] {
	listings := pages(func(last *ledger.Listing) ([]ledger.Listing, error) {
		after := ""
		if last != nil {
			after = last.ID
		}
		return ledger.Read(ctx, b.ledger, func(ctx context.Context, tx ledger.Tx) ([]ledger.Listing, error) {
			return tx.ListingsAfter(ctx, after, planRows)
		})
	})
	return func(yield func(Listing, error) bool) {
		for l, err := range listings {
			if !yield(listingOf(l), err) {
				return
			}
		}
	}
}

func listingOf(l ledger.Listing) Listing {
	sold := l.SoldAt
	if l.Presence != decide.PresenceSold {
		sold = time.Time{}
	}
	return Listing{
		ID: l.ID, SKU: l.SKU, VariantID: l.Variant, BatchID: l.Batch, Presence: string(l.Presence), Active: l.Active, Amount: l.Amount,
		Currency: l.Currency, ExpiresAt: l.ExpiresAt, CreatedAt: l.CreatedAt, SoldAt: sold, ReadAt: l.ReadAt,
	}
}

// Orders yields the orders of the account in the order of their numbers. It costs no requests. An
// error ends it.
func (b *Bulk) Orders(ctx context.Context) iter.Seq2[Order, error] {
	sales := pages(func(last *ledger.Sale) ([]ledger.Sale, error) {
		after := ""
		if last != nil {
			after = last.Number
		}
		return ledger.Read(ctx, b.ledger, func(ctx context.Context, tx ledger.Tx) ([]ledger.Sale, error) {
			return tx.SalesAfter(ctx, after, planRows)
		})
	})
	return func(yield func(Order, error) bool) {
		for s, err := range sales {
			if !yield(Order{Number: s.Number, ListingID: s.Listing, SKU: s.SKU, SoldAt: s.SoldAt, Status: s.Status}, err) {
				return
			}
		}
	}
}
