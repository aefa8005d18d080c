package retry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Gate is closed for all goroutines of a client when one of them is answered 429, so that they do not
// find out one by one.
type Gate struct {
	mu    sync.Mutex
	until time.Time
	inRow int // 429s since the last success; those of requests that were under way when it closed count as one.
}

// Close closes the gate for the delay after so many 429s in a row, or longer if it already is. It returns when
// the caller may try again: the one that closed it as soon as it opens, the others a little later.
func (g *Gate) Close(delay func(inRow int) time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, open := time.Now(), !time.Now().Before(g.until)
	if open {
		g.inRow++
	}
	if until := now.Add(delay(g.inRow)); until.After(g.until) {
		g.until = until
	}
	wait := g.until.Sub(now)
	if !open {
		wait += rand.N(wait/8 + 1)
	}
	return wait
}

// Succeeded ends a row of 429s, unless the gate is closed: that request was sent before.
func (g *Gate) Succeeded() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !time.Now().Before(g.until) {
		g.inRow = 0
	}
}

// Remaining is how long the gate stays closed.
func (g *Gate) Remaining() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(0, time.Until(g.until))
}

// Wait returns once the gate is open; it may have been closed again meanwhile. It returns ctx's error when that
// ends, and a *[ThrottledError] at once when the gate stays closed for longer than most, or beyond ctx's deadline.
func (g *Gate) Wait(ctx context.Context, most time.Duration) error {
	for d := g.Remaining(); d > 0; d = g.Remaining() {
		if d > most {
			return &ThrottledError{Until: time.Now().Add(d)}
		}
		spread := d / 8 // so that they do not go all at once
		if deadline, ends := ctx.Deadline(); ends && ctx.Err() == nil {
			spare := time.Until(deadline) - d
			if spare <= 0 {
				return &ThrottledError{Until: time.Now().Add(d)}
			}
			spread = min(spread, spare/2)
		}
		if err := Pause(ctx, d+rand.N(spread+1)); err != nil {
			return err
		}
	}
	return nil
}

// ThrottledError reports that a call was not sent, because the service has responded 429 to another call and asked for
// a longer pause than this one may wait: beyond its deadline, or beyond [Policy].MaxRetryAfter. If the call was being
// retried, a client joins this with what came of the attempt before.
type ThrottledError struct {
	Until time.Time // When the cooldown ends, as far as is known.
}

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("rate limited: the service asked for no requests until %s, longer than this call may wait", e.Until.UTC().Format(time.RFC3339))
}
