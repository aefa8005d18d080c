package client_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// hostileRedirects are answers that send a call elsewhere: every kind of redirect, to the same host and to
// another one, for a read and for a write. The other host fails the test if anything reaches it.
func hostileRedirects(t *testing.T) []hostileCase {
	t.Helper()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("another host was sent a request, and credentials with it")
	}))
	t.Cleanup(elsewhere.Close)
	var cases []hostileCase
	for _, status := range []int{301, 302, 303, 307, 308} {
		refused := fmt.Sprintf("APIError %d; sent 1", status)
		doubtful := fmt.Sprintf("APIError %d, ErrOutcomeUnknown; sent 1", status)
		cases = append(cases,
			hostileCase{
				name: fmt.Sprintf("%d to the same host, read", status), rule: "a read stays with its host", call: getListing,
				answer: redirectOnce(status), result: "read; sent 2",
				check: readListing(func(t *testing.T, l *gen.Listing) { assert.Equal(t, listingID, l.ListingID) }),
			},
			hostileCase{
				name: fmt.Sprintf("%d to another host, read", status), rule: "no read carries credentials to another host", call: getListing,
				answer: redirectTo(status, elsewhere.URL+"/v2/selling/listings/x"), result: refused,
			},
			hostileCase{
				name: fmt.Sprintf("%d to the same host, write", status), rule: "a write is sent once, wherever it is sent", call: createListing,
				answer: redirectOnce(status), result: doubtful,
			},
			hostileCase{
				name: fmt.Sprintf("%d to another host, write", status), rule: "and least of all to another host", call: createListing,
				answer: redirectTo(status, elsewhere.URL+"/v2/selling/listings"), result: doubtful,
			},
		)
	}
	return append(cases,
		hostileCase{name: "a redirect to itself", rule: "a read goes round five times at most", call: getListing, answer: redirectTo(302, "?again"), result: "APIError 302; sent 6"},
		hostileCase{name: "a redirect to a login page", rule: "what is followed must still be an answer", call: getListing, answer: toLogin, result: "DecodeError; sent 2", check: noValue},
		hostileCase{name: "a redirect to nowhere", rule: "a redirect without a Location is an answer as it is", call: getListing, answer: nothing(302), result: "APIError 302; sent 1"},
		hostileCase{name: "a redirect to file:///", rule: "nor is another scheme followed", call: getListing, answer: redirectTo(302, "file:///etc/passwd"), result: "APIError 302; sent 1"},
		hostileCase{name: "a redirect that does not parse", rule: "nor what is no URL, and a read loses nothing by it", call: getListing, answer: redirectTo(302, "http://[::1/%zz"), result: "TransportError; sent 2"},
		hostileCase{name: "a redirect of 1 MB", rule: "what came fills no error", call: getListing, answer: redirectTo(302, "http://[::1/"+strings.Repeat("z", 1<<20)), result: "TransportError; sent 2"},
		hostileCase{name: "a redirect that does not parse, write", rule: "a write stays unknown then", call: createListing, answer: redirectTo(307, "http://[::1/%zz"), result: "APIError 307, ErrOutcomeUnknown; sent 1"},
	)
}

func redirectTo(status int, location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	}
}

// redirectOnce sends a call on to where it is answered.
func redirectOnce(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/moved") {
			w.Header().Set("Location", r.URL.Path+"/moved")
			w.WriteHeader(status)
			return
		}
		_, _ = w.Write(clienttest.ExampleOf(gen.OpGetListing))
	}
}

func toLogin(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/login" {
		http.Redirect(w, r, "/login", http.StatusFound)
		return
	}
	hostileBody(http.StatusOK, "maintenance.html")(w, r)
}
