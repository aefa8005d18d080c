package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// seller sells one inventory as a careful program does: it decides on one batch before it submits the next.
type seller struct {
	c     *client.Client
	blind bool
	known []string // Ids of all batches of the inventory so far; the nth is that of the nth batch, or "".
	outcome
}

// sell submits one batch until it is known to have landed once, and waits for it.
func (s *seller) sell(ctx context.Context, items []gen.CreateItem) error {
	for {
		attempt, err := client.NewAttempt(items, client.Marked()) // a program saves it here
		if err != nil {
			return err
		}
		batch, err := s.c.Batches.Submit(ctx, attempt)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return err
		case !errors.Is(err, client.ErrOutcomeUnknown), s.blind:
			continue // refused or never sent; blind, also what may have landed
		default:
			verdict, err := s.recover(ctx, attempt)
			switch {
			case err != nil:
				return err
			case verdict.Kind == client.NotSeen:
				continue
			case verdict.Kind == client.CannotTell:
				s.unknown++
				s.known = append(s.known, "")
				fmt.Println(verdict)
				return nil
			}
			s.recovered++
			batch = verdict.Batch
		}
		s.known = append(s.known, batch.ID())
		return s.wait(ctx, batch)
	}
}

// recover asks until there is a verdict: what it reads goes through the same broken network.
func (s *seller) recover(ctx context.Context, attempt client.Attempt) (client.Verdict, error) {
	for {
		verdict, err := s.c.Batches.Recover(ctx, attempt, client.Recovery{Known: s.known, Settle: settleBound(), Skew: settleBound()})
		if err == nil || ctx.Err() != nil {
			return verdict, err
		}
	}
}

func (s *seller) wait(ctx context.Context, batch *client.Batch[gen.CreateBatchItem]) error {
	for {
		_, err := batch.Wait(ctx, client.PollEvery(pollFirst, pollMost))
		if err == nil || ctx.Err() != nil {
			return err
		}
		if failed, ok := errors.AsType[*client.BatchError](err); ok {
			return fmt.Errorf("the sandbox refuses what it should take: %w", failed)
		}
	}
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
	for listing, err := range truth.Listings.List(ctx, client.ListListings{}) {
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

// direct reaches a handler without a network.
type direct struct{ http.Handler }

// RoundTrip implements [http.RoundTripper].
func (d direct) RoundTrip(req *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	d.ServeHTTP(rec, req)
	return rec.Result(), nil
}
