package bulk

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
	"github.com/sellside-sdk/sellside-go/bulk/internal/work"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// PlanOptions are what the seller allows, and how a plan is made.
type PlanOptions struct {
	Source        string // Names the inventory in the list of runs.
	DeleteMissing bool   // Delete the listings of SKUs that the inventory no longer has.
	// AllowDeletes is how many listings the plan may delete. Nil refuses a plan that deletes more
	// than 10 listings and more than 10 percent of the account.
	AllowDeletes *int
	Adopt        bool // Match listings that the ledger does not know to rows of the same item.
	Resolve      bool // Look up all items; otherwise they are looked up while the plan is applied.
	Reread       bool // Read all listings again; otherwise only the first plan does.
	CreateOnly   bool // Change and delete nothing.
	// KeepRefusals leaves rows alone whose last write the service refused within a day. Otherwise
	// they are tried again.
	KeepRefusals bool
	// Layout is called when all rows are read, and returns how they were written. Nil keeps the layout
	// of the inventory before.
	Layout func() stock.Layout
}

// Class says what a plan makes of a row.
type Class string

// The classes of rows.
const (
	ClassCreate    Class = "create"
	ClassUpdate    Class = "update"
	ClassDelete    Class = "delete"
	ClassUnchanged Class = "unchanged"
	ClassSoldOut   Class = "sold out"
	ClassConflict  Class = "conflict" // The seller has to settle it; the lower reading holds.
	ClassWaiting   Class = "waiting"  // For an unknown outcome, a look-up or a price.
	ClassInvalid   Class = "invalid"  // The catalog does not have the item.
	ClassFailed    Class = "failed"   // The service refused what is owed.
	ClassMissing   Class = "missing"  // The inventory no longer has the SKU; its listings stay.
	ClassGone      Class = "gone"     // The inventory no longer has the SKU, and it has no listings.
)

func classOf(c decide.Class) Class {
	switch c {
	case decide.ClassCreated:
		return ClassCreate
	case decide.ClassUpdated:
		return ClassUpdate
	case decide.ClassDeleted:
		return ClassDelete
	default:
		return Class(c)
	}
}

// Count is how many rows have a class, and what is owed to them.
type Count struct {
	Rows    int `json:"rows"`
	Creates int `json:"creates,omitempty"`
	Updates int `json:"updates,omitempty"`
	Deletes int `json:"deletes,omitempty"`
}

// Plan is what an inventory needs. It is in the ledger; this is a summary.
type Plan struct {
	Generation int64           `json:"generation"`
	Source     string          `json:"source,omitempty"`
	MadeAt     time.Time       `json:"madeAt"`
	Counts     map[Class]Count `json:"counts"`
	Creates    int             `json:"creates"` // Listings to be created.
	Updates    int             `json:"updates"`
	Deletes    int             `json:"deletes"`
	Foreign    int             `json:"foreign"` // Live listings that belong to no row. They are not touched.
	Adopted    int             `json:"adopted,omitempty"`
	// AdoptLater means that nothing was adopted because batches are in flight.
	AdoptLater bool          `json:"adoptLater,omitempty"`
	LookUps    int           `json:"lookUps,omitempty"` // Items that are still to be looked up.
	InFlight   int           `json:"inFlight,omitempty"`
	Least      time.Duration `json:"least"` // That the quota lets the changes take.
	// MarketRound is how long it takes at least to read the market of all products with rules.
	MarketRound time.Duration `json:"marketRound,omitempty"`
	ListedAt    time.Time     `json:"listedAt"` // When all listings were read last.
	SalesAt     time.Time     `json:"salesAt"`  // When sales were read last.
	// Refused is why the plan cannot be applied: it deletes too much. Nil if it can.
	Refused error `json:"-"`

	bulk *Bulk
}

// planRows is how many rows one transaction writes.
const planRows = 500

// Plan writes the rows of an inventory to the ledger, reads what it has to know of the service, and
// decides what each row needs. It sends nothing. An error of rows ends it; nothing of the plan is
// then in force.
//
// Nothing of an older plan is submitted from now on. Plan waits for other plans and runs of b.
func (b *Bulk) Plan(ctx context.Context, rows iter.Seq2[stock.Row, error], opts PlanOptions) (*Plan, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.start(ctx); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	p, err := b.plan(ctx, rows, opts)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return p, nil
}

