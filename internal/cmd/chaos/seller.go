package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/inproc"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// settleBound is the longest time that the sandbox takes to show the first listing of a batch.
func settleBound() time.Duration { return sandbox.SettleWithin(workDelay) }

// sellSeed sells the inventory of a seed, and compares it with the listings of the sandbox.
func (r run) sellSeed(ctx context.Context, seed uint64) (o outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.deadline)
	defer cancel()
	market, err := sandbox.New(sandbox.Options{Seed: seed, Delay: workDelay, Quirks: r.quirks})
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, market.Close()) }()
	connect := overHTTP1
	if seed%2 == 0 {
		connect = overHTTP2
	}
	broken, err := connect(market, r.network(seed))
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, broken.close()) }()
	c, err := dial(market, broken.url, broken.transport)
	if err != nil {
		return o, err
	}

	s := seller{c: c, blind: r.blind, out: r.out}
	batches := inventory(seed, r.listings)
	for i, items := range batches {
		if err := s.sell(ctx, items); err != nil {
			return s.outcome, fmt.Errorf("batch %d of %d: %w", i+1, len(batches), err)
		}
	}
	truth, err := dial(market, "http://127.0.0.1", &inproc.Transport{Handler: market})
	if err != nil {
		return s.outcome, err
	}
	return s.outcome, s.compare(ctx, truth, batches)
}

// dial returns a client of the sandbox.
func dial(market *sandbox.Sandbox, url string, transport http.RoundTripper) (*client.Client, error) {
	return client.New(
		client.WithBaseURL(url+sandbox.BasePath), client.WithAPIKey(market.APIKey()), client.WithToken(market.Token()),
		client.WithHTTPClient(&http.Client{Transport: transport}), client.WithQuota(quota.Unlimited),
		client.WithRetry(client.RetryPolicy{MaxAttempts: 8, MinDelay: 2 * time.Millisecond, MaxDelay: 50 * time.Millisecond}),
	)
}

// inventory draws batches of at most 100 listings. Many items are equal, within a batch and between
// batches, because equal batches are the hardest to distinguish.
func inventory(seed uint64, listings int) [][]gen.CreateItem {
	random := rand.New(rand.NewPCG(seed, 1))
	products := sandbox.Catalog()
	var batches [][]gen.CreateItem
	for listings > 0 {
		var items []gen.CreateItem
		product := products[random.IntN(len(products))]
		for room := min(100, listings); room > 0; {
			n := min(room, 1+random.IntN(10))
			variant := product.Variants[random.IntN(len(product.Variants))]
			amount := gen.Amount(fmt.Sprintf("%d.%02d", 100+random.IntN(5), 50*random.IntN(2)))
			items = append(items, gen.CreateItem{VariantID: variant.ID, Amount: amount, Quantity: gen.Int(n)})
			room, listings = room-n, listings-n
		}
		batches = append(batches, items)
	}
	return batches
}

// seller sells one inventory. It settles each batch before it submits the next.
type seller struct {
	c     *client.Client
	blind bool
	out   io.Writer
	known []string // Id of each batch so far; "" if its outcome is unknown.
	outcome
}

// sell submits one batch until it is known to have landed once, and waits for it.
func (s *seller) sell(ctx context.Context, items []gen.CreateItem) error {
	var batch *client.Batch[gen.CreateBatchItem]
	err := retry(ctx, "submit", func() error {
		submission, err := recovery.New(items) // other programs save it here
		if err != nil {
			return err
		}
		batch, err = recovery.Submit(ctx, s.c, submission)
		switch {
		case batch != nil && !s.blind:
			return nil // also beside an error: what is left of the response has the id
		case ctx.Err() != nil || !errors.Is(err, client.ErrOutcomeUnknown) || s.blind:
			return err // refused or not sent; if blind, also what may have landed
		}
		batch, err = s.recover(ctx, submission, err)
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
	return retry(ctx, "wait", func() error {
		_, err := batch.Wait(ctx, client.WithPollInterval(pollFirst, pollMost))
		return err
	})
}

// recover reads until there is a verdict, through the same broken network. It returns the batch if
// it landed, failure if it was not seen, and neither if that cannot be told.
func (s *seller) recover(
	ctx context.Context, submission recovery.Submission, failure error,
) (*client.Batch[gen.CreateBatchItem], error) {
	var verdict recovery.Verdict
	err := retry(ctx, "recover", func() (err error) {
		verdict, err = recovery.Recover(ctx, s.c, submission, recovery.Options{Known: s.known, Settle: settleBound()})
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

// kind is what distinguishes the listings of an inventory, besides their amounts.
type kind struct{ batchID, variantID string }

// surplus counts listings by amount.
type surplus map[gen.Amount]int

// add adds n to the count of the equal amount.
func (s surplus) add(a gen.Amount, n int) {
	for amount := range s {
		if amount.Equal(a) {
			a = amount
			break
		}
	}
	s[a] += n
}

// compare counts the listings that the sandbox lacks, and those that it has more often than they
// were sold. It counts by batch, so that one batch that is lost does not make up for another that
// is there twice.
func (s *seller) compare(ctx context.Context, truth *client.Client, batches [][]gen.CreateItem) error {
	counts := map[kind]surplus{}
	add := func(k kind, a gen.Amount, n int) {
		if counts[k] == nil {
			counts[k] = surplus{}
		}
		counts[k].add(a, n)
	}
	for i, items := range batches {
		for _, item := range items {
			add(kind{s.known[i], item.VariantID}, item.Amount, -int(item.Quantity))
		}
	}
	for listing, err := range truth.Listings.List(ctx, client.ListingFilter{}) {
		if err != nil {
			return fmt.Errorf("count the listings: %w", err)
		}
		add(kind{listing.Batch.BatchID, listing.Variant.VariantID}, listing.Amount, 1)
	}
	for _, amounts := range counts {
		for _, n := range amounts {
			s.lost += max(0, -n)
			s.duplicated += max(0, n)
		}
	}
	return nil
}

// maxFailures is how often in a row a step may fail. One in five requests fails, so ten failures in
// a row are not chance.
const maxFailures = 10

var errStuck = errors.New("the step keeps failing")

// retry repeats a step until it succeeds. It gives up if the failure is not transient, if the step
// failed too often, or when ctx ends. The error names the step.
func retry(ctx context.Context, name string, step func() error) error {
	for failures := 1; ; failures++ {
		err := step()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil || errors.Is(err, errStuck) || !client.IsTransient(err):
			return fmt.Errorf("%s: %w", name, err)
		case failures == maxFailures:
			return fmt.Errorf("%s: %w, %d times in a row: %w", name, errStuck, failures, err)
		}
	}
}
