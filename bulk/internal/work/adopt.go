package work

import (
	"context"

	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
)

// adoptVariants is how many variants one transaction matches.
const adoptVariants = 100

// Adopt matches foreign listings to rows of a plan that would create some of the same variant. They
// become foreign again if the plan is not applied. It returns how many were matched. While a
// submission is in flight, it matches none, because they may be of that submission, and reports that.
func (e *Engine) Adopt(ctx context.Context, generation int64) (adopted int, isLater bool, err error) {
	after := ""
	for {
		n := 0
		err := e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
			flying, err := tx.InFlight(ctx)
			if err != nil || flying > 0 {
				isLater = flying > 0
				return err
			}
			variants, err := tx.ForeignVariants(ctx, after, adoptVariants)
			if err != nil {
				return err
			}
			n = len(variants)
			for _, v := range variants {
				count, err := adopt(ctx, tx, v, generation)
				if err != nil {
					return err
				}
				adopted, after = adopted+count, v
			}
			return nil
		})
		if isLater && err == nil {
			e.OnEvent("nothing is adopted while batches are in flight, because listings may be of them: adopt when they have ended")
		}
		if err != nil || n < adoptVariants {
			return adopted, isLater, err
		}
	}
}

func adopt(ctx context.Context, tx ledger.Tx, variant string, generation int64) (adopted int, err error) {
	rows, err := tx.RowsOfVariant(ctx, variant)
	if err != nil {
		return 0, err
	}
	foreign, err := tx.Foreign(ctx, variant)
	if err != nil {
		return 0, err
	}
	var wanted []decide.Wanted
	for i := range rows {
		w, err := wants(ctx, tx, &rows[i])
		if err != nil {
			return 0, err
		}
		wanted = append(wanted, w)
	}
	byID := map[string]ledger.Listing{}
	listings := make([]decide.Listing, len(foreign))
	for i, l := range foreign {
		byID[l.ID], listings[i] = l, l.Listing
	}
	for _, a := range decide.Adopt(wanted, listings) {
		l := byID[a.ListingID]
		l.SKU, l.Adopted = a.SKU, generation
		if err := tx.PutListing(ctx, l); err != nil {
			return adopted, err
		}
		adopted++
	}
	return adopted, nil
}

// wants returns what a row would create.
func wants(ctx context.Context, tx ledger.Tx, r *ledger.Row) (decide.Wanted, error) {
	w := decide.Wanted{SKU: r.SKU, Variant: r.Variant, Count: r.Creates}
	body, err := tx.OwedBody(ctx, r.SKU, decide.WriteCreate)
	if err != nil || body == "" {
		return w, err
	}
	t, err := parseTerms(body)
	w.Amount, w.Currency = t.Amount, t.Currency
	return w, err
}
