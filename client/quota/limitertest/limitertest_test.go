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

// broken is a limiter with a fault.
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

// brokenRelease is a limiter with a fault in its release function.
func brokenRelease(wrap func(quota.Release) quota.Release) broken {
	return broken{acquire: func(
		ctx context.Context, inner quota.Limiter, items int,
	) (quota.Release, error) {
		release, err := inner.Acquire(ctx, items)
		if err != nil {
			return nil, err
		}
		return wrap(release), nil
	}}
}

// fakeTB records whether a rule fails its test.
type fakeTB struct {
	testing.TB
	ctx context.Context //nolint:containedctx // testing.TB has one

	mu     sync.Mutex
	failed bool
}

func (r *fakeTB) Helper()                  {}
func (r *fakeTB) Context() context.Context { return r.ctx }
func (r *fakeTB) Logf(string, ...any)      {}
func (r *fakeTB) Error(...any)             { r.Errorf("") }
func (r *fakeTB) Fatal(...any)             { r.Fatalf("") }

func (r *fakeTB) Errorf(string, ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *fakeTB) Fatalf(string, ...any) {
	r.Errorf("")
	runtime.Goexit()
}

func (r *fakeTB) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// fails reports whether a limiter breaks a rule.
func fails(t *testing.T, b broken, rule rule) bool {
	t.Helper()
	failed := false
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		defer time.AfterFunc(10_000*time.Hour, cancel).Stop() // ends calls that would wait forever
		r := &fakeTB{TB: t, ctx: ctx}
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

// firstSchedules returns a rule that runs the first n random schedules.
func firstSchedules(n uint64) rule {
	return func(t testing.TB, s suite) {
		for seed := range n {
			randomSchedule(seed, s.delay).run(t, s)
		}
	}
}

// The slack is far longer than a busy machine delays a goroutine: that no wait is too short is what
// can be tested in real time on any machine.
func TestRunInRealTime_PassesTheInProcessLimiter(t *testing.T) {
	const window = 400 * time.Millisecond
	runInRealTime(t, suite{newLimiter: quota.NewLimiter, window: window, slack: 3 * time.Second, delay: window / 10})
}

func TestRun_FindsBrokenLimiter(t *testing.T) {
	const never = ""
	for what, tc := range map[string]struct {
		limiter   broken
		rule      string
		schedules bool // Whether the random schedules find the fault too.
	}{
		"a place counts from its acquisition": {brokenRelease(func(r quota.Release) quota.Release {
			r(quota.Sent)
			return func(o quota.Outcome) { r(o) }
		}), "a place counts until one window after its release", true},
		"a released place is free at once": {brokenRelease(func(r quota.Release) quota.Release {
			return func(quota.Outcome) { r(quota.NotSent) }
		}), "a place counts until one window after its release", true},
		"a place that was not sent is charged": {brokenRelease(func(r quota.Release) quota.Release {
			return func(quota.Outcome) { r(quota.Sent) }
		}), "a place that was not sent is free at once", false},
		"a refused request is charged for its items": {brokenRelease(func(r quota.Release) quota.Release {
			return func(o quota.Outcome) {
				if o != quota.Refused {
					r(o)
					return
				}
				r(quota.Sent)
			}
		}), "a refused request is charged without its items", false},
		"a refused request is not charged": {brokenRelease(func(r quota.Release) quota.Release {
			return func(o quota.Outcome) {
				if o == quota.Refused {
					o = quota.NotSent
				}
				r(o)
			}
		}), "a refused request is charged without its items", true},
		"a correction is ignored": {brokenRelease(func(r quota.Release) quota.Release {
			var once sync.Once
			return func(o quota.Outcome) { once.Do(func() { r(o) }) }
		}), "a release can only change from sent to refused", false},
		"a place is released too late": {brokenRelease(func(r quota.Release) quota.Release {
			return func(o quota.Outcome) {
				time.AfterFunc(10*time.Second, func() { r(o) })
			}
		}), "a limit takes one window and one round trip", false},
		"every call waits": {broken{acquire: func(ctx context.Context, inner quota.Limiter, items int) (quota.Release, error) {
			<-time.After(2 * time.Second)
			return inner.Acquire(ctx, items)
		}}, "a call with room is admitted at once", false},
		"deadlines are ignored": {broken{acquire: func(ctx context.Context, inner quota.Limiter, items int) (quota.Release, error) {
			endless, cancel := context.WithCancel(context.WithoutCancel(ctx))
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			return inner.Acquire(endless, items)
		}}, "a wait past the deadline fails at once", false},
		"the predicted wait is too long": {broken{acquire: func(ctx context.Context, inner quota.Limiter, items int) (quota.Release, error) {
			release, err := inner.Acquire(ctx, items)
			if failed, ok := errors.AsType[*quota.Error](err); ok {
				failed.Wait += failed.Per
			}
			return release, err
		}}, "Error.Wait is a lower bound", true},
		"waits are not traced": {broken{acquire: func(ctx context.Context, inner quota.Limiter, items int) (quota.Release, error) {
			return inner.Acquire(untraced{ctx}, items)
		}}, "a wait is traced when it begins", false},
		"places in use are not reported": {broken{remaining: func(states []quota.WindowState) []quota.WindowState {
			for i := range states {
				states[i].Used = 0
			}
			return states
		}}, "Remaining counts places in use and released", false},
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
			found200 := fails(t, tc.limiter, firstSchedules(200))
			assert.Equal(t, tc.schedules, found200, "by the random schedules")
		})
	}
}

// untraced is a context without a trace.
type untraced struct {
	context.Context //nolint:containedctx // it implements Context
}

func (c untraced) Value(key any) any {
	if fmt.Sprintf("%T", key) == "quota.traceKey" {
		return nil
	}
	return c.Context.Value(key)
}
