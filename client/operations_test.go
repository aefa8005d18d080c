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
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

func TestOperation_WaitReturnsAtItsEnd(t *testing.T) {
	failed := strings.Replace(operationJSON("FAILED"), `"error":null`, `"error":"The price is out of range."`, 1)
	tests := map[string]struct {
		end    string
		failed bool
		reason gen.Reason
	}{
		"succeeded":               {operationJSON("SUCCEEDED"), false, ""},
		"failed with a reason":    {failed, true, "The price is out of range."},
		"failed without a reason": {operationJSON("FAILED"), true, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				srv.Expect(gen.OpUpdateListing).RespondExample()
				poll := func() *clienttest.Expectation {
					return srv.Expect(gen.OpGetListingOperation).Path("listingId", listingID).
						Path("operationId", operationID)
				}
				poll().Respond(200, operationJSON("PENDING"))
				poll().Respond(200, test.end)

				o, err := srv.Client().Listings.Update(t.Context(),
					listingID, gen.UpdateListingRequest{Amount: "158.50", CurrencyCode: "USD"})
				require.NoError(t, err)
				same, err := o.Wait(t.Context())

				assert.Same(t, o, same)
				assert.True(t, o.Done())
				if !test.failed {
					require.NoError(t, err)
					return
				}
				var ended *client.OperationError
				require.ErrorAs(t, err, &ended)
				assert.Equal(t, o.Snapshot(), ended.Operation)
				assert.Equal(t, test.reason, ended.Operation.Error)

				_, again := o.Wait(t.Context())
				assert.Equal(t, err, again, "waiting again sends nothing and returns the same error")
			})
		})
	}
}

func TestOperation_IsResumedByIDsWithoutIO(t *testing.T) {
	srv := clienttest.New(t)
	o := srv.Client().Listings.Operation(listingID, operationID)
	require.Zero(t, o.Snapshot(), "no request is sent")
	require.False(t, o.Done())
	srv.Expect(gen.OpGetListingOperation).Path("listingId", listingID).
		Path("operationId", operationID).Respond(200, operationJSON("SUCCEEDED"))

	_, err := o.Wait(t.Context())

	require.NoError(t, err)
	assert.Equal(t, gen.OperationStatusSucceeded, o.Snapshot().OperationStatus)
}

func TestOperation_FailedPollKeepsSnapshot(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetListingOperation).Respond(200, operationJSON("PENDING"))
	srv.Expect(gen.OpGetListingOperation).RespondError(404, "there is no such operation")
	o := srv.Client().Listings.Operation(listingID, operationID)

	first, err := o.Poll(t.Context())
	require.NoError(t, err)
	second, err := o.Poll(t.Context())

	require.ErrorIs(t, err, client.ErrNotFound)
	assert.Equal(t, first, second)
	assert.Equal(t, gen.OperationStatusPending, second.OperationStatus)
}

func TestOperation_ResponseWithoutIDsIsOutcomeUnknown(t *testing.T) {
	tests := map[string]string{
		"no operationId":  `{"listingId":"l1","operationStatus":"PENDING"}`,
		"no listingId":    `{"operationId":"o1","operationStatus":"PENDING"}`,
		"an empty object": `{}`,
		"text":            `OK`,
	}
	for why, body := range tests {
		t.Run(why, func(t *testing.T) {
			srv := clienttest.New(t)
			srv.Expect(gen.OpCreateListing).Raw(201, nil, []byte(body), why)

			o, err := srv.Client().Listings.Create(t.Context(),
				gen.CreateListingRequest{VariantID: variantID, Amount: "162"})

			assert.Nil(t, o)
			unreadable := &client.DecodeError{}
			require.ErrorAs(t, err, &unreadable)
			require.ErrorIs(t, err, client.ErrOutcomeUnknown, "the listing may exist")
			assert.Equal(t, gen.OpCreateListing, unreadable.Operation)
			assert.Equal(t, 1, unreadable.Attempts, "the write is not repeated")
		})
	}
}

func TestListings_ListOperationsPageTakesCursor(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpListListingOperations).NoQuery().Respond(200, `{"nextCursor":"c/2=","operations":[`+operationJSON("SUCCEEDED")+`]}`)
	srv.Expect(gen.OpListListingOperations).Query("cursor", "c/2=").Query("pageSize", "5").RespondExample()
	c := srv.Client()

	first, err := c.Listings.ListOperationsPage(t.Context(), listingID, "", 0)
	require.NoError(t, err)
	second, err := c.Listings.ListOperationsPage(t.Context(), listingID, first.NextCursor, 5)
	require.NoError(t, err)

	assert.Empty(t, second.NextCursor, "a null cursor is the end")
	assert.Len(t, first.Operations, 1)
}

