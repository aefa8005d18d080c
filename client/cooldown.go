package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// cooldown is the time after a 429 in which no goroutine of a client sends a request, so that a
// refusal of one call is not repeated by all. The zero value has ended. It is safe for concurrent
// use.
type cooldown struct {
	mu    sync.Mutex
	until time.Time
	inRow int // Consecutive cooldowns since the last success.
}

// begin starts a cooldown of delay(number of consecutive cooldowns), unless the current one ends
// later. It returns how long the caller must wait: a call that joined a running cooldown waits a
// little longer than the call that started it.
func (c *cooldown) begin(delay func(inRow int) time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	isNew := !now.Before(c.until)
	if isNew {
		c.inRow++
	}
	if until := now.Add(delay(c.inRow)); until.After(c.until) {
		c.until = until
	}
	wait := c.until.Sub(now)
	if !isNew {
		wait += rand.N(wait/8 + 1)
	}
	return wait
}

// succeeded resets the count of consecutive cooldowns. During a cooldown it does nothing: the
// request that succeeded was sent before the cooldown.
func (c *cooldown) succeeded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !time.Now().Before(c.until) {
		c.inRow = 0
	}
}

// remaining returns how long the cooldown lasts.
func (c *cooldown) remaining() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(0, time.Until(c.until))
}

// wait returns once the cooldown has ended; the next one may have begun by then. It returns ctx's
// error when ctx ends, and a *[ThrottledError] at once if the cooldown outlasts longest or ctx's
// deadline.
func (c *cooldown) wait(ctx context.Context, longest time.Duration) error {
	for d := c.remaining(); d > 0; d = c.remaining() {
		if d > longest {
			return &ThrottledError{Until: time.Now().Add(d)}
		}
		spread := d / 8 // avoids sending all waiting calls at once
		if deadline, ends := ctx.Deadline(); ends && ctx.Err() == nil {
			spare := time.Until(deadline) - d
			if spare <= 0 {
				return &ThrottledError{Until: time.Now().Add(d)}
			}
			spread = min(spread, spare/2)
		}
		select {
		case <-time.After(d + rand.N(spread+1)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// ThrottledError reports that a call was not sent because the cooldown after a 429 lasts longer
// than the call may wait: beyond its deadline, or beyond [RetryPolicy].MaxRetryAfter. If it was a
// retry, the error of the last attempt is joined with it.
type ThrottledError struct {
	Until time.Time // When the cooldown ends, unless another 429 extends it.
}

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("rate limited: the cooldown lasts until %s, longer than this call may wait",
		e.Until.UTC().Format(time.RFC3339))
}

// retryAfter returns the pause that a Retry-After header requests, in seconds or as a date; zero if
// it is missing, past or malformed. A date is one of the service's clock, so it is compared with
// the Date header if there is one.
func retryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		const longest = 366 * 24 * 3600 // keeps the product in range
		return time.Duration(max(0, min(seconds, longest))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		now, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		return max(0, at.Sub(now))
	}
	return 0
}