func (b *Bulk) plan(ctx context.Context, rows iter.Seq2[stock.Row, error], opts PlanOptions) (*Plan, error) {
	began := time.Now()
	p := &Plan{Source: opts.Source, bulk: b, MadeAt: began.UTC()}
	policy := work.Policy{
		Policy: decide.Policy{DeleteMissing: opts.DeleteMissing}, CreateOnly: opts.CreateOnly, AllowDeletes: opts.AllowDeletes,
	}
	err := b.ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) (err error) {
		if p.Generation, err = tx.NewGeneration(ctx); err != nil {
			return err
		}
		if err := tx.RevertAdoptions(ctx); err != nil {
			return err
		}
		clearBefore := began
		if opts.KeepRefusals {
			clearBefore = began.Add(-24 * time.Hour)
		}
		if err := tx.ClearFailures(ctx, clearBefore); err != nil {
			return err
		}
		if err := tx.ForgetInvalid(ctx, began.Add(-time.Hour)); err != nil {
			return err
		}
		changed, err := work.SetPolicy(ctx, tx, policy)
		if err != nil || !changed {
			return err
		}
		return tx.DirtyAll(ctx)
	})
	if err != nil {
		return nil, err
	}
	if err := b.putRows(ctx, p.Generation, rows, began); err != nil {
		return nil, err
	}
	if opts.Layout != nil {
		if err := b.setLayout(ctx, opts.Layout()); err != nil {
			return nil, err
		}
	}
	err = b.ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error { return tx.DirtyMissing(ctx, p.Generation) })
	if err != nil {
		return nil, err
	}
	reread := time.Time{}
	if opts.Reread {
		reread = began
	}
	b.engine.Observe(work.Needs{
		Sales: began, Pages: reread, New: began, Foreign: opts.Adopt, LookUps: opts.Resolve || opts.Adopt,
	})
	if err := b.work(ctx, func(s work.Status) bool { return s.Observed }); err != nil {
		return nil, err
	}
	if opts.Adopt {
		if p.Adopted, p.AdoptLater, err = b.engine.Adopt(ctx, p.Generation); err != nil {
			return nil, err
		}
		if err := b.work(ctx, func(s work.Status) bool { return s.Observed }); err != nil {
			return nil, err
		}
	}
	return p, b.summarize(ctx, p, policy)
}

// putRows writes rows in small transactions.
func (b *Bulk) putRows(ctx context.Context, generation int64, rows iter.Seq2[stock.Row, error], now time.Time) error {
	chunk := make([]stock.Row, 0, planRows)
	put := func() error {
		err := b.ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
			return tx.PutRows(ctx, generation, chunk, now)
		})
		chunk = chunk[:0]
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		chunk = append(chunk, row)
		if len(chunk) == planRows {
			if err := put(); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return put()
}

