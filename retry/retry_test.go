package retry

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDecideIsTheRetryTable(t *testing.T) {
	type verdict struct{ retry, unknown bool }
	stop, retry, unknown := verdict{}, verdict{retry: true}, verdict{unknown: true}
	for _, row := range []struct {
		outcome     Outcome
		written     bool
		read, write verdict
		why         string
	}{
		{NotSent, false, retry, retry, "the service has not seen it"},
		{Throttled, true, retry, retry, "it was refused, not applied"},
		{Unauthorized, true, retry, retry, "it was refused, not applied; the retrier asks for a new token first"},
		{NoAnswer, true, retry, unknown, "there is no idempotency key: a write that timed out has often landed"},
		{Transient, true, retry, unknown, "a gateway's 503 does not say whether the service behind it acted"},
		{Unreadable, true, retry, unknown, "it was applied; only what it made is not known"},
		{TooLarge, true, stop, unknown, "it would be as large the next time"},
		{Redirect, true, stop, unknown, "it would be sent away the next time, and nobody said that nothing was done"},
		{Ended, false, stop, stop, "the caller is gone and nothing was sent"},
		{Ended, true, stop, unknown, "the caller is gone and the request was under way"},
		{Refused, false, stop, stop, "the client has said no, and nothing was sent"},
		{Final, true, stop, stop, "the service has said no"},
	} {
		for _, kind := range []struct {
			retrySafe bool
			want      verdict
		}{{true, row.read}, {false, row.write}} {
			var got verdict
			got.retry, got.unknown = Decide(row.outcome, kind.retrySafe, row.written)
			assert.Equal(t, kind.want, got, "%s, retry safe %t, written %t: %s", row.outcome, kind.retrySafe, row.written, row.why)
		}
	}
}

func TestEveryStatusHasItsRow(t *testing.T) {
	special := map[int]Outcome{401: Unauthorized, 408: Transient, 429: Throttled, 501: Final, 505: Final}
	for status := 200; status < 1000; status++ {
		want, ok := special[status]
		switch {
		case ok:
		case status >= 500:
			want = Transient
		case status >= 300 && status < 400:
			want = Redirect
		default:
			want = Final
		}
		assert.Equal(t, want, OfStatus(status), status)
	}
}

func TestWhoPollsToleratesWhatIsTransientOrThrottled(t *testing.T) {
	for status, want := range map[int]bool{408: true, 429: true, 500: true, 503: true, 524: true, 999: true, 501: false, 505: false, 400: false, 401: false, 404: false, 302: false, 200: false} {
		assert.Equal(t, want, OfStatus(status).MayPass(), status)
	}
}

func TestPolicyFieldsLeftZeroHaveTheirDefaults(t *testing.T) {
	all := Policy{MaxAttempts: 4, MinDelay: 500 * time.Millisecond, MaxDelay: 30 * time.Second, MaxRetryAfter: time.Minute, AttemptTimeout: 30 * time.Second}
	assert.Equal(t, all, Policy{}.WithDefaults())
	one := all
	one.MaxAttempts = 1
	assert.Equal(t, one, Policy{MaxAttempts: 1}.WithDefaults(), "the other fields keep theirs")
}

func TestDelaysStayWithinTheirBounds(t *testing.T) {
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
		p := Policy{MinDelay: tc.least, MaxDelay: tc.most}
		for range 200 {
			got := p.Delay(tc.attempt, 0)
			assert.LessOrEqual(t, got, tc.ceiling, tc.why)
			assert.GreaterOrEqual(t, got, tc.ceiling/2, tc.why)
		}
	}
}

func TestRetryAfterIsReadInBothForms(t *testing.T) {
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
			assert.Equal(t, tc.want, After(http.Header{"Retry-After": {tc.value}}), tc.why)
		}
		assert.Zero(t, After(nil), "no answer, no header")
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "7", "-7", "1e9", "99999999999999999999", "Sun, 06 Nov 1994 08:49:37 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", " 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got := After(http.Header{"Retry-After": {value}})
		assert.GreaterOrEqual(t, got, time.Duration(0))
		if !strings.ContainsAny(value, "0123456789") {
			assert.Zero(t, got, "%q says no time", value)
		}
	})
}
