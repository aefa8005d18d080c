package token_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/token"
)

func TestTheContractOfARefreshTokenSource(t *testing.T) {
	for _, tc := range []struct {
		life, age string // of the token: what expires_in says, and how old it is when it is asked for
		got, then string // the token that a caller gets, and the one a moment later
		why       string
	}{
		{"43200", "11h49m59s", "access-1", "access-1", "fresh"},
		{"43200", "11h50m", "access-1", "access-2", "advisory: the old one at once, the new one when it is there"},
		{"43200", "11h59m29s", "access-1", "access-2", "advisory to its end"},
		{"43200", "11h59m30s", "access-2", "access-2", "mandatory: the caller waits"},
		{"43200", "12h", "access-2", "access-2", "it has expired"},
		{"43200", "900h", "access-2", "access-2", "long ago"},
		{"600", "7m29s", "access-1", "access-1", "a short one is fresh for three quarters"},
		{"600", "7m30s", "access-1", "access-2", "and advisory for the last one"},
		{"100", "1m29s", "access-1", "access-2", "advisory"},
		{"100", "1m30s", "access-2", "access-2", "mandatory in the last tenth"},
		{"", "8760h", "access-1", "access-1", "nobody says when it expires"},
	} {
		synctest.Test(t, func(t *testing.T) {
			each := []http.HandlerFunc{grants("access-1"), grants("access-2", `"expires_in":43200`)}
			if tc.life != "" {
				each[0] = grants("access-1", `"expires_in":`+tc.life)
			}
			source := inBubble(t, answers(each...))
			require.Equal(t, "access-1", accessToken(t, source))
			age, err := time.ParseDuration(tc.age)
			require.NoError(t, err)
			after(age)

			assert.Equal(t, tc.got, accessToken(t, source), tc.why)
			synctest.Wait()
			assert.Equal(t, tc.then, accessToken(t, source), tc.why)
		})
	}
}

func TestAFailedBackgroundRefreshBacksOffAndTheTokenGoesOn(t *testing.T) {
	for range 5 { // the jitter differs
		synctest.Test(t, func(t *testing.T) {
			var at []time.Time
			endpoint := answers(grants("access-1", `"expires_in":43200`), func(w http.ResponseWriter, r *http.Request) {
				at = append(at, time.Now())
				says(http.StatusServiceUnavailable, "")(w, r)
			})
			source := inBubble(t, endpoint)
			accessToken(t, source)
			after(12*time.Hour - 10*time.Minute)
			for range 9 * 60 * 10 { // callers come ten times a second until a minute before the expiry
				require.Equal(t, "access-1", accessToken(t, source))
				after(100 * time.Millisecond)
			}
			for i, most := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute, time.Minute} {
				pause := at[i+1].Sub(at[i])
				assert.GreaterOrEqual(t, pause, most/2, "pause %d", i)
				assert.LessOrEqual(t, pause, most+100*time.Millisecond, "pause %d", i)
			}

			after(time.Minute)
			_, err := source.Token()
			require.ErrorContains(t, err, "get an access token: the token endpoint answered 503", "now it is mandatory")
			endpoint.answers = append(endpoint.answers[:1], grants("access-2", `"expires_in":43200`))
			start := time.Now()
			assert.Equal(t, "access-2", accessToken(t, source))
			assert.GreaterOrEqual(t, time.Since(start), 30*time.Second, "the pause is waited for")
		})
	}
}

func TestAfterASuccessThePausesBeginAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		endpoint := answers(func(w http.ResponseWriter, r *http.Request) {
			at = append(at, time.Now())
			if n := len(at); n == 1 || n == 5 {
				grants("access", `"expires_in":4000`)(w, r)
				return
			}
			says(http.StatusServiceUnavailable, "")(w, r)
		})
		source := inBubble(t, endpoint)
		for len(at) < 7 {
			accessToken(t, source)
			after(500 * time.Millisecond)
		}
		assert.Equal(t, 3400*time.Second, at[5].Sub(at[4]).Truncate(time.Second), "it is advisory for its last ten minutes")
		assert.Greater(t, at[4].Sub(at[3]), 9*time.Second, "the pause after three failures")
		assert.LessOrEqual(t, at[6].Sub(at[5]), 5500*time.Millisecond, "the pause after one")
	})
}

