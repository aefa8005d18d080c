package recovery_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/recovery"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// loss is what becomes of the writes on a line.
type loss string

const (
	noLoss      loss = "nothing is lost"
	lostRequest loss = "the request is lost"
	lostAnswer  loss = "the answer is lost"
)

// line takes requests to a sandbox without a network, so that it can be in a bubble, and loses writes.
type line struct {
	t       *testing.T
	sandbox *sandbox.Sandbox
	c       *client.Client

	mu     sync.Mutex
	writes loss
	posts  int                                                 // writes that were sent
	read   func(r *http.Request, w *httptest.ResponseRecorder) // changes the answers to reads
}

func newLine(t *testing.T, opts sandbox.Options) *line {
	t.Helper()
	s, err := sandbox.New(opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	l := &line{t: t, sandbox: s, writes: noLoss, read: func(*http.Request, *httptest.ResponseRecorder) {}}
	l.c, err = client.New(
		client.WithBaseURL("http://127.0.0.1"+sandbox.BasePath), client.WithHTTPClient(&http.Client{Transport: l}),
		client.WithAPIKey(s.APIKey()), client.WithToken(s.Token()), client.WithQuota(client.Unlimited),
	)
	require.NoError(t, err)
	return l
}

// RoundTrip implements [http.RoundTripper].
func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	httptrace.ContextClientTrace(r.Context()).WroteHeaders()
	received := r.Clone(r.Context())
	if received.Body == nil {
		received.Body = http.NoBody
	}
	write := r.Method != http.MethodGet
	if write {
		l.posts++
	}
	if write && l.writes == lostRequest {
		return nil, syscall.ECONNRESET
	}
	w := httptest.NewRecorder()
	l.sandbox.ServeHTTP(w, received)
	if write && l.writes == lostAnswer {
		return nil, syscall.ECONNRESET
	}
	if !write {
		l.read(r, w)
	}
	return w.Result(), nil
}

// lose submits an attempt and loses it.
func (l *line) lose(how loss, attempt recovery.Attempt) {
	l.t.Helper()
	l.writes = how
	_, err := recovery.Submit(l.t.Context(), l.c, attempt)
	require.ErrorIs(l.t, err, client.ErrOutcomeUnknown)
	l.writes = noLoss
}

// submit submits an attempt and returns the id of its batch.
func (l *line) submit(attempt recovery.Attempt) string {
	l.t.Helper()
	b, err := recovery.Submit(l.t.Context(), l.c, attempt)
	require.NoError(l.t, err)
	return b.ID()
}

// recover recovers an attempt and checks that nothing is written for it.
func (l *line) recover(attempt recovery.Attempt, r recovery.Options) recovery.Verdict {
	l.t.Helper()
	posts := l.posts
	v, err := recovery.Recover(l.t.Context(), l.c, attempt, r)
	require.NoError(l.t, err)
	require.Equal(l.t, posts, l.posts, "it only reads")
	return v
}

// made counts the listings there are.
func (l *line) made() int {
	l.t.Helper()
	page, err := l.c.Listings.ListPage(l.t.Context(), client.ListListings{Expired: true, PageSize: 1})
	require.NoError(l.t, err)
	return int(page.Count)
}

// size is the id of one of the variants of the sandbox's catalog.
func size(n int) string { return sandbox.Catalog()[n/5].Variants[n%5].ID }

// sized is a batch of one listing.
func sized(amount gen.Amount, change ...func(*gen.CreateItem)) []gen.CreateItem {
	item := gen.CreateItem{VariantID: size(0), Amount: amount, Quantity: 1}
	for _, c := range change {
		c(&item)
	}
	return []gen.CreateItem{item}
}

// onSandbox runs a test on simulated time, with a sandbox that works in the background.
func onSandbox(t *testing.T, test func(t *testing.T, l *line)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newLine(t, sandbox.Options{})) })
}

