package client

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRetryTable_Decides(t *testing.T) {
	type decision struct{ retry, unknown bool }
	stop, retry, unknown := decision{}, decision{retry: true}, decision{unknown: true}
	for _, row := range []struct {
		outcome     outcome
		written     bool
		read, write decision
		why         string
	}{
		{notSent, false, retry, retry, "the request did not arrive"},
		{throttled, true, retry, retry, "the request was refused"},
		{unauthorized, true, retry, retry, "the request was refused; a retry needs another token"},
		{noResponse, true, retry, unknown, "there is no idempotency key: a write that timed out has often landed"},
		{transient, true, retry, unknown, "the service behind a gateway may have applied the request"},
		{unreadable, true, retry, unknown, "the request was applied"},
		{tooLarge, true, stop, unknown, "the next response would be as large"},
		{redirected, true, stop, unknown, "the next response would be the same"},
		{ended, false, stop, stop, "nothing was sent"},
		{ended, true, stop, unknown, "the request was in flight"},
		{refused, false, stop, stop, "nothing was sent"},
		{final, true, stop, stop, "the service refused"},
	} {
		for _, kind := range []struct {
			retrySafe bool
			want      decision
		}{{true, row.read}, {false, row.write}} {
			var got decision
			got.retry, got.unknown = row.outcome.decide(kind.retrySafe, row.written)
			assert.Equal(t, kind.want, got, "%s, retry safe %t, written %t: %s", row.outcome,
				kind.retrySafe, row.written, row.why)
		}
	}
}

func TestRetryTable_HasRowForEveryStatus(t *testing.T) {
	special := map[int]outcome{401: unauthorized, 408: transient, 429: throttled, 501: final, 505: final}
	for status := 200; status < 1000; status++ {
		want, ok := special[status]
		switch {
		case ok:
		case status >= 500:
			want = transient
		case status >= 300 && status < 400:
			want = redirected
		default:
			want = final
		}
		assert.Equal(t, want, outcomeOf(status), status)
	}
}

func TestRetryPolicy_ZeroFieldsHaveDefaults(t *testing.T) {
	all := RetryPolicy{MaxAttempts: 4, MinDelay: 500 * time.Millisecond, MaxDelay: 30 * time.Second, MaxRetryAfter: time.Minute, AttemptTimeout: 30 * time.Second}
	assert.Equal(t, all, RetryPolicy{}.withDefaults())
	one := all
	one.MaxAttempts = 1
	assert.Equal(t, one, RetryPolicy{MaxAttempts: 1}.withDefaults(), "the other fields keep their defaults")
}

func TestRetryPolicy_DelaysStayWithinBounds(t *testing.T) {
	for _, tc := range []struct {
		least, most time.Duration
		attempt     int
		ceiling     time.Duration
		why         string
	}{
		{500 * time.Millisecond, 30 * time.Second, 1, 500 * time.Millisecond, "the first pause"},
		{500 * time.Millisecond, 30 * time.Second, 2, time.Second, "doubled"},
		{500 * time.Millisecond, 30 * time.Second, 6, 16 * time.Second, "doubled five times"},
		{500 * time.Millisecond, 30 * time.Second, 7, 30 * time.Second, "bounded"},
		{500 * time.Millisecond, 30 * time.Second, 1000, 30 * time.Second, "no overflow"},
		{time.Hour, 30 * time.Hour, 40, 30 * time.Hour, "no overflow of a long pause"},
		{time.Minute, time.Second, 1, time.Second, "the upper bound wins over the first pause"},
		{1, 1, 3, 1, "a nanosecond"},
	} {
		p := RetryPolicy{MinDelay: tc.least, MaxDelay: tc.most}
		for range 200 {
			got := p.delay(tc.attempt, 0)
			assert.LessOrEqual(t, got, tc.ceiling, tc.why)
			assert.GreaterOrEqual(t, got, tc.ceiling/2, tc.why)
		}
	}
}

// takeAll takes all retries of a budget, and returns their number.
func takeAll(b *budget) int {
	n := 0
	for b.acquire() {
		n++
	}
	return n
}

func TestBudget_Refills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &budget{}
		assert.Equal(t, budgetSize, takeAll(b))
		<-time.After(budgetRefill - 1)
		assert.Zero(t, takeAll(b))
		<-time.After(1)
		assert.Equal(t, 1, takeAll(b))
		<-time.After(100 * budgetRefill)
		assert.Equal(t, budgetSize, takeAll(b), "bounded by its size")
		b.release(2)
		assert.Equal(t, 2, takeAll(b))
		b.release(1000)
		assert.Equal(t, budgetSize, takeAll(b), "no more is returned than was taken")
	})
}
