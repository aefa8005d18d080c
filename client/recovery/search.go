package recovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// statuses are all that a listing can have. They are asked for by name, because services hide some
// of them otherwise. A list without a filter also has those that this module does not know.
var statuses = [...]gen.ListingStatus{
	gen.ListingStatusActive, gen.ListingStatusInactive, gen.ListingStatusMatched,
	gen.ListingStatusCompleted, gen.ListingStatusCanceled, gen.ListingStatusDeleted,
}

// search looks for the batch of a submission.
type search struct {
	evidence
	submission Submission
	inputs     inputs
	total      int       // Listings that the submission makes.
	until      time.Time // The latest time at which the batch was created.

	variants []string // To list; all if there are none.
	singly   bool     // The service refuses several statuses at once, or one of them.

	candidates     []string          // Batches that a listing has ever named and that are not ruled out.
	ruledOut       map[string]bool   // Batches that are not of the submission.
	matches        []string          // Batches that are equal to that of the submission.
	doubts         map[string]string // Why a candidate, or a listing without a batch, is not ruled out.
	otherInventory map[string]bool   // Batches with an inventory type that the submission did not ask for.
	incomplete     string            // Why the last look may not have seen everything.
}

func newSearch(c *client.Client, submission Submission, opts Options, latest time.Time) *search {
	s := &search{
		evidence: newEvidence(c, submission.MadeAt, opts), submission: submission, inputs: submission.inputs(),
		until:    latest.Add(opts.Skew), // not by this clock, which may be slow
		ruledOut: map[string]bool{}, doubts: map[string]string{}, otherInventory: map[string]bool{},
	}
	for _, i := range submission.Items {
		s.total += int(i.Quantity)
		if !slices.Contains(s.variants, i.VariantID) {
			s.variants = append(s.variants, i.VariantID)
		}
	}
	if len(s.variants) > 100 {
		s.variants = nil // they would make a URL that is longer than servers take
	}
	return s
}

// look reads everything once.
func (s *search) look(ctx context.Context) (Verdict, error) {
	ctx = s.observe(ctx)
	s.incomplete = ""
	// assumed: a list of expired listings may lack the others.
	for _, expired := range []bool{false, true} {
		if err := s.listAll(ctx, expired); err != nil {
			return Verdict{}, err
		}
	}
	for _, id := range slices.Clone(s.candidates) {
		if !slices.Contains(s.matches, id) {
			s.examine(ctx, id)
		}
	}
	reasons := []string{s.early, s.clocks, s.incomplete}
	for _, key := range slices.Sorted(maps.Keys(s.doubts)) {
		reasons = append(reasons, s.doubts[key])
	}
	v := decide(s.matches, s.candidates, reasons...)
	if v.Kind == Landed {
		v.Batch = s.c.Batches.ResumeCreate(s.matches[0])
	}
	return v, ctx.Err()
}

// listAll reads the listings without a filter for statuses, and with every status by name.
func (s *search) listAll(ctx context.Context, expired bool) error {
	err := s.list(ctx, expired)
	if refused(err) && s.variants != nil {
		s.variants = nil // one is not a valid id, which fails one item of a batch but a whole list
		err = s.list(ctx, expired)
	}
	if err != nil {
		return err
	}
	if !s.singly {
		err := s.list(ctx, expired, statuses[:]...)
		if !refused(err) {
			return err
		}
		s.singly = true
	}
	refusals := 0
	for _, status := range statuses {
		if err := s.list(ctx, expired, status); refused(err) {
			refusals++ // no listing has a status that the service does not know
		} else if err != nil {
			return err
		}
	}
	if refusals == len(statuses) {
		s.incomplete = "the service refuses to list any status by name"
	}
	return nil
}

// refused reports whether the service or the client refused the filter of a list.
func refused(err error) bool {
	return errors.Is(err, client.ErrBadRequest) || errors.Is(err, client.ErrInvalidArgument)
}

// list reads the listings of some statuses and records the batches that they name.
func (s *search) list(ctx context.Context, expired bool, statuses ...gen.ListingStatus) error {
	s.begin()
	n := 0
	filter := client.ListingFilter{
		VariantIDs: s.variants, From: s.since.AddDate(0, 0, -1), Statuses: statuses, Expired: expired,
	}
	for l, err := range s.c.Listings.List(ctx, filter) {
		if err != nil {
			return err
		}
		n++
		s.add(l)
	}
	if gap := s.gap(n); gap != "" {
		s.incomplete = gap
	}
	return nil
}

