package limitertest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// broken is a limiter with a fault in it.
type broken struct {
	quota.Limiter
	acquire   func(ctx context.Context, inner quota.Limiter, items int) (quota.Release, error)
	remaining func([]quota.WindowState) []quota.WindowState
}

func (b *broken) Acquire(ctx context.Context, items int) (quota.Release, error) {
	if b.acquire == nil {
		return b.Limiter.Acquire(ctx, items)
	}
	return b.acquire(ctx, b.Limiter, items)
}

func (b *broken) Remaining(ctx context.Context) ([]quota.WindowState, error) {
	states, err := b.Limiter.Remaining(ctx)
	if b.remaining != nil {
		states = b.remaining(states)
	}
	return states, err
}

// releasing breaks what a limiter does at a release.
func releasing(wrap func(quota.Release) quota.Release) broken {
	return broken{acquire: func(ctx context.Context, inner quota.Limiter, items int) (quota.Release, error) {
		release, err := inner.Acquire(ctx, items)
		if err != nil {
			return nil, err
		}
		return wrap(release), nil
	}}
}

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	ctx context.Context //nolint:containedctx // it is that of the test

	mu     sync.Mutex
	failed bool
}

func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) Logf(string, ...any)      {}
func (r *recorder) Error(...any)             { r.Errorf("") }
func (r *recorder) Fatal(...any)             { r.Fatalf("") }

func (r *recorder) Errorf(string, ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *recorder) Fatalf(string, ...any) {
	r.Errorf("")
	runtime.Goexit()
}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// fails reports whether a rule finds fault with a limiter.
func fails(t *testing.T, b broken, rule rule) bool {
	t.Helper()
	failed := false
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		defer time.AfterFunc(10_000*time.Hour, cancel).Stop() // for calls that would wait for ever
		r := &recorder{TB: t, ctx: ctx}
		s := suite{window: 5 * time.Minute, slack: time.Second, delay: time.Second, simulated: true}
		s.newLimiter = func(q quota.Quota) quota.Limiter {
			b := b
			b.Limiter = quota.NewLimiter(q)
			return &b
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			rule(r, s)
		}()
		<-done
		failed = r.Failed()
	})
	return failed
}

// anySchedule is the rule of the first so many schedules.
func anySchedule(n uint64) rule {
	return func(t testing.TB, s suite) {
		for seed := range n {
			randomSchedule(seed, s.delay).run(t, s)
		}
	}
}

func TestRun_FindsBrokenLimiter(t *testing.T) {
	const never = ""
	for what, tc := range map[string]struct {
		limiter   broken
		rule      string
		schedules bool // whether the random schedules find it as well
	}{
		"a place counts from the moment it is taken": {releasing(func(r quota.Release) quota.Release {
			r(quota.Sent)
			return func(o quota.Outcome) { r(o) }
		}), "a place counts until one window after its release", true},
		"a place is free once it is released": {releasing(func(r quota.Release) quota.Release {
			return func(quota.Outcome) { r(quota.NotSent) }
		}), "a place counts until one window after its release", true},
		"what was not sent is charged": {releasing(func(r quota.Release) quota.Release {
			return func(quota.Outcome) { r(quota.Sent) }
		}), "what was not sent is free at once", false},
		"what was refused is charged for its items": {releasing(func(r quota.Release) quota.Release {
			return func(o quota.Outcome) {
				if o != quota.Refused {
					r(o)
					return
				}
				r(quota.Sent)
			}
		}), "what was refused is charged as a request only", false},
		"what was refused is not charged at all": {releasing(func(r quota.Release) quota.Release {
			return func(o quota.Outcome) {
				if o == quota.Refused {
					o = quota.NotSent
				}
				r(o)
			}
		}), "what was refused is charged as a request only", true},
		"a correction is ignored": {releasing(func(r quota.Release) quota.Release {
			var once sync.Once
			return func(o quota.Outcome) { once.Do(func() { r(o) }) }
		}), "a release is final, but for sent to refused", false},
		"a place is held for too long": {releasing(func(r quota.Release) quota.Release {
			return func(o quota.Outcome) {
				time.AfterFunc(10*time.Second, func() { r(o) })
			}
		}), "a window's places pass in a window and a round trip", false},
		"calls wait for a window of their own": {broken{acquire: func(ctx context.Context, inner quota.Limiter, items int) (quota.Release, error) {
			<-time.After(2 * time.Second)
			return inner.Acquire(ctx, items)
		}}, "what fits goes at once, and the next when the window has slid", false},
		"a deadline is not looked at": {broken{acquire: func(ctx context.Context, inner quota.Limiter, items int) (quota.Release, error) {
			endless, cancel := context.WithCancel(context.WithoutCancel(ctx))
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			return inner.Acquire(endless, items)
		}}, "a wait that would outlast the deadline is refused at once", false},
		"a prediction is more than is known": {broken{acquire: func(ctx context.Context, inner quota.Limiter, items int) (quota.Release, error) {
			release, err := inner.Acquire(ctx, items)
			if refused, ok := errors.AsType[*quota.Error](err); ok {
				refused.Wait += refused.Per
			}
			return release, err
		}}, "a prediction is a lower bound", true},
		"no wait is traced": {broken{acquire: func(ctx context.Context, inner quota.Limiter, items int) (quota.Release, error) {
			return inner.Acquire(untraced{ctx}, items)
		}}, "a call that waits is traced when it begins to wait", false},
		"what is held is not reported": {broken{remaining: func(states []quota.WindowState) []quota.WindowState {
			for i := range states {
				states[i].Used = 0
			}
			return states
		}}, "Remaining counts what is held and what was used", false},
		"no fault": {broken{}, never, false},
	} {
		t.Run(what, func(t *testing.T) {
			var found []string
			for name, rule := range rules {
				if fails(t, tc.limiter, rule) {
					found = append(found, name)
				}
			}
			if tc.rule == never {
				assert.Empty(t, found)
			} else {
				assert.Contains(t, found, tc.rule)
			}
			assert.Equal(t, tc.schedules, fails(t, tc.limiter, anySchedule(200)), "in the random schedules")
		})
	}
}

// untraced is a context without a trace.
type untraced struct {
	context.Context //nolint:containedctx // it is one
}

func (c untraced) Value(key any) any {
	if fmt.Sprintf("%T", key) == "quota.traceKey" {
		return nil
	}
	return c.Context.Value(key)
}
