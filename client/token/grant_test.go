package token_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/token"
)

func TestAGrantIsAFormWithWhatIsSet(t *testing.T) {
	for why, tc := range map[string]struct {
		change func(*token.RefreshConfig)
		want   url.Values
	}{
		"a secret goes into the form, where it is escaped": {
			func(*token.RefreshConfig) {},
			url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"refresh-1"}, "client_id": {"seller-app"}, "client_secret": {"s3cret/+&="}},
		},
		"a public client has no secret, and an audience is named": {
			func(c *token.RefreshConfig) { c.ClientSecret, c.Audience = "", "https://gateway.example.com/" },
			url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"refresh-1"}, "client_id": {"seller-app"}, "audience": {"https://gateway.example.com/"}},
		},
	} {
		var request *http.Request
		endpoint := answers(func(w http.ResponseWriter, r *http.Request) {
			request = r
			grants("access-1", `"expires_in":43200`, `"token_type":"Bearer"`)(w, r)
		})
		got, err := overHTTP(t, endpoint, tc.change).Token()
		require.NoError(t, err, why)

		assert.Equal(t, []url.Values{tc.want}, endpoint.sent(), why)
		assert.Equal(t, "POST /oauth/token", request.Method+" "+request.RequestURI, "no secret in the URL")
		assert.Equal(t, "application/x-www-form-urlencoded", request.Header.Get("Content-Type"))
		assert.Empty(t, request.Header.Get("Authorization"))
		assert.Equal(t, "access-1", got.AccessToken)
		assert.Empty(t, got.RefreshToken, "it stays with the source")
		assert.WithinDuration(t, time.Now().Add(12*time.Hour), got.Expiry, time.Minute)
	}
}

func TestTheExpiryIsReadFromWhateverStatesIt(t *testing.T) {
	inAnHour := time.Now().Add(time.Hour).Truncate(time.Second)
	stating := jwt(fmt.Sprintf(`{"exp":%d}`, inAnHour.Unix()))
	for why, tc := range map[string]struct {
		answer http.HandlerFunc
		want   time.Time
	}{
		"expires_in wins":                   {grants(stating, `"expires_in":7200`), inAnHour.Add(time.Hour)},
		"expires_in as text":                {grants("opaque", `"expires_in":"3600"`), inAnHour},
		"expires_in with a fraction":        {grants("opaque", `"expires_in":3600.75`), inAnHour},
		"no expires_in, but an exp":         {grants(stating), inAnHour},
		"a null says nothing":               {grants(stating, `"expires_in":null`), inAnHour},
		"nor does an empty text":            {grants(stating, `"expires_in":""`), inAnHour},
		"nor an object":                     {grants(stating, `"expires_in":{"seconds":60}`), inAnHour},
		"nor zero":                          {grants(stating, `"expires_in":0`), inAnHour},
		"nor a number below zero":           {grants(stating, `"expires_in":-60`), inAnHour},
		"nothing is known":                  {grants("opaque"), time.Time{}},
		"centuries are cut to a leap year":  {grants("opaque", `"expires_in":9223372036854775807`), inAnHour.Add(366*24*time.Hour - time.Hour)},
		"a number that no integer can hold": {grants("opaque", `"expires_in":1e400`), time.Time{}},
	} {
		got, err := overHTTP(t, answers(tc.answer)).Token()
		require.NoError(t, err, why)
		assert.WithinDuration(t, tc.want, got.Expiry, time.Minute, why)
	}
}

