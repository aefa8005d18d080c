package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// SettleUpdate finds out which items of a [client.Batches.Update] of unknown outcome were applied,
// from the operations that they left on the listings since sentAt, the moment before the batch was
// sent. It returns a verdict for each item, in their order: [Landed] with the operation, whose Wait
// reports how it ended; [NotSeen] after the settle time, if every operation since differs from the
// item, which can then be sent again; or [CannotTell].
//
// It writes nothing. Each look costs a request for each listing that has not landed yet, and one
// more for each further 100 operations on it. There are ten looks by default: 100 items that were
// applied cost 100 requests, and 100 that were not cost 1,000.
//
// If ctx ends first, or the service refuses to be read, the error says so. The verdicts that are
// returned with it have no Kind where nothing is decided.
func SettleUpdate(
	ctx context.Context, c *client.Client, items []gen.UpdateItem, sentAt time.Time, opts Options,
) ([]Verdict, error) {
	writes := make([]*write, len(items))
	for i, item := range items {
		writes[i] = &write{UpdateItem: item, types: []gen.OperationType{gen.OperationTypeUpdate}}
		if item.Active != nil {
			writes[i].types = append(writes[i].types, gen.OperationTypeActivate, gen.OperationTypeDeactivate)
		}
	}
	return settle(ctx, c, gen.OpUpdateListingsBatch, writes, sentAt, opts)
}

// SettleDelete is [SettleUpdate] for the listings of a [client.Batches.Delete] of unknown outcome.
// Its cost is the same.
func SettleDelete(
	ctx context.Context, c *client.Client, listingIDs []string, sentAt time.Time, opts Options,
) ([]Verdict, error) {
	writes := make([]*write, len(listingIDs))
	for i, id := range listingIDs {
		writes[i] = &write{
			UpdateItem: gen.UpdateItem{ListingID: id}, types: []gen.OperationType{gen.OperationTypeDelete},
		}
	}
	return settle(ctx, c, gen.OpDeleteListingsBatch, writes, sentAt, opts)
}

// SettleOperation is [SettleUpdate] for a write to one listing. The type is that of the operation,
// such as [gen.OperationTypeUpdate] for [client.Listings.Update]; item is the listing and the terms
// that were sent. A look costs a request for each 100 operations on the listing.
//
// It cannot find a listing that [client.Listings.Create] made, because its id is not known: create
// it as a [Submission] instead.
func SettleOperation(
	ctx context.Context, c *client.Client, operation gen.OperationType, item gen.UpdateItem, sentAt time.Time,
	opts Options,
) (Verdict, error) {
	op, ok := map[gen.OperationType]gen.OperationID{
		gen.OperationTypeUpdate: gen.OpUpdateListing, gen.OperationTypeDelete: gen.OpDeleteListing,
		gen.OperationTypeActivate: gen.OpActivateListing, gen.OperationTypeDeactivate: gen.OpDeactivateListing,
	}[operation]
	if !ok {
		return Verdict{}, refuse(gen.OpListListingOperations, "operation",
			fmt.Sprintf("%q is not UPDATE, DELETE, ACTIVATE or DEACTIVATE", operation))
	}
	writes := []*write{{UpdateItem: item, types: []gen.OperationType{operation}}}
	verdicts, err := settle(ctx, c, op, writes, sentAt, opts)
	if err != nil {
		return Verdict{}, err
	}
	return verdicts[0], nil
}

// write is a write to one listing and what is known of it.
type write struct {
	gen.UpdateItem
	types   []gen.OperationType // Of the operation that it leaves.
	matches []*client.Operation
	doubts  map[string]string // Why an operation may be that of the write, by its id.
	unread  string            // Why the last look did not see all operations.
	gone    bool              // The service has no operations of this listing, and will not have any.
}

// settler settles writes that were sent at one time.
type settler struct{ evidence }

