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

// cooldown is the time after a 429 in which no goroutine of a client sends anything, so that they do not find out one by
// one. The zero value is over. It is safe for concurrent use.
type cooldown struct {
	mu    sync.Mutex
	until time.Time
	inRow int // 429s since the last success; those of requests that were under way when it began count as one.
}

// begin starts a cooldown for the delay after so many 429s in a row; one that ends later stays. It returns when the
// caller may try again: the call that began it as soon as it is over, the others a little later.
func (c *cooldown) begin(delay func(inRow int) time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	over := !now.Before(c.until)
	if over {
		c.inRow++
	}
	if until := now.Add(delay(c.inRow)); until.After(c.until) {
		c.until = until
	}
	wait := c.until.Sub(now)
	if !over {
		wait += rand.N(wait/8 + 1)
	}
	return wait
}

// succeeded ends a row of 429s, unless a cooldown is on: that request was sent before.
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

// wait returns once the cooldown is over; another one may have begun meanwhile. It returns ctx's error when that ends,
// and a *[ThrottledError] at once when the cooldown lasts longer than most, or beyond ctx's deadline.
func (c *cooldown) wait(ctx context.Context, most time.Duration) error {
	for d := c.remaining(); d > 0; d = c.remaining() {
		if d > most {
			return &ThrottledError{Until: time.Now().Add(d)}
		}
		spread := d / 8 // so that not all calls go at once
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

// ThrottledError reports that a call was not sent, because the service has responded 429 to another call and asked for a
// longer pause than this one may wait: beyond its deadline, or beyond [RetryPolicy].MaxRetryAfter. If the call was being
// retried, the error of the attempt before is joined with it.
type ThrottledError struct {
	Until time.Time // When the cooldown ends, as far as is known.
}

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("rate limited: the service asked for no requests until %s, longer than this call may wait", e.Until.UTC().Format(time.RFC3339))
}

// retryAfter reads the Retry-After header, in seconds or as a date; zero when it is missing, past or malformed. A date is
// one of the service's clock, so it is compared with the Date header where there is one.
func retryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		const most = 366 * 24 * 3600 // keeps the product in range
		return time.Duration(max(0, min(seconds, most))) * time.Second
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