func TestARefreshTokenIsUsedUntilAnotherOneComes(t *testing.T) {
	endpoint := answers(
		grants(passing),
		grants(passing, `"refresh_token":null`),
		grants(passing, `"refresh_token":""`),
		grants(passing, `"refresh_token":{"odd":true}`),
		grants(passing, `"refresh_token":"refresh-1"`),
		grants(passing, `"refresh_token":"refresh-2"`),
		grants(passing),
		grants(passing, `"expires_in":"soon"`, `"refresh_token":"refresh-3"`),
		says(200, `{"access_token":7,"refresh_token":"refresh-4"}`),
		grants(passing),
	)
	synctest.Test(t, func(t *testing.T) {
		var saved []string
		source := inBubble(t, endpoint, func(c *token.RefreshConfig) {
			c.OnRotate = func(_ context.Context, refreshToken string) error { saved = append(saved, refreshToken); return nil }
		})
		for i := range endpoint.answers {
			if _, err := source.Token(); i == 8 {
				require.ErrorContains(t, err, "no token that a header can carry")
			} else {
				require.NoError(t, err)
			}
			after(time.Minute) // until the next refresh
		}
		assert.Equal(t, []string{
			"refresh-1", "refresh-1", "refresh-1", "refresh-1", "refresh-1", "refresh-1",
			"refresh-2", "refresh-2", "refresh-3", "refresh-4",
		}, endpoint.presented(), "an answer without one, or an odd one, keeps the old one; a broken answer does not lose a new one")
		assert.Equal(t, []string{"refresh-2", "refresh-3", "refresh-4"}, saved, "each new one is handed over once")
	})
}

func TestARotatedTokenIsSavedBeforeItIsUsedAndNeverLost(t *testing.T) {
	full := errors.New("the disk is full")
	endpoint := answers(grants("access-1", `"refresh_token":"refresh-2"`), grants("access-2"))
	synctest.Test(t, func(t *testing.T) {
		var offered []string
		source := inBubble(t, endpoint, func(c *token.RefreshConfig) {
			c.OnRotate = func(_ context.Context, refreshToken string) error {
				offered = append(offered, refreshToken)
				assert.NotContains(t, endpoint.presented(), refreshToken, "it is saved first")
				if len(offered) < 3 {
					return full
				}
				return nil
			}
		})
		for range 2 {
			_, err := source.Token()
			require.ErrorIs(t, err, full)
			requireTokenError(t, err)
			require.ErrorContains(t, err, "get an access token: save the rotated refresh token, which is kept in memory: the disk is full (next try at 2000-")
			require.Equal(t, []string{"refresh-1"}, endpoint.presented(), "until it is saved, nothing is sent")
		}
		got, err := source.Token()
		require.NoError(t, err)
		assert.Equal(t, "access-2", got.AccessToken, "the one that came before the save was never given out")
		assert.Equal(t, []string{"refresh-2", "refresh-2", "refresh-2"}, offered)
		assert.Equal(t, []string{"refresh-1", "refresh-2"}, endpoint.presented())
	})
}

func TestAGrantFollowsNoRedirect(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		var elsewhere atomic.Int32
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
		defer other.Close()
		given := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
		for _, to := range []string{other.URL + "/token", "/oauth/token/v2"} {
			endpoint := answers(redirects(status, to))
			source := overHTTP(t, endpoint, withSecrets, func(c *token.RefreshConfig) {
				c.HTTPClient = given
			})
			_, err := source.Token()
			require.ErrorContains(t, err, fmt.Sprintf("get an access token: the token endpoint answered %d (next try", status))
			assert.Len(t, endpoint.sent(), 1)
			assert.NoError(t, given.CheckRedirect(nil, nil), "the client that was given stays as it is")
		}
		assert.Zero(t, elsewhere.Load(), "%d: 307 and 308 would carry the form along", status)
	}
}

func TestAnAnswerWithoutEndIsReadInPart(t *testing.T) {
	var written atomic.Int64
	endless := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		chunk := []byte(`{"access_token":"` + strings.Repeat("a", 32<<10))
		for written.Load() < 1<<30 {
			n, err := w.Write(chunk)
			if written.Add(int64(n)); err != nil {
				return
			}
		}
	})
	_, err := overHTTP(t, endless).Token()
	require.ErrorContains(t, err, "too large")
	assert.Less(t, written.Load(), int64(64<<20), "the rest stays in the buffers of the sockets")
}
