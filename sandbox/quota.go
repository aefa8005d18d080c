package sandbox

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// account holds the one account of a sandbox to its quota. What is refused is not counted: a request that came
// too early, or the items of a batch for which there was no room.
type account struct {
	now    func() time.Time
	silent bool // Retry-After is left out.

	mu       sync.Mutex
	requests []*span
	items    []*span
}

// newAccount returns an account that has done nothing yet; what was done before a restart is forgotten.
func newAccount(opts Options) *account {
	const day = 24 * time.Hour
	q, a := opts.Quota, &account{now: opts.Now, silent: opts.NoRetryAfter}
	add := func(to *[]*span, most int, per time.Duration, unit string) {
		if most > 0 {
			*to = append(*to, &span{most: most, per: per, unit: unit})
		}
	}
	add(&a.requests, q.RequestsPerSecond, time.Second, "requests")
	add(&a.requests, q.RequestsPerDay, day, "requests")
	add(&a.items, q.ItemsPerWindow, q.ItemsWindow, "items")
	add(&a.items, q.ItemsPerDay, day, "items")
	return a
}

// limit lets only as many requests pass as the quota allows.
func (a *account) limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refused := a.count(a.requests, 1); refused != nil {
			refused.answer(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// submit counts the items of a batch, or returns why they are refused.
func (a *account) submit(items int) error {
	for _, s := range a.items {
		if items > s.most {
			return badRequest("/items: they make %d listings, and no more than %d are taken in %s", items, s.most, s.per)
		}
	}
	if refused := a.count(a.items, items); refused != nil {
		return refused
	}
	return nil
}

// count writes n down in every span, or in none if one has no room for them.
func (a *account) count(spans []*span, n int) *tooManyError {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	for _, s := range spans {
		if wait := s.wait(now, n); wait > 0 {
			refused := &tooManyError{message: fmt.Sprintf("the quota of %d %s in %s is used up", s.most, s.unit, s.per)}
			if !a.silent {
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

// span is what was counted within the time that has just gone by.
type span struct {
	most  int
	per   time.Duration
	unit  string
	marks []mark // Oldest first.
	sum   int
}

type mark struct {
	at time.Time
	n  int
}

// wait returns how long it takes until there is room for n more; zero if there is.
func (s *span) wait(now time.Time, n int) time.Duration {
	for len(s.marks) > 0 && now.Sub(s.marks[0].at) >= s.per {
		s.sum -= s.marks[0].n
		s.marks = s.marks[1:]
	}
	left := s.sum
	for i := 0; left+n > s.most; i++ {
		if left -= s.marks[i].n; left+n <= s.most {
			return s.marks[i].at.Add(s.per).Sub(now)
		}
	}
	return 0
}

func (s *span) add(now time.Time, n int) {
	s.marks = append(s.marks, mark{now, n})
	s.sum += n
}

// tooManyError is what is answered 429.
type tooManyError struct {
	message string
	after   time.Duration // Zero if the answer does not say when to come back.
}

func (e *tooManyError) Error() string { return e.message }

func (e *tooManyError) answer(w http.ResponseWriter) {
	if e.after > 0 {
		whole := (e.after + time.Second - 1) / time.Second // a second early would be refused again
		w.Header().Set("Retry-After", strconv.FormatInt(int64(whole), 10))
	}
	writeError(w, http.StatusTooManyRequests, e.message)
}
