package client_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestListsEndWhereTheServiceSaysSoOrGetStuck(t *testing.T) {
	type pages [][]string // The ids of each page; all but the last page promise more.
	tests := map[string]struct {
		pages    pages
		endless  bool // The last page promises more as well.
		want     []string
		stuck    bool
		requests int
	}{
		"a short page that promises more is not the end": {pages{{"a", "b"}, {"c"}, {"d"}}, false, []string{"a", "b", "c", "d"}, false, 3},
		"an empty page that promises nothing is the end": {pages{{"a"}, {}}, false, []string{"a"}, false, 2},
		"an empty list is an end":                        {pages{{}}, false, nil, false, 1},
		"an entry that moved to a later page comes once": {pages{{"a", "b"}, {"b", "c"}}, false, []string{"a", "b", "c"}, false, 2},
		"an entry that comes twice on a page comes once": {pages{{"a", "a", "b"}}, false, []string{"a", "b"}, false, 1},
		"a last page of duplicates is the end":           {pages{{"a", "b"}, {"a", "b"}}, false, []string{"a", "b"}, false, 2},
		"two pages without anything new are not stuck":   {pages{{"a", "b"}, {"b", "a"}, {}, {"c"}}, false, []string{"a", "b", "c"}, false, 4},
		"a list that grows repeats a part of a page":     {pages{{"a", "b"}, {"b", "c"}, {"b", "c", "d"}, {"e"}}, false, []string{"a", "b", "c", "d", "e"}, false, 4},
		"the same page again is stuck":                   {pages{{"a", "b"}, {"a", "b"}}, true, []string{"a", "b"}, true, 2},
		"the same page later on is, too":                 {pages{{"a"}, {"b", "c"}, {"b", "c"}}, true, []string{"a", "b", "c"}, true, 3},
		"known entries in another order are, in a row":   {pages{{"a", "b"}, {"b", "a"}, {"a", "b"}, {"b", "a"}}, true, []string{"a", "b"}, true, 4},
		"empty pages that promise more are, in a row":    {pages{{"a"}, {}, {}, {}}, true, []string{"a"}, true, 4},
		"empty first pages are, in a row":                {pages{{}, {}, {}}, true, nil, true, 3},
		"something new begins the count again":           {pages{{"a"}, {}, {}, {"b"}, {}, {}, {}}, true, []string{"a", "b"}, true, 7},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, p := range pagedLists() {
				t.Run(string(p.op), func(t *testing.T) {
					srv, list := p.open(t)
					for i, ids := range test.pages {
						p.answer(srv, i+1, i == len(test.pages)-1 && !test.endless, ids...)
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
					assert.Contains(t, errs[0].Error(), p.op, "the error names the operation")
				})
			}
		})
	}
}

func TestAPageThatDoesNotSayIsNotTheLastUnlessItIsEmpty(t *testing.T) {
	for _, p := range pagedLists() {
		if p.next == "cursor" {
			continue // there it is refused
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

func TestAListBeginsAtThePageOfItsFilter(t *testing.T) {
	srv := clienttest.New(t)
	pagedLists()[0].answer(srv, 7, false, "a")
	pagedLists()[0].answer(srv, 8, true, "b")
	listings := srv.Client().Listings.List(t.Context(), client.ListingFilter{PageNumber: 7})

	got, errs := collect(ids(listings, func(l gen.Listing) string { return l.ListingID }))

	require.Empty(t, errs)
	assert.Equal(t, []string{"a", "b"}, got)
}

func TestList_CursorMayRepeat(t *testing.T) {
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

func TestEntriesWithoutAnIDAreYieldedButProveNoProgress(t *testing.T) {
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

	assert.Equal(t, []gen.ListingStatus{"ACTIVE", "INACTIVE", "ACTIVE", "INACTIVE", "ACTIVE", "INACTIVE"}, statuses, "they cannot be told apart, so none is dropped")
	require.ErrorIs(t, failed, client.ErrPagingStuck)
}

func TestAnErrorEndsAList(t *testing.T) {
	for _, p := range pagedLists() {
		t.Run(string(p.op), func(t *testing.T) {
			srv, list := p.open(t)
			p.answer(srv, 1, false, "a")
			srv.Expect(p.op).RespondError(403, "ask for access")

			got, errs := collect(list)

			assert.Equal(t, []string{"a"}, got, "what came before the error stays")
			require.Len(t, errs, 1, "the error comes once")
			require.ErrorIs(t, errs[0], client.ErrForbidden)
		})
	}
}
