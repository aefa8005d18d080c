package client_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
)

// hostileErrors are answers of failure that are not the service's error body.
func hostileErrors() []hostileCase {
	return []hostileCase{
		{name: "HTML with 403", rule: "a bot filter's page keeps its status", call: getListing, answer: hostileBody(403, "bot-filter.html"), result: "APIError 403; sent 1", check: saysWords("forbidden", client.ErrForbidden)},
		{name: "HTML with 502, read", rule: "a gateway's page is a failure that may pass", call: getListing, answer: hostileBody(502, "bad-gateway.html"), result: "APIError 502; sent 2", check: saysWords("bad gateway", client.ErrServer)},
		{name: "HTML with 502, write", rule: "and does not say that nothing was done", call: createListing, answer: hostileBody(502, "bad-gateway.html"), result: "APIError 502, ErrOutcomeUnknown; sent 1", check: saysWords("bad gateway", client.ErrServer)},
		{name: "{errorMessage}", rule: "the words are found under errorMessage", call: createListing, answer: hostileBody(400, "error-errormessage.json"), result: "APIError 400; sent 1", check: saysWords("Invalid variant", client.ErrBadRequest)},
		{name: "{error}", rule: "the words are found under error", call: createListing, answer: hostileBody(429, "error-error.json"), result: "APIError 429; sent 2", check: saysWords("quota exceeded", client.ErrRateLimited)},
		{name: "{errors: []}", rule: "the words are found in a list of texts and objects", call: createListing, answer: hostileBody(422, "error-errors.json"), result: "APIError 422; sent 1", check: saysWords("amount is too low; variantId is unknown", nil)},
		{name: "a body that says 200, read", rule: "the HTTP status decides, whatever the body says", call: getListing, answer: hostileBody(404, "error-says-200.json"), result: "APIError 404; sent 1", check: saysWords("OK", client.ErrNotFound)},
		{name: "a body that says 500 with 404", rule: "the body's status changes nothing of what is retried", call: getListing, answer: hostileBody(404, "success-says-500.json"), result: "APIError 404; sent 1", check: saysWords("Internal Server Error", client.ErrNotFound)},
		{name: "odd kinds in an error", rule: "an error of odd kinds keeps its status", call: createListing, answer: hostileBody(409, "error-of-odd-kinds.json"), result: "APIError 409; sent 1", check: saysWords("conflict", client.ErrConflict)},
		{name: "control characters and length", rule: "an error is one short line without control characters", call: createListing, answer: hostileBody(400, "error-with-control-characters.json"), result: "APIError 400; sent 1", check: tame},
		{name: "an empty 500", rule: "no body is no reason to forget the status", call: createListing, answer: nothing(500), result: "APIError 500, ErrOutcomeUnknown; sent 1", check: saysWords("internal server error", client.ErrServer)},
		{name: "status 999", rule: "a status that nobody knows is a failure", call: createListing, answer: nothing(999), result: "APIError 999, ErrOutcomeUnknown; sent 1"},
		{name: "status 304", rule: "nothing was asked conditionally, so it is no answer", call: getListing, answer: nothing(304), result: "APIError 304; sent 1"},
		{name: "Retry-After of 300 years", rule: "it is bounded, told, and not waited for", call: getListing, answer: after("9999999999"), result: "APIError 503; sent 1", check: asks(366 * 24 * time.Hour)},
		{name: "Retry-After beyond int64", rule: "it does not wrap around", call: getListing, answer: after("99999999999999999999999"), result: "APIError 503; sent 1", check: asks(366 * 24 * time.Hour)},
		{name: "Retry-After of NaN", rule: "what is no time is none", call: getListing, answer: after("NaN"), result: "APIError 503; sent 2", check: asks(0)},
		{name: "Retry-After in the past", rule: "the past asks for no pause", call: getListing, answer: after("Sun, 06 Nov 1994 08:49:37 GMT"), result: "APIError 503; sent 2", check: asks(0)},
		{name: "Retry-After below zero", rule: "nor does a negative one", call: getListing, answer: after("-1"), result: "APIError 503; sent 2", check: asks(0)},
	}
}

func after(value string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", value)
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// saysWords demands an error's words and its sentinel, if there is one for its status.
func saysWords(message string, sentinel error) func(*testing.T, any, error) {
	return func(t *testing.T, _ any, err error) {
		t.Helper()
		answered, ok := errors.AsType[*client.APIError](err)
		require.True(t, ok)
		assert.Equal(t, message, answered.Message)
		if sentinel != nil {
			assert.ErrorIs(t, err, sentinel)
		}
	}
}

func asks(d time.Duration) func(*testing.T, any, error) {
	return func(t *testing.T, _ any, err error) {
		t.Helper()
		answered, ok := errors.AsType[*client.APIError](err)
		require.True(t, ok)
		assert.Equal(t, d, answered.RetryAfter)
	}
}

// tame demands one short line that a terminal can show.
func tame(t *testing.T, _ any, err error) {
	t.Helper()
	assert.NotRegexp(t, `[[:cntrl:]]`, err.Error())
	assert.Contains(t, err.Error(), "line break")
}
