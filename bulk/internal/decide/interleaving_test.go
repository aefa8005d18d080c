package decide

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/gen"
)

// world is a model of the marketplace and of the ledger for one row, in which everything may
// happen between any two steps.
type world struct {
	t    *testing.T
	rand *rand.Rand
	now  time.Time
	log  []string

	// The marketplace.
	real map[string]*Listing // With the true presence, never PresenceUnknown.
	ids  []string            // Of real, in order of creation.
	// timeless are sales whose time the service does not show.
	timeless map[string]bool
	others   gen.Amount // The lowest ask of others; absent if there is none.

	// The ledger.
	row    Row
	counts []Count
	market Market
	writes []*write

	// What the inventory has said, kept in another way than the ledger does: all that it said since
	// the last newest time is about one stock, counted at since.
	since    time.Time
	stated   *Count
	older    *Count // In force, and older than stated.
	quantity int
}

// write is a write that the ledger has recorded.
type write struct {
	Write
	terms   Terms
	at      time.Time
	arrived bool // Applied or lost: nothing more happens to it.
	failed  bool
	made    []string
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		t: t, rand: rand.New(rand.NewPCG(seed, 12)), now: clock(0), real: make(map[string]*Listing), others: "120",
		timeless: make(map[string]bool),
	}
	w.row = fixedRow(0)
	if w.rand.IntN(2) == 0 {
		w.row.Price = stock.Price{Kind: stock.PriceBelowLowest, Less: "1", Floor: "20", Fallback: "150"}
	}
	w.state(3, time.Time{})
	return w
}

