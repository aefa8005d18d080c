package client_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
)

// tokenEndpoint answers grants one after the other, the last answer for ever, and notes their forms. It is
// served over HTTP, or is a transport itself where there are no sockets.
type tokenEndpoint struct {
	mu      sync.Mutex
	answers []http.HandlerFunc
	forms   []url.Values
}

func (e *tokenEndpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	e.mu.Lock()
	e.forms = append(e.forms, r.PostForm)
	answer := e.answers[min(len(e.forms), len(e.answers))-1]
	e.mu.Unlock()
	answer(w, r)
}

func (e *tokenEndpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// sent returns the forms so far.
func (e *tokenEndpoint) sent() []url.Values {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]url.Values(nil), e.forms...)
}

// presented returns the refresh tokens of the forms so far.
func (e *tokenEndpoint) presented() []string {
	var tokens []string
	for _, form := range e.sent() {
		tokens = append(tokens, form.Get("refresh_token"))
	}
	return tokens
}

// says answers with a body of JSON.
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

// passing is a JWT whose exp has passed, so that each call asks for a new one.
var passing = jwt(`{"exp":1700000000}`)

func jwt(claims string) string {
	return "eyJhbGciOiJIUzI1NiJ9." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2lnbmF0dXJl"
}

// refreshConfig is complete; its secrets can be told from any other text.
func refreshConfig(tokenURL string) client.RefreshConfig {
	return client.RefreshConfig{TokenURL: tokenURL, ClientID: "seller-app", ClientSecret: "s3cret/+&=", RefreshToken: "refresh-1"}
}

// overHTTP returns a source of an endpoint behind a socket; both end with the test.
func overHTTP(t *testing.T, endpoint http.Handler, change ...func(*client.RefreshConfig)) *client.RefreshTokenSource {
	t.Helper()
	srv := httptest.NewServer(endpoint)
	t.Cleanup(srv.Close)
	return sourceOf(t, refreshConfig(srv.URL+"/oauth/token"), change...)
}

func sourceOf(t *testing.T, config client.RefreshConfig, change ...func(*client.RefreshConfig)) *client.RefreshTokenSource {
	t.Helper()
	for _, set := range change {
		set(&config)
	}
	source, err := client.NewRefreshTokenSource(config)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, source.Close()) })
	return source
}

func TestAGrantIsAFormWithWhatIsSet(t *testing.T) {
	for why, tc := range map[string]struct {
		change func(*client.RefreshConfig)
		want   url.Values
	}{
		"a secret goes into the form, where it is escaped": {
			func(*client.RefreshConfig) {},
			url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"refresh-1"}, "client_id": {"seller-app"}, "client_secret": {"s3cret/+&="}},
		},
		"a public client has no secret, and an audience is named": {
			func(c *client.RefreshConfig) { c.ClientSecret, c.Audience = "", "https://gateway.example.com/" },
			url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"refresh-1"}, "client_id": {"seller-app"}, "audience": {"https://gateway.example.com/"}},
		},
	} {
		var request *http.Request
		endpoint := &tokenEndpoint{answers: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			request = r
			grants("access-1", `"expires_in":43200`, `"token_type":"Bearer"`)(w, r)
		}}}
		token, err := overHTTP(t, endpoint, tc.change).Token()
		require.NoError(t, err, why)

		assert.Equal(t, []url.Values{tc.want}, endpoint.sent(), why)
		assert.Equal(t, "POST /oauth/token", request.Method+" "+request.RequestURI, "no secret in the URL")
		assert.Equal(t, "application/x-www-form-urlencoded", request.Header.Get("Content-Type"))
		assert.Empty(t, request.Header.Get("Authorization"))
		assert.Equal(t, "access-1", token.AccessToken)
		assert.Empty(t, token.RefreshToken, "it stays with the source")
		assert.WithinDuration(t, time.Now().Add(12*time.Hour), token.Expiry, time.Minute)
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
		token, err := overHTTP(t, &tokenEndpoint{answers: []http.HandlerFunc{tc.answer}}).Token()
		require.NoError(t, err, why)
		assert.WithinDuration(t, tc.want, token.Expiry, time.Minute, why)
	}
}

