package decide

import (
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

// BatchSize is the most items of a batch.
const BatchSize = 100

// How often an account does what nothing else calls for.
const (
	// SalesEvery is the time between two readings of the sales.
	SalesEvery = 5 * time.Minute
	// MarketEvery is the time after which a product's market is read again, if requests are left.
	// With more products than requests a round takes longer; the order is oldest first.
	MarketEvery = 30 * time.Minute
)

const (
	// The time that items wait for a batch to fill while more of their kind are coming.
	deletesWait = 10 * time.Second
	fillWait    = 10 * time.Minute

	// partialItems is the least that a batch has for want of item quota, and quotaWait the time that
	// it waits for more of it first.
	partialItems = 20
	quotaWait    = 5 * time.Second

	// reservePercent of the day's requests are left to writes, their results and the sales.
	reservePercent = 10
	auditPercent   = 10

	auditLeast = 10 * time.Second

	firstPoll = 3 * time.Second
	lastPoll  = 5 * time.Minute
)

// ActionKind is a kind of action.
type ActionKind string

// The kinds of actions. Each takes one request or a few; then the view is read again.
const (
	ActSettle ActionKind = "settle" // Look for the outcome of submission ID, by package recovery.
	ActSubmit ActionKind = "submit" // Submit a batch of Items items of kind Write.
	ActResult ActionKind = "result" // Read the items of batch ID, which is done.
	ActPoll   ActionKind = "poll"   // Poll batch ID. If it is not done, poll next at [PollAgain].
	ActSales  ActionKind = "sales"  // Read the sales since the mark. Next after [SalesEvery].
	ActRead   ActionKind = "read"   // Read listing ID, or several with it if that costs fewer requests.
	ActNew    ActionKind = "new"    // Read the next page of the listings that are new.
	ActLookUp ActionKind = "lookup" // Resolve the rows of product key ID, by two requests.
	ActMarket ActionKind = "market" // Read the market of product ID. Next after [MarketEvery].
	ActAudit  ActionKind = "audit"  // Read the next page of the audit. Next after [AuditEvery].
	ActSleep  ActionKind = "sleep"  // Do nothing until Until, or until the view changes.
)

// Action is what an account does next.
type Action struct {
	Kind ActionKind
	ID   string // Of what ActionKind says.

	// Write and Items are those of [ActSubmit]. A batch of updates has deactivations first, then
	// other updates. A row's creates may be divided between batches.
	Write WriteKind
	Items int

	Until time.Time // Of [ActSleep]; zero if nothing is due, so that only a change calls for more.
}

// Due is the first of what is due of a kind, by At.
type Due struct {
	ID string
	At time.Time // Not before.
}

// Queue is the items that are ready to be submitted, of a kind.
type Queue struct {
	Items int
	Since time.Time // When the first of them became ready.
	// Coming means that more are expected soon: a plan is being made, or rows of the kind wait for
	// look-ups or for a first market. A batch then waits until it is full, but at most 10 minutes (10
	// seconds for deletes and deactivations).
	Coming bool
}

// View is what the ledger knows of an account, in aggregates. A nil Due is nothing of its kind.
type View struct {
	Quota []quota.WindowState // From quota.Limiter. A window that is missing has no limit.

	Unknown *Due // Submission of unknown outcome: At is its not-after plus the settle time, or the next look.
	Results *Due // Batch that is done and whose items were not read.
	Batches Batches
	Sales   *Due // At is the last reading plus SalesEvery.
	Reads   *Due // Listing to be read, see Decision.Reads.
	New     *Due // Listings that were created since they were read last.
	LookUps *Due // Product to be resolved, by style id or GTIN.
	// FirstMarkets is a product whose market was never read and is waited for by rows with rules.
	FirstMarkets *Due
	Markets      *Due // Product whose market was read least recently: At is that plus MarketEvery.
	Audit        *Due // At is the last page plus AuditEvery.

	Deletes       Queue
	Deactivations Queue
	Updates       Queue
	Creates       Queue
	// RecentCreates and RecentUpdates are the items that were submitted in the last 5 minutes;
	// deactivations are not among them.
	RecentCreates, RecentUpdates int
}

// Batches are the batches that were submitted and are not done.
type Batches struct {
	// Unpolled is the one that was submitted first of those that were never polled; At is when it
	// was submitted.
	Unpolled *Due
	// Polled is the one of the others whose next poll is first; At is that time, from [PollAgain].
	Polled *Due
	// Typical is the longest time that any of the last 20 batches took, by the service's createdAt
	// and completedAt; zero if none is known.
	Typical time.Duration
	// Waited is the longest age that any of the polled ones had at its last poll.
	Waited time.Duration
}

// PollAgain returns when a batch that was not done at a poll is polled next. Pauses grow with the
// age of the batch, from 3 seconds to 5 minutes.
func PollAgain(submitted, polled time.Time) time.Time {
	return polled.Add(min(max(polled.Sub(submitted), firstPoll), lastPoll))
}

// AuditEvery returns the time between two pages of the audit: it takes at most 10 percent of the
// requests of a day. Without a limit of requests it is 10 seconds.
func AuditEvery(states []quota.WindowState) time.Duration {
	day := window(states, quota.RequestsPerDay)
	if day == nil || day.Limit <= 0 {
		return auditLeast
	}
	return max(auditLeast, day.Per*100/time.Duration(day.Limit*auditPercent))
}

// due returns when the first poll is due, and of which batch.
//
// All batches have one schedule, and it learns: what they are expected to take is what the last
// ones took, or twice what one that is not done has waited already. So the first batch of an
// account is polled at a growing interval, and the others once, when they are done most likely.
// A batch that never ends delays the others to 5 minutes at most.
func (b Batches) due() *Due {
	first := b.Polled
	if b.Unpolled != nil {
		expected := max(firstPoll, b.Typical+b.Typical/10, 2*b.Waited)
		at := b.Unpolled.At.Add(min(expected, lastPoll))
		if first == nil || at.Before(first.At) {
			first = &Due{ID: b.Unpolled.ID, At: at}
		}
	}
	return first
}

// Next returns what an account does next. It is a function of the ledger and the clock alone: jobs
// only call it, so that it does not matter when, where and how often they run.
//
// In order of precedence:
//
//  1. Sales, so that no write is based on sales that are long known to the service.
//  2. Outcomes of unknown submissions. Nothing of their rows is sent before.
//  3. Submissions, as the item quota admits them: deletes, then deactivations, then creates and
//     updates, of which creates keep at least a third of the items while any wait. Batches are of
//     100 items; of fewer only if no more are coming, if they have waited for long, or if the item
//     quota has no room for more soon.
//  4. Results, then polls, then listings to be read, then those that are new.
//  5. First readings of markets, whose rows lack nothing else, then look-ups. Submissions are few and
//     go first, so that neither starves: look-ups have all requests that are left, and the item
//     quota is never idle while a batch is full.
//  6. The audit, then markets, oldest first.
//
// Look-ups, audits and markets leave the last 10 percent of the day's requests to the rest. If a
// day's requests are used up, nothing is done until some are free. The limit of requests per second
// is left to the limiter.
func Next(v View, now time.Time) Action {
	s := scheduler{now: now}
	requests := window(v.Quota, quota.RequestsPerDay)
	if requests != nil && requests.Left() == 0 {
		return Action{Kind: ActSleep, Until: now.Add(max(requests.NextFree, time.Second))}
	}
	s.due(ActSales, v.Sales)
	s.due(ActSettle, v.Unknown)
	s.submit(v)
	s.due(ActResult, v.Results)
	s.due(ActPoll, v.Batches.due())
	s.due(ActRead, v.Reads)
	s.due(ActNew, v.New)
	if requests == nil || requests.Left() > requests.Limit*reservePercent/100 {
		s.due(ActMarket, v.FirstMarkets)
		s.due(ActLookUp, v.LookUps)
		s.due(ActAudit, v.Audit)
		s.due(ActMarket, v.Markets)
	} else if v.FirstMarkets != nil || v.LookUps != nil || v.Audit != nil || v.Markets != nil {
		s.wake(now.Add(max(requests.NextFree, time.Second)))
	}
	if s.found {
		return s.action
	}
	return Action{Kind: ActSleep, Until: s.until}
}

// scheduler keeps the first action that can be done now, and the first time at which there is
// another.
type scheduler struct {
	now    time.Time
	found  bool
	action Action
	until  time.Time
}

func (s *scheduler) do(a Action) {
	if !s.found {
		s.found, s.action = true, a
	}
}

func (s *scheduler) wake(t time.Time) {
	if s.until.IsZero() || t.Before(s.until) {
		s.until = t
	}
}

func (s *scheduler) due(kind ActionKind, d *Due) {
	switch {
	case d == nil:
	case d.At.After(s.now):
		s.wake(d.At)
	default:
		s.do(Action{Kind: kind, ID: d.ID})
	}
}

// submit considers the queues in their order. A batch that has no room in the item quota yet keeps
// those behind it waiting, because they would take its room.
func (s *scheduler) submit(v View) {
	deletes := s.ready(v.Deletes, deletesWait)
	deactivations := s.ready(v.Deactivations, deletesWait)
	updates := s.ready(v.Updates, fillWait)
	creates := s.ready(v.Creates, fillWait)
	if deactivations > 0 || updates > 0 {
		// What is in the batch anyway costs no other request.
		updates = min(BatchSize, v.Deactivations.Items+v.Updates.Items)
	}
	switch {
	case deletes > 0:
		s.batch(v, WriteDelete, deletes)
	case deactivations > 0:
		s.batch(v, WriteUpdate, updates)
	case creates > 0 && (updates == 0 || 3*v.RecentCreates < v.RecentCreates+v.RecentUpdates+updates):
		s.batch(v, WriteCreate, creates)
	case updates > 0:
		s.batch(v, WriteUpdate, updates)
	}
}

// ready returns the items of a batch of a queue, and 0 if it is not to be submitted yet.
func (s *scheduler) ready(q Queue, wait time.Duration) int {
	switch {
	case q.Items >= BatchSize:
		return BatchSize
	case q.Items <= 0:
		return 0
	case !q.Coming || !q.Since.Add(wait).After(s.now):
		return q.Items
	default:
		s.wake(q.Since.Add(wait))
		return 0
	}
}

// batch submits as many of the items as the item quota has room for.
func (s *scheduler) batch(v View, kind WriteKind, items int) {
	room, free := items, time.Duration(0)
	for _, name := range []quota.Window{quota.ItemsPerWindow, quota.ItemsPerDay} {
		if w := window(v.Quota, name); w != nil && w.Left() < items {
			room, free = min(room, w.Left()), max(free, w.NextFree)
		}
	}
	if room < items && (room < partialItems || free <= quotaWait) {
		s.wake(s.now.Add(max(free, 100*time.Millisecond)))
		return
	}
	s.do(Action{Kind: ActSubmit, Write: kind, Items: room})
}

// window returns the state of a window, nil if it has no limit.
func window(states []quota.WindowState, name quota.Window) *quota.WindowState {
	i := slices.IndexFunc(states, func(s quota.WindowState) bool { return s.Window == name })
	if i < 0 {
		return nil
	}
	return &states[i]
}
