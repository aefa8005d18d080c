package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/payouts"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/recent"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/table"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/values"
	"github.com/sellside-sdk/sellside-go/gen"
)

const marketHelp = `Show the market of a product for all its sizes, or with --size for one: the lowest ask, the
highest bid, and the prices that the service suggests to sell faster or to earn more.

PAYS is what a price would pay out. No operation calculates that, so it is an estimate: the
adjustments of your latest payout in the currency, applied to the price; minimum fees that
did not apply to that payout are not known. It is empty if you have neither an order nor an
active listing in the currency; --payouts=false leaves it out.

The command sends 3 requests, and up to 4 more for the estimate.`

// marketCall is one call of market.
type marketCall struct {
	*service
	currency, size, price string
	payouts               bool
}

func newMarket(getenv func(string) string) *cobra.Command {
	m := &marketCall{service: newService(getenv)}
	cmd := m.command(&cobra.Command{
		Use:               "market STYLE_ID",
		Short:             "Show what the sizes of a product sell for",
		Long:              marketHelp,
		Example:           "  sellside market DZ5485-612\n  sellside market DZ5485-612 --size 10.5 --currency EUR --price 180",
		Args:              exactly(1, "sellside market STYLE_ID"),
		ValidArgsFunction: m.recentArgs(recent.Style, 0, 1),
	}, m.run, gen.OpSearchProducts, gen.OpListVariants, gen.OpListProductMarketData, gen.OpGetVariantMarketData,
		gen.OpListActiveOrders, gen.OpListOrderHistory, gen.OpListListings, gen.OpGetListing)
	cmd.Flags().StringVar(&m.currency, "currency", string(gen.CurrencyCodeUSD), "currency of the prices")
	cmd.Flags().StringVar(&m.size, "size", "", "one size, as in the catalog")
	cmd.Flags().StringVar(&m.price, "price", "", "also show what this price would pay out")
	cmd.Flags().BoolVar(&m.payouts, "payouts", true, "show what prices would pay out")
	completeFlag(cmd, "currency", values.Currencies())
	return cmd
}

// sizeMarket is the market of a size.
type sizeMarket struct {
	StyleID    string         `json:"styleId"`
	Size       string         `json:"size"`
	VariantID  string         `json:"variantId"`
	MarketData gen.MarketData `json:"marketData"`
	// Payouts are estimates.
	Payouts struct {
		SellFaster gen.Amount `json:"sellFaster,omitempty"`
		EarnMore   gen.Amount `json:"earnMore,omitempty"`
		Price      gen.Amount `json:"price,omitempty"` // Of --price.
	} `json:"payouts"`
}

func (m *marketCall) run(ctx context.Context, args []string) error {
	if d, err := gen.Amount(m.price).Decimal(); m.price != "" && (err != nil || !d.IsPos()) {
		return invalidf("--price (%q): use digits and a point, such as 158.50", m.price)
	}
	currency := gen.CurrencyCode(strings.ToUpper(m.currency)) // more of them have markets than listings can have
	product, err := m.product(ctx, args[0])
	if err != nil {
		return err
	}
	sizes, err := m.sizes(ctx, product, currency)
	if err != nil {
		return err
	}
	if err := m.estimate(ctx, sizes, currency); err != nil {
		return err
	}
	if m.size != "" {
		return printOne(m.service, m.columns(), sizes[0])
	}
	return printAll(m.service, m.columns(), sequence(sizes), 0, "sizes", nil)
}

// product finds the product of a style id. The search is fuzzy.
func (m *marketCall) product(ctx context.Context, styleID string) (gen.Product, error) {
	const limit = 250
	var near []string
	n := 0
	for p, err := range m.sdk.Catalog.Search(ctx, client.ProductQuery{Query: styleID}) {
		if err != nil {
			return gen.Product{}, err
		}
		if strings.EqualFold(p.StyleID, styleID) {
			m.recent.Add(recent.Style, p.StyleID)
			m.recent.Add(recent.Product, p.ProductID)
			return p, nil
		}
		if len(near) < 3 && p.StyleID != "" {
			near = append(near, p.StyleID)
		}
		if n++; n == limit {
			break
		}
	}
	hint := "search for it with sellside products search"
	if len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s?", strings.Join(near, " or "))
	}
	return gen.Product{}, fmt.Errorf("no product has the style id %s: %s", styleID, hint)
}

// sizes reads the market of all sizes, or of the one that was asked for.
func (m *marketCall) sizes(ctx context.Context, product gen.Product, currency gen.CurrencyCode) ([]sizeMarket, error) {
	variants, err := m.sdk.Catalog.ListVariants(ctx, product.ProductID)
	if err != nil {
		return nil, err
	}
	markets := map[string]gen.MarketData{}
	if m.size != "" {
		at := slices.IndexFunc(variants, func(v gen.Variant) bool { return strings.EqualFold(v.VariantValue, m.size) })
		if at < 0 {
			return nil, fmt.Errorf("%s has no size %s: it has %s", product.StyleID, m.size, sizesOf(variants))
		}
		variants = variants[at : at+1]
		data, err := m.sdk.Catalog.GetMarketData(ctx, product.ProductID, variants[0].VariantID, currency)
		if err != nil {
			return nil, err
		}
		markets[variants[0].VariantID] = *data
	} else {
		all, err := m.sdk.Catalog.ListMarketData(ctx, product.ProductID, currency)
		if err != nil {
			return nil, err
		}
		for _, data := range all {
			markets[data.VariantID] = data
		}
	}
	sizes := make([]sizeMarket, len(variants))
	for i, v := range variants {
		sizes[i] = sizeMarket{StyleID: product.StyleID, Size: v.VariantValue, VariantID: v.VariantID, MarketData: markets[v.VariantID]}
	}
	for _, v := range slices.Backward(variants) {
		m.recent.Add(recent.Variant, v.VariantID)
	}
	return sizes, nil
}