func TestARefreshTokenIsUsedUntilAnotherOneComes(t *testing.T) {
	endpoint := &tokenEndpoint{answers: []http.HandlerFunc{
		grants(passing),
		grants(passing, `"refresh_token":null`),
		grants(passing, `"refresh_token":""`),
		grants(passing, `"refresh_token":{"odd":true}`),
		grants(passing, `"refresh_token":"refresh-1"`),
		grants(passing, `"refresh_token":"refresh-2"`),
		grants(passing),
		grants(passing, `"expires_in":"soon"`, `"refresh_token":"refresh-3"`),
		tokenAnswer(200, `{"access_token":7,"refresh_token":"refresh-4"}`),
		grants(passing),
	}}
	var saved []string
	source := overHTTP(t, endpoint, func(c *client.RefreshConfig) {
		c.OnRotate = func(token string) error { saved = append(saved, token); return nil }
	})
	for i := range endpoint.answers {
		if _, err := source.Token(); i == 8 {
			require.ErrorContains(t, err, "no token that a header can carry")
		} else {
			require.NoError(t, err)
		}
	}
	assert.Equal(t, []string{
		"refresh-1", "refresh-1", "refresh-1", "refresh-1", "refresh-1", "refresh-1",
		"refresh-2", "refresh-2", "refresh-3", "refresh-4",
	}, endpoint.presented(), "an answer without one, or an odd one, keeps the old one; a broken answer does not lose a new one")
	assert.Equal(t, []string{"refresh-2", "refresh-3", "refresh-4"}, saved, "each new one is handed over once")
}

func TestARotatedTokenIsSavedBeforeItIsUsedAndNeverLost(t *testing.T) {
	full := errors.New("the disk is full")
	endpoint := &tokenEndpoint{answers: []http.HandlerFunc{grants("access-1", `"refresh_token":"refresh-2"`), grants("access-2")}}
	var offered []string
	source := overHTTP(t, endpoint, func(c *client.RefreshConfig) {
		c.OnRotate = func(token string) error {
			offered = append(offered, token)
			assert.NotContains(t, endpoint.presented(), token, "it is saved first")
			if len(offered) < 3 {
				return full
			}
			return nil
		}
	})
	for range 2 {
		_, err := source.Token()
		require.ErrorIs(t, err, full)
		require.True(t, isA[*client.TokenError](err))
		require.EqualError(t, err, "get an access token: save the rotated refresh token, which is kept in memory: the disk is full")
		require.Equal(t, []string{"refresh-1"}, endpoint.presented(), "until it is saved, nothing is sent")
	}
	token, err := source.Token()
	require.NoError(t, err)
	assert.Equal(t, "access-2", token.AccessToken, "the one that came before the save was never given out")
	assert.Equal(t, []string{"refresh-2", "refresh-2", "refresh-2"}, offered)
	assert.Equal(t, []string{"refresh-1", "refresh-2"}, endpoint.presented())
}

func TestARefusedRefreshTokenAsksForASignInAndIsNotSentAgain(t *testing.T) {
	endpoint := &tokenEndpoint{answers: []http.HandlerFunc{tokenAnswer(http.StatusBadRequest, `{"error":"invalid_grant","error_description":"refresh-1 is revoked"}`)}}
	source := overHTTP(t, endpoint)
	srv := clienttest.New(t)
	for range 3 {
		err := aWrite.do(t.Context(), srv.Client(client.WithTokenSource(source)))
		require.ErrorIs(t, err, client.ErrSignInAgain)
		assert.EqualError(t, err, "CreateListing: get an access token: the token endpoint answered 400 invalid_grant: the refresh token is refused: sign in again")
		assertSecretFree(t, err, "refresh-1")
	}
	assert.Len(t, endpoint.sent(), 1, "asking again with the same token can only do harm")
}

func TestOneFlightServesAllCallers(t *testing.T) {
	endpoint := &tokenEndpoint{answers: []http.HandlerFunc{grants("access-1", `"expires_in":43200`, `"refresh_token":"refresh-2"`), tokenAnswer(500, "a second flight")}}
	source := overHTTP(t, endpoint)
	var callers sync.WaitGroup
	for range 100 {
		callers.Go(func() {
			token, err := source.TokenContext(t.Context())
			if assert.NoError(t, err) {
				assert.Equal(t, "access-1", token.AccessToken)
			}
		})
	}
	callers.Wait()
	assert.Len(t, endpoint.sent(), 1)
}

