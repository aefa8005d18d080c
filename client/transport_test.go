package client_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// redirecting starts a server that sends every request on to where target says.
func redirecting(t *testing.T, status int, target func(r *http.Request) string) (srv *httptest.Server, requests *atomic.Int32) {
	t.Helper()
	requests = new(atomic.Int32)
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Header().Set("Location", target(r))
		w.WriteHeader(status)
	}))
	t.Cleanup(srv.Close)
	return srv, requests
}

func TestNothingFollowsARedirectToAnotherHost(t *testing.T) {
	stranger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the second host was asked for %s with x-api-key %q", r.URL, r.Header.Get("X-Api-Key"))
	}))
	defer stranger.Close()
	_, port, err := net.SplitHostPort(stranger.Listener.Addr().String())
	require.NoError(t, err)
	for what, target := range map[string]func(*http.Request) string{
		"another port":         func(r *http.Request) string { return stranger.URL + r.URL.Path },
		"another host":         func(r *http.Request) string { return "http://localhost:" + port + r.URL.Path },
		"another host in form": func(r *http.Request) string { return "//" + stranger.Listener.Addr().String() + r.URL.Path },
		"another scheme":       func(r *http.Request) string { return "https://" + r.Host + r.URL.Path },
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			srv, requests := redirecting(t, status, target)
			err := aRead.do(t.Context(), clientOf(t, srv))
			var answered *client.APIError
			require.ErrorAs(t, err, &answered, what)
			assert.Equal(t, status, answered.StatusCode, what)
			assert.Contains(t, answered.Message, "is not sent on", what)
			assert.EqualValues(t, 1, requests.Load(), what)
		}
	}
}

func TestAWriteFollowsNoRedirect(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv, requests := redirecting(t, status, func(r *http.Request) string { return r.URL.Path })
		err := aWrite.do(t.Context(), clientOf(t, srv))
		require.ErrorIs(t, err, client.ErrOutcomeUnknown)
		assert.EqualValues(t, 1, requests.Load(), "a 302 would turn it into a GET, a 307 would post it again")
	}
}

func TestAReadFollowsARedirectOnItsHost(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/v3/") {
			http.Redirect(w, r, "/v3/moved", http.StatusFound)
			return
		}
		assert.Equal(t, "key-of-the-test", r.Header.Get("X-Api-Key"))
		assert.Equal(t, "Bearer token-of-the-test", r.Header.Get("Authorization"))
		_, _ = w.Write(clienttest.ExampleOf(gen.OpGetListing))
	}))
	defer srv.Close()
	require.NoError(t, aRead.do(t.Context(), clientOf(t, srv)))
}

func TestRedirectsAreBounded(t *testing.T) {
	srv, requests := redirecting(t, http.StatusFound, func(r *http.Request) string { return r.URL.Path })
	err := aRead.do(t.Context(), clientOf(t, srv))
	require.True(t, isA[*client.APIError](err), "%v", err)
	assert.EqualValues(t, 6, requests.Load(), "the call and five redirects")
}

func TestTheCallersHTTPClientIsCopied(t *testing.T) {
	srv, _ := redirecting(t, http.StatusFound, func(*http.Request) string { return "https://elsewhere.invalid/" })
	asked := 0
	given := &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { asked++; return nil }}
	require.Error(t, aRead.do(t.Context(), clientAt(t, srv.URL, client.WithHTTPClient(given))))
	assert.Zero(t, asked, "the rule for redirects is the client's own")
	assert.Nil(t, given.Transport)
	assert.Equal(t, time.Minute, given.Timeout)
	require.NoError(t, given.CheckRedirect(nil, nil))
	assert.Equal(t, 1, asked, "and the caller's client keeps its own")
}

func TestTheCallersTransportIsUsed(t *testing.T) {
	used := 0
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(aRead.op).RespondExample()
	c := srv.Client(withTransport(srv, func(inner http.RoundTripper) transportFunc {
		return func(r *http.Request) (*http.Response, error) { used++; return inner.RoundTrip(r) }
	}))
	require.NoError(t, aRead.do(t.Context(), c))
	assert.Equal(t, 1, used)
}

func TestAProgramMayReplaceTheDefaultTransport(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(aRead.op).RespondExample()
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	http.DefaultTransport = transportFunc(srv.HTTPClient().Transport.RoundTrip) // as tracers and mocks do
	require.NoError(t, aRead.do(t.Context(), srv.Client(client.WithHTTPClient(&http.Client{}))))
}

func TestManyGoroutinesChurnNoConnections(t *testing.T) {
	const goroutines, rounds = 64, 20
	var opened, closed atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(clienttest.ExampleOf(gen.OpGetListing))
	}))
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			opened.Add(1)
		case http.StateClosed:
			closed.Add(1)
		default:
		}
	}
	srv.Start()
	defer srv.Close()
	c := clientAt(t, srv.URL) // with the transport that it makes itself
	var calls sync.WaitGroup
	for range goroutines {
		calls.Go(func() {
			for range rounds {
				assert.NoError(t, aRead.do(t.Context(), c))
			}
		})
	}
	calls.Wait()
	assert.LessOrEqual(t, closed.Load(), int32(goroutines/8), "connections are kept, but for those whose writer a busy machine did not run for 50 ms, which net/http gives up")
	assert.LessOrEqual(t, opened.Load(), int32(2*goroutines), "net/http dials while it waits for one to come free, so there are some more than goroutines, but not one for each of %d requests", goroutines*rounds)
}
