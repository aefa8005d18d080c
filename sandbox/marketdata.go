package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/market"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// GetVariantMarketData ignores the deprecated country: there is one market.
func (s *server) GetVariantMarketData(ctx context.Context, r wire.GetVariantMarketDataRequestObject) (wire.GetVariantMarketDataResponseObject, error) {
	if err := errors.Join(pathID("productId", r.ProductID), pathID("variantId", r.VariantID)); err != nil {
		return nil, err
	}
	p, ok := s.catalog.Product(r.ProductID)
	if !ok {
		return nil, notFound("product", r.ProductID)
	}
	v, ok := s.catalog.Variant(r.VariantID)
	if !ok || v.Product != p {
		return nil, badRequest("path parameter \"variantId\": product %s does not contain variant %s", r.ProductID, r.VariantID)
	}
	data, err := s.marketData(ctx, r.Params.CurrencyCode, v)
	if err != nil {
		return nil, err
	}
	return wire.GetVariantMarketData200JSONResponse(data[0]), nil
}

// ListProductMarketData lists the variants in the order of their sizes.
func (s *server) ListProductMarketData(ctx context.Context, r wire.ListProductMarketDataRequestObject) (wire.ListProductMarketDataResponseObject, error) {
	p, err := s.product(r.ProductID)
	if err != nil {
		return nil, err
	}
	data, err := s.marketData(ctx, r.Params.CurrencyCode, p.Variants...)
	return wire.ListProductMarketData200JSONResponse(data), err
}

func (s *server) marketData(ctx context.Context, code *wire.CurrencyCode, variants ...*catalog.Variant) ([]wire.MarketData, error) {
	if code == nil {
		code = new(wire.CurrencyCodeUSD)
	}
	currency, ok := market.Lookup(string(*code))
	if !ok {
		return nil, badRequest("query parameter %q: %.10q has no market", "currencyCode", *code)
	}
	data := make([]wire.MarketData, 0, len(variants))
	err := s.store.View(ctx, func(tx *store.Tx) error {
		for _, v := range variants {
			book, err := s.book(tx, v, currency)
			if err != nil {
				return err
			}
			data = append(data, showMarket(v, currency.Code, book.Quote()))
		}
		return nil
	})
	return data, err
}

// book is what everybody asks and bids for a variant. Of the asks of all
// accounts the lowest is enough, and of their bids the highest that is shown.
func (s *server) book(tx *store.Tx, v *catalog.Variant, c market.Currency) (market.Book, error) {
	book := market.NewBook(s.seed, v.ID, v.Product.RetailPrice, c)
	ask, err := tx.LowestAsk(v.ID, c.Code, s.now())
	if err != nil {
		return book, err
	}
	if ask != 0 {
		book = book.Join([]int64{ask}, nil)
	}
	limit := int64(math.MaxInt64)
	if len(book.Asks) > 0 {
		limit = book.Asks[0]
	}
	bid, err := tx.HighestBid(v.ID, c.Code, limit)
	if bid != 0 {
		book = book.Join(nil, []int64{bid})
	}
	return book, err
}

// showMarket shows a quote. All of it is of the standard inventory type; flex has
// asks only, and direct no market.
func showMarket(v *catalog.Variant, currency string, q market.Quote) wire.MarketData {
	w := wire.MarketData{
		ProductID: &v.Product.ID, VariantID: &v.ID, CurrencyCode: &currency,
		LowestAskAmount:     money(q.LowestAsk, currency),
		HighestBidAmount:    money(q.HighestBid, currency),
		SellFasterAmount:    money(q.SellFaster, currency),
		EarnMoreAmount:      money(q.EarnMore, currency),
		FlexLowestAskAmount: money(q.FlexAsk, currency),
	}
	w.StandardMarketData = &wire.MarketDataBlock{
		LowestAsk: w.LowestAskAmount, HighestBidAmount: w.HighestBidAmount, SellFaster: w.SellFasterAmount, EarnMore: w.EarnMoreAmount,
	}
	if q.FlexAsk != 0 {
		w.FlexMarketData = &wire.MarketDataBlock{LowestAsk: w.FlexLowestAskAmount}
	}
	return w
}

// Bid lets a buyer bid for a variant. The amount is decimal text of the
// currency, an ISO 4217 code that listings can be priced in.
//
// A bid that reaches the lowest live ask of the listings of all accounts buys
// that listing at the price it asks, and the number of the order is returned.
// Any other bid stands in the book, with an empty order number, until a listing
// goes live at its amount or below and is sold at once to the highest such bid.
// Either way nothing is bought while another seller of the made-up book asks
// for less: those sellers do not trade, nor do their buyers. Bids do not expire.
//
// Market data shows the highest bid below the lowest ask.
func (s *Sandbox) Bid(ctx context.Context, variantID, currency, amount string) (orderNumber string, err error) {
	order, err := s.selling.Bid(ctx, variantID, currency, amount)
	if err != nil {
		return "", fmt.Errorf("sandbox: bid: %w", err)
	}
	return order.Number, nil
}
