package client_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// pagedList is a list operation whose sequence yields the ids of the entries.
type pagedList struct {
	op   gen.OperationID
	list func(context.Context, *client.Client) iter.Seq2[string, error]
	page func(ids []string) map[string]any // A page without hasNextPage and nextCursor.
	next string                            // The parameter that asks for the next page.
}

func pagedLists() []pagedList {
	return []pagedList{
		{
			gen.OpListListings,
			func(ctx context.Context, c *client.Client) iter.Seq2[string, error] {
				return ids(c.Listings.List(ctx, client.ListingFilter{}),
					func(l gen.Listing) string { return l.ListingID })
			},
			func(ids []string) map[string]any { return map[string]any{"listings": entries(ids, "listingId")} }, "pageNumber",
		},
		{
			gen.OpListActiveOrders,
			func(ctx context.Context, c *client.Client) iter.Seq2[string, error] {
				return ids(c.Orders.ListActive(ctx, client.ActiveOrderFilter{}),
					func(o gen.Order) string { return o.OrderNumber })
			},
			func(ids []string) map[string]any { return map[string]any{"orders": entries(ids, "orderNumber")} }, "pageNumber",
		},
		{
			gen.OpListOrderHistory,
			func(ctx context.Context, c *client.Client) iter.Seq2[string, error] {
				return ids(c.Orders.ListHistory(ctx, client.OrderHistoryFilter{}),
					func(o gen.Order) string { return o.OrderNumber })
			},
			func(ids []string) map[string]any { return map[string]any{"orders": entries(ids, "orderNumber")} }, "pageNumber",
		},
		{
			gen.OpSearchProducts,
			func(ctx context.Context, c *client.Client) iter.Seq2[string, error] {
				return ids(c.Catalog.Search(ctx, client.ProductQuery{Query: "jordan"}),
					func(p gen.Product) string { return p.ProductID })
			},
			func(ids []string) map[string]any { return map[string]any{"products": entries(ids, "productId")} }, "pageNumber",
		},
		{
			gen.OpListListingOperations,
			func(ctx context.Context, c *client.Client) iter.Seq2[string, error] {
				return ids(c.Listings.ListOperations(ctx, listingID),
					func(o gen.ListingOperation) string { return o.OperationID })
			},
			func(ids []string) map[string]any { return map[string]any{"operations": entries(ids, "operationId")} }, "cursor",
		},
	}
}

func ids[T any](list iter.Seq2[T, error], id func(T) string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for entry, err := range list {
			if !yield(id(entry), err) {
				return
			}
		}
	}
}

// entries makes entries with all members that the spec requires of any of them.
func entries(ids []string, member string) []map[string]any {
	list := make([]map[string]any, len(ids))
	for i, id := range ids {
		list[i] = map[string]any{
			"listingId": listingID, "status": "ACTIVE", "operationId": operationID, "operationType": "CREATE", "operationStatus": "SUCCEEDED",
			"createdAt": "2026-11-02T09:14:05.812Z", "updatedAt": "2026-11-02T09:14:05.812Z",
		}
		list[i][member] = id
	}
	return list
}

// expectPage expects a request for a page, and responds with it.
func (p pagedList) expectPage(srv *clienttest.Server, number int, last bool, ids ...string) {
	body := p.page(ids)
	line := srv.Expect(p.op)
	if p.next == "cursor" {
		if body["nextCursor"] = any(nil); !last {
			body["nextCursor"] = fmt.Sprint("page-", number+1)
		}
		if number > 1 {
			line.Query("cursor", fmt.Sprint("page-", number))
		}
	} else {
		body["count"], body["pageSize"], body["pageNumber"], body["hasNextPage"] = 900, 100, number, !last
		line.Query("pageNumber", strconv.Itoa(number))
	}
	line.Respond(200, body)
}

// collect ranges over a list to its end.
func collect(list iter.Seq2[string, error]) (ids []string, errs []error) {
	for id, err := range list {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		ids = append(ids, id)
	}
	return ids, errs
}

// open returns a sequence of the list, and its server.
func (p pagedList) open(t *testing.T) (*clienttest.Server, iter.Seq2[string, error]) {
	t.Helper()
	srv := clienttest.New(t)
	return srv, p.list(t.Context(), srv.Client(oneAttempt))
}

