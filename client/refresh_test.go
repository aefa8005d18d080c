package client_test

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/token"
)

// tokenEndpoint answers grants one after the other, the last answer for ever, and counts them. It is served over
// HTTP, or is a transport itself where there are no sockets.
type tokenEndpoint struct {
	mu      sync.Mutex
	answers []http.HandlerFunc
	grants  int
}

func (e *tokenEndpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	e.grants++
	answer := e.answers[min(e.grants, len(e.answers))-1]
	e.mu.Unlock()
	answer(w, r)
}

func (e *tokenEndpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w.Result(), nil
}

// asked returns how many grants there were.
func (e *tokenEndpoint) asked() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.grants
}

// tokenAnswer answers with a body of JSON.
func tokenAnswer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// grants answers with an access token and further members, such as `"expires_in":43200`.
func grants(accessToken string, members ...string) http.HandlerFunc {
	return tokenAnswer(http.StatusOK, "{"+strings.Join(append([]string{`"access_token":"` + accessToken + `"`}, members...), ",")+"}")
}

func jwt(claims string) string {
	return "eyJhbGciOiJIUzI1NiJ9." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2lnbmF0dXJl"
}

// refreshConfig is complete; its secrets can be told from any other text.
func refreshConfig(tokenURL string) token.RefreshConfig {
	return token.RefreshConfig{TokenURL: tokenURL, ClientID: "seller-app", ClientSecret: "s3cret/+&=", RefreshToken: "refresh-1"}
}

// overHTTP returns a source of an endpoint behind a socket; both end with the test.
func overHTTP(t *testing.T, endpoint http.Handler, change ...func(*token.RefreshConfig)) *token.RefreshSource {
	t.Helper()
	srv := httptest.NewServer(endpoint)
	t.Cleanup(srv.Close)
	return sourceOf(t, refreshConfig(srv.URL+"/oauth/token"), change...)
}

func sourceOf(t *testing.T, config token.RefreshConfig, change ...func(*token.RefreshConfig)) *token.RefreshSource {
	t.Helper()
	for _, set := range change {
		set(&config)
	}
	source, err := token.NewRefreshSource(config)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, source.Close()) })
	return source
}

// tokenAfter lets the bubble's time pass, and everything that is due then happen.
func tokenAfter(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestARefusedRefreshTokenAsksForASignInAndNothingIsSent(t *testing.T) {
	endpoint := &tokenEndpoint{answers: []http.HandlerFunc{tokenAnswer(http.StatusBadRequest, `{"error":"invalid_grant","error_description":"refresh-1 is revoked"}`)}}
	c := clienttest.New(t).Client(client.WithTokenSource(overHTTP(t, endpoint)))
	for range 3 {
		err := aWrite.do(t.Context(), c)
		require.ErrorIs(t, err, token.ErrReauthRequired)
		require.True(t, isA[*token.Error](err))
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
		assert.EqualError(t, err, "CreateListing: get an access token: the token endpoint responded 400 invalid_grant: the refresh token was refused: reauthenticate")
		assertSecretFree(t, err, "refresh-1")
	}
	assert.Equal(t, 1, endpoint.asked(), "nor does the retrier ask again with the same token")
}

func TestA401InvalidatesTheTokenOnceAndTheBodyIsSentAgain(t *testing.T) {
	for _, call := range []aCall{aRead, aWrite} {
		endpoint := &tokenEndpoint{answers: []http.HandlerFunc{grants("access-1", `"expires_in":43200`), grants("access-2", `"expires_in":43200`), grants("access-3")}}
		srv := clienttest.New(t)
		srv.Expect(call.op).RespondError(http.StatusUnauthorized, "revoked")
		srv.Expect(call.op).RespondExample()
		srv.Expect(call.op).RespondError(http.StatusUnauthorized, "the API key is blocked")
		c := srv.Client(client.WithTokenSource(overHTTP(t, endpoint)))

		require.NoError(t, call.do(t.Context(), c), "the second token is taken")
		require.ErrorIs(t, call.do(t.Context(), c), client.ErrUnauthorized, "so soon after, it is not the token's fault")

		requests := srv.Requests(call.op)
		require.Len(t, requests, 3)
		for i, want := range []string{"access-1", "access-2", "access-2"} {
			assert.Equal(t, "Bearer "+want, requests[i].Header.Get("Authorization"))
			assert.Equal(t, requests[0].Body, requests[i].Body)
		}
		assert.Equal(t, 2, endpoint.asked())
	}
}

func TestCallsThatAreRefusedTogetherRenewTheTokenOnce(t *testing.T) {
	const calls = 20
	var refused sync.WaitGroup // all of the calls, before any of them is answered
	refused.Add(calls)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer access-1" {
			refused.Done()
			refused.Wait()
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(clienttest.ExampleOf(aRead.op))
	}))
	defer service.Close()
	endpoint := &tokenEndpoint{answers: []http.HandlerFunc{grants("access-1", `"expires_in":43200`), grants("access-2", `"expires_in":43200`), grants("access-3")}}
	c := clientOf(t, service, client.WithTokenSource(overHTTP(t, endpoint)))
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() { assert.NoError(t, aRead.do(t.Context(), c)) })
	}
	wg.Wait()
	assert.Equal(t, 2, endpoint.asked())
}

func TestACallIsNotHeldUpByARefreshInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		endpoint := &tokenEndpoint{answers: []http.HandlerFunc{grants("access-1", `"expires_in":43200`), func(w http.ResponseWriter, r *http.Request) {
			<-open
			grants("access-2", `"expires_in":43200`)(w, r)
		}}}
		source := sourceOf(t, refreshConfig("https://auth.invalid/oauth/token"), func(c *token.RefreshConfig) {
			c.HTTPClient = &http.Client{Transport: endpoint}
		})
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aWrite.op).Times(3).RespondExample()
		c := srv.Client(client.WithTokenSource(source))
		require.NoError(t, aWrite.do(t.Context(), c))
		tokenAfter(12*time.Hour - 5*time.Minute)

		start := time.Now()
		require.NoError(t, aWrite.do(t.Context(), c))
		assert.Zero(t, time.Since(start), "the old token is good for five minutes more")
		close(open)
		synctest.Wait()
		require.NoError(t, aWrite.do(t.Context(), c))

		for i, want := range []string{"access-1", "access-1", "access-2"} {
			assert.Equal(t, "Bearer "+want, srv.Requests(aWrite.op)[i].Header.Get("Authorization"))
		}
	})
}

func TestACallWaitsForATokenNoLongerThanItsContext(t *testing.T) {
	arrived, open := make(chan struct{}), make(chan struct{})
	endpoint := &tokenEndpoint{answers: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-open
		grants("access-1")(w, r)
	}}}
	source := overHTTP(t, endpoint)
	srv := clienttest.New(t)
	srv.Expect(aWrite.op).RespondExample()
	c := srv.Client(client.WithTokenSource(source))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()

	err := aWrite.do(ctx, c)

	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, client.ErrOutcomeUnknown, "nothing was sent")
	close(open)
	require.NoError(t, aWrite.do(t.Context(), c))
	assert.Equal(t, 1, endpoint.asked(), "the refresh went on, and the next call got what it brought")
}
