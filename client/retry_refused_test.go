package client_test

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/token"
)

// onceIn is a source that has a token the first time of so many, and fails the other times.
func onceIn(n int, why error) client.Option {
	asked := 0
	return client.WithTokenSource(sourceFunc(func() (*oauth2.Token, error) {
		if asked++; asked%n == 1 {
			return &oauth2.Token{AccessToken: clienttest.Token}, nil
		}
		return nil, why
	}))
}

func TestARefusalBeforeAnotherAttemptKeepsTheAnswerBefore(t *testing.T) {
	noToken := errors.New("the token endpoint is down")
	aDay := client.WithQuota(quota.Quota{RequestsPerDay: 1})
	overQuota, tokenless := isA[*quota.Error], func(err error) bool { return isA[*token.Error](err) && errors.Is(err, noToken) }
	answered := func(status int) func(*clienttest.Expectation) {
		return func(e *clienttest.Expectation) { e.RespondError(status, "not now") }
	}
	for _, tc := range []struct {
		what    string
		call    aCall
		first   func(*clienttest.Expectation)
		option  client.Option
		refusal func(error) bool
		before  func(error) bool
		text    string
	}{
		{"quota after 503", aRead, answered(503), aDay, overQuota, isA[*client.APIError], "GetListing: 503 not now; it was not sent again: GetListing: quota (1 requests in 24h0m0s): used up"},
		{"quota after 429", aWrite, answered(429), aDay, overQuota, isA[*client.APIError], "CreateListing: 429 not now; it was not sent again: CreateListing: quota (1 requests in 24h0m0s): used up"},
		{"quota after a reset", aRead, func(e *clienttest.Expectation) { e.Disconnect(clienttest.BeforeHeaders, "reset") }, aDay, overQuota, isA[*client.TransportError], "GetListing: no answer: "},
		{"quota after a cut body", aRead, func(e *clienttest.Expectation) { e.Disconnect(clienttest.MidBody, "cut") }, aDay, overQuota, isA[*client.DecodeError], "GetListing: read the response (200): "},
		{"token after 503", aRead, answered(503), onceIn(100, noToken), tokenless, isA[*client.APIError], "GetListing: 503 not now; it was not sent again: GetListing: get an access token: the token endpoint is down"},
		{"token after 429", aWrite, answered(429), onceIn(100, noToken), tokenless, isA[*client.APIError], "CreateListing: 429 not now; it was not sent again: CreateListing: get an access token"},
		{"token after a reset", aRead, func(e *clienttest.Expectation) { e.Disconnect(clienttest.BeforeHeaders, "reset") }, onceIn(100, noToken), tokenless, isA[*client.TransportError], "GetListing: no answer: "},
	} {
		t.Run(tc.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				tc.first(srv.Expect(tc.call.op))
				var last client.Event
				c := srv.Client(tc.option, client.WithObserver(func(e client.Event) { last = e }))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				err := tc.call.do(ctx, c)

				assert.True(t, tc.before(err), "%T: %v", err, err)
				assert.True(t, tc.refusal(err), "%T: %v", err, err)
				require.ErrorContains(t, err, tc.text)
				require.ErrorContains(t, err, "; it was not sent again: ")
				assert.NotContains(t, err.Error(), "nothing was sent")
				assert.Equal(t, 1, infoOf(t, err).Attempts)
				assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "it was not applied, or it is a read")
				assert.Equal(t, client.EventDone, last.Kind)
				assert.True(t, tc.refusal(last.Err), "the observer is told as well")
			})
		})
	}
}

func TestARefusalBeforeTheFirstAttemptStandsAlone(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	err := aWrite.do(t.Context(), srv.Client(client.WithTokenSource(sourceFunc(func() (*oauth2.Token, error) { return nil, errors.New("no disk") }))))
	require.EqualError(t, err, "CreateListing: get an access token: no disk")
	assert.False(t, isA[*client.APIError](err) || isA[*client.TransportError](err))
}

// TestARefusalGivesBackOnlyTheRetryThatWasNotMade has every call fail twice and be refused before its third attempt.
// That one never reached the service, so that it costs nothing. The second did, and failed: a refusal is no answer, and
// does not show that the service is well again.
func TestARefusalGivesBackOnlyTheRetryThatWasNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		asked := 0
		tokens := client.WithTokenSource(sourceFunc(func() (*oauth2.Token, error) {
			if asked++; asked%3 == 0 {
				return nil, errors.New("down")
			}
			return &oauth2.Token{AccessToken: clienttest.Token}, nil
		}))
		c := srv.Client(client.WithRetry(client.RetryPolicy{MinDelay: 1, MaxDelay: 1}), tokens)
		for i := range 19 { // of which the last takes the 19th retry for good, and the 20th for a moment
			srv.Expect(aRead.op).Times(2).RespondError(http.StatusServiceUnavailable, "busy")
			require.True(t, isA[*token.Error](aRead.do(t.Context(), c)), "there were two retries left after %d calls", i)
		}
		srv.Expect(aRead.op).Times(2).RespondError(http.StatusServiceUnavailable, "busy")
		err := aRead.do(t.Context(), c)
		require.ErrorIs(t, err, client.ErrServer)
		assert.False(t, isA[*token.Error](err), "one retry was left, for the service is still failing")
	})
}

func TestAnAttemptThatIsNotMadeGivesItsRetryBack(t *testing.T) {
	briskly := client.WithRetry(client.RetryPolicy{MinDelay: 1, MaxDelay: 1})
	for what, option := range map[string]client.Option{
		"for want of a token":                 onceIn(2, errors.New("down")),
		"because ctx ends while it is held":   client.WithLimiter(&holdsEverySecond{Limiter: quota.NewLimiter(quota.Quota{})}),
		"because the quota has no room in it": client.WithLimiter(&refusesEverySecond{Limiter: quota.NewLimiter(quota.Quota{})}),
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				c := srv.Client(briskly, option)
				for i := range 100 {
					srv.Expect(aRead.op).RespondError(http.StatusServiceUnavailable, "busy")
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(time.Millisecond, cancel) // so that a second brings back but a few
					err := aRead.do(ctx, c)
					cancel()
					require.ErrorContains(t, err, "503 busy; it was not sent again: ", "a retry was left after %d calls", i)
					require.NotContains(t, err.Error(), "no answer")
				}
			})
		})
	}
}

// holdsEverySecond is a limiter that holds every second request until its context ends.
type holdsEverySecond struct {
	quota.Limiter
	asked int
}

func (l *holdsEverySecond) Acquire(ctx context.Context, _ int) (quota.Release, error) {
	if l.asked++; l.asked%2 == 0 {
		<-ctx.Done()
	}
	return func(quota.Outcome) {}, ctx.Err()
}

// refusesEverySecond is a limiter that refuses every second request.
type refusesEverySecond struct {
	quota.Limiter
	asked int
}

func (l *refusesEverySecond) Acquire(context.Context, int) (quota.Release, error) {
	if l.asked++; l.asked%2 == 0 {
		return nil, &quota.Error{Limit: 1, Per: time.Hour, Unit: "requests", Wait: time.Hour}
	}
	return func(quota.Outcome) {}, nil
}

func TestAWriteThatWasNeverSentKeepsItsFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(onceIn(100, errors.New("down")), withTransport(srv, func(http.RoundTripper) transportFunc {
			return func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED }
		}))
		err := aWrite.do(t.Context(), c)
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.True(t, isA[*token.Error](err), "%v", err)
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
	})
}
