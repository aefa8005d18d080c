package client

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

const (
	// arrivesWithin is how long after it was written a request without a response is assumed to be
	// on its way.
	arrivesWithin = 2 * time.Second
	// waitReportInterval is how often a wait for the quota is reported.
	waitReportInterval = time.Minute
)

// admission is the stage that sends an attempt once it has a token, there is no cooldown, and the
// quota has a free place.
type admission struct {
	policy   RetryPolicy
	auth     *auth
	cooldown *cooldown
	limiter  quota.Limiter
	observer *observer
}

func (a *admission) admit(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		c := callOf(req)
		if c.items < 1 && isBatchSubmission(c.op.ID) && a.limiter.CountsItems() {
			return nil, invalid(c.op.ID, "items", "the quota cannot count a batch of unknown size: use WithItemCount")
		}
		release, err := a.acquire(req)
		if err != nil {
			return nil, err
		}
		c.place = &place{release: release}
		over := false
		defer func() {
			if !over { // the transport has panicked
				c.place.abandoned()
			}
		}()
		resp, err := next.Do(req)
		over = true
		switch {
		case err == nil:
			c.place.ended(true, resp.StatusCode)
		case !c.written:
			c.place.ended(false, 0)
		case req.Context().Err() != nil || errors.Is(err, ErrAttemptTimeout):
			c.place.abandoned()
		default:
			c.place.ended(true, 0)
		}
		return resp, err
	})
}

// acquire gets a token, waits for the end of a cooldown, and acquires a place in the quota, in this
// order, because a place that waits for a token is lost to other calls. If a cooldown begins or the
// token expires meanwhile, acquire releases the place and starts over: otherwise all calls that
// waited for the quota would be sent at once when the cooldown ends.
func (a *admission) acquire(req *http.Request) (quota.Release, error) {
	for {
		if err := callOf(req).maySend(); err != nil {
			return nil, err
		}
		token, err := a.auth.authorize(req)
		if err != nil {
			return nil, err
		}
		fresh := isFresh(token)
		if err := a.waitForCooldown(req); err != nil {
			return nil, err
		}
		release, err := a.waitForQuota(req)
		if err != nil {
			return nil, err
		}
		ended := req.Context().Err()
		expired := fresh && !isFresh(token) // a source that returns an expired token has no other
		if ended == nil && a.cooldown.remaining() == 0 && !expired && !a.auth.lifetime.closed() {
			return release, nil
		}
		release(quota.NotSent)
		if ended != nil {
			return nil, a.failed(req, ended)
		}
	}
}

func isFresh(t *oauth2.Token) bool { return t.Expiry.IsZero() || time.Now().Before(t.Expiry) }

// waitForCooldown returns when there is no cooldown.
func (a *admission) waitForCooldown(req *http.Request) error {
	start := time.Now()
	longest := min(a.policy.MaxRetryAfter, callOf(req).timeLeft(req.Context()))
	err := a.cooldown.wait(req.Context(), longest)
	if waited := time.Since(start); waited > time.Millisecond {
		a.report(req, Event{Reason: ReasonThrottled, Delay: waited})
	}
	return a.failed(req, err)
}

// waitForQuota acquires a place in the quota. Only ctx ends the wait, no other limit of the client.
func (a *admission) waitForQuota(req *http.Request) (quota.Release, error) {
	ctx := req.Context()
	if a.observer.listens(ctx, slog.LevelDebug) {
		report := newWaitReport(a, req)
		defer report.end()
		ctx = quota.WithTrace(ctx, &report.trace)
	}
	start := time.Now()
	release, err := a.limiter.Acquire(ctx, callOf(req).items)
	callOf(req).waited += time.Since(start)
	if err == nil && release == nil {
		err = errors.New("the limiter returned neither a place nor an error")
	}
	return release, a.failed(req, err)
}

