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
	// arrivesWithin is how long after it was written a request is taken to be under way if no response comes.
	arrivesWithin = 2 * time.Second
	// waitReportedEvery is how often a wait for the quota is reported.
	waitReportedEvery = time.Minute
)

// admission is the stage that sends an attempt when it has a token, no cooldown is on, and the quota has room.
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
			return nil, &ArgumentError{Operation: c.op.ID, Field: "items", Problem: "the quota cannot count a batch of undeclared size: use WithItemCount"}
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

// acquire gets what an attempt needs: its token, the end of a cooldown, and a place in the quota, in this order, because
// a place that waits for a token is lost to others. If a cooldown begins or the token expires meanwhile, the place is
// released and it all begins again: calls that waited for the quota would else go together when the cooldown ends.
func (a *admission) acquire(req *http.Request) (quota.Release, error) {
	for {
		token, err := a.auth.authorize(req)
		if err != nil {
			return nil, err
		}
		fresh := isFresh(token)
		if err := a.throttled(req); err != nil {
			return nil, err
		}
		release, err := a.wait(req)
		if err != nil {
			return nil, err
		}
		ended := req.Context().Err()
		expired := fresh && !isFresh(token) // one that came expired is the source's last word
		if ended == nil && a.cooldown.remaining() == 0 && !expired && !a.auth.lifetime.over() {
			return release, nil
		}
		release(quota.NotSent)
		if ended != nil {
			return nil, a.failed(req, ended)
		}
	}
}

func isFresh(t *oauth2.Token) bool { return t.Expiry.IsZero() || time.Now().Before(t.Expiry) }

// throttled waits until no cooldown is on.
func (a *admission) throttled(req *http.Request) error {
	start := time.Now()
	most := min(a.policy.MaxRetryAfter, callOf(req).left(req.Context()))
	err := a.cooldown.wait(req.Context(), most)
	if waited := time.Since(start); waited > time.Millisecond {
		a.observer.report(req.Context(), slog.LevelDebug, callOf(req), Event{Kind: EventWait, Reason: ReasonThrottled, Delay: waited})
	}
	return a.failed(req, err)
}

// wait waits for a place in the quota. No bound of the client ends that, only ctx does.
func (a *admission) wait(req *http.Request) (quota.Release, error) {
	report := newWaitReport(func(full quota.Window, waited time.Duration) {
		a.observer.report(req.Context(), slog.LevelDebug, callOf(req), Event{Kind: EventWait, Reason: ReasonQuota, Window: full, Delay: waited})
	})
	defer report.end()
	ctx := quota.WithTrace(req.Context(), &quota.Trace{WaitStart: report.begin})
	start := time.Now()
	release, err := a.limiter.Acquire(ctx, callOf(req).items)
	callOf(req).waited += time.Since(start)
	if err == nil && release == nil {
		err = errors.New("the limiter returned neither a place nor an error")
	}
	return release, a.failed(req, err)
}

// failed describes why a call has not got past this stage, if it has not.
func (a *admission) failed(req *http.Request, err error) error {
	c := callOf(req)
	switch {
	case err == nil:
		return nil
	case req.Context().Err() != nil:
		return &TransportError{CallInfo: c.describe(), Err: req.Context().Err()}
	default:
		return fmt.Errorf("%s: %w", c.op.ID, err)
	}
}

// waitReport reports a wait when it begins, every minute, and when it ends, each time with how much longer it has
// taken since the last report. The minutes are reported from a timer's goroutine, because the call's is waiting.
type waitReport struct {
	mu     sync.Mutex
	report func(full quota.Window, waited time.Duration)
	timer  *time.Timer
	full   quota.Window
	begun  bool
	last   time.Time // When it began, or was last reported.
}

func newWaitReport(report func(quota.Window, time.Duration)) *waitReport {
	r := &waitReport{report: report, last: time.Now()}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = time.AfterFunc(waitReportedEvery, r.minute)
	return r
}

// begin is called by a limiter that traces its waits.
func (r *waitReport) begin(full quota.Window) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun || r.report == nil {
		return
	}
	r.full, r.begun, r.last = full, true, time.Now()
	r.timer.Reset(waitReportedEvery)
	r.report(full, 0)
}

func (r *waitReport) minute() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report == nil {
		return
	}
	r.begun = true
	r.timer.Reset(waitReportedEvery)
	r.elapsed()
}

// end reports what is left to report. Nothing is reported after it has returned.
func (r *waitReport) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer.Stop()
	least := time.Millisecond // not every limiter traces its waits
	if r.begun {
		least = 1
	}
	if time.Since(r.last) >= least {
		r.elapsed()
	}
	r.report = nil
}

func (r *waitReport) elapsed() {
	now := time.Now()
	waited := now.Sub(r.last)
	r.last = now
	r.report(r.full, waited)
}

// place is what an attempt holds in the quota. It is held from before the connection is asked for until the request
// has arrived for sure: the first byte of the response shows that, or it is taken to have arrived 2 s after it was
// written. The methods are called as the attempt goes on, from any goroutine and in any order.
type place struct {
	release quota.Release

	mu    sync.Mutex
	timer *time.Timer // Runs while the request may be under way; nil until it was written.
	over  bool        // The attempt has ended, or the response has begun.
}

// wrote notes that the request was written, as WroteRequest of httptrace reports it. The last of several counts.
func (p *place) wrote() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.arrivesLater()
	}
}

// arrivesLater releases the place when the request has had time to arrive. The caller holds mu.
func (p *place) arrivesLater() {
	if p.timer != nil {
		p.timer.Reset(arrivesWithin)
		return
	}
	p.timer = time.AfterFunc(arrivesWithin, func() { p.release(quota.Sent) })
}

// firstByte notes that the response has begun, as GotFirstResponseByte of httptrace reports it.
func (p *place) firstByte() {
	p.settle()
	p.release(quota.Sent)
}

// ended notes the end of the attempt: whether the request may have left, and the status of the response, zero if there
// was none. What the peer ended without a response is over, as is what never left.
func (p *place) ended(sent bool, status int) {
	p.settle()
	switch {
	case !sent:
		p.release(quota.NotSent)
	case status == http.StatusTooManyRequests:
		p.release(quota.Refused)
	default:
		p.release(quota.Sent)
	}
}

// abandoned notes that this side has ended the attempt, because ctx or the time for it did. The request may still be
// under way, so the place is released when it has had time to arrive.
func (p *place) abandoned() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over && p.timer == nil {
		p.arrivesLater()
	}
}

// settle stops the timer for good.
func (p *place) settle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if p.timer != nil {
		p.timer.Stop()
	}
}
