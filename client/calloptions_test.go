package client_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestWithoutRetry_MakesOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy")
		c := srv.Client()

		err := readCall.do(client.WithoutRetry(t.Context()), c)

		require.ErrorIs(t, err, client.ErrServer)
		assert.Equal(t, 1, infoOf(t, err).Attempts)

		srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy")
		srv.Expect(readCall.op).RespondExample()
		require.NoError(t, readCall.do(t.Context(), c), "other calls are retried")
	})
}

func TestWithAttemptTimeout_BoundsOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(readCall.op).RespondExample().Delay(time.Minute)
		start := time.Now()

		err := readCall.do(client.WithAttemptTimeout(t.Context(), 3*time.Second), srv.Client(oneAttempt))

		require.ErrorIs(t, err, client.ErrAttemptTimeout)
		assert.Equal(t, 3*time.Second, time.Since(start))
	})
}

func TestWithHeader_IsInEveryAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy")
		srv.Expect(readCall.op).RespondExample()
		ctx := client.WithHeader(t.Context(), "traceparent", "outer")
		inner := client.WithHeader(client.WithHeader(ctx, "x-shop", "a b"), "Traceparent", "inner")
		c := srv.Client()
		require.NoError(t, readCall.do(inner, c))
		srv.Expect(readCall.op).RespondExample()
		require.NoError(t, readCall.do(ctx, c))

		requests := srv.Requests(readCall.op)
		require.Len(t, requests, 3)
		for i, want := range []string{"inner", "inner", "outer"} {
			assert.Equal(t, []string{want}, requests[i].Header.Values("Traceparent"))
			assert.Equal(t, clienttest.APIKey, requests[i].Header.Get("X-Api-Key"))
		}
		assert.Equal(t, "a b", requests[0].Header.Get("X-Shop"))
		assert.Empty(t, requests[2].Header.Get("X-Shop"), "an outer context is not changed")
	})
}

func TestCallOptions_RefuseBeforeIO(t *testing.T) {
	header := func(name, value string) func(context.Context) context.Context {
		return func(ctx context.Context) context.Context { return client.WithHeader(ctx, name, value) }
	}
	for why, with := range map[string]func(context.Context) context.Context{
		"replaces the token":                 header("authorization", "Bearer x"),
		"replaces the API key":               header("X-API-Key", "x"),
		"a gateway may take it for the key":  header("x_api_key", "x"),
		"carries credentials":                header("Cookie", "x"),
		"changes the method at some gateway": header("X-HTTP-Method-Override", "DELETE"),
		"changes the body":                   header("Content-Length", "1"),
		"an empty name":                      header("", "x"),
		"a name with a line end":             header("x\r\ny", "x"),
		"a value with a line end":            header("x-shop", "x\r\nX-Api-Key: y"),
		"no time": func(ctx context.Context) context.Context {
			return client.WithAttemptTimeout(ctx, 0)
		},
		"an invalid one inside a valid one": func(ctx context.Context) context.Context {
			return client.WithoutRetry(client.WithHeader(ctx, "", ""))
		},
	} {
		srv := clienttest.New(t, clienttest.InProcess()) // which fails the test if a request comes
		for _, call := range []testCall{readCall, writeCall} {
			err := call.do(with(t.Context()), srv.Client())
			require.ErrorIs(t, err, client.ErrInvalidArgument, why)
		}
		_, err := srv.Client().Raw().GetListing(with(t.Context()), listingID) //nolint:bodyclose // there is no response
		require.ErrorIs(t, err, client.ErrInvalidArgument, why)
	}
}

func TestWithResponseInfo_IsSetWhenCallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(client.WithQuota(quota.Quota{RequestsPerSecond: 1, RequestsPerDay: 10}))
		var info client.ResponseInfo
		ctx := client.WithResponseInfo(t.Context(), &info)

		srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy").Header("Retry-After", "2")
		srv.Expect(readCall.op).RespondExample().Header("X-Request-Id", "r-1").Header("X-Extra", "e")
		require.NoError(t, readCall.do(ctx, c))

		assert.Equal(t, client.CallInfo{
			Operation: readCall.op, Method: "GET", Route: "/selling/listings/{listingId}", Attempts: 2,
		}, info.CallInfo)
		assert.Equal(t, http.StatusOK, info.StatusCode)
		assert.Equal(t, "r-1", info.RequestID)
		assert.Equal(t, "e", info.Header.Get("X-Extra"))
		require.NotEmpty(t, info.Quota)
		for _, state := range info.Quota {
			if state.Window == quota.RequestsPerDay {
				assert.Equal(t, 8, state.Left())
			}
		}

		srv.Expect(writeCall.op).Disconnect(clienttest.BeforeHeaders, "a proxy was restarted")
		require.ErrorIs(t, writeCall.do(ctx, c), client.ErrOutcomeUnknown)
		assert.Equal(t, writeCall.op, info.Operation)
		assert.True(t, info.OutcomeUnknown)
		assert.Zero(t, info.StatusCode)
		assert.Empty(t, info.RequestID, "nothing is left of the call before")
		assert.Positive(t, info.QuotaWait)

		before := info
		_, err := c.Listings.Get(ctx, "..")
		require.ErrorIs(t, err, client.ErrInvalidArgument)
		assert.Equal(t, before, info, "no call was made")
		require.ErrorIs(t, readCall.do(client.WithoutRetry(client.WithResponseInfo(t.Context(), nil)), srv.Client(failingTransport())), client.ErrServer)
	})
}

