package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
)

// search looks for the batch of an attempt.
type search struct {
	c            *client.Client
	attempt      Attempt
	inputs       inputs
	total        int             // Listings that the attempt makes.
	variants     []string        // To list; all if there are none.
	ruledOut     map[string]bool // Batches that are not the attempt's.
	odd          map[string]bool // Batches with inventory that the attempt did not ask for.
	since, until time.Time       // Between which the batch was created.
}

func newSearch(c *client.Client, attempt Attempt, r Options, latest time.Time) *search {
	out := &search{
		c: c, attempt: attempt, inputs: attempt.inputs(attempt.Items), ruledOut: map[string]bool{}, odd: map[string]bool{},
		since: attempt.MadeAt.Add(-r.Skew), until: latest.Add(r.Skew), // not of this clock, which may be slow
	}
	for _, id := range r.Known {
		out.ruledOut[id] = true
	}
	for _, i := range attempt.Items {
		out.total += int(i.Quantity)
		if !slices.Contains(out.variants, i.VariantID) {
			out.variants = append(out.variants, i.VariantID)
		}
	}
	if len(out.variants) > 100 {
		out.variants = nil // they would make a URL that is longer than servers take
	}
	return out
}

// look reads everything once.
func (s *search) look(ctx context.Context) (Verdict, error) {
	ids, err := s.candidates(ctx)
	if err != nil && refused(err) {
		s.variants = nil // one is no id: that fails an item of a batch, but a whole list
		ids, err = s.candidates(ctx)
	}
	if err != nil {
		return Verdict{}, err
	}
	var matches, doubtful, doubts []string
	for _, id := range ids {
		switch like, doubt := s.judge(ctx, id); like {
		case equal:
			matches = append(matches, id)
		case unclear:
			doubtful, doubts = append(doubtful, id), append(doubts, fmt.Sprintf("batch %s may be it: %s", id, doubt))
		default:
			s.ruledOut[id] = true // what a batch was made from does not change
		}
	}
	switch {
	case len(matches) == 1:
		return Verdict{Kind: Landed, Batch: s.c.Batches.OpenCreate(matches[0])}, nil
	case len(matches) > 1:
		return Verdict{Kind: CannotTell, Candidates: matches, Reason: "these batches match equally: " + strings.Join(matches, ", ")}, nil
	case len(doubts) > 0:
		return Verdict{Kind: CannotTell, Candidates: doubtful, Reason: strings.Join(doubts, "; ")}, ctx.Err()
	default:
		return Verdict{Kind: NotSeen}, nil
	}
}

// candidates finds the batches that listings show. It lists twice because nobody says whether expired listings
// come beside the others or instead of them.
func (s *search) candidates(ctx context.Context) (ids []string, err error) {
	for _, expired := range []bool{false, true} {
		filter := client.ListListings{VariantIDs: s.variants, From: s.since.AddDate(0, 0, -1), Expired: expired}
		for l, err := range s.c.Listings.List(ctx, filter) {
			if err != nil {
				return nil, err
			}
			if l.Batch == nil || l.Batch.BatchID == "" || !l.CreatedAt.IsZero() && l.CreatedAt.Before(s.since) {
				continue // a listing is younger than its batch
			}
			id := l.Batch.BatchID
			s.odd[id] = s.odd[id] || !s.attempt.asksFor(l)
			if !s.ruledOut[id] && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// refused reports whether a list was refused because a variant is no id, by the service or before.
func refused(err error) bool {
	return errors.Is(err, client.ErrBadRequest) || errors.Is(err, client.ErrInvalidArgument)
}

// judge reads a batch and compares it with the attempt. The doubt is why that is unclear.
func (s *search) judge(ctx context.Context, id string) (like likeness, doubt string) {
	batch := s.c.Batches.OpenCreate(id)
	read, err := batch.Poll(ctx)
	if err != nil {
		return unclear, "it cannot be read: " + err.Error()
	}
	total, at := int(read.TotalItems), read.CreatedAt
	if total != 0 && total != s.total || !at.IsZero() && (at.Before(s.since) || at.After(s.until)) {
		return different, ""
	}
	items, err := batch.Results(ctx)
	if err != nil {
		return unclear, "its items cannot be read: " + err.Error()
	}
	like = compare(s.inputs, s.attempt.echoed(items))
	switch {
	case len(items) < s.total:
		return unclear, fmt.Sprintf("%d of its %d items are listed", len(items), s.total)
	case like == equal && at.IsZero():
		return unclear, "it does not say when it was created"
	case like == equal && s.odd[id]:
		return unclear, "its listings have another inventory type than was asked for"
	default:
		return like, "its items do not say all that they were made from"
	}
}