func settle(
	ctx context.Context, c *client.Client, op gen.OperationID, writes []*write, sentAt time.Time, opts Options,
) ([]Verdict, error) {
	if c == nil {
		return nil, refuse(op, "client", "nil: pass what client.New returned")
	}
	if sentAt.IsZero() {
		return nil, refuse(op, "sentAt", "missing: pass the moment before the write was sent")
	}
	opts = opts.withDefaults()
	s := &settler{newEvidence(c, sentAt, opts)}
	err := lookUntil(ctx, opts.settled(), opts.Settle, func() (bool, error) {
		for _, w := range writes {
			if err := s.look(s.observe(ctx), w); err != nil {
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
		verdicts[i].ListingID, verdicts[i].Since, verdicts[i].Settle = w.ListingID, s.since, opts.Settle
	}
	if err != nil {
		return verdicts, fmt.Errorf("settle (%s): not everything is decided, call again: %w", op, err)
	}
	return verdicts, nil
}

// look reads the operations on a listing once. A failure that concerns only this listing is a doubt
// and no error.
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
		s.examine(w, o)
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
	w.unread = s.gap(len(found))
	if s.zoneless && !wasZoneless {
		s.since = s.since.Add(-24 * time.Hour) // the offset of a zone is shorter
		return s.find(ctx, w)
	}
	return found, nil
}

// examine compares an operation with the write.
func (s *settler) examine(w *write, o client.FoundOperation) {
	matches := func(m *client.Operation) bool { return m.ID() == o.ID() }
	if s.known[o.ID()] || slices.ContainsFunc(w.matches, matches) {
		return
	}
	if o.ID() != "" {
		delete(w.doubts, o.ID()) // its changes may be there now
	}
	like, why := w.compare(o.Snapshot())
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
	var matches []string
	for _, o := range w.matches {
		matches = append(matches, o.ID())
	}
	reasons := []string{s.early, s.clocks, w.unread}
	candidates := slices.Sorted(maps.Keys(w.doubts))
	for _, id := range candidates {
		reasons = append(reasons, w.doubts[id])
	}
	v := decide(matches, candidates, reasons...)
	if v.Kind == Landed {
		v.Operation = w.matches[0]
	}
	return v
}

// likeness is the result of comparing an operation with a write.
type likeness int

const (
	different likeness = iota
	unclear
	equal
)

// compare compares an operation with the write. Only its type, an amount or a currency can make it
// different.
func (w *write) compare(o gen.ListingOperation) (like likeness, why string) {
	if o.OperationType.Valid() && !slices.Contains(w.types, o.OperationType) {
		return different, ""
	}
	shown := map[string][]string{}
	collect(o.Changes.Additions.Members, shown)
	collect(o.Changes.Updates.Members, shown)
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
		others := slices.DeleteFunc(slices.Clone(shown[field]), func(other string) bool { return other == value })
		isDifferent := len(others) > 0 && len(others) == len(shown[field]) && !slices.Contains(others, "")
		switch {
		case len(shown[field]) > 0 && len(others) == 0:
		case isDifferent && (field == amounts || field == currencies):
			return different, ""
		default:
			like, why = unclear, "changes lack or contradict what was sent: "+field
		}
	}
	return like, why
}

// The fields of changes, which go by several names.
const (
	amounts    = "amount"
	currencies = "currency"
	expiries   = "expiry"
	activities = "active"
)

// collect gathers the values of changes by field. Changes are open objects, which hold terms
// directly, in askData or in ask.
func collect(members gen.OpenMembers, shown map[string][]string) {
	for name, value := range members {
		var text string
		switch string(value[:min(1, len(value))]) {
		case "{":
			var inner gen.OpenMembers
			_ = json.Unmarshal(value, &inner) // the client has decoded the whole response
			collect(inner, shown)
			continue
		case `"`:
			_ = json.Unmarshal(value, &text)
		case "[", "n": // a list or null has no value
		default:
			text = string(value)
		}
		switch folded(name) {
		case "amount":
			shown[amounts] = append(shown[amounts], number(gen.Amount(text)))
		case "currency", "currencycode":
			shown[currencies] = append(shown[currencies], folded(text))
		case "expiresat", "askexpiresat":
			var at gen.Time
			_ = at.UnmarshalText([]byte(text)) // anything but a time is as if not given
			shown[expiries] = append(shown[expiries], instant(at))
		case "active":
			shown[activities] = append(shown[activities], text)
		}
	}
}
