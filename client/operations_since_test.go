package client_test

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// sandboxVariant is the id of a variant of the sandbox's catalog.
var sandboxVariant = sandbox.Catalog()[0].Variants[0].ID

// lossy reaches a sandbox over a transport that loses writes.
type lossy struct {
	inner        http.RoundTripper
	c            *client.Client
	loseRequest  bool
	loseResponse bool
	rewrite      *strings.Replacer // Of the bodies of responses to reads; nil for none.
}

func newLossy(t *testing.T) *lossy {
	t.Helper()
	market := sandboxtest.NewInProcess(t, func(o *sandbox.Options) { o.Delay = 0 })
	l := &lossy{inner: market.HTTPClient().Transport}
	c, err := client.New(
		client.WithBaseURL(market.URL), client.WithHTTPClient(&http.Client{Transport: l}), client.WithAPIKey(market.APIKey()),
		client.WithToken(market.Token()), client.WithQuota(client.Unlimited),
	)
	require.NoError(t, err)
	l.c = c
	return l
}

// RoundTrip implements [http.RoundTripper].
func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	write := r.Method != http.MethodGet
	if write && l.loseRequest {
		sent(r)
		return nil, syscall.ECONNRESET
	}
	resp, err := l.inner.RoundTrip(r)
	if err != nil || write && !l.loseResponse || !write && l.rewrite == nil {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if write || err != nil {
		return nil, syscall.ECONNRESET
	}
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(l.rewrite.Replace(string(body)))), -1
	return resp, nil
}

// pass lets simulated time go by.
func pass(d time.Duration) { <-time.After(d) }

// sent reports to httptrace that a request is out.
func sent(r *http.Request) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
		trace.GotConn(httptrace.GotConnInfo{})
		trace.WroteHeaders()
	}
}

func TestOperationsSince_SettlesAWriteToAListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLossy(t)
		made, err := l.c.Listings.Create(t.Context(), gen.CreateListingRequest{VariantID: sandboxVariant, Amount: "76"})
		require.NoError(t, err)
		_, err = made.Wait(t.Context())
		require.NoError(t, err)
		id := made.ListingID()
		lose := func(lost *bool, write func() error) time.Time {
			pass(time.Minute)
			since := time.Now()
			*lost = true
			require.ErrorIs(t, write(), client.ErrOutcomeUnknown)
			*lost = false
			return since
		}
		reprice := func(amount gen.Amount) func() error {
			return func() error {
				_, err := l.c.Listings.Update(t.Context(), id, gen.UpdateListingRequest{Amount: amount})
				return err
			}
		}
		find := func(kind gen.OperationType, since time.Time) []*client.Operation {
			found, err := l.c.Listings.OperationsSince(t.Context(), id, kind, since)
			require.NoError(t, err)
			return found
		}

		landed := lose(&l.loseResponse, reprice("77"))
		ops := find(gen.OperationTypeUpdate, landed)
		require.Len(t, ops, 1)
		assert.Equal(t, gen.Amount("77"), ops[0].Snapshot().Changes.Additions.AskData.Amount)
		_, err = ops[0].Wait(t.Context())
		require.NoError(t, err)

		lost := lose(&l.loseRequest, reprice("78"))
		assert.Empty(t, find(gen.OperationTypeUpdate, lost))
		assert.Empty(t, find(gen.OperationTypeDelete, landed), "of another type")

		since := lose(&l.loseResponse, func() error {
			_, err := l.c.Batches.Delete(t.Context(), []string{id})
			return err
		})
		pass(time.Minute)
		assert.Len(t, find(gen.OperationTypeDelete, since), 1, "a batch leaves its operations on the listings")

		_, err = l.c.Listings.OperationsSince(t.Context(), "", gen.OperationTypeDelete, since)
		require.ErrorIs(t, err, client.ErrInvalidArgument)
	})
}

func TestOperationsSince_LeavesOutWhatOthersStarted(t *testing.T) {
	tests := map[string]struct {
		by, via string
		want    int
	}{
		"a user of the API":            {`"USER"`, `"PUBLIC-API"`, 1},
		"what does not say who it was": {`null`, `null`, 1},
		"the service":                  {`"SYSTEM"`, `"INTERNAL-SYSTEM"`, 0},
		"the user's telephone":         {`"USER"`, `"IOS"`, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLossy(t)
				since := time.Now()
				made, err := l.c.Listings.Create(t.Context(), gen.CreateListingRequest{VariantID: sandboxVariant, Amount: "76"})
				require.NoError(t, err)
				l.rewrite = strings.NewReplacer(`"USER"`, test.by, `"PUBLIC-API"`, test.via)

				ops, err := l.c.Listings.OperationsSince(t.Context(), made.ListingID(), gen.OperationTypeCreate, since)

				require.NoError(t, err)
				assert.Len(t, ops, test.want)
			})
		})
	}
}
