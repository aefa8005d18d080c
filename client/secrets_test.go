package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
)

// The credentials of the search, with characters that encoders write in other ways.
const (
	soughtKey   = "k3y/pL8+d02=&qX7r9Tz"
	soughtToken = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ3aG8ifQ/m1ss+ng_p1ece-0f=s1gnature"

	soughtRefresh = "v1.Mr5tGh/0nE+tw0_thr33=l0ngL1ved"
	soughtSecret  = "cl1ent/sEcr3t+0f_th3=0nlyUser"
)

// TestNoSecretIsToldWhateverComesBack has a service repeat the credentials of each request in everything that an
// answer has, written in every way, and breaks connections while it does. Nothing that the client logs, reports
// or returns as an error holds any of them, in any of the ways.
func TestNoSecretIsToldWhateverComesBack(t *testing.T) {
	told := newTold()
	calls := wholeCalls(t)
	for where, place := range echoes() {
		for how, write := range writings() {
			if where == "the end of a long page" && how != "as it is" {
				continue // printing it takes long
			}
			echo := echoing(place, write)
			for _, op := range []gen.OperationID{gen.OpGetListing, gen.OpCreateListingsBatch} {
				callAndListen(t, told, where+", "+how, echo, calls[op])
			}
		}
	}
	for _, op := range gen.Operations() {
		for _, where := range []string{"a message", "a page", "an odd member", "a redirect elsewhere", "a status line"} {
			callAndListen(t, told, where+", "+string(op.ID), echoing(echoes()[where], writings()["as it is"]), calls[op.ID])
		}
	}
	for kind := faultproxy.Latency; kind <= faultproxy.Reset; kind++ {
		p, err := faultproxy.Start(echoing(echoes()["a page"], writings()["as it is"]), func(*http.Request) faultproxy.Fault { return faultproxy.Fault{Kind: kind} })
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range []gen.OperationID{gen.OpGetListing, gen.OpCreateListing} {
			callAt(t, told, kind.String(), p.URL(), calls[op])
		}
		_ = p.Close()
	}
	tellOfTokenEndpoints(t, told)
	tellOfFailedWork(t, told)
	told.search(t, soughtKey, soughtToken, soughtRefresh, soughtSecret)
}

func callAndListen(t *testing.T, told *told, what string, echo http.Handler, call func(context.Context, *client.Client) error) {
	t.Helper()
	srv := httptest.NewServer(echo)
	defer srv.Close()
	callAt(t, told, what, srv.URL, call)
}

func callAt(t *testing.T, told *told, what, at string, call func(context.Context, *client.Client) error, opts ...client.Option) {
	t.Helper()
	policy := client.RetryPolicy{MaxAttempts: 2, MinDelay: 1, MaxDelay: 1, MaxRetryAfter: time.Millisecond, AttemptTimeout: 200 * time.Millisecond}
	c, done := wireClient(t, at, policy, append([]client.Option{client.WithDefaults(
		client.WithAPIKey(soughtKey), client.WithToken(soughtToken),
		client.WithLogger(told.logger(what)), client.WithObserver(func(e client.Event) { told.value(what, e) }),
	)}, opts...)...)
	defer done()
	err := call(t.Context(), c)
	told.failure(what, err)
	if what != faultproxy.Reset.String() {
		return // clients print alike
	}
	for _, value := range []any{c, *c, c.Raw(), c.Listings, *c.Listings, c.Batches, c.Orders, c.Catalog, c.Batches.ResumeCreate(batchID), c.Listings.Operation(listingID, operationID)} {
		told.value(what, value)
	}
}

// echoing is a service that puts the credentials of a request in one place of its answer.
func echoing(place func(http.ResponseWriter, *http.Request, string), write func(string) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		bearer := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		place(w, r, write(r.Header.Get("X-Api-Key"))+" "+write(bearer))
	})
}

// echoes are the places of an answer.
func echoes() map[string]func(http.ResponseWriter, *http.Request, string) {
	type place = func(http.ResponseWriter, *http.Request, string)
	answer := func(status int, header, format string) place {
		return func(w http.ResponseWriter, _ *http.Request, secret string) {
			if header != "" {
				w.Header().Set(header, secret)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.ReplaceAll(format, "SECRET", secret))
		}
	}
	line := func(format string) place {
		return func(w http.ResponseWriter, _ *http.Request, secret string) {
			onTheWire(fmt.Sprintf(format, secret))(w, nil)
		}
	}
	redirect := func(format string) place {
		return func(w http.ResponseWriter, r *http.Request, secret string) {
			w.Header().Set("Location", fmt.Sprintf(format, strings.ReplaceAll(secret, " ", "~")))
			w.WriteHeader(http.StatusFound)
		}
	}
	return map[string]place{
		"a message":               answer(400, "", `{"message":"SECRET"}`),
		"a list of errors":        answer(422, "", `{"errors":[{"message":"SECRET"},"SECRET"]}`),
		"a page":                  answer(502, "", `<html>SECRET</html>`),
		"the end of a long page":  answer(403, "", strings.Repeat("x", 64<<10-100)+"SECRET"),
		"an odd member":           answer(200, "", `{"SECRET":"SECRET","createdAt":"SECRET","totalItems":"SECRET","itemStatuses":{"SECRET":"SECRET"},"payout":"SECRET","items":["SECRET"],"listings":["SECRET"]}`),
		"an odd list":             answer(200, "", `["SECRET",{"SECRET":[]}]`),
		"an odd page":             answer(200, "", `{"hasNextPage":"SECRET","nextCursor":["SECRET"]}`),
		"no JSON":                 answer(200, "", `SECRET`),
		"a request id":            answer(404, "X-Request-Id", ``),
		"a cookie":                answer(401, "Set-Cookie", ``),
		"a pause":                 answer(429, "Retry-After", ``),
		"a type":                  answer(200, "Content-Type", `{}`),
		"an encoding":             answer(200, "Content-Encoding", `{}`),
		"a redirect home":         redirect("/%s"),
		"a redirect elsewhere":    redirect("https://elsewhere.invalid/?%s"),
		"a redirect to nowhere":   redirect("http://[%s"),
		"a status line":           line("HTTP/1.1 %s\r\n\r\n"),
		"a protocol":              line("%s\r\n\r\n"),
		"a header that is none":   line("HTTP/1.1 200 OK\r\n%s\r\n\r\n"),
		"a length that is none":   line("HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n"),
		"a chunk that is none":    line("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n"),
		"a transfer that is none": line("HTTP/1.1 200 OK\r\nTransfer-Encoding: %s\r\n\r\n"),
	}
}
