package work

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
	"github.com/sellside-sdk/sellside-go/bulk/internal/resolve"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/gen"
)

// decideRows is how many rows one transaction decides.
const decideRows = 500

// Policy is what the seller allows in a plan. It is kept in the ledger.
type Policy struct {
	decide.Policy
	CreateOnly bool `json:"createOnly,omitempty"` // Change and delete nothing.
	// AllowDeletes is how many listings may be deleted; nil is what is free.
	AllowDeletes *int `json:"allowDeletes,omitempty"`
	Listings     int  `json:"listings,omitempty"` // Live ones of the account before the plan.
}

// SetPolicy sets the policy of the newest plan, and reports whether it decides otherwise than the one
// before.
func SetPolicy(ctx context.Context, tx ledger.Tx, p Policy) (changed bool, err error) {
	before, err := policyOf(ctx, tx)
	if err != nil {
		return false, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return false, err
	}
	changed = before.Policy != p.Policy || before.CreateOnly != p.CreateOnly
	return changed, tx.SetMark(ctx, markPolicy, string(text))
}

// ReadTimes returns when all listings and the sales were read last.
func ReadTimes(ctx context.Context, tx ledger.Tx) (listings, sales time.Time, err error) {
	if listings, err = tx.TimeMark(ctx, markEnded); err != nil {
		return listings, sales, err
	}
	sales, err = tx.TimeMark(ctx, markSales)
	return listings, sales, err
}

func policyOf(ctx context.Context, tx ledger.Tx) (p Policy, err error) {
	text, err := tx.Mark(ctx, markPolicy)
	if err != nil || text == "" {
		return p, err
	}
	return p, json.Unmarshal([]byte(text), &p)
}