// failingTransport responds 503 to every request.
func failingTransport() client.Option {
	return client.WithHTTPClient(&http.Client{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
		return canned{status: http.StatusServiceUnavailable}.response(r)
	})})
}

func TestOperationFromContext_IsKnownToMiddlewareTransportAndObserver(t *testing.T) {
	type key struct{}
	seen := map[string]gen.OperationID{}
	look := func(ctx context.Context, where string) {
		assert.Equal(t, "caller", ctx.Value(key{}), "%s continues the caller's context", where)
		op, ok := client.OperationFromContext(ctx)
		assert.True(t, ok, where)
		assert.Equal(t, "GET", op.Method)
		assert.Equal(t, "/selling/listings/{listingId}", op.Route)
		seen[where] = op.ID
	}
	srv := clienttest.New(t, clienttest.InProcess())
	c := srv.Client(
		client.WithMiddleware(func(next client.Doer) client.Doer {
			return client.DoerFunc(func(r *http.Request) (*http.Response, error) {
				look(r.Context(), "middleware")
				return next.Do(r)
			})
		}),
		withTransport(srv, func(inner http.RoundTripper) transportFunc {
			return func(r *http.Request) (*http.Response, error) {
				look(r.Context(), "transport")
				return inner.RoundTrip(r)
			}
		}),
		client.WithObserver(func(ctx context.Context, _ client.Event) { look(ctx, "observer") }),
	)
	ctx := context.WithValue(t.Context(), key{}, "caller")
	want := map[string]gen.OperationID{"middleware": readCall.op, "transport": readCall.op, "observer": readCall.op}

	srv.Expect(readCall.op).RespondExample()
	require.NoError(t, readCall.do(ctx, c))
	assert.Equal(t, want, seen)

	clear(seen)
	srv.Expect(readCall.op).RespondExample()
	resp, err := c.Raw().GetListing(ctx, listingID)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, want, seen, "calls through Raw too")

	_, ok := client.OperationFromContext(t.Context())
	assert.False(t, ok)
}

func TestWithDump_ShowsAttemptsWithoutSecrets(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(writeCall.op).RespondExample().Header("X-Session", "s3cret").Header("X-Request-Id", "r-1")
	srv.Expect(gen.OpGetShippingDocument).RespondExample()
	srv.Expect(readCall.op).Disconnect(clienttest.BeforeHeaders, "a proxy was restarted")
	out := &shown{}
	c := srv.Client(client.WithDump(out), oneAttempt)

	require.NoError(t, writeCall.do(client.WithHeader(t.Context(), "X-Shop-Token", "s3cret"), c))
	doc, err := c.Orders.DownloadShippingDocument(t.Context(), orderID, "label")
	require.NoError(t, err)
	require.NoError(t, doc.Close())
	require.Error(t, readCall.do(t.Context(), c))

	require.Len(t, out.texts, 6, "one write for each request and each response")
	request, response := out.texts[0], out.texts[1]
	assert.True(t, strings.HasPrefix(request, "> 1 POST "), request)
	assert.Contains(t, request, `"amount":"162"`)
	assert.Contains(t, request, "  Authorization: [redacted]\n")
	assert.Contains(t, request, "  X-Api-Key: [redacted]\n")
	assert.Contains(t, request, "  X-Shop-Token: [redacted]\n")
	assert.True(t, strings.HasPrefix(response, "< 1 HTTP/1.1 201 "), response)
	assert.Contains(t, response, "  X-Request-Id: r-1\n")
	assert.Contains(t, response, `"operationStatus"`)
	assert.Contains(t, out.texts[3], "(a document)", "a stream is not read")
	assert.True(t, strings.HasPrefix(out.texts[5], "< 3 GetListing: "), out.texts[5])
	all := strings.Join(out.texts, "")
	for _, secret := range []string{clienttest.APIKey, clienttest.Token, "s3cret"} {
		assert.NotContains(t, all, secret)
	}
}

func TestWithDump_BoundsBodies(t *testing.T) {
	out := &shown{}
	c := newCannedClient(t, func(*http.Request) canned {
		return canned{status: http.StatusOK, body: `{"listingId":"` + listingID + `","product":{"productName":"` + strings.Repeat("ü\x1b", 50_000) + `"}}`}
	}, client.WithDump(out))

	_ = readCall.do(t.Context(), c) // whether the body can be decoded does not matter here

	require.NotEmpty(t, out.texts)
	for _, text := range out.texts {
		assert.Less(t, len(text), 16<<10)
		assert.NotContains(t, text, "\x1b", "a body does not control the terminal")
	}
}
