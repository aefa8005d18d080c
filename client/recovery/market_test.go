package recovery_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// loss is a fault of writes.
type loss string

const (
	noLoss       loss = "nothing is lost"
	lostRequest  loss = "the request is lost"
	lostResponse loss = "the response is lost"
)

// market is a sandbox behind a transport that loses writes and changes the responses to reads.
type market struct {
	*sandboxtest.Market
	t     *testing.T
	c     *client.Client
	inner http.RoundTripper

	writes  loss
	posts   int                                             // Writes that were sent.
	reads   []string                                        // Paths with their query.
	looks   []time.Time                                     // When listings were first asked for.
	date    time.Duration                                   // How far the Date header is ahead.
	undated bool                                            // There is no Date header.
	respond func(r *http.Request) (status int, body string) // Instead of the sandbox, unless the status is 0.
	edit    func(r *http.Request, body map[string]any)      // Of the JSON of a response.
}

// inMarket runs a test in a bubble, whose time begins with the year 2000, with a sandbox that
// completes everything at once unless a change sets a delay.
func inMarket(t *testing.T, test func(t *testing.T, m *market), change ...func(*sandbox.Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newMarket(t, change...)) })
}

func newMarket(t *testing.T, change ...func(*sandbox.Options)) *market {
	t.Helper()
	quirks := func(o *sandbox.Options) { o.Quirks, o.VagueOrigin = withQuirks != "", withQuirks == vagueOrigin }
	m := &market{Market: sandboxtest.NewInProcess(t, append(change, quirks)...), t: t, writes: noLoss}
	m.inner = m.HTTPClient().Transport
	var err error
	m.c, err = client.New(
		client.WithBaseURL(m.URL), client.WithHTTPClient(&http.Client{Transport: m}), client.WithAPIKey(m.APIKey()),
		client.WithToken(m.Token()), client.WithQuota(quota.Unlimited), client.WithRetry(client.RetryPolicy{MaxAttempts: 1}),
	)
	require.NoError(t, err)
	return m
}

// RoundTrip implements [http.RoundTripper].
func (m *market) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return m.write(r)
	}
	m.reads = append(m.reads, r.URL.RequestURI())
	if q := r.URL.Query(); strings.HasSuffix(r.URL.Path, "/listings") && q.Get("isExpired") == "" && q.Get("listingStatuses") == "" && q.Get("pageNumber") == "1" {
		m.looks = append(m.looks, time.Now())
	}
	resp, err := m.read(r)
	if err != nil {
		return nil, err
	}
	if m.undated {
		return resp, nil
	}
	resp.Header.Set("Date", time.Now().Add(m.date).UTC().Format(http.TimeFormat))
	return resp, nil
}

func (m *market) write(r *http.Request) (*http.Response, error) {
	m.posts++
	if m.writes == lostRequest {
		trace := httptrace.ContextClientTrace(r.Context())
		trace.GotConn(httptrace.GotConnInfo{})
		trace.WroteHeaders()
		return nil, syscall.ECONNRESET
	}
	resp, err := m.inner.RoundTrip(r)
	if err == nil && m.writes == lostResponse {
		_ = resp.Body.Close()
		return nil, syscall.ECONNRESET
	}
	return resp, err
}

