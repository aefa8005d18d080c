package client_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/client"
)

// hostilePages are lists that do not end by themselves. The value of a call is how many entries it yielded.
func hostilePages() []hostileCase {
	return []hostileCase{
		{name: "the same page for ever", rule: "a page of known entries that promises more is stuck", call: rangeListings(-1), answer: pages(`{"listings":[{"listingId":"a"}],"hasNextPage":true}`), result: "ErrPagingStuck; sent 2", check: yields(1)},
		{name: "empty pages for ever", rule: "three pages in a row without anything new are stuck", call: rangeListings(-1), answer: pages(`{"listings":[],"hasNextPage":true}`), result: "ErrPagingStuck; sent 3", check: yields(0)},
		{name: "an empty page on the way", rule: "one is not", call: rangeListings(-1), answer: inOrder(`{"listings":[{"listingId":"a"}],"hasNextPage":true}`, `{"listings":[],"hasNextPage":true}`, `{"listings":[{"listingId":"b"}],"hasNextPage":false}`), result: "read; sent 3", check: yields(2)},
		{name: "a page of null", rule: "without its array a page is no page", call: rangeListings(-1), answer: pages(`{"listings":null,"hasNextPage":false}`), result: "DecodeError; sent 1", check: yields(0)},
		{name: "a page with an object", rule: "nor is one with another kind in its place", call: rangeListings(-1), answer: pages(`{"listings":{},"hasNextPage":false}`), result: "DecodeError; sent 1", check: yields(0)},
		{name: "entries without ids for ever", rule: "entries without ids prove no progress", call: rangeListings(-1), answer: pages(`{"listings":[{}],"hasNextPage":true}`), result: "ErrPagingStuck; sent 3", check: yields(3)},
		{name: "new entries for ever", rule: "a list that moves on is the caller's to leave", call: rangeListings(500), answer: endless(`{"listings":[{"listingId":"l%d"}],"hasNextPage":true}`), result: "read; sent 500", check: yields(500)},
		{name: "hasNextPage as text", rule: "a page that cannot say whether there is more is not the last one", call: rangeListings(-1), answer: pages(`{"listings":[{"listingId":"a"}],"hasNextPage":"yes"}`), result: "DecodeError; sent 1", check: yields(0)},
		{name: "no hasNextPage, then an empty page", rule: "a page that says nothing is not the last one, unless it is empty", call: rangeListings(-1), answer: inOrder(`{"listings":[{"listingId":"a"}]}`, `{"listings":[{"listingId":"b"}],"hasNextPage":null}`, `{"listings":[]}`), result: "read; sent 3", check: yields(2)},
		{name: "no hasNextPage, then the last page", rule: "or says that it is", call: rangeListings(-1), answer: inOrder(`{"listings":[{"listingId":"a"}]}`, `{"listings":[{"listingId":"b"}],"hasNextPage":false}`), result: "read; sent 2", check: yields(2)},
		{name: "null for an empty list", rule: "an empty page that says nothing is an end", call: rangeListings(-1), answer: pages(`{"listings":[],"hasNextPage":null}`), result: "read; sent 1", check: yields(0)},
		{name: "no hasNextPage, but a count", rule: "nor if the count says that it is, and the next one would be a 404", call: rangeListings(-1), answer: pages(`{"listings":[{"listingId":"a"}],"count":1,"pageSize":100,"pageNumber":1}`), result: "read; sent 1", check: yields(1)},
		{name: "no hasNextPage, and a count of more", rule: "which it may deny as well", call: rangeListings(-1), answer: inOrder(`{"listings":[{"listingId":"a"}],"count":2,"pageSize":1,"pageNumber":1}`, `{"listings":[{"listingId":"b"}],"count":2,"pageSize":1,"pageNumber":2}`), result: "read; sent 2", check: yields(2)},
		{name: "the same page without hasNextPage", rule: "one that repeats is stuck", call: rangeListings(-1), answer: pages(`{"listings":[{"listingId":"a"}]}`), result: "ErrPagingStuck; sent 2", check: yields(1)},
		{name: "a null cursor", rule: "null is the end of a cursor list", call: rangeOperations, answer: pages(`{"operations":[{"operationId":"o"}],"nextCursor":null}`), result: "read; sent 1", check: yields(1)},
		{name: "the same cursor for ever", rule: "a cursor may be the same for all pages", call: rangeOperationsUpTo(500), answer: endless(`{"operations":[{"operationId":"o%d"}],"nextCursor":"here"}`), result: "read; sent 500", check: yields(500)},
		{name: "the same page and cursor for ever", rule: "the same page again is stuck", call: rangeOperations, answer: pages(`{"operations":[{"operationId":"o"}],"nextCursor":"here"}`), result: "ErrPagingStuck; sent 2", check: yields(1)},
		{name: "the same page, new cursors", rule: "whatever its cursor", call: rangeOperations, answer: endless(`{"operations":[{"operationId":"o"}],"nextCursor":"c%d"}`), result: "ErrPagingStuck; sent 2", check: yields(1)},
		{name: "two cursors in turn", rule: "a longer round holds nothing new, three times", call: rangeOperations, answer: inTurn, result: "ErrPagingStuck; sent 6", check: yields(3)},
		{name: "new cursors and no entries", rule: "a new cursor alone is no progress", call: rangeOperations, answer: endless(`{"operations":[],"nextCursor":"c%d"}`), result: "ErrPagingStuck; sent 3", check: yields(0)},
		{name: "no cursor", rule: "only null ends a cursor list, and not a cursor that is missing", call: rangeOperations, answer: pages(`{"operations":[{"operationId":"o"}]}`), result: "DecodeError; sent 1", check: yields(0)},
		{name: "no cursor and no operations", rule: "unless the page is empty", call: rangeOperations, answer: pages(`{"operations":[]}`), result: "read; sent 1", check: yields(0)},
		{name: "no cursor on a later page", rule: "what came before it stays", call: rangeOperations, answer: inOrder(`{"operations":[{"operationId":"o"}],"nextCursor":"c"}`, `{"operations":[{"operationId":"p"}]}`), result: "DecodeError; sent 2", check: yields(1)},
		{name: "a cursor as a number", rule: "nor is a page whose cursor cannot be read", call: rangeOperations, answer: pages(`{"operations":[{"operationId":"o"}],"nextCursor":7}`), result: "DecodeError; sent 1", check: yields(0)},
	}
}

