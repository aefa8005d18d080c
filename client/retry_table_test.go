package client

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRetryTable(t *testing.T) {
	type verdict struct{ retry, unknown bool }
	stop, retry, unknown := verdict{}, verdict{retry: true}, verdict{unknown: true}
	for _, row := range []struct {
		outcome     outcome
		written     bool
		read, write verdict
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
			want      verdict
		}{{true, row.read}, {false, row.write}} {
			var got verdict
			got.retry, got.unknown = row.outcome.decide(kind.retrySafe, row.written)
			assert.Equal(t, kind.want, got, "%s, retry safe %t, written %t: %s", row.outcome, kind.retrySafe, row.written, row.why)
		}
	}
}

func TestRetryTable_HasARowForEveryStatus(t *testing.T) {
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

func TestRetryAfter_ReadsBothForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where now is a whole second
		date := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		for _, tc := range []struct {
			value string
			want  time.Duration
			why   string
		}{
			{"", 0, "missing"},
			{"7", 7 * time.Second, "seconds"},
			{" 7 ", 7 * time.Second, "spaces around it"},
			{"0", 0, "nothing asked"},
			{"-7", 0, "the past"},
			{"1.5", 0, "no number of RFC 9110"},
			{"soon", 0, "prose"},
			{"NaN", 0, "no number"},
			{"999999999", 366 * 24 * time.Hour, "bounded, so that nothing overflows"},
			{"99999999999999999999", 366 * 24 * time.Hour, "beyond 64 bits it is still long, not absent"},
			{date(7 * time.Second), 7 * time.Second, "a date"},
			{date(-time.Hour), 0, "a date in the past"},
			{time.Now().Add(time.Minute).UTC().Format(time.RFC850), time.Minute, "an old form that RFC 9110 keeps"},
		} {
			assert.Equal(t, tc.want, retryAfter(http.Header{"Retry-After": {tc.value}}), tc.why)
		}
		assert.Zero(t, retryAfter(nil), "no answer, no header")
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "7", "-7", "1e9", "99999999999999999999", "Sun, 06 Nov 1994 08:49:37 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", " 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got := retryAfter(http.Header{"Retry-After": {value}})
		assert.GreaterOrEqual(t, got, time.Duration(0))
		if !strings.ContainsAny(value, "0123456789") {
			assert.Zero(t, got, "%q says no time", value)
		}
	})
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

func TestCooldown_IsWaitedForIfItEndsInTime(t *testing.T) {
	for left, why := range map[time.Duration]string{
		0:                     "there is no deadline",
		time.Hour:             "there is much time left",
		61 * time.Second:      "there is less left than the jitter may take",
		60*time.Second + 1000: "there is next to nothing left",
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, start, c := t.Context(), time.Now(), &cooldown{}
			c.begin(func(int) time.Duration { return time.Minute })
			if left > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, left)
				defer cancel()
			}
			require.NoError(t, c.wait(ctx, time.Hour), why)
			assert.GreaterOrEqual(t, time.Since(start), time.Minute, why)
			assert.LessOrEqual(t, time.Since(start), time.Minute*9/8, why)
			assert.NoError(t, ctx.Err(), why)
		})
	}
}
