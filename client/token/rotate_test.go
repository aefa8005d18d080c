package token_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/token"
)

// rotation has an OnRotate that takes a while. The zero value succeeds at once.
type rotation struct {
	takes  time.Duration // Of each call.
	obeys  bool          // A call returns when its context ends.
	fails  int           // How many of the first calls fail.
	mu     sync.Mutex
	calls  []string
	ended  []time.Duration // How long each context lasted; zero if it did not end.
	active int
	most   int
}

func (r *rotation) save(ctx context.Context, refreshToken string) error {
	r.mu.Lock()
	n, start, done := len(r.calls), time.Now(), time.After(r.takes)
	r.calls, r.ended = append(r.calls, refreshToken), append(r.ended, 0)
	r.active++
	r.most = max(r.most, r.active)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.active--
	}()
	select {
	case <-done:
	case <-ctx.Done():
		r.mu.Lock()
		r.ended[n] = time.Since(start)
		r.mu.Unlock()
		if r.obeys {
			return ctx.Err()
		}
		<-done
	}
	if n < r.fails {
		return errFullDisk
	}
	return nil
}

// newRotatingSource returns a source whose first refresh rotates the refresh token.
func newRotatingSource(
	t *testing.T, r *rotation, rest ...http.HandlerFunc,
) (*token.RefreshSource, *tokenEndpoint) {
	t.Helper()
	first := respondGrant("access-1", `"refresh_token":"refresh-2"`, `"expires_in":43200`)
	endpoint := newEndpoint(append([]http.HandlerFunc{first}, rest...)...)
	source := newUnclosedSource(t, endpoint, func(c *token.RefreshConfig) { c.OnRotate = r.save })
	return source, endpoint
}

func TestOnRotate_HasLimitedTime(t *testing.T) {
	for _, tc := range []struct {
		takes  time.Duration // How long the call takes.
		obeys  bool          // The call returns when its context ends.
		close  time.Duration // When the source is closed; zero for never.
		ended  time.Duration // When the context of the call ends; zero for never.
		failed time.Duration // When Token and Close fail; zero if the token is saved.
		why    string
	}{
		{29 * time.Second, false, 0, 0, 0, "less than 30 seconds"},
		{time.Hour, true, 0, 30 * time.Second, 30 * time.Second, "the context ends after 30 seconds"},
		{time.Hour, false, 0, 30 * time.Second, 31 * time.Second, "the call fails a second later"},
		{9 * time.Second, false, time.Second, 0, 0, "less than 10 seconds after Close"},
		{time.Hour, true, time.Second, 11 * time.Second, 11 * time.Second, "the context ends 10 seconds after Close"},
		{time.Hour, false, time.Second, 11 * time.Second, 12 * time.Second, "the call fails a second later"},
		{time.Hour, true, 25 * time.Second, 30 * time.Second, 30 * time.Second, "Close does not extend the 30 seconds"},
		{40 * time.Second, false, 30*time.Second + 1, 30 * time.Second, 31 * time.Second, "Close does not extend the second after them"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &rotation{takes: tc.takes, obeys: tc.obeys}
			source, _ := newRotatingSource(t, r)
			start, over := time.Now(), tc.failed
			if over == 0 {
				over = tc.takes
			}
			var closed sync.WaitGroup
			if tc.close > 0 {
				closed.Go(func() {
					<-time.After(tc.close)
					err := source.Close()
					assert.Equal(t, tc.failed > 0, err != nil, "%s: %v", tc.why, err)
					assert.Equal(t, over, time.Since(start), tc.why)
				})
			}
			got, err := source.Token()
			assert.Equal(t, over, time.Since(start), tc.why)
			if tc.failed == 0 {
				require.NoError(t, err, tc.why)
				assert.Equal(t, "access-1", got.AccessToken)
			} else {
				requireTokenError(t, err)
				assertSecretFree(t, err, "refresh-2")
			}
			closed.Wait()
			<-time.After(time.Hour) // until the call has returned
			r.mu.Lock()
			defer r.mu.Unlock()
			assert.Equal(t, []string{"refresh-2"}, r.calls)
			assert.Equal(t, []time.Duration{tc.ended}, r.ended, tc.why)
		})
	}
}