func TestPaging_ReadsPageWhenLoopReachesIt(t *testing.T) {
	for _, p := range pagedLists() {
		t.Run(string(p.op), func(t *testing.T) {
			srv, list := p.open(t)
			require.Empty(t, srv.Requests(p.op), "making the sequence sends no request")
			p.expectPage(srv, 1, false, "a", "b")
			p.expectPage(srv, 2, false, "c", "d")

			for id, err := range list {
				require.NoError(t, err)
				switch id {
				case "b":
					require.Len(t, srv.Requests(p.op), 1, "the second page is not read ahead")
				case "c":
					require.Len(t, srv.Requests(p.op), 2)
				}
				if id == "c" {
					break
				}
			}

			require.Len(t, srv.Requests(p.op), 2, "no page is read after the loop")
		})
	}
}

func TestPaging_EachRangeBeginsAgain(t *testing.T) {
	for _, p := range pagedLists() {
		t.Run(string(p.op), func(t *testing.T) {
			srv, list := p.open(t)
			for range 2 {
				p.expectPage(srv, 1, false, "a", "b")
				p.expectPage(srv, 2, true, "c")

				got, errs := collect(list)

				require.Empty(t, errs)
				assert.Equal(t, []string{"a", "b", "c"}, got)
			}
		})
	}
}

func TestPaging_EndsOrIsStuck(t *testing.T) {
	type pages [][]string // The ids of each page; all but the last page have a next one.
	tests := map[string]struct {
		pages    pages
		endless  bool // The last page has a next one, too.
		want     []string
		stuck    bool
		requests int
	}{
		"a short page is not the end":                 {pages{{"a", "b"}, {"c"}, {"d"}}, false, []string{"a", "b", "c", "d"}, false, 3},
		"an empty page without a next one is the end": {pages{{"a"}, {}}, false, []string{"a"}, false, 2},
		"an empty list is an end":                     {pages{{}}, false, nil, false, 1},
		"an entry that moved to a later page":         {pages{{"a", "b"}, {"b", "c"}}, false, []string{"a", "b", "c"}, false, 2},
		"an entry twice on a page":                    {pages{{"a", "a", "b"}}, false, []string{"a", "b"}, false, 1},
		"a last page of duplicates is the end":        {pages{{"a", "b"}, {"a", "b"}}, false, []string{"a", "b"}, false, 2},
		"two pages without a new entry":               {pages{{"a", "b"}, {"b", "a"}, {}, {"c"}}, false, []string{"a", "b", "c"}, false, 4},
		"a list that grows":                           {pages{{"a", "b"}, {"b", "c"}, {"b", "c", "d"}, {"e"}}, false, []string{"a", "b", "c", "d", "e"}, false, 4},
		"the same page again":                         {pages{{"a", "b"}, {"a", "b"}}, true, []string{"a", "b"}, true, 2},
		"the same page again, later":                  {pages{{"a"}, {"b", "c"}, {"b", "c"}}, true, []string{"a", "b", "c"}, true, 3},
		"three pages of known entries":                {pages{{"a", "b"}, {"b", "a"}, {"a", "b"}, {"b", "a"}}, true, []string{"a", "b"}, true, 4},
		"three empty pages":                           {pages{{"a"}, {}, {}, {}}, true, []string{"a"}, true, 4},
		"three empty pages at first":                  {pages{{}, {}, {}}, true, nil, true, 3},
		"a new entry restarts the count":              {pages{{"a"}, {}, {}, {"b"}, {}, {}, {}}, true, []string{"a", "b"}, true, 7},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, p := range pagedLists() {
				t.Run(string(p.op), func(t *testing.T) {
					srv, list := p.open(t)
					for i, ids := range test.pages {
						p.expectPage(srv, i+1, i == len(test.pages)-1 && !test.endless, ids...)
					}

					got, errs := collect(list)

					assert.Equal(t, test.want, got)
					assert.Len(t, srv.Requests(p.op), test.requests)
					if !test.stuck {
						require.Empty(t, errs)
						return
					}
					require.Len(t, errs, 1, "the error is the last thing yielded")
					require.ErrorIs(t, errs[0], client.ErrPagingStuck)
				})
			}
		})
	}
}

func TestPaging_PageWithoutHasNextPageIsNotLast(t *testing.T) {
	for _, p := range pagedLists() {
		if p.next == "cursor" {
			continue // a page without a cursor is refused
		}
		t.Run(string(p.op), func(t *testing.T) {
			srv, list := p.open(t)
			for _, ids := range [][]string{{"a", "b"}, {"c"}, {}} {
				srv.Expect(p.op).Raw(200, nil, mustMarshal(t, p.page(ids)), "it lacks hasNextPage")
			}

			got, errs := collect(list)

			require.Empty(t, errs)
			assert.Equal(t, []string{"a", "b", "c"}, got)
			assert.Len(t, srv.Requests(p.op), 3)
		})
	}
}