func (w *world) logf(format string, args ...any) {
	w.log = append(w.log, w.now.Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

func (w *world) chance(percent int) bool { return w.rand.IntN(100) < percent }

// pick returns a listing of the marketplace that fits, nil if none does.
func (w *world) pick(fits func(*Listing) bool) *Listing {
	var found []*Listing
	for _, id := range w.ids {
		if fits(w.real[id]) {
			found = append(found, w.real[id])
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[w.rand.IntN(len(found))]
}

func isLive(l *Listing) bool   { return l.Presence == PresenceLive }
func isActive(l *Listing) bool { return isLive(l) && l.Active }

// state gives the ledger an inventory.
func (w *world) state(quantity int, asOf time.Time) {
	w.logf("the inventory has %d as of %v", quantity, asOf)
	w.row.Quantity, w.row.AsOf, w.row.Missing = quantity, asOf, false
	var current Count
	w.counts, current, w.row.Before = Observe(w.counts, quantity, asOf, w.now)
	w.row.CountedAt = current.At

	w.quantity, w.older = quantity, nil
	switch {
	case asOf.IsZero() && w.since.IsZero():
		w.since = w.now
	case asOf.IsZero():
	case w.stated == nil || asOf.After(w.stated.AsOf):
		w.stated = &Count{Quantity: quantity, AsOf: asOf, At: earlier(asOf, w.now)}
		w.since = w.stated.At
	case asOf.Equal(w.stated.AsOf) && quantity == w.stated.Quantity:
	default:
		w.older = &Count{Quantity: quantity, AsOf: asOf, At: earlier(asOf, w.now)}
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// stock returns how many listings there may be.
func (w *world) stock() int {
	soldSince := func(at time.Time) int {
		n := 0
		for _, l := range w.real {
			if l.Presence == PresenceSold && !l.SoldAt.Before(at) {
				n++
			}
		}
		return n
	}
	if w.older != nil {
		return max(0, min(w.older.Quantity-soldSince(w.older.At), w.stated.Quantity-soldSince(w.stated.At)))
	}
	return max(0, w.quantity-soldSince(w.since))
}

// own returns the asks that the ledger knows of.
func (w *world) own() []Ask {
	var asks []Ask
	for _, l := range w.row.Listings {
		if l.Presence == PresenceLive && l.Active {
			asks = append(asks, Ask{ListingID: l.ID, Amount: l.Amount})
		}
	}
	return asks
}

// decide decides, and checks that what the ledger would create is in stock, by what is true and not
// only by what the ledger knows.
func (w *world) decide() Decision {
	w.row.InFlight = nil
	for _, had := range w.writes {
		w.row.InFlight = append(w.row.InFlight, had.Write)
	}
	d := Decide(w.row, w.market, w.own(), w.now, Policy{})
	exist := d.Creates
	for _, l := range w.real {
		if l.Presence == PresenceLive {
			exist++
		}
	}
	for _, had := range w.writes {
		if had.Kind == WriteCreate && !had.arrived {
			exist += had.Quantity
		}
		w.require(!had.Unknown || d.Creates+len(d.Updates)+len(d.Deletes) == 0, "a row of unknown outcome is left alone")
	}
	for _, id := range slices.Concat(d.Deletes, updated(d)) {
		w.require(!slices.ContainsFunc(w.writes, func(had *write) bool { return had.ListingID == id }),
			"%s has a write in flight: %+v", id, d)
	}
	if len(d.Deletes) > 0 {
		left := d.Live + d.MayLive - len(d.Deletes)
		for _, had := range w.writes {
			if had.Kind == WriteDelete && w.known(had.ListingID).Presence == PresenceLive {
				left--
			}
		}
		w.require(left >= d.Owed, "no more than the surplus is deleted: %+v", d)
	}
	if d.Creates > 0 {
		w.require(exist <= w.stock(), "%d listings, %d in stock: %+v", exist, w.stock(), d)
	}
	return d
}

func (w *world) require(ok bool, format string, args ...any) {
	w.t.Helper()
	if !ok {
		for _, line := range w.log {
			w.t.Log(line)
		}
		require.Truef(w.t, ok, format, args...)
	}
}

func updated(d Decision) (ids []string) {
	for _, u := range d.Updates {
		ids = append(ids, u.ListingID)
	}
	return ids
}

// record records some of what is owed. percent is the chance of each write.
func (w *world) record(percent int) (recorded int) {
	d := w.decide()
	add := func(kind WriteKind, id string, quantity int, terms Terms) {
		w.logf("record %s %s %d %+v", kind, id, quantity, terms)
		w.writes = append(w.writes, &write{Write: Write{Kind: kind, ListingID: id, Quantity: quantity}, terms: terms, at: w.now})
		recorded++
	}
	for _, id := range d.Deletes {
		if w.chance(percent) {
			add(WriteDelete, id, 0, Terms{})
		}
	}
	for _, u := range d.Updates {
		if !w.chance(percent) {
			continue
		}
		add(WriteUpdate, u.ListingID, 0, u.Terms)
		if u.Priced {
			l := w.known(u.ListingID)
			l.ChangedAt = append(l.ChangedAt, w.now)
		}
	}
	if d.Creates > 0 && w.chance(percent) {
		n := d.Creates
		if percent < 100 {
			n = 1 + w.rand.IntN(n)
		}
		add(WriteCreate, "", n, d.Terms)
	}
	return recorded
}

// arrive applies a write at the marketplace, or loses it.
func (w *world) arrive(had *write, lost bool) {
	had.arrived = true
	w.logf("%s %s arrives, lost %t", had.Kind, had.ListingID, lost)
	if lost {
		return
	}
	if had.Kind == WriteCreate {
		for range had.Quantity {
			id := strconv.Itoa(len(w.ids))
			w.real[id] = &Listing{ID: id, Presence: PresenceLive, Variant: "v", CreatedAt: w.now}
			setTerms(w.real[id], had.terms)
			w.ids = append(w.ids, id)
			had.made = append(had.made, id)
		}
		return
	}
	l := w.real[had.ListingID]
	switch {
	case l.Presence != PresenceLive:
		had.failed = true
	case had.Kind == WriteDelete:
		l.Presence, l.Active = PresenceEnded, false
	default:
		setTerms(l, had.terms)
	}
}

func setTerms(l *Listing, t Terms) {
	l.Amount, l.Currency, l.ExpiresAt, l.Active = t.Amount, t.Currency, t.ExpiresAt, t.Active
}

// learn ends a write in the ledger. Creates that were lost made nothing.
func (w *world) learn(had *write) {
	w.logf("learn of %s %s: failed %t, made %v", had.Kind, had.ListingID, had.failed, had.made)
	w.writes = slices.DeleteFunc(w.writes, func(other *write) bool { return other == had })
	for _, id := range had.made {
		// The result of a batch has the listings as they were made, not as they are now.
		l := Listing{ID: id, Presence: PresenceLive, Variant: "v", CreatedAt: had.at, RecordedAt: had.at}
		setTerms(&l, had.terms)
		w.row.Listings = append(w.row.Listings, l)
	}
	if had.Kind == WriteCreate {
		return
	}
	l := w.known(had.ListingID)
	switch {
	case had.failed:
		l.Presence = PresenceUnknown // To be read by id.
	default:
		w.read(l)
	}
}

func (w *world) known(id string) *Listing {
	i := slices.IndexFunc(w.row.Listings, func(l Listing) bool { return l.ID == id })
	return &w.row.Listings[i]
}

// read gives the ledger what is true of a listing.
func (w *world) read(l *Listing) {
	changed, recorded := l.ChangedAt, l.RecordedAt
	*l = *w.real[l.ID]
	l.ChangedAt, l.RecordedAt, l.ReadAt = changed, recorded, w.now
	if w.timeless[l.ID] {
		l.SoldAt = time.Time{}
	}
}

func (w *world) readMarket() {
	lowest := w.others
	for _, l := range w.real {
		if !isActive(l) || l.Currency != w.row.currency() {
			continue
		}
		mine, ok := positive(l.Amount)
		other, has := positive(lowest)
		if ok && (!has || mine.Less(other)) {
			lowest = l.Amount
		}
	}
	w.market = Market{LowestAsk: lowest, ReadAt: w.now}
}

// step does one thing that can happen.
func (w *world) step() {
	w.now = w.now.Add(time.Duration(1+w.rand.IntN(1800)) * time.Second)
	switch w.rand.IntN(25) {
	case 0, 1: // A sale.
		if l := w.pick(isActive); l != nil {
			w.logf("%s is sold", l.ID)
			l.Presence, l.Active, l.SoldAt = PresenceSold, false, w.now
			w.timeless[l.ID] = w.chance(5)
		}
	case 2: // A sale ends without a payout.
		if l := w.pick(func(l *Listing) bool { return l.Presence == PresenceSold && !l.Unpaid }); l != nil {
			w.logf("the sale of %s ends without a payout", l.ID)
			l.Unpaid, l.EndedAt = true, w.now
		}
	case 3: // The seller counts, by a clock that may be ahead.
		w.state(w.rand.IntN(7), w.now.Add(max(0, time.Duration(w.rand.IntN(6)-3)*time.Hour)))
	case 4: // A file that is edited without a time, or an old one.
		w.state(w.rand.IntN(7), time.Time{})
	case 5: // A file with an old time.
		w.state(w.rand.IntN(7), w.now.Add(-time.Duration(w.rand.IntN(24))*time.Hour))
	case 6:
		w.editRow()
	case 7:
		w.editElsewhere()
	case 8: // Pages, which may lack a listing.
		for i := range w.row.Listings {
			l := &w.row.Listings[i]
			if w.chance(10) && l.Presence == PresenceLive {
				w.logf("the pages lack %s", l.ID)
				l.Presence = PresenceUnknown
			} else {
				w.read(l)
			}
		}
	case 9: // The sales.
		for i := range w.row.Listings {
			if l := &w.row.Listings[i]; w.real[l.ID].Presence == PresenceSold {
				w.read(l)
			}
		}
	case 10:
		w.readMarket()
		for _, id := range w.decide().Reads {
			w.read(w.known(id))
		}
	case 11, 12, 13, 14:
		w.record(70)
	case 15, 16, 17, 18: // A write arrives, or its request is lost.
		if i := slices.IndexFunc(w.writes, func(had *write) bool { return !had.arrived }); i >= 0 {
			w.arrive(w.writes[i], w.chance(20))
		}
	case 19: // The process dies: what it sent is of unknown outcome.
		w.logf("crash")
		for _, had := range w.writes {
			had.Unknown = true
		}
	case 24: // The same file again.
		w.state(w.row.Quantity, w.row.AsOf)
	case 20, 21, 22, 23: // Results are read, or recovery finds out.
		if i := slices.IndexFunc(w.writes, func(had *write) bool { return had.arrived }); i >= 0 {
			w.learn(w.writes[i])
		}
	}
}

func (w *world) editRow() {
	switch w.rand.IntN(5) {
	case 0:
		w.row.Active = new(w.chance(50))
	case 1:
		w.row.Price.Amount = gen.Amount(strconv.Itoa(90 + w.rand.IntN(20)))
	case 2:
		w.row.ExpiresAt = gen.TimeOf(w.now.Add(time.Duration(w.rand.IntN(2000)-24) * time.Hour))
	case 3:
		w.row.Currency = []gen.CurrencyCode{"USD", "EUR"}[w.rand.IntN(2)]
		w.market = Market{}
	case 4:
		w.row.Missing = true
	}
	w.logf("row: %+v", w.row.Row)
}

func (w *world) editElsewhere() {
	w.others = []gen.Amount{"", "80", "100.0000", "101", "140"}[w.rand.IntN(5)]
	l := w.pick(isLive)
	if l == nil {
		return
	}
	switch w.rand.IntN(4) {
	case 0:
		l.Presence, l.Active = PresenceEnded, false
	case 1:
		l.Active, l.ExpiresAt = false, gen.Time{}
	case 2:
		l.Amount = gen.Amount(strconv.Itoa(50 + w.rand.IntN(100)))
	case 3:
		l.ExpiresAt = gen.TimeOf(w.now.Add(time.Hour))
	}
	w.logf("elsewhere: %+v", *l)
}

// settle ends the noise: each round reads everything, does what is owed and lets it arrive.
func (w *world) settle() {
	idle := 0
	for round := 0; idle < 3; round++ {
		w.require(round < 40, "something is owed for ever: %+v", w.decide())
		w.now = w.now.Add(5 * time.Hour)
		for _, had := range slices.Clone(w.writes) {
			if !had.arrived {
				w.arrive(had, false)
			}
			w.learn(had)
		}
		for _, l := range w.real {
			if !l.ExpiresAt.IsZero() && !l.ExpiresAt.After(w.now) {
				l.Active = false // The ask has ended.
			}
		}
		for i := range w.row.Listings {
			w.read(&w.row.Listings[i])
		}
		w.readMarket()
		if w.record(100) == 0 {
			idle++
		} else {
			idle = 0
		}
	}
	d := w.decide()
	w.require(!slices.Contains(d.Reasons, ReasonInFlight) && len(d.Reads) == 0, "nothing is under way: %+v", d)
	live := 0
	for _, l := range w.real {
		if l.Presence != PresenceLive {
			continue
		}
		live++
		if w.row.Missing {
			continue
		}
		w.require(l.Active == w.row.active(w.now), "%s is active as the row is: %+v", l.ID, d)
		if l.Active && w.row.Price.Kind == stock.PriceFixed {
			w.require(l.Amount.Equal(w.row.Price.Amount) && l.Currency == w.row.currency(), "%s has the terms of the row: %+v", l.ID, *l)
		}
	}
	w.require(live == d.Live, "%d listings, the ledger knows of %d", live, d.Live)
	if w.row.Missing {
		return
	}
	w.require(live <= w.stock(), "%d listings, %d in stock", live, w.stock())
	w.require(live == d.Owed || live < d.Owed && w.row.expired(w.now), "%d listings, %d are owed", live, d.Owed)
}

func checkInterleaving(t *testing.T, seed uint64) {
	t.Helper()
	w := newWorld(t, seed)
	w.logf("seed %d", seed)
	for range 120 {
		w.step()
	}
	w.settle()
}

func TestDecide_AnyInterleaving(t *testing.T) {
	for seed := range uint64(1000) {
		checkInterleaving(t, seed)
	}
	for range 200 {
		checkInterleaving(t, rand.Uint64())
	}
}
