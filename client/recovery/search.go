package recovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// statuses are those that a listing can have, to be asked for by name: services hide some of them
// otherwise. A list without a filter has those beside that this module does not know.
var statuses = [...]gen.ListingStatus{
	gen.ListingStatusActive, gen.ListingStatusInactive, gen.ListingStatusMatched,
	gen.ListingStatusCompleted, gen.ListingStatusCanceled, gen.ListingStatusDeleted,
}

// search looks for the batch of an attempt.
type search struct {
	evidence
	c            *client.Client
	attempt      Submission
	inputs       inputs
	total        int // Listings that the attempt makes.
	known        map[string]bool
	since, until time.Time // Between which the batch was created.

	variants []string // To list; all if there are none.
	singly   bool     // The service refuses several statuses at once, or one of them.

	candidates []string          // Batches that a listing has ever shown and that nothing explains.
	explained  map[string]bool   // Batches that are not the attempt's.
	matches    []string          // Batches that are equal to the attempt's.
	doubts     map[string]string // Why a candidate, or a listing without a batch, is not explained.
	odd        map[string]bool   // Batches with inventory that the attempt did not ask for.
	incomplete string            // Why the last look may not have seen everything.
	early      string            // Why the time of the attempt cannot be trusted.
}

func newSearch(c *client.Client, attempt Submission, r Options, latest time.Time) *search {
	s := &search{
		evidence: evidence{skew: r.Skew}, c: c, attempt: attempt, inputs: attempt.inputs(attempt.Items),
		since: attempt.MadeAt.Add(-r.Skew), until: latest.Add(r.Skew), // not of this clock, which may be slow
		known: map[string]bool{}, explained: map[string]bool{}, doubts: map[string]string{}, odd: map[string]bool{},
	}
	for _, id := range r.Known {
		s.known[id] = true
	}
	if attempt.MadeAt.After(time.Now()) {
		s.early = "the attempt was made in the future of this clock"
	}
	for _, i := range attempt.Items {
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
	ctx = s.under(ctx)
	s.incomplete = ""
	for _, expired := range []bool{false, true} { // no service says whether expired listings come beside the others or instead
		if err := s.listAll(ctx, expired); err != nil {
			return Verdict{}, err
		}
	}
	for _, id := range slices.Clone(s.candidates) {
		if !slices.Contains(s.matches, id) {
			s.judge(ctx, id)
		}
	}
	return s.verdict(), ctx.Err()
}

func (s *search) verdict() Verdict {
	if len(s.matches) == 1 {
		return Verdict{Kind: Landed, Batch: s.c.Batches.ResumeCreate(s.matches[0])}
	}
	if len(s.matches) > 1 {
		slices.Sort(s.matches)
		return Verdict{Kind: CannotTell, Candidates: s.matches, Reason: inShort([]string{"these batches match equally: " + strings.Join(s.matches, ", ")})}
	}
	reasons := slices.DeleteFunc([]string{s.early, s.clocks, s.incomplete}, func(text string) bool { return text == "" })
	for _, key := range slices.Sorted(maps.Keys(s.doubts)) {
		reasons = append(reasons, s.doubts[key])
	}
	if len(reasons) == 0 {
		return Verdict{Kind: NotSeen}
	}
	slices.Sort(s.candidates)
	return Verdict{Kind: CannotTell, Candidates: s.candidates, Reason: inShort(reasons)}
}

// inShort joins reasons, of which there can be thousands.
func inShort(reasons []string) string {
	const most = 10
	more := len(reasons) - most
	reasons = slices.Clone(reasons[:min(len(reasons), most)])
	for i := range reasons {
		reasons[i] = gen.OneLine(reasons[i]) // ids come from outside
	}
	text := strings.Join(reasons, "; ")
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// listAll reads the listings without a filter for statuses, and with every status by name.
func (s *search) listAll(ctx context.Context, expired bool) error {
	err := s.list(ctx, expired)
	if refused(err) && s.variants != nil {
		s.variants = nil // one is no id: that fails an item of a batch, but a whole list
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

// refused reports whether a list was refused for its filter, by the service or before.
func refused(err error) bool {
	return errors.Is(err, client.ErrBadRequest) || errors.Is(err, client.ErrInvalidArgument)
}

// list reads the listings of some statuses, and notes whose batch made them.
func (s *search) list(ctx context.Context, expired bool, statuses ...gen.ListingStatus) error {
	s.begin()
	n := 0
	filter := client.ListingFilter{VariantIDs: s.variants, From: s.since.AddDate(0, 0, -1), Statuses: statuses, Expired: expired}
	for l, err := range s.c.Listings.List(ctx, filter) {
		if err != nil {
			return err
		}
		n++
		s.note(l)
	}
	if hole := s.hole(n); hole != "" {
		s.incomplete = hole
	}
	return nil
}

// before reports whether a time of the service is before the attempt was made.
func (s *search) before(at gen.Time) bool {
	s.read()
	return !s.zoneless && !at.IsZero() && at.Before(s.since)
}

// note looks at one listing.
func (s *search) note(l gen.Listing) {
	key := "listing " + l.ListingID
	if l.ListingID != "" {
		delete(s.doubts, key) // it may show its batch now
	}
	if s.before(l.CreatedAt) {
		return // its batch is older still
	}
	if l.Batch == nil || l.Batch.BatchID == "" {
		if why := s.fits(l); why != "" {
			s.doubts[key] = key + " without a batch: " + why
		}
		return
	}
	id := l.Batch.BatchID
	s.odd[id] = s.odd[id] || !s.attempt.asksFor(l)
	if !s.explained[id] && !s.known[id] && !slices.Contains(s.candidates, id) {
		s.candidates = append(s.candidates, id)
	}
}

// fits returns why a listing without a batch may be the attempt's; "" if it cannot.
func (s *search) fits(l gen.Listing) string {
	same := func(i gen.CreateItem) bool { return !differ(folded(i.VariantID), folded(l.Variant.VariantID)) }
	likely := func(i gen.CreateItem) bool {
		return same(i) && !differ(number(i.Amount), number(l.Amount)) && !differ(folded(string(i.CurrencyCode)), folded(string(l.CurrencyCode)))
	}
	switch {
	case !slices.ContainsFunc(s.attempt.Items, same):
		return ""
	case slices.ContainsFunc(s.attempt.Items, likely):
		return "fits an item"
	case l.CreatedAt.IsZero() || !l.CreatedAt.Equal(l.UpdatedAt.Time):
		return "may have been updated since createdAt"
	default:
		return ""
	}
}

// judge reads a candidate and compares it with the attempt.
func (s *search) judge(ctx context.Context, id string) {
	why, explained := s.compare(ctx, id)
	delete(s.doubts, id)
	switch {
	case explained:
		s.explained[id] = true // what a batch was made from does not change
		s.candidates = slices.DeleteFunc(s.candidates, func(other string) bool { return other == id })
	case why == "":
		s.matches = append(s.matches, id)
	default:
		s.doubts[id] = fmt.Sprintf("batch %s: %s", id, why)
	}
}

// compare returns why a batch is not certain to be the attempt's, "" if it is, and whether it
// cannot be.
func (s *search) compare(ctx context.Context, id string) (why string, explained bool) {
	batch := s.c.Batches.ResumeCreate(id)
	read, err := batch.Poll(ctx)
	if err != nil {
		return "cannot be read: " + err.Error(), false
	}
	if s.before(read.CreatedAt) {
		return "", true
	}
	items, err := batch.Results(ctx)
	if err != nil {
		return "items cannot be read: " + err.Error(), false
	}
	echo, total := s.attempt.echoed(items), int(read.TotalItems)
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
	case s.odd[id]:
		return "listings have another inventory type than was asked for", false
	case s.zoneless:
		return "createdAt has no zone", false
	case read.CreatedAt.IsZero():
		return "createdAt is missing", false
	case read.CreatedAt.After(s.until):
		return "createdAt is later than the attempt can have been sent", false
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
