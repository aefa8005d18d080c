package recovery_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/recovery"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The errors that a service has.
var (
	errPasses  = errors.New("the service is down for a moment")
	errStays   = errors.New("the account is blocked")
	errRefused = errors.New("a variant is no id")
)

// service is what an account's listings and batches show, to be read without a network.
type service struct {
	listings []shown
	batches  map[string]gen.Batch
	items    map[string][]gen.CreateBatchItem
	fails    func(what string) error // Of a call, such as "listings" or "items b1"; nil means none does.
	calls    []string
	asked    []query
	looks    []time.Time // When the listings were read, without the expired ones.
}

// shown is a listing that is there from a time on.
type shown struct {
	gen.Listing
	from    time.Time
	expired bool
}

// query is what listings were asked for.
type query struct {
	variants []string
	from     time.Time
	expired  bool
}

var _ recovery.Reader = (*service)(nil)

func newService() *service {
	return &service{
		batches: map[string]gen.Batch{}, items: map[string][]gen.CreateBatchItem{},
		fails: func(string) error { return nil },
	}
}

func (s *service) call(ctx context.Context, what string) error {
	s.calls = append(s.calls, what)
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.fails(what)
}

func (s *service) Listings(ctx context.Context, variantIDs []string, from time.Time, expired bool) iter.Seq2[gen.Listing, error] {
	return func(yield func(gen.Listing, error) bool) {
		s.asked = append(s.asked, query{variantIDs, from, expired})
		if !expired {
			s.looks = append(s.looks, time.Now())
		}
		for _, l := range s.listings {
			there := !time.Now().Before(l.from) && l.expired == expired && (l.CreatedAt.IsZero() || !l.CreatedAt.Before(from.Truncate(24*time.Hour)))
			if there && (len(variantIDs) == 0 || slices.Contains(variantIDs, l.Variant.VariantID)) && !yield(l.Listing, nil) {
				return
			}
		}
		if err := s.call(ctx, "listings"); err != nil {
			yield(gen.Listing{}, err)
		}
	}
}

func (s *service) Batch(ctx context.Context, id string) (gen.Batch, error) {
	return s.batches[id], s.call(ctx, "batch "+id)
}

func (s *service) Items(ctx context.Context, id string) ([]gen.CreateBatchItem, error) {
	return s.items[id], s.call(ctx, "items "+id)
}

func (s *service) MayPass(err error) bool { return errors.Is(err, errPasses) }
func (s *service) Refused(err error) bool { return errors.Is(err, errRefused) }

// land makes a batch of items now, and shows its listings. It returns the batch's id.
func (s *service) land(items []gen.CreateItem) string { return s.landAfter(0, items) }

// landAfter makes a batch now whose listings are shown later.
func (s *service) landAfter(delay time.Duration, items []gen.CreateItem) string {
	id, now := fmt.Sprintf("b%d", len(s.batches)+1), time.Now()
	for _, item := range items {
		for range item.Quantity {
			l := gen.Listing{Batch: &gen.ListingBatch{BatchID: id}, CreatedAt: gen.TimeOf(now), InventoryType: cmp.Or(item.InventoryType, gen.InventoryTypeStandard)}
			l.Variant.VariantID = item.VariantID
			s.listings = append(s.listings, shown{Listing: l, from: now.Add(delay)})
			s.items[id] = append(s.items[id], gen.CreateBatchItem{ListingInput: echo(item)})
		}
	}
	s.batches[id] = gen.Batch{BatchID: id, CreatedAt: gen.TimeOf(now), TotalItems: gen.Int(len(s.items[id]))}
	return id
}

// echo is an item as a service says that it took it, with its defaults.
func echo(item gen.CreateItem) gen.CreateBatchItemInput {
	in := gen.CreateBatchItemInput{
		VariantID: item.VariantID, Amount: item.Amount, CurrencyCode: cmp.Or(string(item.CurrencyCode), "USD"), Active: cmp.Or(item.Active, new(true)),
	}
	if text, err := item.ExpiresAt.MarshalText(); err == nil {
		in.ExpiresAt = string(text)
	}
	return in
}

// recover recovers an attempt.
func (s *service) recover(t *testing.T, attempt recovery.Attempt, r recovery.Options) recovery.Verdict {
	t.Helper()
	v, err := recovery.Recover(t.Context(), s, attempt, r)
	require.NoError(t, err)
	return v
}

// one is a batch of one listing.
func one(amount gen.Amount, change ...func(*gen.CreateItem)) []gen.CreateItem {
	item := gen.CreateItem{VariantID: "v1", Amount: amount, Quantity: 1}
	for _, c := range change {
		c(&item)
	}
	return []gen.CreateItem{item}
}

// bubble runs a test on simulated time, which begins with the year 2000.
func bubble(t *testing.T, test func(t *testing.T, s *service)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newService()) })
}

// pass lets simulated time go by.
func pass(d time.Duration) { <-time.After(d) }
