package limitertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

// sendConcurrently makes calls of up to maxItems items from eight goroutines, and waits for them.
func sendConcurrently(t testing.TB, limiter quota.Limiter, calls, maxItems int) *service {
	t.Helper()
	svc := new(service)
	for g := range 8 {
		svc.calls.Go(func() {
			for i := range calls {
				if err := svc.send(t.Context(), limiter, (g+3*i)%(maxItems+1), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	svc.calls.Wait()
	return svc
}

func concurrentItems(t testing.TB, s suite) {
	svc := sendConcurrently(t, s.items(40), 6, 5)
	svc.checkWindow(t, "items", 40, s.window-s.tolerance(), countItems)
}

func concurrentWindows(t testing.TB, s suite) {
	const day = 24 * time.Hour
	for name, q := range map[string]quota.Quota{
		"second":      {RequestsPerSecond: 3},
		"day":         {RequestsPerSecond: 5, RequestsPerDay: 100},
		"items":       {RequestsPerSecond: 2, ItemsPerWindow: 30, ItemsWindow: s.window},
		"day's items": {ItemsPerWindow: 30, ItemsWindow: s.window, ItemsPerDay: 200},
		"all": {
			RequestsPerSecond: 2, RequestsPerDay: 150,
			ItemsPerWindow: 30, ItemsWindow: s.window, ItemsPerDay: 250,
		},
		"the default": {ItemsPerWindow: 30},
	} {
		start := time.Now()
		svc := sendConcurrently(t, s.newLimiter(q), 30, 10)
		svc.checkWindows(t, name+": ", q, s.tolerance())
		if len(svc.arrivals) != 240 {
			t.Errorf("%s: %d requests arrived, want 240", name, len(svc.arrivals))
		}
		if took := time.Since(start); took > 8*day {
			t.Errorf("%s: took %s, want 8 days at most", name, took)
		}
	}
}

func daySlides(t testing.TB, s suite) {
	const limit = 25_000
	half := make([]int, limit/2)
	limiter := s.newLimiter(quota.Quota{RequestsPerDay: limit})
	start := time.Now()
	sendNow(t, s, limiter, half...)
	<-time.After(12 * time.Hour)
	sendNow(t, s, limiter, half...)
	for _, after := range []time.Duration{24 * time.Hour, 36 * time.Hour} {
		acquire(t, limiter, 0)(quota.Sent)
		checkDue(t, s, start, after)
		sendNow(t, s, limiter, half[1:]...)
	}
}

func errorNamesWindow(t testing.TB, s suite) {
	for name, tc := range map[string]struct {
		q    quota.Quota
		want quota.Error
	}{
		"requests per second": {
			quota.Quota{RequestsPerSecond: 1, RequestsPerDay: 9, ItemsPerWindow: 99},
			quota.Error{Limit: 1, Per: time.Second, Unit: "requests", Wait: time.Second},
		},
		"requests per day": {
			quota.Quota{RequestsPerSecond: 1, RequestsPerDay: 1},
			quota.Error{Limit: 1, Per: 24 * time.Hour, Unit: "requests", Wait: 24 * time.Hour},
		},
		"items per window": {
			quota.Quota{RequestsPerSecond: 1, ItemsPerWindow: 7, ItemsWindow: time.Hour},
			quota.Error{Limit: 7, Per: time.Hour, Unit: "items", Wait: time.Hour},
		},
		"items per day": {
			quota.Quota{ItemsPerWindow: 99, ItemsPerDay: 7},
			quota.Error{Limit: 7, Per: 24 * time.Hour, Unit: "items", Wait: 24 * time.Hour},
		},
	} {
		limiter := s.newLimiter(tc.q)
		sendNow(t, s, limiter, 4)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		_, err := limiter.Acquire(ctx, 4)
		cancel()
		if got, ok := errors.AsType[*quota.Error](err); !ok || *got != tc.want {
			t.Errorf("%s: got error %+v, want %+v", name, err, tc.want)
		}
	}
}
