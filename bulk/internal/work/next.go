package work

import (
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// The names of marks.
const (
	markSales   = "sales"          // When sales were read last.
	markNewest  = "sales newest"   // The creation of the newest order that was read.
	markHistory = "sales history"  // When ended orders were read last.
	markReading = "reading"        // The number of the reading of all pages.
	markPage    = "reading page"   // The next page of it; 0 if it is complete.
	markBegan   = "reading began"  // When its first page was read.
	markEnded   = "reading ended"  // When the last complete reading ended.
	markTurned  = "reading turned" // When its last page was read.
	markNew     = "new"            // All listings that were created before it were read.
	markPolicy  = "policy"         // Of the newest plan.
)

// auditPause is the time between two audits of all pages.
const auditPause = time.Hour

// recently is the time over which creates and updates are balanced.
const recently = 5 * time.Minute

// view is what the ledger has that decides what an account does next.
type view struct {
	decide.View
	account  ledger.Account
	unknown  *ledger.Submission
	unpolled *ledger.Submission
	polled   *ledger.Submission
	wanted   *ledger.Listing
	market   *ledger.Market
	dirty    bool
	due      time.Time // When a row is to be decided again; zero for never.
	owed     int
	inFlight int
	page     int64
	readOnce bool // A reading of all pages has been complete since it was asked for.
	fresh    bool // Sales were read since it was asked for.
	newRead  bool // New listings were read since it was asked for, or that was put off.
}

// view reads what decides what an account does next.
func (e *Engine) view(
	ctx context.Context, tx ledger.Tx, states []quota.WindowState, now time.Time,
) (v view, err error) {
	v.Quota = states
	var sales, began, ended, turned, newest time.Time
	queue := func(q *decide.Queue, kind decide.WriteKind, rank int) func() error {
		return func() (err error) {
			q.Items, err = tx.OwedItems(ctx, kind, rank, decide.BatchSize)
			return err
		}
	}
	for _, read := range []func() error{
		func() (err error) { v.account, err = tx.State(ctx); return err },
		func() (err error) { v.dirty, err = tx.IsDirty(ctx); return err },
		func() (err error) { v.due, err = tx.NextDue(ctx); return err },
		func() (err error) { v.unknown, err = tx.Unknown(ctx); return err },
		func() (err error) { v.unpolled, err = tx.Unpolled(ctx); return err },
		func() (err error) { v.polled, err = tx.Polled(ctx); return err },
		func() (err error) { v.Batches.Typical, v.Batches.Waited, err = tx.Durations(ctx); return err },
		func() (err error) { v.wanted, err = tx.NextWanted(ctx); return err },
		func() (err error) { v.market, err = tx.NextMarket(ctx, now.Add(-decide.MarketEvery)); return err },
		func() (err error) { v.inFlight, err = tx.InFlight(ctx); return err },
		queue(&v.Deletes, decide.WriteDelete, 0),
		queue(&v.Deactivations, decide.WriteUpdate, 0),
		queue(&v.Updates, decide.WriteUpdate, 1),
		queue(&v.Creates, decide.WriteCreate, 0),
		func() (err error) { sales, err = tx.TimeMark(ctx, markSales); return err },
		func() (err error) { v.page, err = tx.IntMark(ctx, markPage); return err },
		func() (err error) { began, err = tx.TimeMark(ctx, markBegan); return err },
		func() (err error) { ended, err = tx.TimeMark(ctx, markEnded); return err },
		func() (err error) { turned, err = tx.TimeMark(ctx, markTurned); return err },
		func() (err error) { newest, err = tx.TimeMark(ctx, markNew); return err },
	} {
		if err := read(); err != nil {
			return v, err
		}
	}
	v.owed = v.Deletes.Items + v.Deactivations.Items + v.Updates.Items + v.Creates.Items
	v.readOnce = !ended.IsZero() && !ended.Before(e.needs.Pages)
	if began.Before(e.needs.Pages) {
		v.page = 0 // its first pages are too old
	}
	v.fresh = !sales.IsZero() && !sales.Before(e.needs.Sales)
	if v.newRead, err = e.isNewRead(ctx, tx, newest, now); err != nil {
		return v, err
	}
	if !v.newRead {
		v.New = &decide.Due{}
	}
	isWorking := v.account.Run > 0
	if isWorking || e.needs.LookUps {
		item, err := tx.NextLookup(ctx)
		if err != nil {
			return v, err
		}
		if item != "" {
			v.LookUps = &decide.Due{ID: item}
		}
	}
	v.Sales = &decide.Due{}
	if v.fresh {
		v.Sales.At = sales.Add(decide.SalesEvery)
	}
	if v.fresh && !isWorking {
		v.Sales = nil
	}
	if v.unknown != nil {
		v.Unknown = &decide.Due{ID: v.unknown.ID, At: v.unknown.NextAt}
	}
	if v.unpolled != nil {
		v.Batches.Unpolled = &decide.Due{ID: v.unpolled.ID, At: v.unpolled.MadeAt}
	}
	if v.polled != nil {
		v.Batches.Polled = &decide.Due{ID: v.polled.ID, At: v.polled.NextAt}
	}
	if v.wanted != nil {
		v.Reads = &decide.Due{ID: v.wanted.ID}
	}
	if v.market != nil {
		v.Markets = &decide.Due{ID: v.market.Product}
	}
	if !isWorking {
		v.Deletes, v.Deactivations, v.Updates, v.Creates = decide.Queue{}, decide.Queue{}, decide.Queue{}, decide.Queue{}
		return v, nil
	}
	if v.RecentCreates, err = tx.RecentItems(ctx, decide.WriteCreate, now.Add(-recently)); err != nil {
		return v, err
	}
	if v.RecentUpdates, err = tx.RecentItems(ctx, decide.WriteUpdate, now.Add(-recently)); err != nil {
		return v, err
	}
	isUnread := v.market != nil && v.market.ReadAt.IsZero()
	e.queue(&v.Deletes, "deletes", false, now)
	e.queue(&v.Deactivations, "deactivations", false, now)
	e.queue(&v.Updates, "updates", isUnread, now)
	e.queue(&v.Creates, "creates", isUnread || v.LookUps != nil, now)
	if e.Audit {
		v.Audit = &decide.Due{At: turned.Add(decide.AuditEvery(v.Quota))}
		if v.page == 0 {
			v.Audit.At = ended.Add(auditPause)
		}
	}
	return v, nil
}

// queue completes a queue.
func (e *Engine) queue(q *decide.Queue, name string, isComing bool, now time.Time) {
	q.Coming = isComing
	if q.Items == 0 {
		delete(e.since, name)
		return
	}
	if e.since[name].IsZero() {
		e.since[name] = now
	}
	q.Since = e.since[name]
}

// status returns what a view says of the account.
func (e *Engine) status(v *view, now time.Time) Status {
	isDue := !v.due.IsZero() && !v.due.After(now)
	isUnread := v.market != nil && v.market.ReadAt.IsZero()
	// Markets are read again that were old when it was asked for, not those that become old meanwhile.
	isOld := v.market != nil && e.needs.LookUps && v.market.ReadAt.Before(e.needs.Sales.Add(-decide.MarketEvery))
	s := Status{
		Observed: !v.dirty && !isDue && v.fresh && v.readOnce && v.newRead && v.wanted == nil && v.LookUps == nil &&
			!isUnread && !isOld,
		Pages: v.page,
	}
	s.Idle = s.Observed && v.inFlight == 0 && (v.owed == 0 || v.account.Run == 0)
	return s
}

// limit cuts a batch size to what is accepted as a whole.
func (e *Engine) limit(kind decide.WriteKind, items int) int {
	if n := e.limits[kind]; n > 0 {
		return min(n, items)
	}
	return items
}

// hasDayLeft reports whether the requests of the day are not used up.
func hasDayLeft(states []quota.WindowState) bool {
	for _, s := range states {
		if s.Window == quota.RequestsPerDay && s.Left() == 0 {
			return false
		}
	}
	return true
}

// do does an action.
func (e *Engine) do(ctx context.Context, act decide.Action, v *view) error {
	switch act.Kind {
	case decide.ActSettle:
		return e.flight(ctx, v.unknown)
	case decide.ActPoll:
		if v.unpolled != nil && v.unpolled.ID == act.ID {
			return e.flight(ctx, v.unpolled)
		}
		return e.flight(ctx, v.polled)
	case decide.ActSales:
		return e.readSales(ctx)
	case decide.ActRead:
		return e.readWanted(ctx, v.wanted)
	case decide.ActNew:
		return e.readNew(ctx)
	case decide.ActAudit:
		return e.readPage(ctx, v.page)
	case decide.ActSubmit:
		return e.submit(ctx, v.account, act.Write, e.limit(act.Write, act.Items))
	case decide.ActLookUp:
		return e.lookUp(ctx, act.ID)
	case decide.ActMarket:
		return e.readMarket(ctx, v.market)
	default:
		return nil
	}
}
