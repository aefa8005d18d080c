package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// SettleUpdate finds out which items of a [client.Batches.Update] of unknown outcome were applied,
// by the operations that it left on the listings since sentAt, the moment before it was sent. It
// returns a verdict for each item, in their order: [Landed] with the operation, whose Wait says how
// it ended; [NotSeen] after the settle time, if every operation since is certainly another one, so
// that the item can be sent again; or [CannotTell].
//
// It writes nothing. Each look costs a request for each listing that has not landed yet, and one
// more for each further 100 operations on it; there are ten looks by default. So 100 items that
// were applied cost 100 requests, and 100 that were not 1,000.
//
// If ctx ends first, or the service refuses to be read, the error says so; the verdicts that come
// with it have no Kind where nothing is decided.
func SettleUpdate(ctx context.Context, c *client.Client, items []gen.UpdateItem, sentAt time.Time, r Options) ([]Verdict, error) {
	writes := make([]*write, len(items))
	for i, item := range items {
		writes[i] = &write{UpdateItem: item, kinds: []gen.OperationType{gen.OperationTypeUpdate}}
		if item.Active != nil {
			writes[i].kinds = append(writes[i].kinds, gen.OperationTypeActivate, gen.OperationTypeDeactivate)
		}
	}
	return settle(ctx, c, gen.OpUpdateListingsBatch, writes, sentAt, r)
}

// SettleDelete finds out which listings a [client.Batches.Delete] of unknown outcome has deleted,
// as [SettleUpdate] does and at the same cost.
func SettleDelete(ctx context.Context, c *client.Client, listingIDs []string, sentAt time.Time, r Options) ([]Verdict, error) {
	writes := make([]*write, len(listingIDs))
	for i, id := range listingIDs {
		writes[i] = &write{UpdateItem: gen.UpdateItem{ListingID: id}, kinds: []gen.OperationType{gen.OperationTypeDelete}}
	}
	return settle(ctx, c, gen.OpDeleteListingsBatch, writes, sentAt, r)
}

// SettleOperation finds out whether a write to one listing was applied whose outcome is unknown, as
// [SettleUpdate] does: kind is what it does, such as [gen.OperationTypeUpdate] for
// [client.Listings.Update], and item the listing and the terms that were sent. A look costs a
// request for each 100 operations on the listing. A listing that [client.Listings.Create] made
// cannot be found by it, for its id is not known: create it as an [Submission].
func SettleOperation(ctx context.Context, c *client.Client, kind gen.OperationType, item gen.UpdateItem, sentAt time.Time, r Options) (Verdict, error) {
	op, ok := map[gen.OperationType]gen.OperationID{
		gen.OperationTypeUpdate: gen.OpUpdateListing, gen.OperationTypeDelete: gen.OpDeleteListing,
		gen.OperationTypeActivate: gen.OpActivateListing, gen.OperationTypeDeactivate: gen.OpDeactivateListing,
	}[kind]
	if !ok {
		return Verdict{}, &client.ArgumentError{Operation: gen.OpListListingOperations, Field: "kind", Problem: fmt.Sprintf("%q is not UPDATE, DELETE, ACTIVATE or DEACTIVATE", kind)}
	}
	verdicts, err := settle(ctx, c, op, []*write{{UpdateItem: item, kinds: []gen.OperationType{kind}}}, sentAt, r)
	if err != nil {
		return Verdict{}, err
	}
	return verdicts[0], nil
}

// write is a write to one listing and what is known of it.
type write struct {
	gen.UpdateItem
	kinds   []gen.OperationType // Of the operation that it leaves.
	matches []*client.Operation
	doubts  map[string]string // Why an operation may be it, by its id.
	unread  string            // Why the last look did not see all of its operations.
	gone    bool              // The service has no operations of this listing, and will not have any.
}

// settler settles writes that were sent at one time.
type settler struct {
	evidence
	c     *client.Client
	since time.Time
	known map[string]bool
	early string // Why the time of sending cannot be trusted.
}

func settle(ctx context.Context, c *client.Client, op gen.OperationID, writes []*write, sentAt time.Time, r Options) ([]Verdict, error) {
	if c == nil {
		return nil, &client.ArgumentError{Operation: op, Field: "client", Problem: "nil: pass what client.New returned"}
	}
	if sentAt.IsZero() {
		return nil, &client.ArgumentError{Operation: op, Field: "sentAt", Problem: "missing: pass the moment before the write was sent"}
	}
	r = r.withDefaults()
	s := &settler{evidence: evidence{skew: r.Skew}, c: c, since: sentAt.Add(-r.Skew), known: map[string]bool{}}
	if sentAt.After(time.Now()) {
		s.early = "the write was sent in the future of this clock"
	}
	for _, id := range r.Known {
		s.known[id] = true
	}
	err := lookUntil(ctx, time.Now().Add(r.Settle), r.Settle, func() (bool, error) {
		for _, w := range writes {
			if err := s.look(s.under(ctx), w); err != nil {
				return false, err
			}
		}
		return !slices.ContainsFunc(writes, func(w *write) bool { return len(w.matches) != 1 }), nil
	})
	verdicts := make([]Verdict, len(writes))
	for i, w := range writes {
		if err == nil || len(w.matches) == 1 {
			verdicts[i] = s.verdict(w)
		}
		verdicts[i].ListingID, verdicts[i].Since, verdicts[i].Settle = w.ListingID, s.since, r.Settle
	}
	if err != nil {
		return verdicts, fmt.Errorf("settle %s: not everything is decided, call again: %w", op, err)
	}
	return verdicts, nil
}

