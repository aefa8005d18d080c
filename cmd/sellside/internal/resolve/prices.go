package resolve

import (
	"context"
	"errors"
	"fmt"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/gen"
)

// market is the prices of a product in a currency.
type market struct {
	style, productID string
	currency         gen.CurrencyCode
}

// quotes are the market data of a product.
type quotes struct {
	variants map[string]gen.MarketData
	refusal  error // Why the service has none.
}

// Prices compares the prices of the rows whose products were looked up with the market, and calls
// report with those that are below half the highest bid or above ten times the lowest ask. If the
// service refuses the market data of a product, its rows are reported as not compared.
func (l *Lookup) Prices(
	ctx context.Context, f *inventory.File, report func(line int, format string, args ...any),
) error {
	var markets []market
	seen := map[market]bool{}
	for _, row := range f.Valid() {
		if m := marketOf(row); m.productID != "" && !seen[m] {
			seen[m] = true
			markets = append(markets, m)
		}
	}
	found, err := all(ctx, l, markets, l.quotes, func(int, int) {})
	if err != nil {
		return err
	}
	for _, row := range f.Valid() {
		m := marketOf(row)
		if m.productID == "" {
			continue
		}
		if refusal := found[m].refusal; refusal != nil {
			report(row.Line, "the price was not compared with the market: %v", refusal)
			continue
		}
		if doubt := doubtAbout(row.Price, found[m].variants[row.VariantID]); doubt != "" {
			report(row.Line, "price %s %s is %s", row.Price, row.Currency, doubt)
		}
	}
	return nil
}

func marketOf(row inventory.Row) market { return market{row.StyleID, row.ProductID, row.Currency} }

// quotes reads the market data of a product.
func (l *Lookup) quotes(ctx context.Context, m market) (quotes, error) {
	var data []gen.MarketData
	err := l.call(ctx, func() (err error) {
		data, err = l.Catalog.ListMarketData(ctx, m.productID, m.currency)
		return err
	})
	if errors.Is(err, client.ErrBadRequest) || errors.Is(err, client.ErrNotFound) {
		l.Cache.Drop(m.style)
	}
	_, isResponse := errors.AsType[*client.APIError](err)
	switch {
	case isResponse && !errors.Is(err, client.ErrUnauthorized):
		return quotes{refusal: err}, nil
	case err != nil:
		return quotes{}, fmt.Errorf("read the prices of style_id %q: %w", m.style, err)
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
