package sandbox

import (
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/market"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// Bid is a bid of a buyer.
type Bid struct {
	ID          int64
	VariantID   string
	Currency    string // ISO 4217 code
	Amount      string // decimal text
	OrderNumber string // of the listing that it bought; empty if it made no order
	Reason      string // why it made no order; empty if it did
	CreatedAt   time.Time
}

func bidOf(b store.Bid, reason string) Bid {
	currency, _ := market.Lookup(b.Currency)
	return Bid{
		ID: b.Seq, VariantID: b.VariantID, Currency: b.Currency, Amount: market.FormatAmount(b.Amount, currency),
		OrderNumber: b.OrderNumber, Reason: reason, CreatedAt: b.CreatedAt,
	}
}

// Bid makes a bid of a buyer for a variant. The amount is decimal text, and the currency the ISO
// 4217 code of a currency of listings. Bids do not expire.
//
// A bid that reaches the lowest live ask of the listings of all accounts buys that listing at its
// price. Any other bid stays open, until a listing goes live at its amount or below: it is sold to
// the highest such bid, at the amount of that bid.
//
// The bids and asks of the order book that market data shows do not trade, so that nothing is bought
// while one of its asks is lower. With Options.BookTrades they do. SetBook changes them.
//
// Market data has the highest bid below the lowest ask.
func (s *Sandbox) Bid(ctx context.Context, variantID, currency, amount string) (Bid, error) {
	b, reason, err := s.selling.Bid(ctx, variantID, currency, amount)
	if err != nil {
		return Bid{}, wrap("bid", err)
	}
	return bidOf(b, reason), nil
}

// Bids returns the bids that are open, the oldest first.
func (s *Sandbox) Bids(ctx context.Context) ([]Bid, error) {
	open, err := s.selling.OpenBids(ctx)
	if err != nil {
		return nil, wrap("list bids", err)
	}
	bids := make([]Bid, 0, len(open))
	for _, b := range open {
		bids = append(bids, bidOf(b.Bid, b.Reason))
	}
	return bids, nil
}

// WithdrawBid withdraws an open bid. It fails if there is no open bid of that id.
func (s *Sandbox) WithdrawBid(ctx context.Context, id int64) error {
	return wrap("withdraw bid", s.selling.WithdrawBid(ctx, id))
}

// Book is the order book of a variant in a currency, besides the listings and bids of the sandbox.
// Amounts are decimal text, in any order. The zero value has no bids and no asks.
type Book struct {
	Asks    []string
	Bids    []string // all below the lowest ask
	FlexAsk string   // the lowest ask of the flex programme; empty if there is none
}

// SetBook replaces the order book of a variant in a currency, until Reset: it determines what market
// data suggests. Open bids that its asks held back may buy at once.
func (s *Sandbox) SetBook(ctx context.Context, variantID, currency string, b Book) error {
	return wrap("set book", s.selling.SetBook(ctx, variantID, currency, b.Asks, b.Bids, b.FlexAsk))
}
