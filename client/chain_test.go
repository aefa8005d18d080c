package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
)

// recording is a middleware that records when it is entered and left.
func recording(entries *[]string, name string) client.Middleware {
	return func(next client.Doer) client.Doer {
		return client.DoerFunc(func(r *http.Request) (*http.Response, error) {
			*entries = append(*entries, name+" in "+r.Header.Get("Authorization"))
			defer func() { *entries = append(*entries, name+" out") }()
			return next.Do(r)
		})
	}
}

func TestChain_MiddlewareIsOutermost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy").Times(3)
		srv.Expect(readCall.op).RespondExample()
		var entries []string
		c := srv.Client(client.WithMiddleware(recording(&entries, "first")),
			client.WithMiddleware(recording(&entries, "second"), recording(&entries, "third")))
		require.NoError(t, readCall.do(t.Context(), c))
		assert.Equal(t, []string{"first in ", "second in ", "third in ", "third out", "second out", "first out"}, entries,
			"once for four attempts, the first middleware outermost, and without credentials")
	})
}

func TestChain_MiddlewareSeesRefusedCalls(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	var entries []string
	_, err := srv.Client(client.WithMiddleware(recording(&entries, "it"))).Raw().GetListing(t.Context(), "..") //nolint:bodyclose // there is no response
	require.ErrorIs(t, err, client.ErrInvalidArgument)
	assert.Len(t, entries, 2)
}

func TestChain_SetsHeaders(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(readCall.op).RespondExample().Times(2)
	require.NoError(t, readCall.do(t.Context(), srv.Client()))
	named := func(next client.Doer) client.Doer {
		return client.DoerFunc(func(r *http.Request) (*http.Response, error) {
			r.Header.Set("User-Agent", "repricer/7")
			return next.Do(r)
		})
	}
	require.NoError(t, readCall.do(t.Context(), srv.Client(client.WithMiddleware(named))))
	got := srv.Requests(readCall.op)
	assert.Equal(t, "sellside-go/"+client.Version, got[0].Header.Get("User-Agent"))
	assert.Contains(t, got[0].Header.Get("Accept"), "application/json")
	assert.NotContains(t, got[0].Header.Get("Accept"), "application/pdf")
	assert.Equal(t, "repricer/7", got[1].Header.Get("User-Agent"), "a middleware may set the header")
}

func TestChain_CallOfAnotherOperationIsRefused(t *testing.T) {
	for what, send := range map[string]func(*http.Request){
		"another operation": func(r *http.Request) { r.URL.Path = "/v2/selling/listings" },
		"no operation":      func(r *http.Request) { r.URL.Path = "/v2/account" },
		"another base":      func(r *http.Request) { r.URL.Path = "/v1/selling/listings/98e2e748" },
		"another method":    func(r *http.Request) { r.Method = http.MethodDelete },
	} {
		srv := clienttest.New(t, clienttest.InProcess()) // which fails the test if a request comes
		moved := func(next client.Doer) client.Doer {
			return client.DoerFunc(func(r *http.Request) (*http.Response, error) {
				send(r)
				return next.Do(r)
			})
		}
		err := readCall.do(t.Context(), srv.Client(client.WithMiddleware(moved)))
		require.ErrorIs(t, err, client.ErrInvalidArgument, what)
	}
}

func TestRaw_IsOnTheSameChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy")
		srv.Expect(readCall.op).RespondError(http.StatusNotFound, "no such listing")
		var kinds []client.EventKind
		c := srv.Client(client.WithObserver(func(_ context.Context, e client.Event) { kinds = append(kinds, e.Kind) }))
		resp, err := c.Raw().GetListing(t.Context(), "98e2e748")
		require.NoError(t, err, "a response other than 2xx is returned")
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, http.StatusNotFound, resp.StatusCode)
		assert.JSONEq(t, `{"statusCode":404,"message":"no such listing"}`, string(body))
		assert.Equal(t, []client.EventKind{client.EventRetry, client.EventDone}, kinds)
		assert.Equal(t, clienttest.APIKey, srv.Requests(readCall.op)[1].Header.Get("X-Api-Key"))
	})
}