// rangeListings ranges over all listings, or over the first most of them.
func rangeListings(most int) hostileCall {
	return func(ctx context.Context, c *client.Client) (any, error) {
		n := 0
		for _, err := range c.Listings.List(ctx, client.ListingFilter{}) {
			if err != nil {
				return n, err
			}
			if n++; n == most {
				break
			}
		}
		return n, nil
	}
}

func rangeOperations(ctx context.Context, c *client.Client) (any, error) {
	return rangeOperationsUpTo(-1)(ctx, c)
}

// rangeOperationsUpTo ranges over the first most operations.
func rangeOperationsUpTo(most int) hostileCall {
	return func(ctx context.Context, c *client.Client) (any, error) {
		n := 0
		for _, err := range c.Listings.ListOperations(ctx, listingID) {
			if err != nil {
				return n, err
			}
			if n++; n == most {
				break
			}
		}
		return n, nil
	}
}

func yields(n int) func(*testing.T, any, error) {
	return func(t *testing.T, value any, _ error) {
		t.Helper()
		assert.Equal(t, n, value, "entries yielded")
	}
}

func pages(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}

// endless answers each request with the next number in its text.
func endless(text string) http.HandlerFunc {
	var n atomic.Int32
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, text, n.Add(1)) }
}

// inOrder answers each request with the next text, the last one for ever.
func inOrder(texts ...string) http.HandlerFunc {
	var n atomic.Int32
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(texts[min(int(n.Add(1)), len(texts))-1]))
	}
}

func inTurn(w http.ResponseWriter, r *http.Request) {
	next := map[string]string{"": "a", "a": "b", "b": "a"}
	cursor := r.URL.Query().Get("cursor")
	fmt.Fprintf(w, `{"operations":[{"operationId":%q}],"nextCursor":%q}`, "of"+cursor, next[cursor])
}