// replacing changes the text of what the items of batches echo, and of nothing else.
func replacing(pairs ...string) func(*http.Request, *httptest.ResponseRecorder) {
	return func(r *http.Request, w *httptest.ResponseRecorder) {
		if strings.HasSuffix(r.URL.Path, "/items") {
			text := strings.NewReplacer(pairs...).Replace(w.Body.String())
			w.Body = bytes.NewBufferString(text)
		}
	}
}

func TestRecoverFindsTheBatchWhoseAnswerWasLost(t *testing.T) {
	inactive := false
	month := time.Date(2000, 2, 1, 0, 0, 0, 123_000_000, time.UTC) // simulated time begins in 2000
	tests := map[string]struct {
		items []gen.CreateItem
		opts  []recovery.Option
		read  func(*http.Request, *httptest.ResponseRecorder)
	}{
		"one listing":                     {items: sized("76")},
		"a quantity is as many items":     {items: sized("76", func(i *gen.CreateItem) { i.Quantity = 250 })},
		"money is a value and not a text": {items: sized("76"), read: replacing(`"76"`, `"76.0000"`)},
		"a number instead of a text":      {items: sized("76"), read: replacing(`"76"`, `76.0`)},
		"everything said":                 {items: sized("76.50", func(i *gen.CreateItem) { i.CurrencyCode, i.Active, i.ExpiresAt = "EUR", &inactive, gen.TimeOf(month) })},
		"inventory elsewhere":             {items: sized("76", func(i *gen.CreateItem) { i.InventoryType = gen.InventoryTypeDirect })},
		"a mark is kept to the millisecond": {
			items: sized("76"), opts: []recovery.Option{recovery.Marked()},
		},
		"equal inputs are a multiset": {items: append(append(sized("76"), sized("77")...), sized("76", func(i *gen.CreateItem) { i.Quantity = 2 })...)},
		"many variants": {items: func() (items []gen.CreateItem) {
			for n := range 100 {
				items = append(items, gen.CreateItem{VariantID: size(n), Amount: "76", Quantity: 1})
			}
			return items
		}()},
		"what was left out and is echoed as null": {items: sized("76"), read: replacing(`"currencyCode":"USD"`, `"currencyCode":null`, `"active":true`, `"active":null`)},
		"a default expiry that is echoed":         {items: sized("76"), read: replacing(`"expiresAt":null`, `"expiresAt":"2002-09-26T00:00:00.000Z"`)},
		"what is new":                             {items: sized("76"), read: replacing(`"currencyCode"`, `"novelty":{},"currencyCode"`)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			onSandbox(t, func(t *testing.T, l *line) {
				if test.read != nil {
					l.read = test.read
				}
				attempt := newAttempt(t, test.items, test.opts...)
				l.lose(lostAnswer, attempt)

				v := l.recover(attempt, recovery.Options{})

				require.Equal(t, recovery.Landed, v.Kind, v)
				results, err := v.Batch.Wait(t.Context())
				require.NoError(t, err)
				assert.Len(t, results, l.made(), "every listing there is, and no other")
				assert.Less(t, time.Since(attempt.MadeAt), time.Minute, "it does not wait for the settle time")
			})
		})
	}
}

func TestALostRequestIsNotSeen(t *testing.T) {
	onSandbox(t, func(t *testing.T, l *line) {
		attempt := newAttempt(t, sized("76"))
		l.lose(lostRequest, attempt)
		began := time.Now()

		v := l.recover(attempt, recovery.Options{})

		assert.Equal(t, recovery.NotSeen, v.Kind, v)
		assert.Equal(t, 10*time.Minute, time.Since(began), "the settle time passes first")
		assert.Equal(t, "not seen since 1999-12-31T23:55:00Z, if listings show within 10m0s", v.String())
		assert.Zero(t, l.made())
	})
	onSandbox(t, func(t *testing.T, l *line) {
		attempt := newAttempt(t, sized("76"))
		l.lose(lostRequest, attempt)
		pass(2 * time.Hour)
		l.submit(newAttempt(t, sized("76")))
		pass(time.Minute)
		assert.Equal(t, recovery.NotSeen, l.recover(attempt, recovery.Options{}).Kind, "what is made after an attempt can be sent is another's")
	})
}

