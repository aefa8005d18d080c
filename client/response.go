package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/guard"
)

// verify refuses a decoded body that is not a response to the call, such as the JSON that a gateway
// sends with status 200 when it throttles: a page without its array, an object without its id or
// with another id than the requested one. Elements of arrays may lack any member. The errors do not
// quote the body, which may repeat credentials.
func (c *call) verify(v any, d gen.Decoded) error {
	if name := arrayOf(c.op.ID); name != "" && d.Members.Kind(name) != gen.KindArray {
		return fmt.Errorf("%s is %s, want %s", name, cmp.Or(d.Members.Kind(name), "missing"), gen.KindArray)
	}
	switch v := v.(type) {
	case *gen.ListingPage:
		p := positionOf(len(v.Listings), v.Count, v.PageSize, v.PageNumber)
		return resolveHasNextPage(d, &v.HasNextPage, p)
	case *gen.OrderPage:
		p := positionOf(len(v.Orders), v.Count, v.PageSize, v.PageNumber)
		return resolveHasNextPage(d, &v.HasNextPage, p)
	case *gen.ProductPage:
		p := positionOf(len(v.Products), v.Count, v.PageSize, v.PageNumber)
		return resolveHasNextPage(d, &v.HasNextPage, p)
	case *gen.ListingOperationPage:
		return verifyCursor(d, len(v.Operations))
	case *gen.Listing:
		return c.verifyID("listingId", v.ListingID, 0)
	case *gen.ListingOperation:
		return cmp.Or(c.verifyID("listingId", v.ListingID, 0), c.verifyID("operationId", v.OperationID, 1))
	case *gen.Batch:
		return c.verifyID("batchId", v.BatchID, 0)
	case *gen.Ingestion:
		return c.verifyID("ingestionId", v.IngestionID, 0)
	case *gen.Order:
		return c.verifyID("orderNumber", v.OrderNumber, 0)
	case *gen.Product:
		return c.verifyID("productId", v.ProductID, 0)
	case *gen.Variant:
		return c.verifyID("variantId", v.VariantID, 1) // a path with a GTIN has no id at index 1
	case *gen.MarketData:
		if v.VariantID != "" {
			return c.verifyID("variantId", v.VariantID, 1)
		}
		return requireMembers(d)
	case *gen.ShippingDocumentsResponse:
		return requireMembers(d)
	}
	return nil
}

// arrayOf returns the array that a response to the operation must have; "" if it needs none. The
// decoder checks responses that are bare arrays.
func arrayOf(op gen.OperationID) string {
	switch op {
	case gen.OpListListings:
		return "listings"
	case gen.OpListActiveOrders, gen.OpListOrderHistory:
		return "orders"
	case gen.OpSearchProducts:
		return "products"
	case gen.OpListListingOperations:
		return "operations"
	case gen.OpListCreateListingsBatchItems, gen.OpListUpdateListingsBatchItems,
		gen.OpListDeleteListingsBatchItems, gen.OpGetIngestion:
		return "items"
	default:
		return ""
	}
}

// verifyID refuses an id that is missing, or that differs from the id at this index of the path, if
// the path has one. The comparison ignores case.
func (c *call) verifyID(member, id string, index int) error {
	if id == "" {
		return fmt.Errorf("%s is missing", member)
	}
	if index < len(c.ids) && !strings.EqualFold(id, c.ids[index]) {
		return fmt.Errorf("%s differs from the requested one", member)
	}
	return nil
}

// requireMembers refuses an object that has none of its type's members.
func requireMembers(d gen.Decoded) error {
	if len(d.Members) == 0 {
		return errors.New("the response has no known member")
	}
	return nil
}

// salvage returns a member of the body of a [DecodeError], so that a broken response does not lose
// the id of what a write created. It returns "" unless the top-level object has the member exactly
// once, as a complete string.
func salvage(err error, member string) string {
	failed, ok := errors.AsType[*DecodeError](err)
	if !ok {
		return ""
	}
	tokens := json.NewDecoder(bytes.NewReader(failed.Body))
	if first, err := tokens.Token(); err != nil || first != json.Delim('{') {
		return ""
	}
	id, found := "", false
	for tokens.More() {
		name, err := tokens.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if tokens.Decode(&value) != nil {
			break
		}
		if name != member {
			continue
		}
		if found || json.Unmarshal(value, &id) != nil {
			return ""
		}
		found = true
	}
	if strings.ContainsRune(id, utf8.RuneError) || strings.Contains(id, guard.Redacted) {
		return "" // not the id that the service sent
	}
	return id
}

// errorMessage returns the message of an error body, which may be {message}, {errorMessage},
// {error} or {errors: []}, each of them a string or an object with a message. Several are joined by
// semicolons. Without them it is the title and the detail of RFC 7807. It returns "" if there is
// none, as in the HTML page of a gateway.
func errorMessage(body []byte) string {
	var fields struct {
		Message      json.RawMessage   `json:"message"`
		ErrorMessage json.RawMessage   `json:"errorMessage"`
		Error        json.RawMessage   `json:"error"`
		Errors       []json.RawMessage `json:"errors"`
		Title        json.RawMessage   `json:"title"`
		Detail       json.RawMessage   `json:"detail"`
	}
	_ = json.Unmarshal(body, &fields) // the members that could be decoded are set
	all := append([]json.RawMessage{fields.Message, fields.ErrorMessage, fields.Error}, fields.Errors...)
	if messages := texts(all...); len(messages) > 0 {
		return strings.Join(messages, "; ")
	}
	return strings.Join(texts(fields.Title, fields.Detail), ": ")
}

// texts returns the values that are text, or objects with a message.
func texts(values ...json.RawMessage) []string {
	var all []string
	for _, raw := range values {
		var reason gen.Reason
		if len(raw) > 0 && reason.UnmarshalJSON(raw) == nil && reason != "" {
			all = append(all, string(reason))
		}
	}
	return all
}
