package client_test

import (
	"errors"
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
)

// originClient returns a client of https://api.example.com/v2 whose requests are counted and get no response.
func originClient(t *testing.T, opts ...client.Option) (c *client.Client, sent *atomic.Int32) {
	t.Helper()
	sent = new(atomic.Int32)
	transport := transportFunc(func(*http.Request) (*http.Response, error) {
		sent.Add(1)
		return nil, errors.New("sent")
	})
	c, err := client.New(append([]client.Option{
		client.WithBaseURL("https://api.example.com/v2"), client.WithAPIKey("key"), client.WithToken("token"), oneAttempt,
		client.WithHTTPClient(&http.Client{Transport: transport}), client.WithQuota(quota.Unlimited),
	}, opts...)...)
	require.NoError(t, err)
	return c, sent
}

func TestCredentials_StayWithTheBaseURL(t *testing.T) {
	for _, tc := range []struct {
		server string
		sent   int32
		why    string
	}{
		{"https://api.example.com/v2", 1, "the base URL"},
		{"https://API.example.com:443/v2", 1, "the same, written in another way"},
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
				err := aRead.do(t.Context(), c)
				require.Error(t, err)
				assert.Equal(t, tc.sent, sent.Load(), tc.why)
				assert.Equal(t, tc.sent == 0, errors.Is(err, client.ErrInvalidArgument), "%s: %v", tc.why, err)
			})
			t.Run("by the generated client", func(t *testing.T) {
				c, sent := originClient(t)
				c.Raw().Server = tc.server + "/"
				require.Error(t, aRead.do(t.Context(), c))
				assert.Equal(t, tc.sent, sent.Load(), tc.why)
			})
		})
	}
}

func TestCredentials_StayWithTheHostHeader(t *testing.T) {
	c, sent := originClient(t, client.WithMiddleware(func(next client.Doer) client.Doer {
		return client.DoerFunc(func(req *http.Request) (*http.Response, error) {
			req = req.Clone(req.Context())
			req.Host = "evil.invalid" // a proxy may route by it
			return next.Do(req)
		})
	}))
	require.ErrorIs(t, aRead.do(t.Context(), c), client.ErrInvalidArgument)
	assert.Zero(t, sent.Load())
}

func TestCredentials_AreNotInTheRequestOfAResponse(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(aRead.op).RespondExample()
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
	require.NoError(t, aRead.do(t.Context(), c))
	assert.True(t, seen)
}

func TestRedirects_PassTheQuotaAndCountAsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		elsewhere := strings.TrimSuffix(srv.BaseURL(), "/") + "/selling/listings/other"
		srv.Expect(aRead.op).Times(2).Raw(http.StatusFound, http.Header{"Location": {elsewhere}}, nil, "moved for now")
		srv.Expect(aRead.op).Path("listingId", "other").RespondError(http.StatusConflict, "for its attempts")
		limiter := &meter{}
		err := aRead.do(t.Context(), srv.Client(client.WithLimiter(limiter)))
		require.ErrorIs(t, err, client.ErrConflict)
		assert.Len(t, limiter.items, 3)
		assert.Equal(t, 3, infoOf(t, err).Attempts)
	})
}