func TestARefusalInTheBackgroundComesOutWhenTheTokenIsSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoint := answers(grants("access-1", `"expires_in":43200`), says(400, `{"error":"invalid_grant"}`))
		source := inBubble(t, endpoint)
		accessToken(t, source)
		after(12*time.Hour - 5*time.Minute)
		for range 4 {
			assert.Equal(t, "access-1", accessToken(t, source), "it is still good")
			after(time.Minute)
		}
		after(time.Minute)
		_, err := source.Token()
		require.ErrorIs(t, err, token.ErrReauthRequired)
		assert.Len(t, endpoint.sent(), 2)
	})
}

func TestACallersContextEndsItsWaitAndNotTheRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		endpoint := answers(gated(open, grants("access-1", `"expires_in":43200`)))
		source := inBubble(t, endpoint)
		var wg sync.WaitGroup
		leaving, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for i := range 100 {
			ctx, want := leaving, context.DeadlineExceeded
			if i%2 == 0 {
				ctx, want = t.Context(), nil
			}
			wg.Go(func() {
				start := time.Now()
				got, err := source.TokenContext(ctx)
				if want != nil {
					assert.ErrorIs(t, err, want)
					requireTokenError(t, err)
					assert.Equal(t, time.Second, time.Since(start))
					return
				}
				if assert.NoError(t, err) {
					assert.Equal(t, "access-1", got.AccessToken)
				}
			})
		}
		after(10 * time.Second)
		close(open)
		wg.Wait()
		assert.Len(t, endpoint.sent(), 1, "one flight, the one whose first caller may have left")
	})
}

func TestARefreshHasATimeOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoint := answers(gated(nil, nil))
		source := inBubble(t, endpoint)
		start := time.Now()
		_, err := source.Token()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "get an access token: the token endpoint did not answer: context deadline exceeded")
		assert.Equal(t, 30*time.Second, time.Since(start))
	})
}

func TestNoAnswerHoldsARefreshUpForLonger(t *testing.T) {
	for why, tc := range map[string]struct {
		answer string
		want   string
		took   time.Duration
	}{
		"no answer":               {"", "did not answer: context deadline exceeded", 30 * time.Second},
		"headers that do not end": {"HTTP/1.1 200 OK\r\n", "did not answer: context deadline exceeded", 30 * time.Second},
		"a body that does not":    {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", "did not answer: context deadline exceeded", 30 * time.Second},
		"nor one of an error":     {"HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\n{", "answered 400", 30 * time.Second},
		"another protocol":        {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\n", "answered 101", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			over := make(chan struct{})
			defer close(over)
			source := inBubble(t, pipe(t, func(conn net.Conn) {
				_, _ = io.WriteString(conn, tc.answer)
				<-over
			}), func(c *token.RefreshConfig) { c.TokenURL = "http://127.0.0.1/oauth/token" })
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			start := time.Now()
			_, err := source.TokenContext(ctx)
			require.ErrorContains(t, err, tc.want, why)
			assert.Equal(t, tc.took, time.Since(start), why)
		})
	}
}

func TestInvalidatingWorksOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		count := 0
		endpoint := answers(func(w http.ResponseWriter, r *http.Request) {
			count++
			grants("access-"+strconv.Itoa(count), `"expires_in":43200`)(w, r)
		})
		source := inBubble(t, endpoint)
		for range 180 { // a call each second, and each is answered 401, because the API key is blocked
			source.Invalidate(accessToken(t, source))
			after(time.Second)
		}
		assert.Equal(t, 4, count, "the first token, and one for each minute")
	})
}

func TestCloseWaitsForTheRefreshAndEndsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		endpoint := answers(
			grants("access-1", `"expires_in":3600`),
			gated(open, grants("access-2", `"expires_in":3600`, `"refresh_token":"refresh-2"`)),
		)
		saved := ""
		source := inBubble(t, endpoint, func(c *token.RefreshConfig) {
			c.OnRotate = func(_ context.Context, refreshToken string) error { saved = refreshToken; return nil }
		})
		accessToken(t, source)
		after(55 * time.Minute)
		assert.Equal(t, "access-1", accessToken(t, source), "a refresh begins")
		synctest.Wait()
		time.AfterFunc(7*time.Second, func() { close(open) })

		start := time.Now()
		require.NoError(t, source.Close())

		assert.Equal(t, 7*time.Second, time.Since(start))
		assert.Equal(t, "refresh-2", saved, "a rotated token is not lost")
		require.NoError(t, source.Close(), "twice is fine")
		assert.Equal(t, "access-2", accessToken(t, source), "what it brought is used")
		after(time.Hour)
		_, err := source.Token()
		require.EqualError(t, err, "get an access token: the refresh token source is closed")
		assert.Len(t, endpoint.sent(), 2)
	})
}