func TestRaw_InvalidRequestIsRefused(t *testing.T) {
	items := gen.DeleteListingsBatchRequest{Items: []gen.DeleteItem{{ListingID: "98e2e748"}}}
	for _, tc := range []struct {
		field string
		call  func(*gen.Client) (*http.Response, error)
		why   string
	}{
		{"path", func(raw *gen.Client) (*http.Response, error) { return raw.GetListing(t.Context(), ".") }, "a path of no operation"},
		{"path", func(raw *gen.Client) (*http.Response, error) { return raw.GetListing(t.Context(), "..") }, "a path of no operation"},
		{"body", func(raw *gen.Client) (*http.Response, error) {
			return raw.CreateListingWithBody(t.Context(), "application/json", io.MultiReader(strings.NewReader(`{}`)))
		}, "a body that can be read once"},
		{"items", func(raw *gen.Client) (*http.Response, error) {
			return raw.DeleteListingsBatch(t.Context(), items)
		}, "an unknown number of items"},
		{"items", func(raw *gen.Client) (*http.Response, error) {
			return raw.DeleteListingsBatch(client.WithItemCount(t.Context(), -1), items)
		}, "a negative number of items"},
	} {
		srv := clienttest.New(t, clienttest.InProcess())                                    // which fails the test if a request comes
		_, err := tc.call(srv.Client(client.WithQuota(quota.Quota{ItemsPerDay: 10})).Raw()) //nolint:bodyclose // there is no response
		var refused *client.ArgumentError
		require.ErrorAs(t, err, &refused, tc.why)
		assert.Equal(t, tc.field, refused.Field, tc.why)
	}
}

func TestRaw_BatchCountsByItemCount(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(gen.OpDeleteListingsBatch).RespondExample().Times(3)
	items := gen.DeleteListingsBatchRequest{Items: []gen.DeleteItem{{ListingID: "98e2e748"}}}
	m := &recordingLimiter{}
	raw, ctx := srv.Client(client.WithLimiter(m)).Raw(), client.WithItemCount(t.Context(), 7)
	for range 2 {
		resp, err := raw.DeleteListingsBatch(ctx, items)
		require.NoError(t, err, "a context can be used again")
		require.NoError(t, resp.Body.Close())
	}
	assert.Equal(t, []int{7, 7}, m.items)

	resp, err := srv.Client().Raw().DeleteListingsBatch(t.Context(), items)
	require.NoError(t, err, "without a quota for items nothing is counted")
	require.NoError(t, resp.Body.Close())
}

func TestChain_BasePathMayBeEscaped(t *testing.T) {
	sent := ""
	transport := transportFunc(func(r *http.Request) (*http.Response, error) {
		sent = r.URL.EscapedPath()
		return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Request: r}, nil
	})
	c := newClient(t, "https://api.example.com/a%20b%2Fc",
		client.WithHTTPClient(&http.Client{Transport: transport}))
	require.ErrorIs(t, readCall.do(t.Context(), c), client.ErrNotFound)
	assert.Equal(t, "/a%20b%2Fc/v2/selling/listings/98e2e748-8000-45bf-a624-5531d6a68318", sent)
}

// originClient returns a client of https://api.example.com/v2 whose requests are counted and get no
// response.
func originClient(t *testing.T, opts ...client.Option) (c *client.Client, sent *atomic.Int32) {
	t.Helper()
	sent = new(atomic.Int32)
	transport := transportFunc(func(*http.Request) (*http.Response, error) {
		sent.Add(1)
		return nil, errors.New("sent")
	})
	c = newClient(t, "https://api.example.com", append([]client.Option{
		oneAttempt, client.WithHTTPClient(&http.Client{Transport: transport}),
	}, opts...)...)
	return c, sent
}

func TestChain_CredentialsGoToBaseURLOnly(t *testing.T) {
	for _, tc := range []struct {
		server string
		sent   int32
		why    string
	}{
		{"https://api.example.com/v2", 1, "the base URL"},
		{"https://API.example.com:443/v2", 1, "the same URL in another form"},
		{"http://api.example.com/v2", 0, "another scheme"},
		{"https://api.example.com.evil.invalid/v2", 0, "another host"},
		{"https://evil.invalid/v2", 0, "another host"},
		{"https://api.example.com:8443/v2", 0, "another port"},
		{"https://user@api.example.com/v2", 0, "credentials that net/http would send too"},
	} {
		moved, err := url.Parse(tc.server)
		require.NoError(t, err)
		t.Run(tc.server, func(t *testing.T) {
			t.Run("by a middleware", func(t *testing.T) {
				c, sent := originClient(t, client.WithMiddleware(func(next client.Doer) client.Doer {
					return client.DoerFunc(func(req *http.Request) (*http.Response, error) {
						req = req.Clone(req.Context())
						req.URL.Scheme, req.URL.Host, req.URL.User, req.Host = moved.Scheme, moved.Host, moved.User, ""
						return next.Do(req)
					})
				}))
				err := readCall.do(t.Context(), c)
				require.Error(t, err)
				assert.Equal(t, tc.sent, sent.Load(), tc.why)
				assert.Equal(t, tc.sent == 0, errors.Is(err, client.ErrInvalidArgument), "%s: %v",
					tc.why, err)
			})
			t.Run("by the generated client", func(t *testing.T) {
				c, sent := originClient(t)
				c.Raw().Server = tc.server + "/"
				require.Error(t, readCall.do(t.Context(), c))
				assert.Equal(t, tc.sent, sent.Load(), tc.why)
			})
		})
	}
}