func TestOnRotate_CallsDoNotOverlap(t *testing.T) {
	for _, tc := range []struct {
		fails int
		calls int
		why   string
	}{
		{0, 1, "a late call saved the token"},
		{1, 2, "a late call failed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &rotation{takes: 5 * time.Minute, fails: tc.fails}
			source, endpoint := newRotatingSource(t, r, respondGrant("access-2", `"expires_in":43200`))
			start := time.Now()
			tries := 0
			for time.Since(start) < 4*time.Minute {
				_, err := source.Token()
				requireTokenError(t, err)
				tries++
			}
			assert.Greater(t, tries, 4)
			assert.Equal(t, []string{"refresh-1"}, endpoint.refreshTokens(), "saved first")
			r.mu.Lock()
			assert.Len(t, r.calls, 1, "the first call has not returned")
			r.takes = 0 // of the next call
			r.mu.Unlock()
			advance(time.Minute)
			assert.Equal(t, "access-2", accessToken(t, source), tc.why)
			assert.Equal(t, []string{"refresh-1", "refresh-2"}, endpoint.refreshTokens())
			assert.Len(t, r.calls, tc.calls, tc.why)
			assert.Equal(t, 1, r.most)
			require.NoError(t, source.Close())
		})
	}
}

func TestClose_SavesRotatedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rotation{fails: 2}
		source, endpoint := newRotatingSource(t, r)
		_, err := source.Token()
		require.ErrorIs(t, err, errFullDisk)

		start := time.Now()
		require.ErrorIs(t, source.Close(), errFullDisk, "OnRotate fails once more")
		require.NoError(t, source.Close(), "Close can be called again")
		require.NoError(t, source.Close())

		assert.Zero(t, time.Since(start), "Close does not wait for the pause")
		assert.Equal(t, []string{"refresh-2", "refresh-2", "refresh-2"}, r.calls)
		assert.Len(t, endpoint.sent(), 1, "nothing is sent")
		_, err = source.Token()
		requireTokenError(t, err)
	})
}

func TestClose_EndsPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoint := newEndpoint(respond(http.StatusServiceUnavailable, ""))
		source := inBubble(t, endpoint)
		_, err := source.Token()
		require.Error(t, err)
		start := time.Now()
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() {
				_, err := source.Token()
				requireTokenError(t, err)
				assert.Equal(t, time.Second, time.Since(start))
			})
			callers.Go(func() {
				<-time.After(time.Second)
				assert.NoError(t, source.Close(), "safe for concurrent use")
			})
		}
		callers.Wait()
		assert.Equal(t, time.Second, time.Since(start))
		assert.Len(t, endpoint.sent(), 1)
	})
}

func TestClose_WaitsForResponseAndOnRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rotation{takes: 9 * time.Second, obeys: true}
		slow := func(w http.ResponseWriter, request *http.Request) {
			<-time.After(29 * time.Second)
			respondGrant("access-1", `"refresh_token":"refresh-2"`, `"expires_in":3600`)(w, request)
		}
		endpoint := newEndpoint(slow)
		source := newUnclosedSource(t, endpoint, func(c *token.RefreshConfig) {
			c.OnRotate = r.save
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := source.TokenContext(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		start := time.Now()
		require.NoError(t, source.Close())
		assert.Equal(t, 37*time.Second, time.Since(start), "28 s for the response, and then 9 s")
		assert.Equal(t, []string{"refresh-2"}, r.calls)
		assert.Equal(t, []time.Duration{0}, r.ended, "its 10 seconds begin with the call")
		assert.Equal(t, "access-1", accessToken(t, source), "the last token can be used")
		advance(time.Hour)
		_, err = source.Token()
		requireTokenError(t, err)
		assert.Len(t, endpoint.sent(), 1, "nothing is sent after Close")
	})
}
