package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// oddKinds is a value of every kind there is in JSON; missing stands for none.
func oddKinds() map[string]any {
	return map[string]any{
		"null": nil, "text": "N/A", "an empty text": "", "a number": json.Number("-7.5"), "a huge number": json.Number("1e400"),
		"a boolean": true, "a list": []any{}, "a list of lists": []any{[]any{nil}}, "an object": map[string]any{}, "missing": missing{},
	}
}

type missing struct{}

// TestNoOddMemberCostsAnAnswer makes each member of the example answer of every operation, however deep, odd in
// every way in turn. Read or write, it is decoded without that member, unless the member is what makes it a response: its
// id, the array of a page, or what tells where a list ends.
func TestNoOddMemberCostsAnAnswer(t *testing.T) {
	calls := wholeCalls(t)
	for _, op := range gen.Operations() {
		if op.ID == gen.OpGetShippingDocument {
			continue // it is no JSON
		}
		t.Run(string(op.ID), func(t *testing.T) {
			var answer []byte
			c := cannedClient(t, func(*http.Request) canned { return canned{status: 200, body: answer} })
			kinds, swept := oddKinds(), 0
			for _, kind := range slices.Sorted(maps.Keys(kinds)) {
				sweep(t, clienttest.ExampleOf(op.ID), kinds[kind], func(member string, changed []byte) {
					answer = changed
					err := calls[op.ID](t.Context(), c)
					swept++
					if err == nil {
						return
					}
					assert.Contains(t, vital(op.ID), member, "as %s: %v", kind, err)
					assert.True(t, isA[*client.DecodeError](err), "%s as %s: %v", member, kind, err)
					assert.Equal(t, !op.RetrySafe, errors.Is(err, client.ErrOutcomeUnknown), "%s as %s", member, kind)
				})
			}
			assert.Positive(t, swept)
		})
	}
}

// vital are the members without which a response to an operation is none.
func vital(op gen.OperationID) []string {
	switch op {
	case gen.OpListListings:
		return []string{"/listings", "/hasNextPage"}
	case gen.OpListActiveOrders, gen.OpListOrderHistory:
		return []string{"/orders", "/hasNextPage"}
	case gen.OpSearchProducts:
		return []string{"/products", "/hasNextPage"}
	case gen.OpListListingOperations:
		return []string{"/operations", "/nextCursor"}
	case gen.OpListCreateListingsBatchItems, gen.OpListUpdateListingsBatchItems, gen.OpListDeleteListingsBatchItems, gen.OpGetIngestion:
		return []string{"/items"}
	case gen.OpGetListing:
		return []string{"/listingId"}
	case gen.OpGetListingOperation, gen.OpCreateListing, gen.OpUpdateListing, gen.OpDeleteListing, gen.OpActivateListing, gen.OpDeactivateListing:
		return []string{"/listingId", "/operationId"}
	case gen.OpGetCreateListingsBatch, gen.OpGetUpdateListingsBatch, gen.OpGetDeleteListingsBatch,
		gen.OpCreateListingsBatch, gen.OpUpdateListingsBatch, gen.OpDeleteListingsBatch:
		return []string{"/batchId"}
	case gen.OpGetOrder:
		return []string{"/orderNumber"}
	case gen.OpGetShippingDocuments:
		return []string{"/shippingDocuments"}
	case gen.OpGetProduct:
		return []string{"/productId"}
	case gen.OpGetVariant, gen.OpGetVariantByGTIN, gen.OpGetVariantMarketData:
		return []string{"/variantId"}
	case gen.OpIngestProducts:
		return []string{"/ingestionId"}
	default:
		return nil
	}
}

// sweep calls visit with the document once for each of its members, with that member replaced.
func sweep(t *testing.T, document []byte, odd any, visit func(member string, changed []byte)) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var root any
	require.NoError(t, decoder.Decode(&root))
	_, gone := odd.(missing)
	var walk func(path []string, v any)
	emit := func(path []string) {
		changed, err := json.Marshal(root)
		require.NoError(t, err)
		visit("/"+strings.Join(path, "/"), changed)
	}
	walk = func(path []string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				before, at := v[name], append(slices.Clone(path), name)
				if v[name] = odd; gone {
					delete(v, name)
				}
				emit(at)
				v[name] = before
				walk(at, before)
			}
		case []any:
			for i, before := range v {
				at := append(slices.Clone(path), "0")
				if v[i] = odd; gone {
					v[i] = nil
				}
				emit(at)
				v[i] = before
				walk(at, before)
			}
		}
	}
	walk(nil, root)
}
