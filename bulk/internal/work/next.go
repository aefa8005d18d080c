package work

import (
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
)

// maxItems is how many items a batch has at most.
const maxItems = 100

// The names of marks.
const (
	markSales   = "sales"         // When sales were read last.
	markNewest  = "sales newest"  // The creation of the newest order that was read.
	markHistory = "sales history" // When ended orders were read last.
	markReading = "reading"       // The number of the reading of all pages.
	markPage    = "reading page"  // The next page of it; 0 if it is complete.
	markBegan   = "reading began"
	markEnded   = "reading ended"  // When the last complete reading ended.
	markTurned  = "reading turned" // When its last page was read.
	markPolicy  = "policy"         // Of the newest plan.
)

// view is what the ledger has that decides what an account does next.
type view struct {
	account  ledger.Account
	dirty    bool
	due      time.Time          // When a row is to be decided again; zero for never.
	flight   *ledger.Submission // The first to look at; nil if none is in flight.
	wanted   *ledger.Listing    // To read by its id.
	lookup   string             // Item to look up.
	market   *ledger.Market     // To read.
	creates  int                // Items that are owed and can be sent, counted up to maxItems.
	updates  int
	deletes  int
	urgent   bool // The first updates deactivate.
	sales    time.Time
	page     int64
	readOnce bool // A reading of all pages has been complete.
	turned   time.Time

	engine *Engine
}

func (e *Engine) view(ctx context.Context, tx ledger.Tx, now time.Time) (v view, err error) {
	v.engine = e
	var ended time.Time
	for _, read := range []func() error{
		func() (err error) { v.account, err = tx.State(ctx); return err },
		func() (err error) { v.dirty, err = tx.IsDirty(ctx); return err },
		func() (err error) { v.due, err = tx.NextDue(ctx); return err },
		func() (err error) { v.flight, err = tx.NextSubmission(ctx); return err },
		func() (err error) { v.wanted, err = tx.NextWanted(ctx); return err },
		func() (err error) { v.creates, err = tx.OwedItems(ctx, decide.WriteCreate, maxItems); return err },
		func() (err error) { v.updates, err = tx.OwedItems(ctx, decide.WriteUpdate, maxItems); return err },
		func() (err error) { v.deletes, err = tx.OwedItems(ctx, decide.WriteDelete, maxItems); return err },
		func() (err error) { v.sales, err = tx.TimeMark(ctx, markSales); return err },
		func() (err error) { v.page, err = tx.IntMark(ctx, markPage); return err },
		func() (err error) { ended, err = tx.TimeMark(ctx, markEnded); return err },
		func() (err error) { v.turned, err = tx.TimeMark(ctx, markTurned); return err },
	} {
		if err := read(); err != nil {
			return v, err
		}
	}
	v.readOnce = !ended.IsZero()
	if v.updates > 0 {
		first, err := tx.NextOwed(ctx, decide.WriteUpdate, 1)
		if err != nil {
			return v, err
		}
		v.urgent = len(first) == 1 && first[0].Rank == 0
	}
	if v.account.Run > 0 || e.resolve {
		if v.lookup, err = tx.NextLookup(ctx); err != nil {
			return v, err
		}
	}
	v.market, err = tx.NextMarket(ctx, now.Add(-e.MarketAge))
	return v, err
}

// actKind is a kind of action.
type actKind string

const (
	actWait    actKind = "wait"
	actDecide  actKind = "decide"
	actFlight  actKind = "flight"  // Poll or recover a submission.
	actListing actKind = "listing" // Read one by its id.
	actSales   actKind = "sales"
	actPage    actKind = "page"
	actSubmit  actKind = "submit"
	actLookup  actKind = "lookup"
	actMarket  actKind = "market"
)

// action is what an account does next.
type action struct {
	kind   actKind
	write  decide.WriteKind // Of actSubmit.
	status Status
}

// next returns what an account does next: what it knows decides, so that a process that starts
// again continues where another one ended.
func (v *view) next(now time.Time) action {
	e := v.engine
	isDue := !v.due.IsZero() && !v.due.After(now)
	owed := v.creates + v.updates + v.deletes
	needed := v.sales.Before(e.salesFrom) || !v.readOnce || v.wanted != nil || v.lookup != "" || v.market != nil
	s := Status{
		Observed: !v.dirty && !isDue && !needed,
		Idle:     !v.dirty && !isDue && !needed && v.flight == nil && (owed == 0 || v.account.Run == 0),
	}
	act := func(kind actKind) action { return action{kind: kind, status: s} }
	var wake time.Time
	at := func(t time.Time) {
		if wake.IsZero() || t.Before(wake) {
			wake = t
		}
	}
	if v.dirty || isDue {
		return act(actDecide)
	}
	if e.pausedTo.After(now) {
		s.Next = e.pausedTo
		return action{kind: actWait, status: s}
	}
	if v.flight != nil {
		if !v.flight.NextAt.After(now) {
			return act(actFlight)
		}
		at(v.flight.NextAt)
	}
	salesDue := v.sales.Add(e.Sales)
	switch {
	case !v.readOnce:
		return act(actPage)
	case v.sales.Before(e.salesFrom), v.account.Run > 0 && !salesDue.After(now) && !s.Idle:
		return act(actSales)
	case v.wanted != nil:
		return act(actListing)
	}
	if v.account.Run > 0 && owed > 0 {
		if e.noRoom.After(now) {
			at(e.noRoom)
		} else if kind := v.submit(); kind != "" {
			return action{kind: actSubmit, write: kind, status: s}
		}
	}
	switch {
	case v.lookup != "":
		return act(actLookup)
	case v.market != nil:
		return act(actMarket)
	}
	if e.Audit > 0 && v.account.Run > 0 {
		if !v.turned.Add(e.Audit).After(now) {
			return act(actPage)
		}
		at(v.turned.Add(e.Audit))
	}
	if v.account.Run > 0 && !s.Idle {
		at(salesDue)
	}
	if !v.due.IsZero() {
		at(v.due)
	}
	s.Next = wake
	return action{kind: actWait, status: s}
}

// submit returns the kind of the next batch, "" if it is better to wait for more items: a batch is
// sent when it is full, or when nothing can add to it. Deletes and deactivations are first, because
// an oversold item costs a penalty; of the rest creates keep a half while any wait.
func (v *view) submit() decide.WriteKind {
	isReady := func(n int) bool { return n >= maxItems || n > 0 && v.lookup == "" }
	switch {
	case v.deletes > 0:
		return decide.WriteDelete
	case v.urgent:
		return decide.WriteUpdate
	case isReady(v.creates) && (v.updates == 0 || v.engine.turn%2 == 0):
		return decide.WriteCreate
	case v.updates > 0:
		return decide.WriteUpdate
	case isReady(v.creates):
		return decide.WriteCreate
	default:
		return ""
	}
}

// do does an action.
func (e *Engine) do(ctx context.Context, act action, v view) error {
	switch act.kind {
	case actDecide:
		return e.decideDirty(ctx, time.Now())
	case actFlight:
		return e.flight(ctx, v.flight)
	case actListing:
		return e.readListing(ctx, v.wanted)
	case actSales:
		return e.readSales(ctx)
	case actPage:
		return e.readPage(ctx, v.page)
	case actSubmit:
		return e.submit(ctx, v.account, act.write)
	case actLookup:
		return e.lookUp(ctx, v.lookup)
	case actMarket:
		return e.readMarket(ctx, v.market)
	default:
		return nil
	}
}
