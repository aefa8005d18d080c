package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
)

// TestErrors_AreOneLineWithoutCredentials has a service put the credentials, and line breaks, into ids, types and
// statuses. The errors are found again, but they print none of it.
func TestErrors_AreOneLineWithoutCredentials(t *testing.T) {
	const (
		// SECRET stands for the credentials, and BREAK for line breaks.
		ended = `{"batchId":"SECRET","status":"COMPLETED","completedAt":"2026-11-02T09:15:00.000Z","totalItems":2}`
	)
	createBatch := func(ctx context.Context, c *client.Client) error {
		b, err := c.Batches.Create(ctx, items(2))
		if err != nil {
			return err
		}
		return failure(b.Wait(ctx))
	}
	createListing := func(ctx context.Context, c *client.Client) error {
		o, err := c.Listings.Create(ctx, gen.CreateListingRequest{VariantID: variantID, Amount: "162"})
		if err != nil {
			return err
		}
		return failure(o.Wait(ctx))
	}
	for what, tc := range map[string]struct {
		call    func(context.Context, *client.Client) error
		status  int
		answers map[string]string // By the end of the path.
		is      func(error) bool
	}{
		"a batch that does not end": {createBatch, 200, map[string]string{
			"": `{"batchId":"SECRET","status":"SECRETBREAK","itemStatuses":{"SECRET":1}}`,
		}, isA[*client.WaitError]},
		"items of a batch that failed": {createBatch, 200, map[string]string{
			"": ended, "/items": `{"items":[{"itemId":"SECRETBREAK","status":"FAILED","error":"SECRETBREAK"},{"itemId":"SECRETBREAK","status":"SECRETBREAK","error":"SECRETBREAK"}]}`,
		}, isA[*client.BatchError]},
		"items of a batch that are not known": {createBatch, 200, map[string]string{
			"": ended, "/items": `{"items":[{"itemId":"SECRETBREAK","status":"SECRETBREAK","result":{"listingId":"SECRET"}}]}`,
		}, isA[*client.BatchError]},
		"an operation that failed": {createListing, 200, map[string]string{
			"": `{"listingId":"SECRET","operationId":"SECRET","operationType":"SECRETBREAK","operationStatus":"FAILED","error":"SECRETBREAK"}`,
		}, isA[*client.OperationError]},
		"an operation that does not end": {createListing, 200, map[string]string{
			"": `{"listingId":"SECRET","operationId":"SECRET","operationType":"SECRETBREAK","operationStatus":"SECRETBREAK"}`,
		}, isA[*client.WaitError]},
		"another listing than was asked for": {aRead.do, 200, map[string]string{"": `{"listingId":"SECRETBREAK"}`}, isA[*client.DecodeError]},
		"a broken response":                  {createBatch, 200, map[string]string{"": `{"batchId":"SECRET","status":"SECRETBREAK`}, isA[*client.DecodeError]},
		"a refusal":                          {createBatch, 400, map[string]string{"": `{"errors":["SECRETBREAK",{"message":"SECRETBREAK"}]}`}, isA[*client.APIError]},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				transport := transportFunc(func(r *http.Request) (*http.Response, error) {
					body, ok := tc.answers["/items"]
					if !ok || !strings.HasSuffix(r.URL.Path, "/items") {
						body = tc.answers[""]
					}
					credentials := r.Header.Get("X-Api-Key") + "~" + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
					body = strings.NewReplacer("SECRET", credentials, "BREAK", `\n\u2028\t`).Replace(body)
					return reply(r, pollAnswer{status: tc.status, body: body}), nil
				})
				c, err := client.New(
					client.WithBaseURL("https://echo.invalid/v2"), client.WithAPIKey(soughtKey), client.WithToken(soughtToken),
					client.WithHTTPClient(&http.Client{Transport: transport}), client.WithQuota(quota.Unlimited), oneAttempt,
				)
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()

				err = tc.call(ctx, c)

				require.True(t, tc.is(err), "%T: %v", err, err)
				assertTame(t, err)
			})
		})
	}
}

// assertTame checks what an error and all errors below it print.
func assertTame(t *testing.T, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		assert.NotRegexp(t, `[\n\r\t\x{2028}]`, err.Error(), "%T", err)
		values := []any{err}
		switch e := err.(type) { //nolint:errorlint // it unwraps
		case *client.BatchError:
			values = append(values, *e)
		case *client.WaitError:
			values = append(values, *e)
		case *client.OperationError:
			values = append(values, *e)
		case *client.DecodeError:
			values = append(values, *e, string(e.Body))
		case *client.APIError:
			values = append(values, *e, string(e.Body))
		}
		for _, value := range values {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
				text := fmt.Sprintf(verb, value)
				assert.NotContains(t, text, soughtKey, "%T as %s", value, verb)
				assert.NotContains(t, text, soughtToken, "%T as %s", value, verb)
			}
		}
	}
}

func TestErrors_OfSeveralArgumentsAreOneLine(t *testing.T) {
	c := cannedClient(t, nil)
	_, twoFields := c.Listings.Create(t.Context(), gen.CreateListingRequest{Amount: "1e3"})
	_, twoFilters := c.Listings.ListPage(t.Context(), client.ListingFilter{PageSize: -1, Statuses: []gen.ListingStatus{""}})
	for err, fields := range map[error][]string{twoFields: {"variantId", "amount"}, twoFilters: {"PageSize", "Statuses[0]"}} {
		require.ErrorIs(t, err, client.ErrInvalidArgument)
		assert.NotContains(t, err.Error(), "\n")
		for _, field := range fields {
			assert.ErrorContains(t, err, field)
		}
	}
}

func TestErrors_OfAWaitThatEndsAfterAFailureAreOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &batchService{batch: func(int) pollAnswer { return pollAnswer{status: 503} }}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := s.client(t).Batches.ResumeCreate(batchID).Wait(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, client.ErrServer)
		assert.NotContains(t, err.Error(), "\n")
	})
}
