package decide

import (
	"cmp"
	"slices"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Wanted is a row that would create listings and can adopt some instead. See [Wants].
type Wanted struct {
	SKU      string
	Variant  string
	Currency gen.CurrencyCode
	Amount   gen.Amount
	Count    int // Listings that it would create.
}

// Wants returns what a row can adopt: the listings that it would create otherwise. Its Count is 0
// if it can adopt none.
func Wants(row Row, d Decision) Wanted {
	return Wanted{
		SKU: row.SKU, Variant: row.Variant, Currency: d.Terms.Currency, Amount: d.Terms.Amount, Count: d.Creates,
	}
}

// Adoption is a listing that the ledger did not know and that a row takes over.
type Adoption struct {
	SKU       string
	ListingID string
	// Distance is how far the amount of the listing is from that of the row.
	Distance decimal.Decimal
}

// Adopt matches foreign listings to rows of the same variant and currency, the closest amounts
// first, equal distances in order of SKU and id. No row gets more than it would create, and no
// listing is matched twice. Listings that are not live or have no amount are not matched. Callers
// pass the rows and listings of one variant at a time; its cost grows with their product.
func Adopt(rows []Wanted, foreign []Listing) []Adoption {
	var pairs []Adoption
	left := make(map[string]int, len(rows))
	for _, row := range rows {
		left[row.SKU] = row.Count
		amount, ok := positive(row.Amount)
		if !ok || row.Variant == "" {
			continue
		}
		for _, l := range foreign {
			had, ok := positive(l.Amount)
			if !ok || l.Presence != PresenceLive || l.Variant != row.Variant || l.Currency != row.Currency {
				continue
			}
			distance, err := amount.SubAbs(had)
			if err != nil {
				continue
			}
			pairs = append(pairs, Adoption{SKU: row.SKU, ListingID: l.ID, Distance: distance})
		}
	}
	slices.SortFunc(pairs, func(a, b Adoption) int {
		return cmp.Or(a.Distance.Cmp(b.Distance), cmp.Compare(a.SKU, b.SKU), cmp.Compare(a.ListingID, b.ListingID))
	})
	taken := make(map[string]bool)
	return slices.DeleteFunc(pairs, func(a Adoption) bool {
		if left[a.SKU] == 0 || taken[a.ListingID] {
			return true
		}
		left[a.SKU]--
		taken[a.ListingID] = true
		return false
	})
}