func TestChain_CredentialsGoToHostOfBaseURLOnly(t *testing.T) {
	c, sent := originClient(t, client.WithMiddleware(func(next client.Doer) client.Doer {
		return client.DoerFunc(func(req *http.Request) (*http.Response, error) {
			req = req.Clone(req.Context())
			req.Host = "evil.invalid" // a proxy may route by it
			return next.Do(req)
		})
	}))
	require.ErrorIs(t, readCall.do(t.Context(), c), client.ErrInvalidArgument)
	assert.Zero(t, sent.Load())
}

func TestChain_RequestOfResponseHasNoCredentials(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(readCall.op).RespondExample()
	seen := false
	c := srv.Client(client.WithMiddleware(func(next client.Doer) client.Doer {
		return client.DoerFunc(func(req *http.Request) (*http.Response, error) {
			resp, err := next.Do(req)
			if err == nil {
				seen = true
				assert.Empty(t, resp.Request.Header.Values("Authorization"))
				assert.Empty(t, resp.Request.Header.Values("X-Api-Key"))
				assert.Equal(t, http.MethodGet, resp.Request.Method)
			}
			return resp, err
		})
	}))
	require.NoError(t, readCall.do(t.Context(), c))
	assert.True(t, seen)
}

// noResponse is a middleware that returns neither a response nor an error, before or after the
// call.
func noResponse(sends bool) client.Middleware {
	return func(next client.Doer) client.Doer {
		return client.DoerFunc(func(r *http.Request) (*http.Response, error) {
			if sends {
				resp, err := next.Do(r)
				if err != nil {
					return nil, err
				}
				_ = resp.Body.Close()
			}
			return nil, nil
		})
	}
}

func TestMiddleware_WithoutResponseIsTransportError(t *testing.T) {
	rawWrite := testCall{writeCall.op, func(ctx context.Context, c *client.Client) error {
		_, err := c.Raw().CreateListing(ctx, gen.CreateListingRequest{VariantID: "8f4d2c4e", Amount: "162"}) //nolint:bodyclose // there is no response
		return err
	}}
	rawRead := testCall{readCall.op, func(ctx context.Context, c *client.Client) error {
		_, err := c.Raw().GetListing(ctx, listingID) //nolint:bodyclose // there is no response
		return err
	}}
	for _, tc := range []struct {
		call    testCall
		sends   bool
		unknown bool
		why     string
	}{
		{readCall, true, false, "a read changes nothing"},
		{readCall, false, false, "the read was not sent"},
		{writeCall, true, true, "a write that was sent may have been applied"},
		{writeCall, false, false, "the write was not sent"},
		{rawRead, true, false, "a raw read"},
		{rawWrite, true, true, "a raw write"},
		{rawWrite, false, true, "a raw write; whether it was sent is not known"},
	} {
		srv := clienttest.New(t, clienttest.InProcess())
		if tc.sends {
			srv.Expect(tc.call.op).RespondExample()
		}
		err := tc.call.do(t.Context(), srv.Client(client.WithMiddleware(passOn, noResponse(tc.sends))))
		var failed *client.TransportError
		require.ErrorAs(t, err, &failed, tc.why)
		assert.Equal(t, tc.unknown, failed.OutcomeUnknown, tc.why)
		if tc.unknown {
			assert.ErrorIs(t, err, client.ErrOutcomeUnknown, tc.why)
		}
	}
}

func TestMiddleware_ResponseMayLackBody(t *testing.T) {
	bare := func(client.Doer) client.Doer {
		return client.DoerFunc(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusNotFound, Request: r}, nil
		})
	}
	c := clienttest.New(t, clienttest.InProcess()).Client(client.WithMiddleware(bare))
	for _, call := range []testCall{readCall, writeCall} {
		require.ErrorIs(t, call.do(t.Context(), c), client.ErrNotFound)
	}
}

// passOn is a middleware that does nothing.
func passOn(next client.Doer) client.Doer { return next }
