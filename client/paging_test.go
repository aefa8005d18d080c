package client_test

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// pagedList is a list operation as its sequence yields it, reduced to the ids of its entries.
type pagedList struct {
	op   gen.OperationID
	list func(context.Context, *client.Client) iter.Seq2[string, error]
	page func(ids []string) map[string]any // An answer without what says whether there is more.
	next string                            // The parameter that asks for the next page.
}

func pagedLists() []pagedList {
	return []pagedList{
		{
			gen.OpListListings,
			func(ctx context.Context, c *client.Client) iter.Seq2[string, error] {
				return ids(c.Listings.List(ctx, client.ListingFilter{}), func(l gen.Listing) string { return l.ListingID })
			},
			func(ids []string) map[string]any { return map[string]any{"listings": entries(ids, "listingId")} }, "pageNumber",
		},
		{
			gen.OpListActiveOrders,
			func(ctx context.Context, c *client.Client) iter.Seq2[string, error] {
				return ids(c.Orders.ListActive(ctx, client.ActiveOrderFilter{}), func(o gen.Order) string { return o.OrderNumber })
			},
			func(ids []string) map[string]any { return map[string]any{"orders": entries(ids, "orderNumber")} }, "pageNumber",
		},
		{
			gen.OpListOrderHistory,
			func(ctx context.Context, c *client.Client) iter.Seq2[string, error] {
				return ids(c.Orders.ListHistory(ctx, client.OrderHistoryFilter{}), func(o gen.Order) string { return o.OrderNumber })
			},
			func(ids []string) map[string]any { return map[string]any{"orders": entries(ids, "orderNumber")} }, "pageNumber",
		},
		{
			gen.OpSearchProducts,
			func(ctx context.Context, c *client.Client) iter.Seq2[string, error] {
				return ids(c.Catalog.Search(ctx, client.ProductQuery{Query: "jordan"}), func(p gen.Product) string { return p.ProductID })
			},
			func(ids []string) map[string]any { return map[string]any{"products": entries(ids, "productId")} }, "pageNumber",
		},
		{
			gen.OpListListingOperations,
			func(ctx context.Context, c *client.Client) iter.Seq2[string, error] {
				return ids(c.Listings.ListOperations(ctx, listingID), func(o gen.ListingOperation) string { return o.OperationID })
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

// entries makes entries of a list that have all that the spec requires of any of them.
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

// answer scripts the answer to a request for page number, which says whether it is the last one.
func (p pagedList) answer(srv *clienttest.Server, number int, last bool, ids ...string) {
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

// open makes a sequence of the list, and the server that it asks.
func (p pagedList) open(t *testing.T) (*clienttest.Server, iter.Seq2[string, error]) {
	t.Helper()
	srv := clienttest.New(t)
	return srv, p.list(t.Context(), srv.Client(oneAttempt))
}

func TestListsAskForAPageWhenTheLoopReachesIt(t *testing.T) {
	for _, p := range pagedLists() {
		t.Run(string(p.op), func(t *testing.T) {
			srv, list := p.open(t)
			require.Empty(t, srv.Requests(p.op), "making the sequence asks for nothing")
			p.answer(srv, 1, false, "a", "b")
			p.answer(srv, 2, false, "c", "d")

			for id, err := range list {
				require.NoError(t, err)
				switch id {
				case "b":
					require.Len(t, srv.Requests(p.op), 1, "the second page is not asked for ahead of time")
				case "c":
					require.Len(t, srv.Requests(p.op), 2)
				}
				if id == "c" {
					break
				}
			}

			require.Len(t, srv.Requests(p.op), 2, "nothing is asked for after the loop was left")
		})
	}
}

func TestListsStartAnewWithEachRange(t *testing.T) {
	for _, p := range pagedLists() {
		t.Run(string(p.op), func(t *testing.T) {
			srv, list := p.open(t)
			for range 2 {
				p.answer(srv, 1, false, "a", "b")
				p.answer(srv, 2, true, "c")

				got, errs := collect(list)

				require.Empty(t, errs)
				assert.Equal(t, []string{"a", "b", "c"}, got)
			}
		})
	}
}