// look reads the operations on a listing once. What only this listing fails with is a doubt and no
// error.
func (s *settler) look(ctx context.Context, w *write) error {
	if w.gone || len(w.matches) == 1 {
		return nil
	}
	found, err := s.find(ctx, w)
	if err != nil {
		w.gone = errors.Is(err, client.ErrNotFound) || errors.Is(err, client.ErrBadRequest)
		if ctx.Err() != nil || !w.gone && !client.IsTransient(err) {
			return err
		}
		w.unread = "operations cannot be read: " + err.Error()
		return nil
	}
	for _, o := range found {
		s.judge(w, o)
	}
	return nil
}

// find reads the operations on a listing since the write was sent.
func (s *settler) find(ctx context.Context, w *write) ([]client.FoundOperation, error) {
	s.begin()
	found, err := s.c.Listings.OperationsSince(ctx, w.ListingID, "", s.since)
	if err != nil {
		return nil, err
	}
	wasZoneless := s.zoneless
	w.unread = s.hole(len(found))
	if s.zoneless && !wasZoneless {
		s.since = s.since.Add(-24 * time.Hour) // no zone is further from UTC
		return s.find(ctx, w)
	}
	return found, nil
}

func (s *settler) judge(w *write, o client.FoundOperation) {
	if s.known[o.ID()] || slices.ContainsFunc(w.matches, func(m *client.Operation) bool { return m.ID() == o.ID() }) {
		return
	}
	var changes any
	for _, p := range s.pages {
		if found, ok := p.changes[o.ID()]; ok {
			changes = found
		}
	}
	if o.ID() != "" {
		delete(w.doubts, o.ID()) // its changes may be there now
	}
	like, why := w.compare(o.Snapshot(), changes)
	if like == equal {
		switch {
		case o.ID() == "":
			like, why = unclear, "operationId is missing"
		case o.Doubt != "":
			like, why = unclear, o.Doubt
		case s.zoneless:
			like, why = unclear, "createdAt has no zone"
		}
	}
	switch like {
	case equal:
		w.matches = append(w.matches, o.Operation)
	case unclear:
		if w.doubts == nil {
			w.doubts = map[string]string{}
		}
		w.doubts[o.ID()] = fmt.Sprintf("operation %s: %s", o.ID(), why)
	}
}

func (s *settler) verdict(w *write) Verdict {
	if len(w.matches) == 1 {
		return Verdict{Kind: Landed, Operation: w.matches[0]}
	}
	if len(w.matches) > 1 {
		var ids []string
		for _, o := range w.matches {
			ids = append(ids, o.ID())
		}
		slices.Sort(ids)
		return Verdict{Kind: CannotTell, Candidates: ids, Reason: inShort([]string{"these operations match equally: " + strings.Join(ids, ", ")})}
	}
	reasons := slices.DeleteFunc([]string{s.early, s.clocks, w.unread}, func(text string) bool { return text == "" })
	candidates := slices.Sorted(maps.Keys(w.doubts))
	for _, id := range candidates {
		reasons = append(reasons, w.doubts[id])
	}
	if len(reasons) == 0 {
		return Verdict{Kind: NotSeen}
	}
	return Verdict{Kind: CannotTell, Candidates: candidates, Reason: inShort(reasons)}
}

// likeness is what the comparison of an operation with a write comes to.
type likeness int

const (
	different likeness = iota
	unclear
	equal
)

// compare compares an operation with the write. It is different only by its type, or by an amount
// or a currency.
func (w *write) compare(o gen.ListingOperation, changes any) (like likeness, why string) {
	if o.OperationType.Valid() && !slices.Contains(w.kinds, o.OperationType) {
		return different, ""
	}
	said := map[string][]string{}
	collect(member(changes, "additions"), said)
	collect(member(changes, "updates"), said)
	sent := map[string]string{amounts: canonical(w.Amount), currencies: folded(string(w.CurrencyCode))}
	if !w.ExpiresAt.IsZero() {
		sent[expiries] = instant(w.ExpiresAt)
	}
	if w.Active != nil {
		sent[activities] = fmt.Sprint(*w.Active)
	}
	like = equal
	for _, field := range []string{amounts, currencies, expiries, activities} {
		value := sent[field]
		if value == "" {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(said[field]), func(other string) bool { return other == value })
		switch {
		case len(said[field]) > 0 && len(others) == 0:
		case len(others) == len(said[field]) && len(others) > 0 && !slices.Contains(others, "") && (field == amounts || field == currencies):
			return different, ""
		default:
			like, why = unclear, "changes do not hold what was sent: "+field
		}
	}
	return like, why
}

// What changes say, whatever they call it.
const (
	amounts    = "amount"
	currencies = "currency"
	expiries   = "expiry"
	activities = "active"
)

// collect gathers what changes say. They are open objects, which hold terms directly, in askData or
// in ask.
func collect(value any, said map[string][]string) {
	members, _ := value.(map[string]any)
	for name, v := range members {
		text := ""
		switch v := v.(type) {
		case map[string]any:
			collect(v, said)
			continue
		case string, json.Number, bool:
			text = fmt.Sprint(v)
		}
		switch folded(name) {
		case "amount":
			said[amounts] = append(said[amounts], number(gen.Amount(text)))
		case "currency", "currencycode":
			said[currencies] = append(said[currencies], folded(text))
		case "expiresat", "askexpiresat":
			var at gen.Time
			_ = at.UnmarshalText([]byte(text)) // what is no time says nothing
			said[expiries] = append(said[expiries], instant(at))
		case "active":
			said[activities] = append(said[activities], text)
		}
	}
}

// instant writes a time with the precision that services keep; "" if there is none.
func instant(at gen.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000")
}
