package client_test

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/token"
)

// tellOfTokenEndpoints has a token endpoint repeat the secrets of each grant in everything that an answer has: the
// first time it is asked, and after a 401, when the refusal is told beside the service's.
func tellOfTokenEndpoints(t *testing.T, told *told) {
	t.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer service.Close()
	for where, place := range echoes() {
		for how, write := range writings() {
			if where == "the end of a long page" && how != "as it is" {
				continue // as above
			}
			for _, good := range []int32{0, 1} {
				what := "a token endpoint's " + where + ", " + how
				var asked atomic.Int32
				endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if asked.Add(1) <= good {
						_, _ = io.WriteString(w, `{"access_token":"`+soughtToken+`","expires_in":43200}`)
						return
					}
					place(w, r, write(r.PostFormValue("refresh_token"))+" "+write(r.PostFormValue("client_secret")))
				}))
				config := token.RefreshConfig{TokenURL: endpoint.URL, ClientID: "sellside", ClientSecret: soughtSecret, RefreshToken: soughtRefresh}
				source, err := token.NewRefreshSource(config)
				require.NoError(t, err)
				callAt(t, told, what, service.URL, aWrite.do, client.WithTokenSource(source))
				told.value(what, source)
				told.value(what, config)
				require.NoError(t, source.Close())
				endpoint.Close()
			}
		}
	}
}

// tellOfFailedWork has operations and batches fail for reasons that repeat the credentials.
func tellOfFailedWork(t *testing.T, told *told) {
	t.Helper()
	for how, write := range writings() {
		for what, work := range map[string]struct {
			status string // Of the operation.
			wait   func(context.Context, *client.Client) error
		}{
			"a batch": {"", func(ctx context.Context, c *client.Client) error {
				return failure(c.Batches.ResumeCreate(batchID).Wait(ctx))
			}},
			"an operation": {"FAILED", func(ctx context.Context, c *client.Client) error {
				return failure(c.Listings.Operation(listingID, operationID).Wait(ctx))
			}},
			"an operation that failed at once": {"FAILED", func(ctx context.Context, c *client.Client) error {
				o, err := c.Listings.Deactivate(ctx, listingID)
				if err != nil {
					return err
				}
				return failure(o.Wait(ctx))
			}},
			"an operation that goes on": {"PENDING", func(ctx context.Context, c *client.Client) error {
				ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
				defer cancel()
				return failure(c.Listings.Operation(listingID, operationID).Wait(ctx))
			}},
		} {
			service := echoing(func(w http.ResponseWriter, r *http.Request, secret string) {
				answer := strings.Replace(operationAnswer(cmp.Or(work.status, "FAILED")), `"error":null`, `"error":"SECRET"`, 1)
				switch {
				case strings.HasSuffix(r.URL.Path, "/items"):
					answer = strings.ReplaceAll(itemAnswer("FAILED"), "The variant is unknown.", "SECRET")
				case strings.Contains(r.URL.Path, "/batch/"):
					answer = batchAnswer("COMPLETED", true, 1, `{}`)
				}
				_, _ = io.WriteString(w, strings.ReplaceAll(answer, "SECRET", secret))
			}, write)
			callAndListen(t, told, what+", "+how, service, work.wait)
		}
	}
}
