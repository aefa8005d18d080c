package client_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
)

// noting is a middleware that notes when it is entered and left.
func noting(notes *[]string, name string) client.Middleware {
	return func(next client.Doer) client.Doer {
		return client.DoerFunc(func(r *http.Request) (*http.Response, error) {
			*notes = append(*notes, name+" in "+r.Header.Get("Authorization"))
			defer func() { *notes = append(*notes, name+" out") }()
			return next.Do(r)
		})
	}
}

func TestMiddlewareIsOutermostAndSeesACallOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aRead.op).RespondError(http.StatusServiceUnavailable, "busy").Times(3)
		srv.Expect(aRead.op).RespondExample()
		var notes []string
		c := srv.Client(client.WithMiddleware(noting(&notes, "first")), client.WithMiddleware(noting(&notes, "second"), noting(&notes, "third")))
		require.NoError(t, aRead.do(t.Context(), c))
		assert.Equal(t, []string{"first in ", "second in ", "third in ", "third out", "second out", "first out"}, notes,
			"once for four attempts, the first one outermost, and before there are credentials")
	})
}

func TestMiddlewareSeesWhatIsRefused(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	var notes []string
	_, err := srv.Client(client.WithMiddleware(noting(&notes, "it"))).Raw().GetListing(t.Context(), "..") //nolint:bodyclose // there is no answer
	require.ErrorIs(t, err, client.ErrInvalidArgument)
	assert.Len(t, notes, 2)
}

func TestHeadersOfEveryRequest(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(aRead.op).RespondExample().Times(2)
	require.NoError(t, aRead.do(t.Context(), srv.Client()))
	named := func(next client.Doer) client.Doer {
		return client.DoerFunc(func(r *http.Request) (*http.Response, error) {
			r.Header.Set("User-Agent", "repricer/7")
			return next.Do(r)
		})
	}
	require.NoError(t, aRead.do(t.Context(), srv.Client(client.WithMiddleware(named))))
	got := srv.Requests(aRead.op)
	assert.Equal(t, "sellside-go/"+client.Version, got[0].Header.Get("User-Agent"))
	assert.Contains(t, got[0].Header.Get("Accept"), "application/json")
	assert.Equal(t, "repricer/7", got[1].Header.Get("User-Agent"), "a program may give its own name")
}

func TestATypedCallThatReachesAnotherOperationIsRefused(t *testing.T) {
	for what, send := range map[string]func(*http.Request){
		"another operation": func(r *http.Request) { r.URL.Path = "/v2/selling/listings" },
		"no operation":      func(r *http.Request) { r.URL.Path = "/v2/account" },
		"another base":      func(r *http.Request) { r.URL.Path = "/v1/selling/listings/98e2e748" },
		"another method":    func(r *http.Request) { r.Method = http.MethodDelete },
	} {
		srv := clienttest.New(t, clienttest.InProcess()) // which fails the test if a request comes
		astray := func(next client.Doer) client.Doer {
			return client.DoerFunc(func(r *http.Request) (*http.Response, error) {
				send(r)
				return next.Do(r)
			})
		}
		err := aRead.do(t.Context(), srv.Client(client.WithMiddleware(astray)))
		require.ErrorIs(t, err, client.ErrInvalidArgument, what)
	}
}

func TestLowIsOnTheSameChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aRead.op).RespondError(http.StatusServiceUnavailable, "busy")
		srv.Expect(aRead.op).RespondError(http.StatusNotFound, "no such listing")
		var kinds []client.EventKind
		c := srv.Client(client.WithObserver(func(e client.Event) { kinds = append(kinds, e.Kind) }))
		resp, err := c.Raw().GetListing(t.Context(), "98e2e748")
		require.NoError(t, err, "answers other than 2xx are returned as they are")
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, http.StatusNotFound, resp.StatusCode)
		assert.JSONEq(t, `{"statusCode":404,"message":"no such listing"}`, string(body))
		assert.Equal(t, []client.EventKind{client.EventRetry, client.EventDone}, kinds)
		assert.Equal(t, clienttest.APIKey, srv.Requests(aRead.op)[1].Header.Get("X-Api-Key"))
	})
}

func TestLowNeverRepeatsAWriteEither(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(aWrite.op).Disconnect(clienttest.BeforeHeaders, "the network fails")
	_, err := srv.Client().Raw().CreateListing(t.Context(), gen.CreateListingRequest{VariantID: "8f4d2c4e", Amount: "162"}) //nolint:bodyclose // there is no answer
	require.ErrorIs(t, err, client.ErrOutcomeUnknown)
}

func TestLowRefusesWhatItCannotSendWell(t *testing.T) {
	items := gen.DeleteListingsBatchRequest{Items: []gen.DeleteItem{{ListingID: "98e2e748"}}}
	for what, call := range map[string]func(*gen.Client) (*http.Response, error){
		"path: GET /v2/selling/listings/ is no operation": func(low *gen.Client) (*http.Response, error) {
			return low.GetListing(t.Context(), ".")
		},
		"path: GET /v2/selling/ is no operation": func(low *gen.Client) (*http.Response, error) {
			return low.GetListing(t.Context(), "..")
		},
		"body: it can be read only once": func(low *gen.Client) (*http.Response, error) {
			return low.CreateListingWithBody(t.Context(), "application/json", io.MultiReader(strings.NewReader(`{}`)))
		},
		"items: the quota cannot count a batch of undeclared size: use WithItemCount": func(low *gen.Client) (*http.Response, error) {
			return low.DeleteListingsBatch(t.Context(), items)
		},
		"DeleteListingsBatch: items": func(low *gen.Client) (*http.Response, error) {
			return low.DeleteListingsBatch(client.WithItemCount(t.Context(), -1), items)
		},
	} {
		srv := clienttest.New(t, clienttest.InProcess())                                 // which fails the test if a request comes
		_, err := call(srv.Client(client.WithQuota(quota.Quota{ItemsPerDay: 10})).Raw()) //nolint:bodyclose // there is no answer
		require.ErrorIs(t, err, client.ErrInvalidArgument, what)
		assert.ErrorContains(t, err, what)
	}
}

func TestLowBatchesCountByTheirDeclaration(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(gen.OpDeleteListingsBatch).RespondExample().Times(3)
	items := gen.DeleteListingsBatchRequest{Items: []gen.DeleteItem{{ListingID: "98e2e748"}}}
	m := &meter{}
	low, ctx := srv.Client(client.WithLimiter(m)).Raw(), client.WithItemCount(t.Context(), 7)
	for range 2 {
		resp, err := low.DeleteListingsBatch(ctx, items)
		require.NoError(t, err, "a context may be used again")
		require.NoError(t, resp.Body.Close())
	}
	assert.Equal(t, []int{7, 7}, m.items)

	resp, err := srv.Client().Raw().DeleteListingsBatch(t.Context(), items)
	require.NoError(t, err, "without a quota for items there is nothing to count")
	require.NoError(t, resp.Body.Close())
}

func TestABasePathMayBeEscaped(t *testing.T) {
	sent := ""
	transport := transportFunc(func(r *http.Request) (*http.Response, error) {
		sent = r.URL.EscapedPath()
		return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Request: r}, nil
	})
	c := clientAt(t, "https://api.example.com/a%20b%2Fc", client.WithHTTPClient(&http.Client{Transport: transport}))
	require.ErrorIs(t, aRead.do(t.Context(), c), client.ErrNotFound)
	assert.Equal(t, "/a%20b%2Fc/v2/selling/listings/98e2e748-8000-45bf-a624-5531d6a68318", sent)
}