// summarize counts what a plan needs, and checks its deletes.
func (b *Bulk) summarize(ctx context.Context, p *Plan, policy work.Policy) error {
	p.Counts = map[Class]Count{}
	live, markets := 0, 0
	err := b.ledger.View(ctx, func(ctx context.Context, tx ledger.Tx) error {
		counts, err := tx.Counts(ctx)
		if err != nil {
			return err
		}
		for _, c := range counts {
			p.Counts[classOf(c.Class)] = Count{Rows: c.Rows, Creates: c.Creates, Updates: c.Updates, Deletes: c.Deletes}
			p.Creates, p.Updates, p.Deletes = p.Creates+c.Creates, p.Updates+c.Updates, p.Deletes+c.Deletes
		}
		for _, read := range []func() error{
			func() (err error) { p.Foreign, err = tx.CountForeign(ctx); return err },
			func() (err error) { p.LookUps, err = tx.CountLookups(ctx); return err },
			func() (err error) { p.InFlight, err = tx.InFlight(ctx); return err },
			func() (err error) { live, err = tx.CountLive(ctx); return err },
			func() (err error) { markets, err = tx.CountMarkets(ctx); return err },
			func() (err error) { p.ListedAt, p.SalesAt, err = work.ReadTimes(ctx, tx); return err },
		} {
			if err := read(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if q := b.config.Quota; markets > 0 && q.RequestsPerDay > 0 {
		// A tenth of the day's requests is left to other work.
		p.MarketRound = max(decide.MarketEvery, time.Duration(markets)*24*time.Hour*10/9/time.Duration(q.RequestsPerDay))
	} else if markets > 0 {
		p.MarketRound = decide.MarketEvery
	}
	p.Least = least(b.config.Quota, p)
	p.Refused = decide.CheckDeletes(p.Deletes, live, policy.AllowDeletes)
	policy.Listings = live
	return b.ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
		_, err := work.SetPolicy(ctx, tx, policy)
		return err
	})
}

// Counts returns how many rows have each class now, and what is owed to them.
func (b *Bulk) Counts(ctx context.Context) (map[Class]Count, error) {
	counts, err := ledger.Read(ctx, b.ledger, func(ctx context.Context, tx ledger.Tx) ([]ledger.Count, error) {
		return tx.Counts(ctx)
	})
	all := map[Class]Count{}
	for _, c := range counts {
		all[classOf(c.Class)] = Count{Rows: c.Rows, Creates: c.Creates, Updates: c.Updates, Deletes: c.Deletes}
	}
	return all, err
}

// least returns how long a quota lets a plan take, if the account has used nothing of it.
func least(q quota.Quota, p *Plan) time.Duration {
	items := p.Creates + p.Updates + p.Deletes
	requests := 2 * p.LookUps
	for _, n := range []int{p.Creates, p.Updates, p.Deletes} {
		requests += 3 * ((n + decide.BatchSize - 1) / decide.BatchSize)
	}
	after := func(n, limit int, window time.Duration) time.Duration {
		if limit <= 0 || n == 0 {
			return 0
		}
		return time.Duration((n-1)/limit) * window
	}
	const day = 24 * time.Hour
	return max(
		after(requests, q.RequestsPerSecond, time.Second), after(requests, q.RequestsPerDay, day),
		after(items, q.ItemsPerWindow, q.ItemsWindow), after(items, q.ItemsPerDay, day),
	)
}

// Change is what a plan makes of a row.
type Change struct {
	SKU     string `json:"sku"`
	Line    int    `json:"line"`
	Class   Class  `json:"class"`
	Creates int    `json:"creates,omitempty"`
	Updates int    `json:"updates,omitempty"`
	Deletes int    `json:"deletes,omitempty"`
	Detail  string `json:"detail,omitempty"` // Why, for people.

	Row       stock.Row `json:"-"`
	VariantID string    `json:"-"` // "" until the item is looked up.
	ProductID string    `json:"-"` // "" if the row states its variant.
}

// Changes yields what the plan makes of the rows, in the order of their SKUs: those of a class, or
// all if class is "". It reads the ledger as it is when the loop reaches a row. An error ends it.
func (p *Plan) Changes(ctx context.Context, class Class) iter.Seq2[Change, error] {
	wanted := decide.Class(class)
	switch class {
	case ClassCreate:
		wanted = decide.ClassCreated
	case ClassUpdate:
		wanted = decide.ClassUpdated
	case ClassDelete:
		wanted = decide.ClassDeleted
	}
	return func(yield func(Change, error) bool) {
		for row, err := range p.bulk.rows(ctx, wanted) {
			c := Change{
				SKU: row.SKU, Line: row.Line, Class: classOf(row.Class), Creates: row.Creates, Updates: row.Updates,
				Deletes: row.Deletes, Detail: row.Detail, Row: row.Row.Row, VariantID: row.Variant, ProductID: row.Product,
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// pages yields entries that are read a page at a time: next returns those after the last one.
func pages[T any](next func(last *T) ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var last *T
		for {
			page, err := next(last)
			if err != nil {
				yield(*new(T), err)
				return
			}
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
				last = &page[i]
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

func (b *Bulk) rows(ctx context.Context, class decide.Class) iter.Seq2[ledger.Row, error] {
	return pages(func(last *ledger.Row) ([]ledger.Row, error) {
		after := ""
		if last != nil {
			after = last.SKU
		}
		return ledger.Read(ctx, b.ledger, func(ctx context.Context, tx ledger.Tx) ([]ledger.Row, error) {
			return tx.RowsAfter(ctx, class, after, planRows)
		})
	})
}
