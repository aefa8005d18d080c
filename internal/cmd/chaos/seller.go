package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
)

// seller sells one inventory as a careful program does: it decides on one batch before it submits the next.
type seller struct {
	c     *client.Client
	blind bool
	out   io.Writer
	known []string // Ids of all batches of the inventory so far; the nth is that of the nth batch, or "".
	outcome
}

// sell submits one batch until it is known to have landed once, and waits for it.
func (s *seller) sell(ctx context.Context, items []gen.CreateItem) error {
	var batch *client.Batch[gen.CreateBatchItem]
	err := persist(ctx, "submit it", func() error {
		attempt, err := recovery.New(items) // a program saves it here
		if err != nil {
			return err
		}
		batch, err = recovery.Submit(ctx, s.c, attempt)
		if ctx.Err() != nil || !errors.Is(err, client.ErrOutcomeUnknown) || s.blind {
			return err // refused or never sent; blind, also what may have landed
		}
		batch, err = s.recover(ctx, attempt, err)
		return err
	})
	if err != nil {
		return err
	}
	if batch == nil {
		s.unknown++
		s.known = append(s.known, "")
		return nil
	}
	s.known = append(s.known, batch.ID())
	return persist(ctx, "see it done", func() error {
		_, err := batch.Wait(ctx, client.WithPollInterval(pollFirst, pollMost))
		return err
	})
}

// recover asks until there is a verdict: what it reads goes through the same broken network. A batch that has
// not landed is the failure it was; one that nobody can decide on is neither.
func (s *seller) recover(ctx context.Context, attempt recovery.Submission, failure error) (*client.Batch[gen.CreateBatchItem], error) {
	var verdict recovery.Verdict
	err := persist(ctx, "recover it", func() (err error) {
		verdict, err = recovery.Recover(ctx, s.c, attempt, recovery.Options{Known: s.known, Settle: settleBound()})
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case verdict.Kind == recovery.NotSeen:
		return nil, failure
	case verdict.Kind == recovery.Landed:
		s.recovered++
	default:
		_, _ = fmt.Fprintln(s.out, verdict)
	}
	return verdict.Batch, nil
}

// kind is what listings of an inventory can be told apart by.
type kind struct{ batchID, variantID, amount string }

// compare counts what is missing from the sandbox, and what is there more often than it was sold.
func (s *seller) compare(ctx context.Context, truth *client.Client, batches [][]gen.CreateItem) error {
	surplus := map[kind]int{}
	for i, items := range batches { // by batch, so that one that is lost and an equal one that is made twice both count
		for _, item := range items {
			surplus[kind{s.known[i], item.VariantID, plain(item.Amount)}] -= int(item.Quantity)
		}
	}
	for listing, err := range truth.Listings.List(ctx, client.ListingFilter{}) {
		if err != nil {
			return fmt.Errorf("count the listings: %w", err)
		}
		surplus[kind{listing.Batch.BatchID, listing.Variant.VariantID, plain(listing.Amount)}]++
	}
	for _, n := range surplus {
		s.lost += max(0, -n)
		s.duplicated += max(0, n)
	}
	return nil
}

// plain writes equal amounts the same way.
func plain(a gen.Amount) string {
	d, err := a.Decimal()
	if err != nil {
		return a.String()
	}
	return d.Trim(0).String()
}
