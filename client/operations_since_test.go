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
	"github.com/sellside-sdk/sellside-go/client/quota"
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
		client.WithToken(market.Token()), client.WithQuota(quota.Unlimited),
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
		find := func(kind gen.OperationType, since time.Time) []client.FoundOperation {
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

func TestOperationsSince_KeepsAndMarksWhatCannotBePlaced(t *testing.T) {
	const certain, doubtful, other = "certain", "doubtful", "another operation"
	for why, row := range map[string]struct {
		from, to string
		want     string
	}{
		"as it was started":             {"", "", certain},
		"by the service":                {`"USER"`, `"SYSTEM"`, doubtful},
		"by an unknown initiator":       {`"USER"`, `"PARTNER"`, doubtful},
		"by nobody":                     {`"USER"`, `null`, doubtful},
		"through the user's telephone":  {`"PUBLIC-API"`, `"IOS"`, other},
		"through the website":           {`"PUBLIC-API"`, `"WEB"`, other},
		"through the service":           {`"PUBLIC-API"`, `"INTERNAL-SYSTEM"`, doubtful},
		"through an unknown channel":    {`"PUBLIC-API"`, `"PUBLIC-API-V3"`, doubtful},
		"through a channel in small":    {`"PUBLIC-API"`, `"public-api"`, doubtful},
		"through no channel":            {`"PUBLIC-API"`, `null`, doubtful},
		"of another type":               {`"CREATE"`, `"DELETE"`, other},
		"of an unknown type":            {`"CREATE"`, `"CREATE_V2"`, doubtful},
		"of no type":                    {`"CREATE"`, `null`, doubtful},
		"without a time":                {`"createdAt"`, `"started"`, doubtful},
		"at a time that cannot be read": {`"createdAt":"`, `"createdAt":"about `, doubtful},
		"before":                        {`"createdAt":"2000`, `"createdAt":"1999`, other},
	} {
		t.Run(why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLossy(t)
				since := time.Now()
				made, err := l.c.Listings.Create(t.Context(), gen.CreateListingRequest{VariantID: sandboxVariant, Amount: "76"})
				require.NoError(t, err)
				if row.from != "" {
					l.rewrite = strings.NewReplacer(row.from, row.to)
				}

				found, err := l.c.Listings.OperationsSince(t.Context(), made.ListingID(), gen.OperationTypeCreate, since)

				require.NoError(t, err)
				got := other
				if len(found) == 1 {
					got = certain
					if found[0].Doubt != "" {
						got = doubtful
					}
					assert.Equal(t, made.ID(), found[0].ID())
				}
				assert.Equal(t, row.want, got)
			})
		})
	}
}

func TestOperationsSince_FindsEveryTypeIfNoneIsGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLossy(t)
		since := time.Now()
		made, err := l.c.Listings.Create(t.Context(), gen.CreateListingRequest{VariantID: sandboxVariant, Amount: "76"})
		require.NoError(t, err)
		_, err = made.Wait(t.Context())
		require.NoError(t, err)
		_, err = l.c.Listings.Deactivate(t.Context(), made.ListingID())
		require.NoError(t, err)

		found, err := l.c.Listings.OperationsSince(t.Context(), made.ListingID(), "", since)

		require.NoError(t, err)
		require.Len(t, found, 2)
		for _, o := range found {
			assert.Empty(t, o.Doubt)
		}
	})
}
