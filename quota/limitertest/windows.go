package limitertest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/quota"
)

// tolerance is how much closer than allowed two calls may be seen, because one was seen later than it was let
// go. Simulated time passes only while everybody waits, so that it is none there.
func (s suite) tolerance() time.Duration {
	if s.slack < s.window/4 {
		return 0
	}
	return s.slack
}

// eight has eight goroutines make calls, of changing numbers of items, and waits for all of them.
func eight(t *testing.T, limiter quota.Limiter, calls, most int) *log {
	t.Helper()
	var l log
	for g := range 8 {
		l.all.Go(func() {
			for i := range calls {
				if err := l.wait(t.Context(), limiter, (g+3*i)%(most+1), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	l.all.Wait()
	return &l
}

func eightGoroutinesKeepTheItems(t *testing.T, s suite) {
	eight(t, s.items(40), 6, 5).keeps(t, "items", 40, s.window-s.tolerance(), items)
}

func eightGoroutinesKeepEveryWindow(t *testing.T, s suite) {
	const day = 24 * time.Hour
	for name, q := range map[string]quota.Quota{
		"seconds":     {RequestsPerSecond: 3},
		"days":        {RequestsPerSecond: 5, RequestsPerDay: 100},
		"items":       {RequestsPerSecond: 2, ItemsPerWindow: 30, ItemsWindow: s.window},
		"days' items": {ItemsPerWindow: 30, ItemsWindow: s.window, ItemsPerDay: 200},
		"all":         {RequestsPerSecond: 2, RequestsPerDay: 150, ItemsPerWindow: 30, ItemsWindow: s.window, ItemsPerDay: 250},
		"the default": {ItemsPerWindow: 30},
	} {
		start := time.Now()
		l := eight(t, s.newLimiter(q), 30, 10)
		for _, w := range []struct {
			what  string
			most  int
			per   time.Duration
			count func(passed) int
		}{
			{"requests", q.RequestsPerSecond, time.Second, requests},
			{"requests", q.RequestsPerDay, day, requests},
			{"items", q.ItemsPerWindow, 5 * time.Minute, items},
			{"items", q.ItemsPerDay, day, items},
		} {
			if w.most > 0 {
				l.keeps(t, name+": "+w.what, w.most, w.per, w.count)
			}
		}
		if len(l.calls) != 240 {
			t.Errorf("%s: %d of 240 calls went", name, len(l.calls))
		}
		if took := time.Since(start); took > 8*day {
			t.Errorf("%s: it took %s, which is far more than the quota asks for", name, took)
		}
	}
}

func aDaySlides(t *testing.T, s suite) {
	const most = 25_000
	half := make([]int, most/2)
	limiter := s.newLimiter(quota.Quota{RequestsPerDay: most})
	start := time.Now()
	pass(t, s, limiter, half...)
	<-time.After(12 * time.Hour)
	pass(t, s, limiter, half...)
	for _, after := range []time.Duration{24 * time.Hour, 36 * time.Hour} {
		if err := limiter.Wait(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		due(t, s, start, after)
		pass(t, s, limiter, half[1:]...)
	}
}

func aBatchIsNotOvertaken(t *testing.T, s suite) {
	limiter := s.newLimiter(quota.Quota{RequestsPerDay: 1, ItemsPerWindow: 10, ItemsWindow: s.window})
	pass(t, s, limiter, 0)
	var calls log
	calls.arrive(t, s, limiter, 0, "request")
	calls.arrive(t, s, limiter, 10, "batch")
	calls.arrive(t, s, limiter, 0, "later request")
	calls.all.Wait()
	if got := calls.order(); !slices.Equal(got, []string{"request", "batch", "later request"}) {
		t.Errorf("the calls went in the order %v: requests would hold a batch back for ever", got)
	}
}

func aRefusalNamesTheWindow(t *testing.T, s suite) {
	for name, test := range map[string]struct {
		q    quota.Quota
		want quota.Error
	}{
		"a second":    {quota.Quota{RequestsPerSecond: 1, RequestsPerDay: 9, ItemsPerWindow: 99}, quota.Error{Limit: 1, Per: time.Second, Unit: "requests", Wait: time.Second}},
		"a day":       {quota.Quota{RequestsPerSecond: 1, RequestsPerDay: 1}, quota.Error{Limit: 1, Per: 24 * time.Hour, Unit: "requests", Wait: 24 * time.Hour}},
		"items":       {quota.Quota{RequestsPerSecond: 1, ItemsPerWindow: 7, ItemsWindow: time.Hour}, quota.Error{Limit: 7, Per: time.Hour, Unit: "items", Wait: time.Hour}},
		"items a day": {quota.Quota{ItemsPerWindow: 99, ItemsPerDay: 7}, quota.Error{Limit: 7, Per: 24 * time.Hour, Unit: "items", Wait: 24 * time.Hour}},
	} {
		limiter := s.newLimiter(test.q)
		pass(t, s, limiter, 4)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		refused, ok := errors.AsType[*quota.Error](limiter.Wait(ctx, 4))
		cancel()
		if !ok || *refused != test.want {
			t.Errorf("%s: refused with %+v, want %+v", name, refused, test.want)
		}
	}
}