func TestPaging_BeginsAtPageOfFilter(t *testing.T) {
	srv := clienttest.New(t)
	pagedLists()[0].expectPage(srv, 7, false, "a")
	pagedLists()[0].expectPage(srv, 8, true, "b")
	listings := srv.Client().Listings.List(t.Context(), client.ListingFilter{PageNumber: 7})

	got, errs := collect(ids(listings, func(l gen.Listing) string { return l.ListingID }))

	require.Empty(t, errs)
	assert.Equal(t, []string{"a", "b"}, got)
}

func TestPaging_CursorMayRepeat(t *testing.T) {
	srv := clienttest.New(t)
	lists := pagedLists()
	list := lists[len(lists)-1]
	for _, id := range []string{"a", "b", "c"} {
		body := list.page([]string{id})
		body["nextCursor"] = "here"
		srv.Expect(list.op).Respond(200, body)
	}
	body := list.page([]string{"d"})
	body["nextCursor"] = nil
	srv.Expect(list.op).Query("cursor", "here").Respond(200, body)

	got, errs := collect(list.list(t.Context(), srv.Client()))

	assert.Equal(t, []string{"a", "b", "c", "d"}, got)
	require.Empty(t, errs)
}

func TestPaging_EntriesWithoutIDAreNoProgress(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpListListings).Raw(200, nil, []byte(`{"listings":[{"status":"ACTIVE"},{"status":"INACTIVE"}],"hasNextPage":true}`),
		"the entries lack their ids").Times(3)
	var statuses []gen.ListingStatus
	var failed error

	for l, err := range srv.Client().Listings.List(t.Context(), client.ListingFilter{}) {
		if failed = err; err == nil {
			statuses = append(statuses, l.Status)
		}
	}

	assert.Equal(t,
		[]gen.ListingStatus{"ACTIVE", "INACTIVE", "ACTIVE", "INACTIVE", "ACTIVE", "INACTIVE"},
		statuses, "entries without an id are not compared")
	require.ErrorIs(t, failed, client.ErrPagingStuck)
}

func TestPaging_ErrorEndsList(t *testing.T) {
	for _, p := range pagedLists() {
		t.Run(string(p.op), func(t *testing.T) {
			srv, list := p.open(t)
			p.expectPage(srv, 1, false, "a")
			srv.Expect(p.op).RespondError(403, "ask for access")

			got, errs := collect(list)

			assert.Equal(t, []string{"a"}, got, "the first page is kept")
			require.Len(t, errs, 1, "one error")
			require.ErrorIs(t, errs[0], client.ErrForbidden)
		})
	}
}

