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
			{"0", 0, "zero"},
			{"-7", 0, "the past"},
			{"1.5", 0, "a fraction"},
			{"soon", 0, "a word"},
			{"NaN", 0, "not a number"},
			{"999999999", 366 * 24 * time.Hour, "bounded"},
			{"99999999999999999999", 366 * 24 * time.Hour, "beyond 64 bits"},
			{date(7 * time.Second), 7 * time.Second, "a date"},
			{date(-time.Hour), 0, "a date in the past"},
			{time.Now().Add(time.Minute).UTC().Format(time.RFC850), time.Minute, "the date format of RFC 850"},
		} {
			assert.Equal(t, tc.want, retryAfter(http.Header{"Retry-After": {tc.value}}), tc.why)
		}
		assert.Zero(t, retryAfter(nil), "no header")
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
			assert.Zero(t, got, "%q has no time", value)
		}
	})
}

func TestCooldown_WaitEndsBeforeDeadline(t *testing.T) {
	for left, why := range map[time.Duration]string{
		0:                     "no deadline",
		time.Hour:             "a late deadline",
		61 * time.Second:      "less time left than the jitter",
		60*time.Second + 1000: "almost no time left",
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
