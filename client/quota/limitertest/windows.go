package limitertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

// eight has eight goroutines make calls, of changing numbers of items, and waits for all of them.
func eight(t testing.TB, limiter quota.Limiter, calls, most int) *log {
	t.Helper()
	var l log
	for g := range 8 {
		l.all.Go(func() {
			for i := range calls {
				if err := l.send(t.Context(), limiter, (g+3*i)%(most+1), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	l.all.Wait()
	return &l
}

func eightGoroutinesKeepItems(t testing.TB, s suite) {
	eight(t, s.items(40), 6, 5).keeps(t, "items", 40, s.window-s.tolerance(), items)
}

func eightGoroutinesKeepEveryWindow(t testing.TB, s suite) {
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
		l.keepsAll(t, name+": ", q, s.tolerance())
		if len(l.arrivals) != 240 {
			t.Errorf("%s: %d of 240 calls went", name, len(l.arrivals))
		}
		if took := time.Since(start); took > 8*day {
			t.Errorf("%s: took %s, which is far more than the quota asks for", name, took)
		}
	}
}

func daySlides(t testing.TB, s suite) {
	const limit = 25_000
	half := make([]int, limit/2)
	limiter := s.newLimiter(quota.Quota{RequestsPerDay: limit})
	start := time.Now()
	pass(t, s, limiter, half...)
	<-time.After(12 * time.Hour)
	pass(t, s, limiter, half...)
	for _, after := range []time.Duration{24 * time.Hour, 36 * time.Hour} {
		acquire(t, limiter, 0)(quota.Sent)
		due(t, s, start, after)
		pass(t, s, limiter, half[1:]...)
	}
}

func refusalNamesWindow(t testing.TB, s suite) {
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
		_, err := limiter.Acquire(ctx, 4)
		cancel()
		if refused, ok := errors.AsType[*quota.Error](err); !ok || *refused != test.want {
			t.Errorf("%s: refused with %+v, want %+v", name, err, test.want)
		}
	}
}
