package handlers

import (
	"context"
	"errors"
	"math"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/market"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// GetVariantMarketData ignores the deprecated country parameter, since there is one market.
func (h *Handlers) GetVariantMarketData(
	ctx context.Context, r wire.GetVariantMarketDataRequestObject,
) (wire.GetVariantMarketDataResponseObject, error) {
	if err := errors.Join(pathID("productId", r.ProductID), pathID("variantId", r.VariantID)); err != nil {
		return nil, err
	}
	p, ok := h.catalog.Product(r.ProductID)
	if !ok {
		return nil, wire.NoSuch("product", r.ProductID)
	}
	v, ok := h.catalog.Variant(r.VariantID)
	if !ok || v.Product != p {
		return nil, notContained(r.ProductID, r.VariantID)
	}
	data, err := h.marketData(ctx, r.Params.CurrencyCode, v)
	if err != nil {
		return nil, err
	}
	return wire.GetVariantMarketData200JSONResponse(data[0]), nil
}

// ListProductMarketData lists the market data of all variants in the order of their sizes.
func (h *Handlers) ListProductMarketData(
	ctx context.Context, r wire.ListProductMarketDataRequestObject,
) (wire.ListProductMarketDataResponseObject, error) {
	p, err := h.product(r.ProductID)
	if err != nil {
		return nil, err
	}
	data, err := h.marketData(ctx, r.Params.CurrencyCode, p.Variants...)
	return wire.ListProductMarketData200JSONResponse(data), err
}

func (h *Handlers) marketData(
	ctx context.Context, code *wire.CurrencyCode, variants ...*catalog.Variant,
) ([]wire.MarketData, error) {
	if code == nil {
		code = new(wire.CurrencyCodeUSD)
	}
	currency, ok := market.Lookup(string(*code))
	if !ok {
		return nil, wire.Invalidf("query parameter %q: has no market (%.10q)", "currencyCode", *code)
	}
	data := make([]wire.MarketData, 0, len(variants))
	err := h.store.View(ctx, func(tx *store.Tx) error {
		for _, v := range variants {
			book, err := h.Book(tx, v, currency)
			if err != nil {
				return err
			}
			data = append(data, marketModel(v, currency.Code, book.Quote()))
		}
		return nil
	})
	return data, err
}

// Book returns the order book of a variant with the lowest ask of all accounts, and the highest bid
// below the lowest ask.
func (h *Handlers) Book(tx *store.Tx, v *catalog.Variant, c market.Currency) (market.Book, error) {
	book, err := h.selling.Book(tx, store.Crossing{VariantID: v.ID, Currency: c.Code})
	if err != nil {
		return book, err
	}
	ask, err := tx.LowestAsk(v.ID, c.Code, h.now())
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

// marketModel returns the model of a quote. All figures are of the standard inventory type; flex
// has asks only, and direct no market.
func marketModel(v *catalog.Variant, currency string, q market.Quote) wire.MarketData {
	w := wire.MarketData{
		ProductID: &v.Product.ID, VariantID: &v.ID, CurrencyCode: &currency,
		LowestAskAmount:     money(q.LowestAsk, currency),
		HighestBidAmount:    money(q.HighestBid, currency),
		SellFasterAmount:    money(q.SellFaster, currency),
		EarnMoreAmount:      money(q.EarnMore, currency),
		FlexLowestAskAmount: money(q.FlexAsk, currency),
	}
	w.StandardMarketData = &wire.MarketDataBlock{
		LowestAsk: w.LowestAskAmount, HighestBidAmount: w.HighestBidAmount,
		SellFaster: w.SellFasterAmount, EarnMore: w.EarnMoreAmount,
	}
	if q.FlexAsk != 0 {
		w.FlexMarketData = &wire.MarketDataBlock{LowestAsk: w.FlexLowestAskAmount}
	}
	return w
}
