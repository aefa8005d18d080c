package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// FuzzResponse gives every operation responses of any status, headers and body. A call never panics
// and never hangs. It returns a value or an error of a bounded length, and the status of a failure
// is kept.
func FuzzResponse(f *testing.F) {
	for i, op := range gen.Operations() {
		f.Add(uint8(i), uint16(200), "application/json", "", "", clienttest.ExampleOf(op.ID))
	}
	f.Add(uint8(0), uint16(503), "text/html", "7", "", []byte("<html>"))
	f.Add(uint8(1), uint16(302), "", "", "/v2/selling/listings", []byte(nil))
	f.Add(uint8(1), uint16(200), "gzip", "", "", []byte("[]"))
	f.Add(uint8(2), uint16(302), "", "", "http://[::1/%zz", []byte(nil))
	f.Add(uint8(2), uint16(429), "", "Fri, 31 Dec 9999 23:59:59 GMT", "", []byte(`{"errors":[{"message":null},7]}`))
	f.Add(uint8(3), uint16(999), "\x00", "-1", "//elsewhere.invalid", []byte(`{"message":"\u001b[31m"}`))
	f.Fuzz(func(t *testing.T, which uint8, rawStatus uint16, contentType, retryAfter, location string, body []byte) {
		op := gen.Operations()[int(which)%len(gen.Operations())]
		status := 200 + int(rawStatus)%800 // net/http does not return those below 200
		if rawStatus >= 200 && rawStatus < 1000 {
			status = int(rawStatus)
		}
		c := newCannedClient(t, func(r *http.Request) canned {
			assert.Equal(t, fakeHost, r.URL.Host, "credentials stay with their host")
			return canned{status: status, header: http.Header{"Content-Type": {contentType}, "Retry-After": {retryAfter}, "Location": {location}, "X-Request-Id": {contentType}}, body: string(body)}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()

		call := wholeCalls(t)[op.ID]
		if call == nil {
			return // TestDo_EveryOperationHasAMethod fails
		}
		err := call(ctx, c)

		require.NoError(t, ctx.Err(), "the call hangs")
		require.NotErrorIs(t, err, errNothing)
		if err == nil {
			require.Less(t, status, 300)
			return
		}
		require.Less(t, len(err.Error()), 2000)
		require.NotContains(t, err.Error(), "\n")
		if errors.Is(err, client.ErrOutcomeUnknown) {
			require.False(t, op.RetrySafe, "the outcome of a read is never unknown")
		}
		failed, ok := errors.AsType[*client.APIError](err)
		switch {
		case ok:
			require.Equal(t, status, failed.StatusCode)
			require.GreaterOrEqual(t, failed.RetryAfter, time.Duration(0))
		case status >= 400:
			t.Fatalf("the status %d is lost: %v", status, err)
		case status >= 300:
			require.True(t, isA[*client.TransportError](err),
				"only a Location that does not parse can hide a redirect: %v", err)
		default:
			require.True(t, isA[*client.DecodeError](err), "%T: %v", err, err)
		}
	})
}

// FuzzCursor gives a list cursors of any text, some of them repeated. Each is sent back unchanged,
// and the list ends.
func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"page-2,page-3", "a,b,a", ",", "../active", "a b&pageSize=1#x", "%2e%2e", "\x00", "ü,\u2028"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cursors := strings.Split(strings.ToValidUTF8(text, ""), ",")
		cursors = cursors[:min(len(cursors), 10)] // each is a request
		var sent []string
		c := newCannedClient(t, func(r *http.Request) canned {
			require.Equal(t, "/v2/selling/listings/"+listingID+"/operations", r.URL.Path,
				"a cursor reaches no other operation")
			sent = append(sent, r.URL.Query().Get("cursor"))
			page := gen.ListingOperationPage{Operations: []gen.ListingOperation{{OperationID: strings.Repeat("o", len(sent))}}}
			if len(sent) <= len(cursors) {
				page.NextCursor = cursors[len(sent)-1]
			}
			return canned{status: 200, body: string(mustMarshal(t, page))}
		})

		list := pagedLists()[len(pagedLists())-1]
		_, errs := collect(list.list(t.Context(), c))

		want := []string{""}
		for _, cursor := range cursors {
			if cursor == "" {
				break
			}
			want = append(want, cursor)
		}
		require.Empty(t, errs, "every page has a new entry")
		require.Equal(t, want, sent)
	})
}
