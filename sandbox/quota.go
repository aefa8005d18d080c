package sandbox

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/quota"
)

// quotas holds every account to a quota of its own. What is refused is not counted: a request that came too
// early, or the items of a batch for which there was no room. What was done before a restart is forgotten.
type quotas struct {
	quota  quota.Quota
	now    func() time.Time
	silent bool // Retry-After is left out.

	mu  sync.Mutex
	all map[int64]*usage // By account; none that has done nothing.
}

func newQuotas(opts Options, now func() time.Time) *quotas {
	return &quotas{quota: opts.Quota, now: now, silent: opts.NoRetryAfter, all: map[int64]*usage{}}
}

// clear forgets what was done.
func (q *quotas) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.all)
}

// usage is what one account has done.
type usage struct {
	requests []*span
	items    []*span
}

// of returns the usage of the account of a request. The caller holds mu.
func (q *quotas) of(ctx context.Context) *usage {
	account := accountOf(ctx)
	if q.all[account] == nil {
		q.all[account] = newUsage(q.quota)
	}
	return q.all[account]
}

func newUsage(q quota.Quota) *usage {
	const day = 24 * time.Hour
	u := &usage{}
	add := func(to *[]*span, most int, per time.Duration, unit string) {
		if most > 0 {
			*to = append(*to, &span{most: most, per: per, unit: unit})
		}
	}
	add(&u.requests, q.RequestsPerSecond, time.Second, "requests")
	add(&u.requests, q.RequestsPerDay, day, "requests")
	add(&u.items, q.ItemsPerWindow, q.ItemsWindow, "items")
	add(&u.items, q.ItemsPerDay, day, "items")
	return u
}

// limit lets only as many requests pass as the quota allows.
func (q *quotas) limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refused := q.request(r.Context()); refused != nil {
			refused.answer(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (q *quotas) request(ctx context.Context) *tooManyError {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.count(q.of(ctx).requests, 1)
}

// submit counts the items of a batch, or returns why they are refused.
func (q *quotas) submit(ctx context.Context, items int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	spans := q.of(ctx).items
	for _, s := range spans {
		if items > s.most {
			return badRequest("/items: they make %d listings, and no more than %d are taken in %s", items, s.most, s.per)
		}
	}
	if refused := q.count(spans, items); refused != nil {
		return refused
	}
	return nil
}

// count writes n down in every span, or in none if one has no room for them. The caller holds mu.
func (q *quotas) count(spans []*span, n int) *tooManyError {
	now := q.now()
	for _, s := range spans {
		if wait := s.wait(now, n); wait > 0 {
			refused := &tooManyError{message: fmt.Sprintf("the quota of %d %s in %s is used up", s.most, s.unit, s.per)}
			if !q.silent {
				refused.after = wait
			}
			return refused
		}
	}
	for _, s := range spans {
		s.add(now, n)
	}
	return nil
}

// tooManyError is what is answered 429.
type tooManyError struct {
	message string
	after   time.Duration // Zero if the answer does not say when to come back.
}

func (e *tooManyError) Error() string { return e.message }

func (e *tooManyError) answer(w http.ResponseWriter) {
	if e.after > 0 {
		w.Header().Set("Retry-After", wholeSeconds(e.after))
	}
	writeError(w, http.StatusTooManyRequests, e.message)
}

// wholeSeconds rounds up: a second early would be refused again.
func wholeSeconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