func (a *admission) report(req *http.Request, e Event) {
	e.Kind = EventWait
	a.observer.report(req.Context(), slog.LevelDebug, callOf(req), e)
}

// failed returns the error of a call that was not sent, or nil for a nil err.
func (a *admission) failed(req *http.Request, err error) error {
	c := callOf(req)
	switch {
	case err == nil:
		return nil
	case req.Context().Err() != nil:
		return &TransportError{CallInfo: c.info(), Err: req.Context().Err()}
	default:
		return fmt.Errorf("%s: %w", c.op.ID, err)
	}
}

// waitReport reports a wait when it begins, every minute, and when it ends, with the time since the
// last report. A timer's goroutine reports the minutes, because the call's goroutine is waiting.
type waitReport struct {
	admission *admission
	req       *http.Request
	trace     quota.Trace

	mu           sync.Mutex
	timer        *time.Timer
	full         quota.Window
	begun, ended bool
	last         time.Time // When the wait began, or was last reported.
}

func newWaitReport(a *admission, req *http.Request) *waitReport {
	r := &waitReport{admission: a, req: req, last: time.Now()}
	r.trace.WaitStart = r.begin
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = time.AfterFunc(waitReportInterval, r.minute)
	return r
}

// begin is called by a limiter that traces its waits.
func (r *waitReport) begin(full quota.Window) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun || r.ended {
		return
	}
	r.full, r.begun, r.last = full, true, time.Now()
	r.timer.Reset(waitReportInterval)
	r.report(0)
}

func (r *waitReport) minute() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.begun = true
	r.timer.Reset(waitReportInterval)
	r.reportElapsed()
}

// end makes the last report. There is none after end has returned.
func (r *waitReport) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer.Stop()
	shortest := time.Millisecond // a limiter that does not trace its waits may not have waited
	if r.begun {
		shortest = 1
	}
	if time.Since(r.last) >= shortest {
		r.reportElapsed()
	}
	r.ended = true
}

func (r *waitReport) reportElapsed() {
	now := time.Now()
	waited := now.Sub(r.last)
	r.last = now
	r.report(waited)
}

func (r *waitReport) report(waited time.Duration) {
	r.admission.report(r.req, Event{Reason: ReasonQuota, Window: r.full, Delay: waited})
}

// place is an attempt's place in the quota. It is occupied from before the connection is requested
// until the request has arrived: when the first byte of the response does, or 2 s after the request
// was written. Its methods may be called from any goroutine and in any order.
type place struct {
	release quota.Release

	mu       sync.Mutex
	timer    *time.Timer // Runs while the request may be on its way; nil until it was written.
	finished bool        // The attempt has ended, or the response has begun.
}

// wrote records that the request was written, as httptrace reports it. The last report counts.
func (p *place) wrote() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.finished {
		p.releaseLater()
	}
}

// releaseLater releases the place after arrivesWithin. The caller has locked mu.
func (p *place) releaseLater() {
	if p.timer != nil {
		p.timer.Reset(arrivesWithin)
		return
	}
	p.timer = time.AfterFunc(arrivesWithin, func() { p.release(quota.Sent) })
}

// firstByte records that the response has begun, as httptrace reports it.
func (p *place) firstByte() {
	p.stop()
	p.release(quota.Sent)
}

// ended records the end of the attempt: whether the request may have left, and the status of the
// response, zero if there was none.
func (p *place) ended(sent bool, status int) {
	p.stop()
	switch {
	case !sent:
		p.release(quota.NotSent)
	case status == http.StatusTooManyRequests:
		p.release(quota.Refused)
	default:
		p.release(quota.Sent)
	}
}

// abandoned records that this side ended the attempt, by ctx or its timeout. The request may still
// be on its way, so the place is released later.
func (p *place) abandoned() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.finished && p.timer == nil {
		p.releaseLater()
	}
}

// stop stops the timer. It does not start again.
func (p *place) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished = true
	if p.timer != nil {
		p.timer.Stop()
	}
}