// sandboxVariant is the id of a variant of the sandbox's catalog.
var sandboxVariant = sandbox.Catalog()[0].Variants[0].ID

// lossy is a transport to a sandbox that can lose writes and their responses.
type lossy struct {
	inner        http.RoundTripper
	c            *client.Client
	loseRequest  bool
	loseResponse bool
	rewrite      *strings.Replacer // Of the bodies of responses to reads; nil for none.
}

func newLossy(t *testing.T) *lossy {
	t.Helper()
	market := sandboxtest.NewInProcess(t, func(o *sandbox.Options) { o.Delay = 0 }, quirks)
	l := &lossy{inner: market.HTTPClient().Transport}
	l.c = newTransportClient(t, l, client.WithBaseURL(market.URL),
		client.WithAPIKey(market.APIKey()), client.WithToken(market.Token()))
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

// pass lets simulated time pass.
func pass(d time.Duration) { <-time.After(d) }

// sent reports to httptrace that a request was sent.
func sent(r *http.Request) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
		trace.GotConn(httptrace.GotConnInfo{})
		trace.WroteHeaders()
	}
}

func TestOperationsSince_FindsWriteOfUnknownOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLossy(t)
		made, err := l.c.Listings.Create(t.Context(),
			gen.CreateListingRequest{VariantID: sandboxVariant, Amount: "76"})
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
				_, err := l.c.Listings.Update(t.Context(), id, gen.UpdateListingRequest{Amount: amount, CurrencyCode: "USD"})
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
		assert.Len(t, find(gen.OperationTypeDelete, since), 1,
			"a batch leaves its operations on the listings")

		_, err = l.c.Listings.OperationsSince(t.Context(), "", gen.OperationTypeDelete, since)
		require.ErrorIs(t, err, client.ErrInvalidArgument)
	})
}

func TestOperationsSince_ReportsDoubt(t *testing.T) {
	const certain, doubtful, other = "certain", "doubtful", "another operation"
	for why, row := range map[string]struct {
		from, to string
		want     string
	}{
		"as it was started":               {"", "", certain},
		"by the service":                  {`"USER"`, `"SYSTEM"`, doubtful},
		"by an unknown initiator":         {`"USER"`, `"PARTNER"`, doubtful},
		"without an initiator":            {`"USER"`, `null`, doubtful},
		"through the app":                 {`"PUBLIC-API"`, `"IOS"`, other},
		"through the website":             {`"PUBLIC-API"`, `"WEB"`, other},
		"through the service":             {`"PUBLIC-API"`, `"INTERNAL-SYSTEM"`, doubtful},
		"through an unknown channel":      {`"PUBLIC-API"`, `"PUBLIC-API-V3"`, doubtful},
		"through a channel in lower case": {`"PUBLIC-API"`, `"public-api"`, doubtful},
		"through no channel":              {`"PUBLIC-API"`, `null`, doubtful},
		"of another type":                 {`"CREATE"`, `"DELETE"`, other},
		"of an unknown type":              {`"CREATE"`, `"CREATE_V2"`, doubtful},
		"of no type":                      {`"CREATE"`, `null`, doubtful},
		"without a time":                  {`"createdAt"`, `"started"`, doubtful},
		"at a time that cannot be read":   {`"createdAt":"`, `"createdAt":"about `, doubtful},
		"started before":                  {`"createdAt":"2000`, `"createdAt":"1999`, other},
	} {
		t.Run(why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLossy(t)
				since := time.Now()
				made, err := l.c.Listings.Create(t.Context(),
					gen.CreateListingRequest{VariantID: sandboxVariant, Amount: "76"})
				require.NoError(t, err)
				if row.from != "" {
					l.rewrite = strings.NewReplacer(row.from, row.to)
				}

				found, err := l.c.Listings.OperationsSince(t.Context(), made.ListingID(),
					gen.OperationTypeCreate, since)

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

func TestOperationsSince_FindsEveryType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLossy(t)
		since := time.Now()
		made, err := l.c.Listings.Create(t.Context(),
			gen.CreateListingRequest{VariantID: sandboxVariant, Amount: "76"})
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