// decideDirty decides all rows that have to be decided again.
func (e *Engine) decideDirty(ctx context.Context, now time.Time) error {
	for {
		n := 0
		err := e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
			if _, err := tx.DirtyDue(ctx, now); err != nil {
				return err
			}
			account, err := tx.State(ctx)
			if err != nil {
				return err
			}
			policy, err := policyOf(ctx, tx)
			if err != nil {
				return err
			}
			rows, err := tx.DirtyRows(ctx, decideRows)
			if err != nil {
				return err
			}
			n = len(rows)
			d := decider{tx: tx, policy: policy, generation: account.Generation, now: now, lookups: map[string]*found{}}
			for i := range rows {
				if err := d.decide(ctx, &rows[i]); err != nil {
					return fmt.Errorf("row %q: %w", rows[i].SKU, err)
				}
			}
			return nil
		})
		if err != nil || n < decideRows {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// decider decides rows in one transaction.
type decider struct {
	tx         ledger.Tx
	policy     Policy
	generation int64
	now        time.Time
	lookups    map[string]*found
}

// found is a look-up in memory.
type found struct {
	product resolve.Product
	isKnown bool
}

func (d *decider) decide(ctx context.Context, r *ledger.Row) error {
	r.Missing = r.Generation < d.generation
	problem := ""
	if r.Variant == "" && !r.Missing {
		f, err := d.lookup(ctx, r.Item)
		if err != nil {
			return err
		}
		if f.isKnown {
			if r.Variant, r.Product, problem = f.product.Variant(r.Item, r.Size); problem == "" {
				if err := d.tx.SetVariant(ctx, r.SKU, r.Variant, r.Product); err != nil {
					return err
				}
			}
		}
	}
	market, own, err := d.market(ctx, r)
	if err != nil {
		return err
	}
	decision := decide.Decide(r.Row, market, own, d.now, d.policy.Policy)
	if err := d.tx.Want(ctx, decision.Reads...); err != nil {
		return err
	}
	result, err := d.result(r, decision, problem)
	if err != nil {
		return err
	}
	return d.tx.SetDecided(ctx, r, result)
}

func (d *decider) lookup(ctx context.Context, item string) (*found, error) {
	if f := d.lookups[item]; f != nil {
		return f, nil
	}
	l, err := d.tx.Lookup(ctx, item)
	if err != nil {
		return nil, err
	}
	f := &found{}
	if l != nil {
		f.isKnown = true
		if err := json.Unmarshal([]byte(l.Body), &f.product); err != nil {
			return nil, err
		}
	}
	d.lookups[item] = f
	return f, nil
}

// result turns a decision into what the ledger keeps of it.
func (d *decider) result(r *ledger.Row, decision decide.Decision, problem string) (ledger.Decided, error) {
	out := ledger.Decided{
		Class: decision.Class, Detail: detail(decision), Creates: decision.Creates, Updates: len(decision.Updates),
		Deletes: len(decision.Deletes), DueAt: decision.At,
	}
	if d.policy.CreateOnly {
		decision.Updates, decision.Deletes, out.Updates, out.Deletes = nil, nil, 0, 0
	}
	unresolved := false
	for _, reason := range decision.Reasons {
		unresolved = unresolved || reason == decide.ReasonUnresolved
	}
	switch {
	case unresolved && problem != "":
		out.Class, out.Detail = ledger.ClassInvalid, problem
	case unresolved:
		out.Creates = max(0, decision.Owed-decision.Live-decision.MayLive)
		if out.Creates > 0 && out.Class == decide.ClassWaiting {
			out.Class = decide.ClassCreated
		}
	}
	// A row that lists all it has is looked up too: its item may have changed, and a rule needs its product.
	if r.Variant == "" && r.Item != "" && problem == "" && !r.Missing {
		out.LookUp = out.Creates > 0 || decision.Live+decision.MayLive > 0
	}
	if isRuled(r.Price) && r.Variant != "" && r.Product == "" && !r.Missing {
		out.Class, out.Detail = ledger.ClassInvalid, "a rule needs a style_id and size, or a gtin: the market is read by product"
	}
	switch {
	case r.Missing && decision.Live+decision.MayLive == 0 && len(r.InFlight) == 0:
		out.Class = ledger.ClassGone
	case r.Missing && !d.policy.DeleteMissing:
		out.Class = ledger.ClassMissing
	}
	if out.Class == decide.ClassFailed {
		out.Detail = r.Failure
	}
	if out.Class == decide.ClassUpdated || out.Class == decide.ClassDeleted {
		if out.Updates+out.Deletes == 0 {
			out.Class = decide.ClassUnchanged
		}
	}
	var err error
	out.Owed, err = owed(r, decision, d.now)
	return out, err
}

// owed returns what a decision lets be submitted.
func owed(r *ledger.Row, decision decide.Decision, now time.Time) ([]ledger.Owed, error) {
	var all []ledger.Owed
	base := ledger.Owed{Line: r.Line, SKU: r.SKU, Quantity: 1}
	if decision.Creates > 0 {
		text, err := json.Marshal(terms{Terms: decision.Terms, Variant: r.Variant})
		if err != nil {
			return nil, err
		}
		o := base
		o.Kind, o.Quantity, o.Body = decide.WriteCreate, decision.Creates, string(text)
		all = append(all, o)
	}
	for _, u := range decision.Updates {
		i := slices.IndexFunc(r.Listings, func(l decide.Listing) bool { return l.ID == u.ListingID })
		hasAsk := i >= 0 && r.Listings[i].Active && (r.Listings[i].ExpiresAt.IsZero() || r.Listings[i].ExpiresAt.After(now))
		text, err := json.Marshal(terms{Terms: u.Terms, Priced: u.Priced, KeepActive: hasAsk && u.Terms.Active})
		if err != nil {
			return nil, err
		}
		o := base
		o.Kind, o.Listing, o.Body, o.Rank = decide.WriteUpdate, u.ListingID, string(text), 1
		if u.Deactivates {
			o.Rank = 0
		}
		all = append(all, o)
	}
	for _, id := range decision.Deletes {
		o := base
		o.Kind, o.Listing, o.Body = decide.WriteDelete, id, ""
		all = append(all, o)
	}
	return all, nil
}

// detail returns the reasons of a decision for people.
func detail(d decide.Decision) string {
	var parts []string
	for _, c := range d.Conflicts {
		parts = append(parts, fmt.Sprintf("%s: %s means %d to list, %s means %d; %d holds until a newer as_of settles it",
			c.Reason, reading(c.Lower), c.Lower.Owed, reading(c.Higher), c.Higher.Owed, c.Lower.Owed))
	}
	for _, r := range d.Reasons {
		isConflict := false
		for _, c := range d.Conflicts {
			isConflict = isConflict || c.Reason == r
		}
		if !isConflict {
			parts = append(parts, string(r))
		}
	}
	if d.Class == decide.ClassSoldOut && !d.LastSold.IsZero() {
		parts = append(parts, fmt.Sprintf("%d sold, the last on %s", d.Sold, d.LastSold.Format(time.DateOnly)))
	}
	return strings.Join(parts, "; ")
}

func reading(r decide.Reading) string {
	text := fmt.Sprintf("%d counted %s less %d sold", r.Count.Quantity, r.Count.At.UTC().Format(time.RFC3339), r.Sold)
	if r.Returned > 0 {
		text += fmt.Sprintf(" plus %d returned", r.Returned)
	}
	return text
}

// isRuled reports whether the price of a row depends on the market.
func isRuled(p stock.Price) bool { return p.Kind != stock.PriceFixed && p.Kind != "" }

// market returns the market of the row's variant and the seller's asks in it, which only rules need.
func (d *decider) market(ctx context.Context, r *ledger.Row) (market decide.Market, own []decide.Ask, err error) {
	if !isRuled(r.Price) || r.Variant == "" || r.Missing {
		return market, nil, nil
	}
	currency := r.Currency
	if currency == "" {
		currency = gen.CurrencyCodeUSD
	}
	if r.Product != "" {
		if err := d.tx.NeedMarket(ctx, r.Product, currency); err != nil {
			return market, nil, err
		}
	}
	if market, err = d.tx.Prices(ctx, r.Product, r.Variant, currency); err != nil {
		return market, nil, err
	}
	own, err = d.tx.OwnAsks(ctx, r.Variant, currency)
	return market, own, err
}
