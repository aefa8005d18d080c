package client_test

import (
	"bytes"
	"errors"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
)

// ending is how a call ends whose first attempt fails and whose second, if there is one, succeeds.
type ending struct {
	retried bool
	failure func(error) bool
	unknown bool
}

func TestEveryRowOfTheRetryTable(t *testing.T) {
	var (
		retried    = ending{retried: true}
		refused    = ending{failure: isA[*client.APIError]}
		doubtful   = ending{failure: isA[*client.APIError], unknown: true}
		lost       = ending{failure: isA[*client.TransportError], unknown: true}
		unreadable = ending{failure: isA[*client.DecodeError]}
		unreadDone = ending{failure: isA[*client.DecodeError], unknown: true}
	)
	type script = func(*clienttest.Expectation)
	answer := func(status int, header http.Header, body string) script {
		return func(e *clienttest.Expectation) { e.Raw(status, header, []byte(body), "the row of the table") }
	}
	status := func(status int) script { return answer(status, nil, `{"message":"no"}`) }
	for _, row := range []struct {
		what        string
		first       script
		read, write ending
	}{
		{"reset before the headers", func(e *clienttest.Expectation) { e.Disconnect(clienttest.BeforeHeaders, "reset") }, retried, lost},
		{"attempt timeout", func(e *clienttest.Expectation) { e.RespondExample().Delay(time.Minute) }, retried, lost},
		{"429", status(429), retried, retried},
		{"429 with Retry-After", answer(429, http.Header{"Retry-After": {"2"}}, ""), retried, retried},
		{"408", status(408), retried, doubtful},
		{"500", status(500), retried, doubtful},
		{"502", answer(502, nil, "<html>Bad Gateway</html>"), retried, doubtful},
		{"503", status(503), retried, doubtful},
		{"503 with Retry-After", answer(503, http.Header{"Retry-After": {"2"}}, ""), retried, doubtful},
		{"504", status(504), retried, doubtful},
		{"524 of a gateway", status(524), retried, doubtful},
		{"501 says that nothing was tried", status(501), refused, refused},
		{"505 says that nothing was tried", status(505), refused, refused},
		{"401 with a token that stays the same", status(401), refused, refused},
		{"302 to another host", answer(302, http.Header{"Location": {"https://elsewhere.invalid/"}}, ""), refused, doubtful},
		{"304 without a condition", answer(304, nil, ""), refused, doubtful},
		{"400", status(400), refused, refused},
		{"403", answer(403, nil, "<html>blocked</html>"), refused, refused},
		{"404", status(404), refused, refused},
		{"409", status(409), refused, refused},
		{"413", status(413), refused, refused},
		{"422", status(422), refused, refused},
		{"2xx whose body broke off", func(e *clienttest.Expectation) { e.Disconnect(clienttest.MidBody, "cut") }, retried, unreadDone},
		{"2xx with no body", answer(200, nil, ""), unreadable, unreadDone},
		{"2xx with a page", answer(200, nil, "<html>Welcome</html>"), unreadable, unreadDone},
		{"2xx with null", answer(200, nil, "null"), unreadable, unreadDone},
		{"2xx with a list", answer(200, nil, "[]"), unreadable, unreadDone},
		{"2xx beyond 16 MiB", func(e *clienttest.Expectation) {
			e.Raw(200, nil, bytes.Repeat([]byte(" "), 16<<20+1), "one byte too many")
		}, unreadable, unreadDone},
	} {
		t.Run(row.what, func(t *testing.T) {
			t.Run("read", func(t *testing.T) { assertEnding(t, aRead, row.first, row.read) })
			t.Run("write", func(t *testing.T) { assertEnding(t, aWrite, row.first, row.write) })
		})
	}
}

func assertEnding(t *testing.T, call aCall, first func(*clienttest.Expectation), want ending) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		first(srv.Expect(call.op))
		if want.retried {
			srv.Expect(call.op).RespondExample()
		}
		err := call.do(t.Context(), srv.Client())
		assert.Equal(t, want.unknown, errors.Is(err, client.ErrOutcomeUnknown), "%v", err)
		if want.retried {
			require.NoError(t, err)
			return
		}
		require.Error(t, err)
		assert.True(t, want.failure(err), "%T: %v", err, err)
		assert.Equal(t, want.unknown, infoOf(t, err).OutcomeUnknown, "the field says what errors.Is says")
		assert.Equal(t, 1, infoOf(t, err).Attempts)
		assert.Len(t, srv.Requests(call.op), 1)
	})
}

// infoOf finds the CallInfo of an error.
func infoOf(t *testing.T, err error) client.CallInfo {
	t.Helper()
	if e, ok := errors.AsType[*client.APIError](err); ok {
		return e.CallInfo
	}
	if e, ok := errors.AsType[*client.TransportError](err); ok {
		return e.CallInfo
	}
	e, ok := errors.AsType[*client.DecodeError](err)
	require.True(t, ok, "%T: %v", err, err)
	return e.CallInfo
}

func TestWhatWasNeverSentIsRetried(t *testing.T) {
	for name, call := range map[string]aCall{"read": aRead, "write": aWrite} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				srv.Expect(call.op).RespondExample()
				failures := 0
				c := srv.Client(withTransport(srv, func(inner http.RoundTripper) transportFunc {
					return func(r *http.Request) (*http.Response, error) {
						if failures++; failures <= 3 {
							return nil, syscall.ECONNREFUSED // without a word to httptrace
						}
						return inner.RoundTrip(r)
					}
				}))
				require.NoError(t, call.do(t.Context(), c))
				assert.Equal(t, 4, failures, "4 attempts by default")
			})
		})
	}
}

func TestWhatCannotBeSentIsNoUnknownOutcome(t *testing.T) {
	for name, call := range map[string]aCall{"read": aRead, "write": aWrite} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				c := srv.Client(withTransport(srv, func(http.RoundTripper) transportFunc {
					return func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED }
				}))
				err := call.do(t.Context(), c)
				require.ErrorIs(t, err, syscall.ECONNREFUSED)
				assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
				assert.Equal(t, 4, infoOf(t, err).Attempts)
			})
		})
	}
}

func TestEveryAttemptSendsTheWholeBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		const body = `{"variantId":"8f4d2c4e-9d57-4a87-8a34-6b2f5d6d1e21","amount":"162"}`
		srv.Expect(aWrite.op).BodyJSON(body).RespondError(http.StatusTooManyRequests, "slow down").Times(2)
		srv.Expect(aWrite.op).BodyJSON(body).RespondExample()
		require.NoError(t, aWrite.do(t.Context(), srv.Client()))
	})
}