func TestA401InvalidatesTheTokenOnceAndTheBodyIsSentAgain(t *testing.T) {
	for _, call := range []aCall{aRead, aWrite} {
		endpoint := &tokenEndpoint{answers: []http.HandlerFunc{grants("access-1", `"expires_in":43200`), grants("access-2", `"expires_in":43200`), grants("access-3")}}
		srv := clienttest.New(t)
		srv.Expect(call.op).AnswerError(http.StatusUnauthorized, "revoked")
		srv.Expect(call.op).AnswerExample()
		srv.Expect(call.op).AnswerError(http.StatusUnauthorized, "the API key is blocked")
		c := srv.Client(client.WithTokenSource(overHTTP(t, endpoint)))

		require.NoError(t, call.do(t.Context(), c), "the second token is taken")
		require.ErrorIs(t, call.do(t.Context(), c), client.ErrUnauthorized, "so soon after, it is not the token's fault")

		requests := srv.Requests(call.op)
		require.Len(t, requests, 3)
		for i, want := range []string{"access-1", "access-2", "access-2"} {
			assert.Equal(t, "Bearer "+want, requests[i].Header.Get("Authorization"))
			assert.Equal(t, requests[0].Body, requests[i].Body)
		}
		assert.Len(t, endpoint.sent(), 2)
	}
}

func TestOnlyTheCurrentTokenIsInvalidated(t *testing.T) {
	endpoint := &tokenEndpoint{answers: []http.HandlerFunc{grants("access-1"), grants("access-2")}}
	source := overHTTP(t, endpoint)
	source.Invalidate("access-1") // nothing is there yet
	for _, step := range []struct{ refused, want, why string }{
		{"", "access-1", "the first one"},
		{"access-0", "access-1", "another one was refused"},
		{"access-1", "access-2", "it was refused"},
		{"access-1", "access-2", "a slow call finds that it was renewed already"},
	} {
		source.Invalidate(step.refused)
		token, err := source.Token()
		require.NoError(t, err)
		assert.Equal(t, step.want, token.AccessToken, step.why)
	}
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
	srv.Expect(aWrite.op).AnswerExample()
	c := srv.Client(client.WithTokenSource(source))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()

	err := aWrite.do(ctx, c)

	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, client.ErrOutcomeUnknown, "nothing was sent")
	close(open)
	require.NoError(t, aWrite.do(t.Context(), c))
	assert.Len(t, endpoint.sent(), 1, "the refresh went on, and the next call got what it brought")
}

func TestARefreshConfigIsCheckedBeforeAnyIO(t *testing.T) {
	for why, tc := range map[string]struct {
		change func(*client.RefreshConfig)
		want   string
	}{
		"http to another host":          {func(c *client.RefreshConfig) { c.TokenURL = "http://auth.example.com/token" }, "use https"},
		"no host":                       {func(c *client.RefreshConfig) { c.TokenURL = "https:///token" }, "host"},
		"no URL":                        {func(c *client.RefreshConfig) { c.TokenURL = "https://[hidden" }, "does not parse"},
		"nothing":                       {func(c *client.RefreshConfig) { c.TokenURL = "" }, "host"},
		"credentials in the URL":        {func(c *client.RefreshConfig) { c.TokenURL = "https://me:hidden@auth.example.com/token" }, "not hold credentials"},
		"a client without a name":       {func(c *client.RefreshConfig) { c.ClientID = "" }, "client ID"},
		"nothing to begin with":         {func(c *client.RefreshConfig) { c.RefreshToken = "" }, "refresh token"},
		"https":                         {func(*client.RefreshConfig) {}, ""},
		"a loopback address, for tests": {func(c *client.RefreshConfig) { c.TokenURL = "http://[::1]:8080/token" }, ""},
	} {
		config := refreshConfig("https://auth.example.com/token")
		tc.change(&config)
		_, err := client.NewRefreshTokenSource(config)
		if tc.want == "" {
			assert.NoError(t, err, why)
			continue
		}
		require.ErrorContains(t, err, tc.want, why)
		assertSecretFree(t, err, "hidden", "refresh-1", "s3cret")
	}
}

var _ oauth2.TokenSource = (*client.RefreshTokenSource)(nil)
