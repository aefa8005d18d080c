package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// remark is what is to be said about a row.
type remark struct {
	line int
	text string
}

// priceList names the prices of a product in a currency.
type priceList struct {
	product  string
	currency gen.CurrencyCode
}

// quotes are the market data of a product by variant.
type quotes struct {
	variants map[string]gen.MarketData
	refusal  error // Why the service has none.
}

// doubts compares the fixed prices of what a plan creates with the market. It returns those below
// half the highest bid or above ten times the lowest ask, and those that cannot be compared because
// the service refuses the market data. Rows with a variant_id have no product and are not compared.
func doubts(ctx context.Context, catalog *client.Catalog, plan *bulk.Plan) ([]remark, error) {
	markets := map[priceList]quotes{}
	var all []remark
	for c, err := range plan.Changes(ctx, bulk.ClassCreate) {
		if err != nil {
			return nil, err
		}
		if c.ProductID == "" || c.Row.Price.Kind != stock.PriceFixed {
			continue
		}
		m := priceList{c.ProductID, c.Row.Currency}
		q, ok := markets[m]
		if !ok {
			if q, err = quotesOf(ctx, catalog, m); err != nil {
				return nil, fmt.Errorf("read prices of product %s: %w", m.product, err)
			}
			markets[m] = q
		}
		price := c.Row.Price.Amount
		if q.refusal != nil {
			all = append(all, remark{c.Line, fmt.Sprintf("the price was not compared with the market: %v", q.refusal)})
		} else if doubt := doubtAbout(price, q.variants[c.VariantID]); doubt != "" {
			all = append(all, remark{c.Line, fmt.Sprintf("price %s %s is %s", price, c.Row.Currency, doubt)})
		}
	}
	return all, nil
}

// quotesOf reads the market data of a product.
func quotesOf(ctx context.Context, catalog *client.Catalog, m priceList) (quotes, error) {
	data, err := catalog.ListMarketData(ctx, m.product, m.currency)
	_, isResponse := errors.AsType[*client.APIError](err)
	switch {
	case isResponse && !errors.Is(err, client.ErrUnauthorized):
		return quotes{refusal: err}, nil
	case err != nil:
		return quotes{}, err
	}
	q := quotes{variants: make(map[string]gen.MarketData, len(data))}
	for _, d := range data {
		q.variants[d.VariantID] = d
	}
	return q, nil
}

// doubtAbout returns how a price is far from the market, and "" if it is not or if there is neither
// a bid nor an ask.
func doubtAbout(price gen.Amount, data gen.MarketData) string {
	p, err := price.Decimal()
	if err != nil {
		return ""
	}
	if bid, err := data.HighestBidAmount.Decimal(); err == nil && isGreater(bid, p, 2) {
		return fmt.Sprintf("below half the highest bid of %s", data.HighestBidAmount)
	}
	if ask, err := data.LowestAskAmount.Decimal(); err == nil && isGreater(p, ask, 10) {
		return fmt.Sprintf("above ten times the lowest ask of %s", data.LowestAskAmount)
	}
	return ""
}

// isGreater reports whether a is greater than n times b. A product that has too many digits for a
// decimal is greater than every amount.
func isGreater(a, b decimal.Decimal, n int64) bool {
	factor, err := decimal.New(n, 0)
	if err != nil {
		return false
	}
	times, err := b.Mul(factor)
	return err == nil && b.IsPos() && a.Cmp(times) > 0
}