func TestRecoverWaitsForASlowService(t *testing.T) {
	tests := map[string]struct {
		delay  time.Duration
		settle time.Duration
		want   recovery.Kind
	}{
		"its first listing shows within the settle time": {4 * time.Minute, 0, recovery.Landed},
		"what shows later than assumed is not seen":      {6 * time.Minute, 0, recovery.NotSeen},
		"a longer settle time sees it":                   {6 * time.Minute, 15 * time.Minute, recovery.Landed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLine(t, sandbox.Options{Delay: test.delay})
				attempt := newAttempt(t, sized("76", func(i *gen.CreateItem) { i.Quantity = 40 }))
				l.lose(lostAnswer, attempt)

				v := l.recover(attempt, recovery.Options{Settle: test.settle})

				require.Equal(t, test.want, v.Kind, v)
				if test.want == recovery.Landed {
					assert.Less(t, l.made(), 40, "the first listings are enough")
					assert.False(t, v.Batch.Done())
				}
			})
		})
	}
}

func TestRecoverDecidesNothingWhenTheContextEnds(t *testing.T) {
	onSandbox(t, func(t *testing.T, l *line) {
		attempt := newAttempt(t, sized("76"))
		l.lose(lostRequest, attempt)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()

		v, err := recovery.Recover(ctx, l.c, attempt, recovery.Options{})

		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, attempt.ID)
		assert.Empty(t, v.Kind, "no verdict is no permission")
		assert.Equal(t, "no verdict", v.String())
	})
}

func TestRecoverSurvivesAServiceThatIsDownForAWhile(t *testing.T) {
	onSandbox(t, func(t *testing.T, l *line) {
		began := time.Now()
		l.read = func(_ *http.Request, w *httptest.ResponseRecorder) {
			if time.Since(began) < 5*time.Minute {
				w.Code = http.StatusServiceUnavailable
			}
		}
		attempt := newAttempt(t, sized("76"))
		l.lose(lostAnswer, attempt)
		assert.Equal(t, recovery.Landed, l.recover(attempt, recovery.Options{}).Kind)
	})
	onSandbox(t, func(t *testing.T, l *line) {
		l.read = func(_ *http.Request, w *httptest.ResponseRecorder) { w.Code = http.StatusServiceUnavailable }
		attempt := newAttempt(t, sized("76"))
		l.lose(lostAnswer, attempt)
		_, err := recovery.Recover(t.Context(), l.c, attempt, recovery.Options{})
		require.ErrorIs(t, err, client.ErrServer, "listings that were never read show nothing")
	})
	onSandbox(t, func(t *testing.T, l *line) {
		l.read = func(_ *http.Request, w *httptest.ResponseRecorder) { w.Code = http.StatusForbidden }
		attempt := newAttempt(t, sized("76"))
		_, err := recovery.Recover(t.Context(), l.c, attempt, recovery.Options{})
		require.ErrorIs(t, err, client.ErrForbidden)
		assert.Zero(t, time.Since(attempt.MadeAt).Truncate(time.Second), "what will not pass is not waited for")
	})
}

func TestEqualAttemptsAreToldApartByTheirMarks(t *testing.T) {
	onSandbox(t, func(t *testing.T, l *line) {
		landed, lost := newAttempt(t, sized("76"), recovery.Marked()), newAttempt(t, sized("76"), recovery.Marked())
		l.lose(lostAnswer, landed)
		l.lose(lostRequest, lost)
		v := l.recover(landed, recovery.Options{})
		require.Equal(t, recovery.Landed, v.Kind)
		assert.Equal(t, recovery.NotSeen, l.recover(lost, recovery.Options{}).Kind)
		again := newAttempt(t, sized("76"), recovery.Marked())
		l.lose(lostAnswer, again)
		assert.NotEqual(t, v.Batch.ID(), l.recover(again, recovery.Options{}).Batch.ID())
	})
}