// TestPaging_HasNextPageOfOnePage reads one page of every page-numbered list.
func TestPaging_HasNextPageOfOnePage(t *testing.T) {
	for why, tc := range map[string]struct {
		entries, rest string
		more          bool
	}{
		"false":                                 {`[{}]`, `,"hasNextPage":false`, false},
		"true":                                  {`[{}]`, `,"hasNextPage":true`, true},
		"missing":                               {`[{}]`, ``, true},
		"null":                                  {`[{}]`, `,"hasNextPage":null`, true},
		"missing, and other members are broken": {`[{"amount":[]}]`, `,"count":"N/A"`, true},
		"false, and other members are broken":   {`[{"amount":[]}]`, `,"hasNextPage":false`, false},
		"another case of the name":              {`[{}]`, `,"HASNEXTPAGE":false`, true},
		"missing, of an empty page":             {`[]`, ``, false},
		"null, of an empty page":                {`[]`, `,"hasNextPage":null`, false},
		"true, of an empty page":                {`[]`, `,"hasNextPage":true`, true},
		"the count is that of one page":         {`[{},{}]`, `,"count":2,"pageSize":100,"pageNumber":1`, false},
		"the count ends on a later page":        {`[{}]`, `,"count":"201","pageSize":"100","pageNumber":"3","hasNextPage":null`, false},
		"the count ends on a full page":         {`[{},{}]`, `,"count":4,"pageSize":2,"pageNumber":2`, false},
		"the count has more pages":              {`[{},{}]`, `,"count":5,"pageSize":2,"pageNumber":2`, true},
		"true, and the count has no more":       {`[{},{}]`, `,"count":2,"pageSize":2,"pageNumber":1,"hasNextPage":true`, true},
		"false, and the count has more":         {`[{},{}]`, `,"count":5,"pageSize":2,"pageNumber":2,"hasNextPage":false`, false},
		"the count is that of this page":        {`[{},{}]`, `,"count":2,"pageSize":2,"pageNumber":2`, true},
		"the count is less than this page":      {`[{},{}]`, `,"count":1,"pageSize":2,"pageNumber":1`, true},
		"the page is larger than its size":      {`[{},{}]`, `,"count":2,"pageSize":1,"pageNumber":1`, true},
		"the count is missing":                  {`[{}]`, `,"pageSize":2,"pageNumber":1`, true},
		"the size is missing":                   {`[{}]`, `,"count":1,"pageNumber":1`, true},
		"the number is missing":                 {`[{}]`, `,"count":1,"pageSize":2`, true},
		"the numbers are as large as can be":    {`[{}]`, `,"count":9223372036854775807,"pageSize":9223372036854775807,"pageNumber":9223372036854775807`, true},
		"the count is negative":                 {`[{}]`, `,"count":-1,"pageSize":2,"pageNumber":1`, true},
		"members of entries are not the page's": {`[{"hasNextPage":false}]`, ``, true},
	} {
		var body string
		c := newCannedClient(t, func(*http.Request) canned { return canned{status: 200, body: body} })
		read := map[string]func() (bool, error){
			"listings": func() (bool, error) {
				p, err := c.Listings.ListPage(t.Context(), client.ListingFilter{})
				return err == nil && p.HasNextPage, err
			},
			"orders": func() (bool, error) {
				p, err := c.Orders.ListHistoryPage(t.Context(), client.OrderHistoryFilter{})
				return err == nil && p.HasNextPage, err
			},
			"products": func() (bool, error) {
				p, err := c.Catalog.SearchPage(t.Context(), client.ProductQuery{Query: "jordan"})
				return err == nil && p.HasNextPage, err
			},
		}
		for array, page := range read {
			body = `{"` + array + `":` + tc.entries + tc.rest + `}`
			more, err := page()
			require.NoError(t, err, "%s: %s", array, why)
			assert.Equal(t, tc.more, more, "%s: %s", array, why)
		}
	}
}

func TestPaging_NextCursorOfOnePage(t *testing.T) {
	for why, tc := range map[string]struct {
		body, cursor string
		ok           bool
	}{
		"null":                         {`{"operations":[{}],"nextCursor":null}`, "", true},
		"an empty text":                {`{"operations":[{}],"nextCursor":""}`, "", true},
		"a cursor":                     {`{"operations":[{}],"nextCursor":"c2"}`, "c2", true},
		"in another case":              {`{"operations":[{}],"NextCursor":"c2"}`, "", false},
		"missing":                      {`{"operations":[{}]}`, "", false},
		"missing, with a broken entry": {`{"operations":[{"createdAt":[]}]}`, "", false},
		"missing, of an empty page":    {`{"operations":[]}`, "", true},
		"a number":                     {`{"operations":[{}],"nextCursor":7}`, "", false},
		"a list, of an empty page":     {`{"operations":[],"nextCursor":[]}`, "", false},
		"in an operation":              {`{"operations":[{"nextCursor":"c2"}]}`, "", false},
	} {
		c := newCannedClient(t, func(*http.Request) canned { return canned{status: 200, body: tc.body} })
		p, err := c.Listings.ListOperationsPage(t.Context(), listingID, "", 0)
		if !tc.ok {
			assert.True(t, isA[*client.DecodeError](err), "%s: %v", why, err)
			continue
		}
		require.NoError(t, err, why)
		assert.Equal(t, tc.cursor, p.NextCursor, why)
	}
}

func TestPaging_PageWithoutArrayIsDecodeError(t *testing.T) {
	for _, p := range pagedLists() {
		for why, array := range map[string]any{"null": nil, "an object": map[string]any{}, "text": "none"} {
			body := p.page(nil)
			for name := range body {
				body[name] = array
			}
			body["hasNextPage"], body["nextCursor"] = false, nil
			c := newCannedClient(t, func(*http.Request) canned {
				return canned{status: 200, body: string(mustMarshal(t, body))}
			})

			got, errs := collect(p.list(t.Context(), c))

			assert.Empty(t, got)
			require.Len(t, errs, 1, "%s of %s", why, p.op)
			assert.True(t, isA[*client.DecodeError](errs[0]), "%s of %s: %v", why, p.op, errs[0])
		}
	}
}