func sizesOf(variants []gen.Variant) string {
	sizes := make([]string, len(variants))
	for i, v := range variants {
		sizes[i] = v.VariantValue
	}
	return strings.Join(sizes, ", ")
}

// estimate sets the payouts of sizes.
func (m *marketCall) estimate(ctx context.Context, sizes []sizeMarket, currency gen.CurrencyCode) error {
	if !m.payouts {
		return nil
	}
	payout, source, err := m.latestPayout(ctx, currency)
	if err != nil {
		return err
	}
	if payout == nil {
		m.log.print("payouts are not known: there is no payout of an order or of an active listing in %s yet", currency)
		return nil
	}
	rates, err := payouts.RatesOf(*payout)
	if err != nil {
		m.log.print("payouts are not known: %s: %s", source, err)
		return nil
	}
	m.log.print("payouts are estimates by %s", source)
	of := func(price gen.Amount) gen.Amount {
		paid, err := rates.Payout(price)
		if err != nil {
			return "" // there is no such price
		}
		return paid
	}
	for i := range sizes {
		data, paid := sizes[i].MarketData, &sizes[i].Payouts
		paid.SellFaster, paid.EarnMore = of(data.SellFasterAmount), of(data.EarnMoreAmount)
		paid.Price = of(gen.Amount(m.price))
	}
	return nil
}

// latestPayout returns the latest payout in a currency: of an active order, an ended one, or else of
// a listing, for which the service calculates one. It is nil if there is none.
func (m *marketCall) latestPayout(ctx context.Context, currency gen.CurrencyCode) (*gen.Payout, string, error) {
	active, err := m.sdk.Orders.ListActivePage(ctx, client.ActiveOrderFilter{})
	if err != nil {
		return nil, "", err
	}
	if o := latest(active.Orders, currency); o != nil {
		return o.Payout, "the payout of order " + o.OrderNumber, nil
	}
	ended, err := m.sdk.Orders.ListHistoryPage(ctx, client.OrderHistoryFilter{})
	if err != nil {
		return nil, "", err
	}
	if o := latest(ended.Orders, currency); o != nil {
		return o.Payout, "the payout of order " + o.OrderNumber, nil
	}
	filter := client.ListingFilter{Statuses: []gen.ListingStatus{gen.ListingStatusActive}}
	listings, err := m.sdk.Listings.ListPage(ctx, filter)
	if err != nil {
		return nil, "", err
	}
	at := slices.IndexFunc(listings.Listings, func(l gen.Listing) bool { return l.CurrencyCode == currency })
	if at < 0 {
		return nil, "", nil
	}
	listing, err := m.sdk.Listings.Get(ctx, listings.Listings[at].ListingID)
	if errors.Is(err, client.ErrNotFound) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	return listing.Payout, "the payout of listing " + listing.ListingID, nil
}

// latest returns the latest order with a payout in a currency, nil if there is none.
func latest(orders []gen.Order, currency gen.CurrencyCode) *gen.Order {
	var found *gen.Order
	for i, o := range orders {
		isUsable := o.Payout != nil && o.Payout.TotalPayout != "" && o.Payout.CurrencyCode == string(currency)
		if isUsable && (found == nil || found.CreatedAt.Before(o.CreatedAt.Time)) {
			found = &orders[i]
		}
	}
	return found
}

func (m *marketCall) columns() []table.Column[sizeMarket] {
	type size = sizeMarket
	figure := func(name string, value func(size) gen.Amount) table.Column[size] {
		return table.Column[size]{Name: name, Right: true, Value: func(s size) string { return amount(value(s)) }}
	}
	columns := []table.Column[size]{
		{Name: "size", Value: func(s size) string { return s.Size }},
		{Name: "style_id", CSV: true, Value: func(s size) string { return s.StyleID }},
		{Name: "variant_id", CSV: m.size == "", Value: func(s size) string { return s.VariantID }},
		{Name: "product_id", CSV: true, Value: func(s size) string { return s.MarketData.ProductID }},
		{Name: "currency", CSV: m.size == "", Value: func(s size) string {
			return cmp.Or(s.MarketData.CurrencyCode, strings.ToUpper(m.currency))
		}},
		figure("lowest_ask", func(s size) gen.Amount { return s.MarketData.LowestAskAmount }),
		figure("highest_bid", func(s size) gen.Amount { return s.MarketData.HighestBidAmount }),
		figure("sell_faster", func(s size) gen.Amount { return s.MarketData.SellFasterAmount }),
		figure("faster_pays", func(s size) gen.Amount { return s.Payouts.SellFaster }),
		figure("earn_more", func(s size) gen.Amount { return s.MarketData.EarnMoreAmount }),
		figure("more_pays", func(s size) gen.Amount { return s.Payouts.EarnMore }),
		figure("price_pays", func(s size) gen.Amount { return s.Payouts.Price }),
	}
	return slices.DeleteFunc(columns, func(c table.Column[size]) bool {
		return c.Name == "price_pays" && m.price == "" || strings.HasSuffix(c.Name, "_pays") && !m.payouts
	})
}