func TestRecoverIsNotMisledByFailedItems(t *testing.T) {
	const unknown = "00000000-0000-4000-8000-000000000000"
	onSandbox(t, func(t *testing.T, l *line) {
		attempt := newAttempt(t, append(sized("76"), gen.CreateItem{VariantID: unknown, Amount: "80", Quantity: 2}))
		l.lose(lostAnswer, attempt)
		v := l.recover(attempt, recovery.Options{})
		require.Equal(t, recovery.Landed, v.Kind)
		results, err := v.Batch.Wait(t.Context())
		var failed *client.BatchError
		require.ErrorAs(t, err, &failed)
		assert.Len(t, failed.Failed, 2)
		assert.Len(t, results, 3)
	})
	onSandbox(t, func(t *testing.T, l *line) {
		attempt := newAttempt(t, []gen.CreateItem{{VariantID: unknown, Amount: "80", Quantity: 2}})
		l.lose(lostAnswer, attempt)
		assert.Equal(t, recovery.NotSeen, l.recover(attempt, recovery.Options{}).Kind, "a batch that made nothing cannot be seen")
		assert.Zero(t, l.made())
	})
	for _, notAnID := range []string{"a-size", "10,5"} { // filters of listings refuse them, one at the service and one before
		onSandbox(t, func(t *testing.T, l *line) {
			attempt := newAttempt(t, append(sized("76"), gen.CreateItem{VariantID: notAnID, Amount: "80", Quantity: 1}))
			l.lose(lostAnswer, attempt)
			assert.Equal(t, recovery.Landed, l.recover(attempt, recovery.Options{}).Kind)
		})
	}
}

func TestRecoverCannotTellWhatTheAnswersDoNotSay(t *testing.T) {
	direct := func(i *gen.CreateItem) { i.InventoryType = gen.InventoryTypeDirect }
	soon := func(i *gen.CreateItem) {
		i.ExpiresAt = gen.TimeOf(time.Date(2000, 2, 1, 0, 0, 0, 123_000_000, time.UTC))
	}
	on := func(path string, change func(*httptest.ResponseRecorder)) func(*http.Request, *httptest.ResponseRecorder) {
		return func(r *http.Request, w *httptest.ResponseRecorder) {
			if strings.Contains(r.URL.Path, "/batch/") && strings.HasSuffix(r.URL.Path, path) {
				change(w)
			}
		}
	}
	status := func(code int) func(*httptest.ResponseRecorder) {
		return func(w *httptest.ResponseRecorder) { w.Code = code }
	}
	body := func(change func(map[string]any)) func(*httptest.ResponseRecorder) {
		return func(w *httptest.ResponseRecorder) {
			var v map[string]any
			d := json.NewDecoder(w.Body)
			d.UseNumber()
			if d.Decode(&v) == nil {
				change(v)
			}
			text, _ := json.Marshal(v)
			w.Body = bytes.NewBuffer(text)
		}
	}
	tests := map[string]struct {
		items  []gen.CreateItem
		other  []gen.CreateItem // the batch there is, if it is not the attempt's
		read   func(*http.Request, *httptest.ResponseRecorder)
		reason string
	}{
		"the items cannot be read":         {items: sized("76"), read: on("/items", status(500)), reason: "items cannot be read"},
		"the batch is not found":           {items: sized("76"), read: on("", status(404)), reason: "cannot be read"},
		"an expiry is unreadable":          {items: sized("76", soon), read: replacing(`2000-02-01T00:00:00.123Z`, `next month`), reason: "do not say"},
		"nothing is echoed":                {items: sized("76"), read: replacing(`"listingInput":{`, `"listingInput":null,"was":{`), reason: "do not say"},
		"no items are listed yet":          {items: sized("76"), read: on("/items", body(func(v map[string]any) { v["items"] = []any{} })), reason: "0 of its 1 items"},
		"the time of creation is not told": {items: sized("76"), read: on("", body(func(v map[string]any) { v["createdAt"] = nil })), reason: "when it was created"},
		"inventory that was not asked for": {items: sized("76"), other: sized("76", direct), reason: "inventory type"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			onSandbox(t, func(t *testing.T, l *line) {
				if test.read != nil {
					l.read = test.read
				}
				attempt := newAttempt(t, test.items)
				if test.other == nil {
					l.lose(lostAnswer, attempt)
				} else {
					l.lose(lostRequest, attempt)
					l.submit(newAttempt(t, test.other))
				}

				v := l.recover(attempt, recovery.Options{Settle: time.Minute})

				require.Equal(t, recovery.CannotTell, v.Kind, v)
				assert.Contains(t, v.Reason, test.reason)
				assert.Len(t, v.Candidates, 1)
				assert.Nil(t, v.Batch)
			})
		})
	}
}