// before reports whether a time of the service is certainly before the submission was made.
func (s *search) before(at gen.Time) bool {
	s.decode()
	return !s.zoneless && !at.IsZero() && at.Before(s.since)
}

// add records one listing.
func (s *search) add(l gen.Listing) {
	key := "listing " + l.ListingID
	if l.ListingID != "" {
		delete(s.doubts, key) // it may name its batch now
	}
	if s.before(l.CreatedAt) {
		return // its batch is even older
	}
	if l.Batch == nil || l.Batch.BatchID == "" {
		if why := s.mayBeOurs(l); why != "" {
			s.doubts[key] = key + " without a batch: " + why
		}
		return
	}
	id := l.Batch.BatchID
	s.otherInventory[id] = s.otherInventory[id] || !s.submission.requests(l)
	if !s.ruledOut[id] && !s.known[id] && !slices.Contains(s.candidates, id) {
		s.candidates = append(s.candidates, id)
	}
}

// mayBeOurs returns why a listing without a batch may be of the submission; "" if it cannot.
func (s *search) mayBeOurs(l gen.Listing) string {
	listed := terms{
		variant: l.Variant.VariantID, amount: string(l.Amount), currency: string(l.CurrencyCode),
	}.values()
	same := func(i gen.CreateItem) bool { return !differ(folded(i.VariantID), listed[variant]) }
	likely := func(i gen.CreateItem) bool { return agree(s.submission.termsOf(i).values(), listed) }
	switch {
	case !slices.ContainsFunc(s.submission.Items, same):
		return ""
	case slices.ContainsFunc(s.submission.Items, likely):
		return "fits an item"
	case l.CreatedAt.IsZero() || !l.CreatedAt.Equal(l.UpdatedAt.Time):
		return "may have been updated since createdAt"
	default:
		return ""
	}
}

// examine reads a candidate and compares it with the submission.
func (s *search) examine(ctx context.Context, id string) {
	why, ruledOut := s.compare(ctx, id)
	delete(s.doubts, id)
	switch {
	case ruledOut:
		s.ruledOut[id] = true // the inputs of a batch do not change
		s.candidates = slices.DeleteFunc(s.candidates, func(other string) bool { return other == id })
	case why == "":
		s.matches = append(s.matches, id)
	default:
		s.doubts[id] = fmt.Sprintf("batch %s: %s", id, why)
	}
}

// compare returns why a batch is not certain to be that of the submission, "" if it is, and whether
// it is certain not to be.
func (s *search) compare(ctx context.Context, id string) (why string, ruledOut bool) {
	batch := s.c.Batches.ResumeCreate(id)
	read, err := batch.Poll(ctx)
	if err != nil {
		return "cannot be read: " + err.Error(), false
	}
	if s.before(read.CreatedAt) {
		return "", true
	}
	items, err := batch.Results(ctx, "")
	if err != nil {
		return "items cannot be read: " + err.Error(), false
	}
	echo, total := s.submission.echoes(items), int(read.TotalItems)
	whole := len(items) == s.total && (total == s.total || total == 0)
	if s.inputs.rulesOut(echo, whole) {
		return "", true
	}
	switch {
	case total != s.total && total != 0:
		return fmt.Sprintf("%d items instead of %d", total, s.total), false
	case len(items) < s.total:
		return fmt.Sprintf("%d of %d items listed", len(items), s.total), false
	case len(items) > s.total:
		return fmt.Sprintf("lists %d items instead of %d", len(items), s.total), false
	case !s.inputs.equal(echo) && s.inputs.without(expiry).equal(echo.without(expiry)):
		return "expiry times differ or are not echoed", false
	case !s.inputs.equal(echo):
		return "items do not echo all of their input, or echo it differently", false
	case s.otherInventory[id]:
		return "listings have another inventory type than was asked for", false
	case s.zoneless:
		return "createdAt has no zone", false
	case read.CreatedAt.IsZero():
		return "createdAt is missing", false
	case read.CreatedAt.After(s.until):
		return "createdAt is later than the submission can have been sent", false
	case s.knownByAnotherCase(id):
		return "the id is that of a known batch in another case", false
	}
	return "", false
}

func (s *search) knownByAnotherCase(id string) bool {
	for known := range s.known {
		if folded(known) == folded(id) {
			return true
		}
	}
	return false
}