func (m *market) read(r *http.Request) (*http.Response, error) {
	if m.respond != nil {
		if status, body := m.respond(r); status != 0 {
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		}
	}
	resp, err := m.inner.RoundTrip(r)
	if err != nil || m.edit == nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	var body map[string]any
	decoder := json.NewDecoder(resp.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil {
		return nil, err
	}
	m.edit(r, body)
	text, err := json.Marshal(body)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return resp, err
}

// lose submits a submission and loses it.
func (m *market) lose(how loss, submission recovery.Submission) {
	m.t.Helper()
	m.writes = how
	_, err := recovery.Submit(m.t.Context(), m.c, submission)
	require.ErrorIs(m.t, err, client.ErrOutcomeUnknown)
	m.writes = noLoss
	require.NoError(m.t, m.Work(m.t.Context()))
}

// create creates the listings of items and returns the id of their batch.
func (m *market) create(items []gen.CreateItem) string {
	m.t.Helper()
	b, err := m.c.Batches.Create(m.t.Context(), items)
	require.NoError(m.t, err)
	require.NoError(m.t, m.Work(m.t.Context()))
	return b.ID()
}

// recover recovers a submission and checks that it only reads.
func (m *market) recover(submission recovery.Submission, r recovery.Options) recovery.Verdict {
	m.t.Helper()
	posts := m.posts
	v, err := recovery.Recover(m.t.Context(), m.c, submission, r)
	require.NoError(m.t, err)
	require.Equal(m.t, posts, m.posts, "it only reads")
	return v
}

// listings returns all listings of the sandbox, without edits.
func (m *market) listings() (all []gen.Listing) {
	m.t.Helper()
	asIs := *m
	m.edit, m.respond = nil, nil
	defer func() { m.edit, m.respond, m.reads, m.looks = asIs.edit, asIs.respond, asIs.reads, asIs.looks }()
	for l, err := range m.c.Listings.List(m.t.Context(), client.ListingFilter{Expired: true}) {
		require.NoError(m.t, err)
		all = append(all, l)
	}
	return all
}

// edits makes one edit of several.
func edits(all ...func(*http.Request, map[string]any)) func(*http.Request, map[string]any) {
	return func(r *http.Request, body map[string]any) {
		for _, edit := range all {
			edit(r, body)
		}
	}
}

// eachListing changes the listings of lists, and removes those for which change returns false.
func eachListing(change func(l map[string]any) (show bool)) func(*http.Request, map[string]any) {
	return eachOf("listings", change)
}

// eachItem changes the items of batches.
func eachItem(change func(i map[string]any) (show bool)) func(*http.Request, map[string]any) {
	return eachOf("items", change)
}

// eachInput changes what the items of batches echo.
func eachInput(change func(in map[string]any)) func(*http.Request, map[string]any) {
	return eachItem(func(i map[string]any) bool {
		change(i["listingInput"].(map[string]any))
		return true
	})
}

func eachOf(array string, change func(map[string]any) (show bool)) func(*http.Request, map[string]any) {
	return func(_ *http.Request, body map[string]any) {
		entries, ok := body[array].([]any)
		if !ok {
			return
		}
		shown := []any{}
		for _, entry := range entries {
			if change(entry.(map[string]any)) {
				shown = append(shown, entry)
			}
		}
		body[array] = shown
		if count, ok := body["count"].(json.Number); ok {
			n, _ := count.Int64()
			body["count"] = n - int64(len(entries)-len(shown))
		}
	}
}

// theBatch changes batches.
func theBatch(change func(b map[string]any)) func(*http.Request, map[string]any) {
	return func(_ *http.Request, body map[string]any) {
		if _, ok := body["totalItems"]; ok {
			change(body)
		}
	}
}

// on responds to reads whose path has a suffix.
func on(suffix string, status int, body string) func(*http.Request) (int, string) {
	return func(r *http.Request) (int, string) {
		if strings.HasSuffix(r.URL.Path, suffix) {
			return status, body
		}
		return 0, ""
	}
}

// newSubmission makes a submission.
func newSubmission(t *testing.T, items []gen.CreateItem, opts ...recovery.Option) recovery.Submission {
	t.Helper()
	submission, err := recovery.New(items, opts...)
	require.NoError(t, err)
	return submission
}

// size is the id of one of the variants of the sandbox's catalog.
func size(n int) string { return sandbox.Catalog()[n/5].Variants[n%5].ID }

// one is a batch of one listing.
func one(amount gen.Amount, change ...func(*gen.CreateItem)) []gen.CreateItem {
	item := gen.CreateItem{VariantID: size(0), Amount: amount, Quantity: 1}
	for _, c := range change {
		c(&item)
	}
	return []gen.CreateItem{item}
}

// quantity is a change of an item.
func quantity(n gen.Int) func(*gen.CreateItem) { return func(i *gen.CreateItem) { i.Quantity = n } }

// ago is a time of the service.
func ago(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339Nano) }

// pass advances simulated time.
func pass(d time.Duration) { <-time.After(d) }