func TestRecoverReadsEveryPageAndWhatIsHidden(t *testing.T) {
	onSandbox(t, func(t *testing.T, l *line) {
		attempt := newAttempt(t, sized("76"))
		l.lose(lostAnswer, attempt)
		pass(time.Second)
		for range 4 {
			l.submit(newAttempt(t, sized("80", func(i *gen.CreateItem) { i.Quantity = 75 }))) // newer, so on the pages before
		}
		pass(time.Minute)
		require.Equal(t, 301, l.made())
		assert.Equal(t, recovery.Landed, l.recover(attempt, recovery.Options{}).Kind)
	})
	onSandbox(t, func(t *testing.T, l *line) {
		attempt := newAttempt(t, sized("76", func(i *gen.CreateItem) { i.ExpiresAt = gen.TimeOf(time.Now().Add(time.Minute)) }))
		l.lose(lostAnswer, attempt)
		pass(3 * time.Hour)
		page, err := l.c.Listings.ListPage(t.Context(), client.ListListings{})
		require.NoError(t, err)
		require.Empty(t, page.Listings, "its ask has expired")
		assert.Equal(t, recovery.Landed, l.recover(attempt, recovery.Options{}).Kind)
	})
	onSandbox(t, func(t *testing.T, l *line) {
		attempt := newAttempt(t, sized("76"))
		l.lose(lostAnswer, attempt)
		pass(time.Second)
		for listing, err := range l.c.Listings.List(t.Context(), client.ListListings{}) {
			require.NoError(t, err)
			o, err := l.c.Listings.Delete(t.Context(), listing.ListingID)
			require.NoError(t, err)
			_, err = o.Wait(t.Context())
			require.NoError(t, err)
		}
		assert.Equal(t, recovery.Landed, l.recover(attempt, recovery.Options{}).Kind, "deleted listings show their batch as well")
	})
	onSandbox(t, func(t *testing.T, l *line) {
		var items []gen.CreateItem
		for n := range 120 {
			items = append(items, gen.CreateItem{VariantID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", n), Amount: "76", Quantity: 1})
		}
		longest := 0
		l.read = func(r *http.Request, _ *httptest.ResponseRecorder) { longest = max(longest, len(r.URL.String())) }
		assert.Equal(t, recovery.NotSeen, l.recover(newAttempt(t, items), recovery.Options{Settle: time.Second}).Kind)
		assert.Less(t, longest, 4096, "servers bound the length of a URL")
	})
}

// TestRecoverAgreesWithTheTruth is the property that all of it is for.
func TestRecoverAgreesWithTheTruth(t *testing.T) {
	for seed := range uint64(3) {
		onSandbox(t, func(t *testing.T, l *line) {
			rng := rand.New(rand.NewPCG(seed, 3))
			var known []string
			var lost []recovery.Attempt
			var truth []loss
			listings := 0
			for range 12 {
				attempt := newAttempt(t, randomItems(rng), recovery.Marked())
				listings += count(attempt)
				switch how := []loss{noLoss, lostRequest, lostAnswer}[rng.IntN(3)]; how {
				case noLoss:
					known = append(known, l.submit(attempt))
				default:
					l.lose(how, attempt)
					lost, truth = append(lost, attempt), append(truth, how)
				}
				pass(time.Duration(rng.Int64N(int64(20 * time.Second))))
			}
			if seed%3 > 0 {
				pass(2 * time.Hour) // until the last one cannot have been sent since
			}
			for i, attempt := range lost {
				v := l.recover(attempt, recovery.Options{Known: known, Settle: time.Minute})
				if truth[i] == lostRequest {
					require.Equal(t, recovery.NotSeen, v.Kind, "seed %d: %s", seed, v)
					known = append(known, l.submit(newAttempt(t, attempt.Items, recovery.Marked())))
					continue
				}
				require.Equal(t, recovery.Landed, v.Kind, "seed %d: %s", seed, v)
				require.NotContains(t, known, v.Batch.ID(), "seed %d", seed)
				known = append(known, v.Batch.ID())
			}
			pass(time.Minute)
			require.Equal(t, listings, l.made(), "seed %d: nothing is lost and nothing is there twice", seed)
		})
	}
}

// randomItems makes few choices, so that attempts of equal items are common.
func randomItems(rng *rand.Rand) []gen.CreateItem {
	items := make([]gen.CreateItem, 1+rng.IntN(3))
	for n := range items {
		items[n] = gen.CreateItem{
			VariantID: size(rng.IntN(2)), Amount: []gen.Amount{"76", "76.00", "77.5"}[rng.IntN(3)], Quantity: gen.Int(1 + rng.IntN(2)),
			CurrencyCode: []gen.CurrencyCode{"", "USD", "EUR"}[rng.IntN(3)], Active: []*bool{nil, new(true), new(false)}[rng.IntN(3)],
		}
	}
	return items
}

func count(a recovery.Attempt) (n int) {
	for _, i := range a.Items {
		n += int(i.Quantity)
	}
	return n
}

func TestAnAttemptIsRecoveredByTheNextProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sandbox.db")
	synctest.Test(t, func(t *testing.T) {
		attempt := newAttempt(t, sized("76.0000", func(i *gen.CreateItem) { i.Quantity = 3 }), recovery.Marked())
		saved, err := json.Marshal(attempt)
		require.NoError(t, err)
		first := newLine(t, sandbox.Options{DB: file})
		first.lose(lostAnswer, attempt)
		require.NoError(t, first.sandbox.Close())

		pass(time.Hour)
		var restored recovery.Attempt
		require.NoError(t, json.Unmarshal(saved, &restored))
		second := newLine(t, sandbox.Options{DB: file})
		v := second.recover(restored, recovery.Options{})

		require.Equal(t, recovery.Landed, v.Kind)
		assert.Equal(t, "landed as batch "+v.Batch.ID(), v.String())
		items, err := second.c.Batches.OpenCreate(v.Batch.ID()).Wait(t.Context())
		require.NoError(t, err)
		assert.Len(t, items, 3)
	})
}

func TestRecoverRefusesWhatIsNoAttempt(t *testing.T) {
	onSandbox(t, func(t *testing.T, l *line) {
		l.read = func(*http.Request, *httptest.ResponseRecorder) { assert.Fail(t, "there is I/O") }
		_, err := recovery.Recover(t.Context(), l.c, recovery.Attempt{}, recovery.Options{})
		require.ErrorIs(t, err, client.ErrInvalidArgument)
	})
}
