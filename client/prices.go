package client

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/gen"
)

// VariantRef names a variant of a product.
type VariantRef struct{ ProductID, VariantID string }

// PriceQuery is what [Catalog.ListPrices] reads.
type PriceQuery struct {
	// Variants are read in any order, equal ones once. None with Own means those of all one's own
	// active listings.
	Variants []VariantRef
	Currency gen.CurrencyCode // Of the amounts; USD by default.
	Own      bool             // Also read one's own active listings of the variants.
}

// Price is what the market asks and bids for a variant.
type Price struct {
	VariantRef
	Market *gen.MarketData // Nil if the product's market data does not have the variant.

	// Own are one's own active listings of the variant, in any currency, if PriceQuery.Own is set.
	Own []gen.Listing
	// LowestIsOwn reports that the lowest ask is as high as one of Own in the currency of the query. A
	// program that follows the market must not undercut itself; another seller may ask the same.
	LowestIsOwn bool
}

// ownProducts is how many products one list of one's own listings names, so that its URL stays short.
const ownProducts = 50

// ListPrices yields the market data of variants, those of one product one after the other. It makes
// the fewest requests that the service allows:
//
//	1 for each product (GET /catalog/products/{productId}/market-data), when the loop reaches it
//	for Own also 1 for each 100 active listings of the products, and at least 1 for each 50
//	  products (GET /selling/listings), before the first; without Variants 1 for each 100
//
// An error of a product is yielded with the VariantRef of its first variant. The loop may continue
// with the next product unless ctx has ended; an error without a VariantRef is the last. Errors:
// [ArgumentError]; those of [Catalog.ListMarketData] and of [Listings.List].
func (s *Catalog) ListPrices(ctx context.Context, query PriceQuery) iter.Seq2[Price, error] {
	return func(yield func(Price, error) bool) {
		for _, ref := range query.Variants {
			const op = gen.OpListProductMarketData
			if err := joinErrors(checkID(op, "ProductID", ref.ProductID), checkID(op, "VariantID", ref.VariantID)); err != nil {
				yield(Price{}, err)
				return
			}
		}
		products, variants, own, err := s.withOwn(ctx, query)
		if err != nil {
			yield(Price{}, err)
			return
		}
		for _, product := range products {
			refs := variants[product]
			market, err := s.ListMarketData(ctx, refs[0].ProductID, query.Currency)
			if err != nil {
				if !yield(Price{VariantRef: refs[0]}, err) || ctx.Err() != nil {
					return
				}
				continue
			}
			for _, ref := range refs {
				if !yield(priceOf(ref, market, own[strings.ToLower(ref.VariantID)], query.Currency), nil) {
					return
				}
			}
		}
	}
}

// groupVariants returns the products, by their ids in lower case, in the order of their first
// variants, and the different variants of each.
func groupVariants(refs []VariantRef) (products []string, variants map[string][]VariantRef) {
	variants = map[string][]VariantRef{}
	for _, ref := range refs {
		product := strings.ToLower(ref.ProductID)
		isSame := func(other VariantRef) bool { return strings.EqualFold(other.VariantID, ref.VariantID) }
		if slices.ContainsFunc(variants[product], isSame) {
			continue
		}
		if variants[product] == nil {
			products = append(products, product)
		}
		variants[product] = append(variants[product], ref)
	}
	return products, variants
}

// withOwn returns the variants of a query as groupVariants does, and one's own active listings of
// them by variant id in lower case.
func (s *Catalog) withOwn(ctx context.Context, query PriceQuery) (
	products []string, variants map[string][]VariantRef, own map[string][]gen.Listing, err error,
) {
	products, variants = groupVariants(query.Variants)
	if !query.Own {
		return products, variants, nil, nil
	}
	own = map[string][]gen.Listing{}
	var all []VariantRef // Of the listings.
	filters := []ListingFilter{{}}
	if len(products) > 0 {
		filters = nil
	}
	for chunk := range slices.Chunk(products, ownProducts) {
		filter := ListingFilter{}
		for _, product := range chunk {
			filter.ProductIDs = append(filter.ProductIDs, variants[product][0].ProductID)
		}
		filters = append(filters, filter)
	}
	for _, filter := range filters {
		filter.Statuses = []gen.ListingStatus{gen.ListingStatusActive}
		for listing, err := range s.c.Listings.List(ctx, filter) {
			if err != nil {
				return nil, nil, nil, err
			}
			ref := VariantRef{listing.Product.ProductID, listing.Variant.VariantID}
			id := strings.ToLower(ref.VariantID)
			own[id] = append(own[id], listing)
			if ref.ProductID != "" && id != "" {
				all = append(all, ref)
			}
		}
	}
	if len(products) == 0 {
		products, variants = groupVariants(all)
	}
	return products, variants, own, nil
}

// priceOf finds a variant in the market data of its product.
func priceOf(ref VariantRef, market []gen.MarketData, own []gen.Listing, currency gen.CurrencyCode) Price {
	price := Price{VariantRef: ref, Own: own}
	i := slices.IndexFunc(market, func(m gen.MarketData) bool { return strings.EqualFold(m.VariantID, ref.VariantID) })
	if i < 0 {
		return price
	}
	if currency == "" {
		currency = gen.CurrencyCodeUSD
	}
	price.Market = &market[i]
	lowest := price.Market.LowestAskAmount
	price.LowestIsOwn = lowest != "" && slices.ContainsFunc(own, func(l gen.Listing) bool {
		return l.CurrencyCode == currency && l.Amount.Equal(lowest)
	})
	return price
}
