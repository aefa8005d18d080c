package client_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
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

var redirectStatuses = []int{301, 302, 303, 307, 308}

// redirecting starts a server that redirects every request to target.
func redirecting(t *testing.T, status int, target func(r *http.Request) string) (srv *httptest.Server, requests *atomic.Int32) {
	t.Helper()
	requests = new(atomic.Int32)
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if location := target(r); location != "" {
			w.Header().Set("Location", location)
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(srv.Close)
	return srv, requests
}

func TestRedirect_IsFollowedOnTheSameOriginByReads(t *testing.T) {
	for _, status := range redirectStatuses {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/v3/") {
				http.Redirect(w, r, "/v3/moved", status)
				return
			}
			assert.Equal(t, clienttest.APIKey, r.Header.Get("X-Api-Key"))
			assert.Equal(t, "Bearer "+clienttest.Token, r.Header.Get("Authorization"))
			_, _ = w.Write(clienttest.ExampleOf(gen.OpGetListing))
		}))
		require.NoError(t, readCall.do(t.Context(), newServerClient(t, srv)), status)
		srv.Close()
	}
}

func TestRedirect_IsNotFollowedToAnotherOrigin(t *testing.T) {
	otherHost := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the second host got a request for %s with x-api-key %q", r.URL, r.Header.Get("X-Api-Key"))
	}))
	defer otherHost.Close()
	_, port, err := net.SplitHostPort(otherHost.Listener.Addr().String())
	require.NoError(t, err)
	for what, target := range map[string]func(*http.Request) string{
		"another port":                func(r *http.Request) string { return otherHost.URL + r.URL.Path },
		"another host":                func(r *http.Request) string { return "http://localhost:" + port + r.URL.Path },
		"another host without scheme": func(r *http.Request) string { return "//" + otherHost.Listener.Addr().String() + r.URL.Path },
		"another scheme":              func(r *http.Request) string { return "https://" + r.Host + r.URL.Path },
		"a file":                      func(*http.Request) string { return "file:///etc/passwd" },
		"no Location":                 func(*http.Request) string { return "" },
	} {
		for _, status := range redirectStatuses {
			srv, requests := redirecting(t, status, target)
			err := readCall.do(t.Context(), newServerClient(t, srv))
			var failed *client.APIError
			require.ErrorAs(t, err, &failed, what)
			assert.Equal(t, status, failed.StatusCode, what)
			assert.EqualValues(t, 1, requests.Load(), what)
		}
	}
}

func TestRedirect_IsNotFollowedByWrites(t *testing.T) {
	for _, target := range []string{"/v2/selling/listings", "http://[::1/%zz"} {
		for _, status := range redirectStatuses {
			srv, requests := redirecting(t, status, func(*http.Request) string { return target })
			err := writeCall.do(t.Context(), newServerClient(t, srv))
			require.ErrorIs(t, err, client.ErrOutcomeUnknown)
			assert.EqualValues(t, 1, requests.Load(), "a 302 turns a POST into a GET, a 307 posts again")
		}
	}
}

func TestRedirect_IsBounded(t *testing.T) {
	srv, requests := redirecting(t, http.StatusFound, func(r *http.Request) string { return r.URL.Path })
	err := readCall.do(t.Context(), newServerClient(t, srv))
	require.True(t, isA[*client.APIError](err), "%v", err)
	assert.EqualValues(t, 6, requests.Load(), "the call and five redirects")
}

func TestRedirect_ThatDoesNotParseIsTransportError(t *testing.T) {
	for _, target := range []string{"http://[::1/%zz", "http://[::1/" + strings.Repeat("z", 1<<20)} {
		srv, _ := redirecting(t, http.StatusFound, func(*http.Request) string { return target })
		err := readCall.do(t.Context(), newServerClient(t, srv, oneAttempt))
		require.True(t, isA[*client.TransportError](err), "%v", err)
		assert.Less(t, len(err.Error()), 700, "the error is bounded")
	}
}

func TestRedirect_ToAPageIsDecodeError(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/login" {
			http.Redirect(w, r, "/login", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("<html>Sign in</html>"))
	}))
	defer srv.Close()
	err := readCall.do(t.Context(), newServerClient(t, srv))
	require.True(t, isA[*client.DecodeError](err), "%v", err)
}

func TestRedirect_CountsAsRequestForQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		elsewhere := strings.TrimSuffix(srv.BaseURL(), "/") + "/selling/listings/other"
		srv.Expect(readCall.op).Times(2).
			Raw(http.StatusFound, http.Header{"Location": {elsewhere}}, nil, "moved for now")
		srv.Expect(readCall.op).Path("listingId", "other").
			RespondError(http.StatusConflict, "for its attempts")
		limiter := &recordingLimiter{}
		err := readCall.do(t.Context(), srv.Client(client.WithLimiter(limiter)))
		require.ErrorIs(t, err, client.ErrConflict)
		assert.Len(t, limiter.items, 3)
		assert.Equal(t, 3, infoOf(t, err).Attempts)
	})
}

func TestRedirect_ThatIsRefusedKeepsTheFailureBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		elsewhere := strings.TrimSuffix(srv.BaseURL(), "/") + "/selling/listings/other"
		srv.Expect(readCall.op).RespondError(http.StatusInternalServerError, "fails")
		srv.Expect(readCall.op).Raw(http.StatusFound, http.Header{"Location": {elsewhere}}, nil, "moved for now")
		full := &quota.Error{Wait: time.Hour}
		limiter := &limiterOf{places: 2, err: full}
		err := readCall.do(t.Context(), srv.Client(client.WithLimiter(limiter)))
		require.ErrorIs(t, err, client.ErrServer)
		require.ErrorIs(t, err, full)
		assert.Equal(t, 2, infoOf(t, err).Attempts)
	})
}

// limiterOf has a number of places, and fails afterwards.
type limiterOf struct {
	recordingLimiter
	places int
	err    error
}

func (l *limiterOf) Acquire(ctx context.Context, items int) (quota.Release, error) {
	if l.places == 0 {
		return nil, l.err
	}
	l.places--
	return l.recordingLimiter.Acquire(ctx, items)
}
