package recovery_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/recovery"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is the listings and batches of an account behind a client, without a network.
type service struct {
	c        *client.Client
	listings []shown
	batches  map[string]gen.Batch
	items    map[string][]gen.CreateBatchItem
	fails    func(what string) (status int) // Of a call, such as "listings" or "items b1"; zero means that it succeeds.
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
	from     string
	expired  bool
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{batches: map[string]gen.Batch{}, items: map[string][]gen.CreateBatchItem{}, fails: func(string) int { return 0 }}
	var err error
	s.c, err = client.New(
		client.WithBaseURL("https://service.invalid/v2"), client.WithHTTPClient(&http.Client{Transport: s}), client.WithAPIKey("key"),
		client.WithToken("token"), client.WithQuota(client.Unlimited), client.WithRetry(client.RetryPolicy{MaxAttempts: 1}),
	)
	require.NoError(t, err)
	return s
}

// RoundTrip implements [http.RoundTripper].
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	var what string
	var body any
	path := strings.TrimPrefix(r.URL.Path, "/v2/selling/")
	id, ofBatch := strings.CutPrefix(path, "batch/create-listing/")
	batch, ofItems := strings.CutSuffix(id, "/items")
	switch {
	case !ofBatch:
		what, body = "listings", s.list(r)
	case ofItems:
		what, body = "items "+batch, gen.CreateBatchItemList{Items: s.items[batch]}
	default:
		what, body = "batch "+id, s.batches[id]
	}
	s.calls = append(s.calls, what)
	resp := &http.Response{StatusCode: cmp.Or(s.fails(what), http.StatusOK), Header: http.Header{}, Request: r}
	text, err := json.Marshal(body)
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, err
}

func (s *service) list(r *http.Request) gen.ListingPage {
	asked := query{from: r.URL.Query().Get("fromDate"), expired: r.URL.Query().Get("isExpired") == "true"}
	if variants := r.URL.Query().Get("variantIds"); variants != "" {
		asked.variants = strings.Split(variants, ",")
	}
	s.asked = append(s.asked, asked)
	if !asked.expired {
		s.looks = append(s.looks, time.Now())
	}
	page := gen.ListingPage{Listings: []gen.Listing{}}
	for _, l := range s.listings {
		there := !time.Now().Before(l.from) && l.expired == asked.expired && (l.CreatedAt.IsZero() || l.CreatedAt.Format(time.DateOnly) >= asked.from)
		if there && (len(asked.variants) == 0 || slices.Contains(asked.variants, l.Variant.VariantID)) {
			page.Listings = append(page.Listings, l.Listing)
		}
	}
	page.Count, page.PageNumber, page.PageSize = gen.Int(len(page.Listings)), 1, gen.Int(max(len(page.Listings), 1))
	return page
}

// land makes a batch of items now, and shows its listings. It returns the batch's id.
func (s *service) land(items []gen.CreateItem) string { return s.landAfter(0, items) }

// landAfter makes a batch now whose listings are shown later.
func (s *service) landAfter(delay time.Duration, items []gen.CreateItem) string {
	id, now := fmt.Sprintf("b%d", len(s.batches)+1), time.Now()
	for _, item := range items {
		for range item.Quantity {
			l := gen.Listing{ListingID: fmt.Sprintf("l%d", len(s.listings)+1), Batch: &gen.ListingBatch{BatchID: id}, CreatedAt: gen.TimeOf(now), InventoryType: cmp.Or(item.InventoryType, gen.InventoryTypeStandard)}
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
	v, err := recovery.Recover(t.Context(), s.c, attempt, r)
	require.NoError(t, err)
	return v
}

// newAttempt makes an attempt.
func newAttempt(t *testing.T, items []gen.CreateItem, opts ...recovery.Option) recovery.Attempt {
	t.Helper()
	attempt, err := recovery.New(items, opts...)
	require.NoError(t, err)
	return attempt
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
	synctest.Test(t, func(t *testing.T) { test(t, newService(t)) })
}

// pass lets simulated time go by.
func pass(d time.Duration) { <-time.After(d) }
