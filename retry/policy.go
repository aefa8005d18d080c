package retry

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Policy says how often and how patiently a call is repeated. A field left zero has its default.
type Policy struct {
	MaxAttempts int           // Requests a call may send, the first included; 4 by default, 1 turns retries off.
	MinDelay    time.Duration // Upper bound of the first pause, doubled each time; 500 ms by default.
	MaxDelay    time.Duration // Upper bound of any pause that the service did not ask for; 30 s by default.
	// MaxRetryAfter is the longest Retry-After that a call waits for; 1 minute by default. A call that meets a longer one
	// fails at once. How long the client sends nothing after a 429 does not depend on it.
	MaxRetryAfter time.Duration
	// AttemptTimeout is how long one request may take, the body of its response included; 30 s by default. For a
	// streamed document it covers the headers only.
	AttemptTimeout time.Duration
}

// Check refuses negative fields.
func (p Policy) Check() error {
	if p.MaxAttempts < 0 || min(p.MinDelay, p.MaxDelay, p.MaxRetryAfter, p.AttemptTimeout) < 0 {
		return errors.New("retry policy: no field may be negative")
	}
	return nil
}

// WithDefaults fills in the fields that are left zero.
func (p Policy) WithDefaults() Policy {
	return Policy{
		MaxAttempts:    cmp.Or(p.MaxAttempts, 4),
		MinDelay:       cmp.Or(p.MinDelay, 500*time.Millisecond),
		MaxDelay:       cmp.Or(p.MaxDelay, 30*time.Second),
		MaxRetryAfter:  cmp.Or(p.MaxRetryAfter, time.Minute),
		AttemptTimeout: cmp.Or(p.AttemptTimeout, 30*time.Second),
	}
}

// Delay is how long to wait before the attempt after so many: what the service asks for, up to a day, else a jittered
// exponential.
func (p Policy) Delay(attempts int, asked time.Duration) time.Duration {
	if asked > 0 {
		return min(asked, 24*time.Hour)
	}
	ceiling := p.MaxDelay
	if shift := attempts - 1; p.MinDelay <= ceiling>>shift { // a shift to the right cannot overflow
		ceiling = p.MinDelay << shift
	}
	return ceiling/2 + rand.N(ceiling/2+1)
}

// Pause waits, or returns the error of ctx when that ends first.
func Pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
