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
		{notSent, false, retry, retry, "the service has not seen it"},
		{throttled, true, retry, retry, "it was refused, not applied"},
		{unauthorized, true, retry, retry, "it was refused, not applied; the retrier asks for a new token first"},
		{noResponse, true, retry, unknown, "there is no idempotency key: a write that timed out has often landed"},
		{transient, true, retry, unknown, "a gateway's 503 does not say whether the service behind it acted"},
		{unreadable, true, retry, unknown, "it was applied; only what it made is not known"},
		{tooLarge, true, stop, unknown, "it would be as large the next time"},
		{redirected, true, stop, unknown, "it would be sent away the next time, and nobody said that nothing was done"},
		{ended, false, stop, stop, "the caller is gone and nothing was sent"},
		{ended, true, stop, unknown, "the caller is gone and the request was under way"},
		{refused, false, stop, stop, "the client has said no, and nothing was sent"},
		{final, true, stop, stop, "the service has said no"},
	} {
		for _, kind := range []struct {
			retrySafe bool
			want      decision
		}{{true, row.read}, {false, row.write}} {
			var got decision
			got.retry, got.unknown = row.outcome.decide(kind.retrySafe, row.written)
			assert.Equal(t, kind.want, got, "%s, retry safe %t, written %t: %s", row.outcome, kind.retrySafe, row.written, row.why)
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
	assert.Equal(t, one, RetryPolicy{MaxAttempts: 1}.withDefaults(), "the other fields keep theirs")
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
		{500 * time.Millisecond, 30 * time.Second, 7, 30 * time.Second, "32 s are beyond the bound"},
		{500 * time.Millisecond, 30 * time.Second, 1000, 30 * time.Second, "doubling for ever does not overflow"},
		{time.Hour, 30 * time.Hour, 40, 30 * time.Hour, "nor does a long pause"},
		{time.Minute, time.Second, 1, time.Second, "the upper bound wins over the first pause"},
		{1, 1, 3, 1, "a nanosecond has no half"},
	} {
		p := RetryPolicy{MinDelay: tc.least, MaxDelay: tc.most}
		for range 200 {
			got := p.delay(tc.attempt, 0)
			assert.LessOrEqual(t, got, tc.ceiling, tc.why)
			assert.GreaterOrEqual(t, got, tc.ceiling/2, tc.why)
		}
	}
}

// takes counts the retries that a budget gives at once.
func takes(b *budget) int {
	n := 0
	for b.take() {
		n++
	}
	return n
}

func TestBudget_Refills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &budget{}
		assert.Equal(t, budgetSize, takes(b))
		<-time.After(budgetRefill - 1)
		assert.Zero(t, takes(b))
		<-time.After(1)
		assert.Equal(t, 1, takes(b))
		<-time.After(100 * budgetRefill)
		assert.Equal(t, budgetSize, takes(b), "it holds no more than its size")
		b.giveBack(2)
		assert.Equal(t, 2, takes(b))
		b.giveBack(1000)
		assert.Equal(t, budgetSize, takes(b), "nor is more given back than was taken")
	})
}
