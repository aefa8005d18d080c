package client_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// hostileBodies are answers of success that are no answer as a whole.
func hostileBodies() []hostileCase {
	const (
		readable = "read; sent 1"
		refused  = "DecodeError; sent 1"
		doubtful = "DecodeError, ErrOutcomeUnknown; sent 1"
	)
	return []hostileCase{
		{name: "empty 200, read", rule: "no body is no answer", call: getListing, answer: nothing(200), result: refused, check: noValue},
		{name: "empty 200, write", rule: "a write that was taken without an id to follow is unknown", call: createListing, answer: nothing(200), result: doubtful, check: noValue},
		{name: "204, read", rule: "a status of success without a body is no answer either", call: getListing, answer: nothing(204), result: refused, check: noValue},
		{name: "204, write", rule: "and leaves a write unknown", call: createListing, answer: nothing(204), result: doubtful, check: noValue},
		{name: "HTML with 200, read", rule: "a page of success is not taken for an empty listing", call: getListing, answer: hostileBody(200, "maintenance.html"), result: refused, check: noValue},
		{name: "HTML with 200, write", rule: "nor for the receipt of a write", call: createListing, answer: hostileBody(200, "maintenance.html"), result: doubtful, check: noValue},
		{name: "cut JSON, read", rule: "half of an answer is none, though all promised bytes came", call: getListing, answer: hostileBody(200, "cut.json"), result: refused, check: noValue},
		{name: "cut JSON, write", rule: "what a half answer is about may have been applied", call: createListing, answer: hostileBody(200, "cut.json"), result: doubtful, check: noValue},
		{name: "two answers in one", rule: "of two answers none is chosen", call: getListing, answer: hostileBody(200, "two-answers.json"), result: refused, check: noValue},
		{name: "null", rule: "null is not an empty listing", call: getListing, answer: hostileBody(200, "null.json"), result: refused, check: noValue},
		{name: "a list for an object", rule: "the wrong kind at the top is no answer", call: getListing, answer: hostileBody(200, "list-for-object.json"), result: refused, check: noValue},
		{name: "byte order mark", rule: "JSON begins with JSON", call: getListing, answer: hostileBody(200, "byte-order-mark.json"), result: refused, check: noValue},
		{name: "100,000 brackets", rule: "depth costs no stack", call: getListing, answer: deep, result: refused, check: noValue},
		{name: "an error's body with 200, read", rule: "what lacks its id is no listing, whatever the status", call: getListing, answer: hostileBody(200, "success-says-500.json"), result: refused, check: noValue},
		{name: "an error's body with 200, write", rule: "but a write needs its ids to count as done", call: createListing, answer: hostileBody(200, "success-says-500.json"), result: doubtful, check: noValue},
		{name: "a write's answer without ids", rule: "what cannot be followed is unknown", call: createListing, answer: hostileBody(200, "operation-without-ids.json"), result: doubtful, check: noValue},
		{name: "text/plain", rule: "the Content-Type decides nothing", call: getOperation, answer: hostileBodyAs(200, "additions-as-list.json", "text/plain"), result: "read, with 1 warnings; sent 1"},
		{name: "no Content-Type", rule: "nor does a missing one", call: getListing, answer: hostileBodyAs(200, "ask-id-of-20-digits.json", ""), result: readable},
		{name: "image/png; charset=", rule: "nor one that does not parse", call: getListing, answer: hostileBodyAs(200, "ask-id-of-20-digits.json", "image/png; charset="), result: readable},
		{
			name: "members twice", rule: "the last one counts, as JSON readers do", call: getListing, answer: hostileBody(200, "members-twice.json"), result: readable,
			check: readListing(func(t *testing.T, l *gen.Listing) { assert.Equal(t, listingID, l.ListingID) }),
		},
		{
			name: "broken UTF-8", rule: "what is no text is replaced, and nothing else", call: getListing, answer: hostileBody(200, "broken-utf8.json"), result: readable,
			check: readListing(func(t *testing.T, l *gen.Listing) { assert.Equal(t, "\uFFFD\uFFFD\uFFFD new", l.Condition) }),
		},
	}
}

func nothing(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

func deep(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte(`{"payout":`))
	for range 1000 {
		_, _ = w.Write([]byte("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["))
	}
}

// noValue demands that a failed call returns no value beside its error.
func noValue(t *testing.T, value any, err error) {
	t.Helper()
	assert.Error(t, err)
	switch v := value.(type) {
	case *gen.Listing:
		assert.Nil(t, v)
	case *client.Operation:
		assert.Nil(t, v)
	default:
		t.Errorf("a value of type %T", value)
	}
}

// readListing makes a check of what was read.
func readListing(check func(*testing.T, *gen.Listing)) func(*testing.T, any, error) {
	return func(t *testing.T, value any, _ error) {
		t.Helper()
		if l, ok := value.(*gen.Listing); assert.True(t, ok) && assert.NotNil(t, l) {
			check(t, l)
		}
	}
}
