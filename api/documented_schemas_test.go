package api_test

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	timestamp   = "string date-time"
	statusCodes = "100 101 102 200 201 202 203 204 205 206 207 208 226 300 301 302 303 304 305 307 308 " +
		"400 401 402 403 404 405 406 407 408 409 410 411 412 413 414 415 416 417 418 422 423 424 426 428 429 431 451 " +
		"500 501 502 503 504 505 506 507 508 510 511"
)

// shape is one table of the service's document: the fields of an object.
type shape struct {
	section, schema string

	// columns reports that the document has columns for required and nullable. From section 2.8 on
	// it has none, and the spec decides.
	columns bool
	closed  bool // The document allows no other properties.
	fields  map[string]string
	why     string
}

var documentedShapes = []shape{
	{"2.1", "PublicApiError", true, true, map[string]string{
		"statusCode": "required number of " + statusCodes, "message": "required string",
	}, "306 and the gaps of the allowed list are left out"},

	{"2.3", "Batch", true, true, map[string]string{
		"batchId": "required string uuid", "status": "required string",
		"completedAt": "required nullable " + timestamp, "createdAt": "required " + timestamp, "updatedAt": "required " + timestamp,
		"totalItems": "required number", "itemStatuses": "required BatchStatusCounts",
	}, "completedAt is there and null until the end"},

	{"2.4", "CreateListingsBatchRequest", true, true, map[string]string{"items": "required array of CreateItem"}, ""},
	{"2.4", "CreateItem", true, false, map[string]string{
		"variantId": "required string", "amount": "required string", "quantity": "required number",
		"inventoryType": inventory + " default STANDARD", "active": "boolean",
		"currencyCode": currency + " default USD", "expiresAt": timestamp,
	}, "the default expiry is relative, so the description has it; active has no documented default"},

	{"2.5", "CreateBatchItem", true, true, map[string]string{
		"itemId": "required nullable string", "status": "required nullable string",
		"listingInput": "required CreateBatchItemInput", "result": "BatchItemResult", "error": "string",
	}, "result and error each belong to one outcome"},
	{"2.5", "CreateBatchItemInput", true, false, map[string]string{
		"active": "nullable boolean", "currencyCode": "nullable string", "variantId": "nullable string",
		"expiresAt": "nullable string", "amount": "nullable string",
	}, "the input is echoed as text, without formats"},
	{"2.5", "BatchItemResult", true, false, map[string]string{
		"askId": "nullable string", "listingId": "nullable string",
	}, "both ids of one ask"},
	{"2.5", "CreateBatchItemList", true, false, map[string]string{"items": "required array of CreateBatchItem"}, ""},

	{"2.6", "DeleteListingsBatchRequest", true, true, map[string]string{"items": "required array of DeleteItem"}, ""},
	{"2.6", "DeleteItem", true, true, map[string]string{"listingId": "required string"}, "that it is closed is public"},
	{"2.6", "DeleteBatchItem", true, false, map[string]string{
		"itemId": "required string", "status": "required string", "listingInput": "required DeleteBatchItemInput",
		"error": "string", "result": "BatchItemResult",
	}, "unlike a create item's, its id and status are not nullable"},
	{"2.6", "DeleteBatchItemInput", true, false, map[string]string{"id": "required string"}, "the listing id is called id here"},
	{"2.6", "DeleteBatchItemList", true, false, map[string]string{"items": "required array of DeleteBatchItem"}, ""},

	{"2.7", "UpdateItem", false, true, map[string]string{
		"listingId": "string", "amount": "string",
	}, "what else an update may change is public"},

	{"2.8", "Listing", false, false, map[string]string{
		"listingId": "string uuid", "status": "string", "amount": "string",
		"currencyCode": currency, "inventoryType": "string", "createdAt": timestamp, "updatedAt": timestamp,
		"batch": "ListingBatch", "ask": "ListingAsk", "order": "ListingOrder",
		"product": "ProductReference", "variant": "VariantReference",
		"payout": "Payout", "lastOperation": "LastOperation",
	}, "only a single listing has payout and lastOperation; the inventory type has more values than the document's two"},
	{"2.8", "ListingBatch", false, false, map[string]string{"batchId": "string", "taskId": "string"}, ""},
	{"2.8", "ListingAsk", false, false, map[string]string{
		"askId": "string", "askCreatedAt": timestamp, "askUpdatedAt": timestamp, "askExpiresAt": timestamp,
	}, ""},
	{"2.8", "ListingOrder", false, false, map[string]string{
		"orderNumber": "string", "orderCreatedAt": timestamp, "orderStatus": "string",
	}, "the status of an order is a free string outside the history filter"},
	{"2.8", "ProductReference", false, false, map[string]string{
		"productId": "string uuid", "productName": "string",
	}, "orders call productId a string; identifiers are UUIDs unless stated otherwise"},
	{"2.8", "VariantReference", false, false, map[string]string{
		"variantId": "string", "variantName": "string", "variantValue": "string",
	}, ""},

	{"2.9", "ListingOperation", false, false, operationFields(), "error is null or an error in words"},
	{"2.8", "LastOperation", false, false, operationFields(), "the document calls it a listing operation"},
	{"2.9", "OperationChanges", false, false, map[string]string{
		"additions": "OperationAdditions", "updates": "OperationUpdates", "removals": "object",
	}, "the contents of removals are not documented"},
	{"2.9", "OperationAdditions", false, false, map[string]string{"active": "boolean", "askData": "AskData"}, ""},
	{"2.9", "AskData", false, false, map[string]string{
		"amount": "string", "currency": "string", "expiresAt": timestamp,
	}, "currency, where every other schema has currencyCode"},
	{"2.9", "OperationUpdates", false, false, map[string]string{"updatedAt": timestamp}, ""},

	{"2.10", "Order", false, false, map[string]string{
		"askId": "string", "orderNumber": "string", "listingId": "string", "amount": "string",
		"currencyCode": currency, "createdAt": timestamp, "updatedAt": timestamp,
		"variant": "VariantReference", "product": "ProductReference", "status": "string",
		"shipment": "Shipment", "payout": "Payout",
	}, "section 2.2 closes the set of currencies for what was listed in one of them"},
	{"2.10", "Shipment", false, false, map[string]string{
		"shipByDate": "string", "trackingNumber": "string", "carrierCode": "string",
	}, "shipByDate is not called a timestamp"},
	{"2.10", "Payout", false, false, map[string]string{
		"totalPayout": "number", "salePrice": "number", "totalAdjustments": "number", "currencyCode": "string",
		"adjustments": "array of Adjustment",
	}, "payout figures are numbers, all other money is strings"},
	{"2.10", "Adjustment", false, false, map[string]string{
		"adjustmentType": "string", "amount": "number", "percentage": "number",
	}, ""},

	{"2.11", "Product", false, false, map[string]string{
		"productId": "string uuid", "urlKey": "string", "styleId": "string", "productType": "string",
		"title": "string", "brand": "string", "productAttributes": "ProductAttributes",
	}, "the attributes themselves are public"},

	{"2.12", "MarketData", false, false, map[string]string{
		"productId": "string", "variantId": "string", "currencyCode": "string",
		"lowestAskAmount": "string", "highestBidAmount": "string", "sellFasterAmount": "string", "earnMoreAmount": "string",
	}, "market data has more currencies than listings"},

	{"2.13", "Page", false, false, pageOf("", ""), "numbers, not integers"},
	{"2.13", "ListingPage", false, false, pageOf("listings", "Listing"), ""},
	{"2.13", "OrderPage", false, false, pageOf("orders", "Order"), ""},
	{"2.13", "ProductPage", false, false, pageOf("products", "Product"), ""},
	{"2.14", "ListingOperationPage", false, false, map[string]string{
		"nextCursor": "string", "operations": "array of ListingOperation",
	}, ""},
}

func operationFields() map[string]string {
	return map[string]string{
		"listingId": "string", "operationId": "string", "operationType": "string", "operationStatus": "string",
		"operationInitiatedBy": "string", "operationInitiatedVia": "string",
		"createdAt": timestamp, "updatedAt": timestamp, "changes": "OperationChanges", "error": "string",
	}
}

func pageOf(name, element string) map[string]string {
	fields := map[string]string{"count": "number", "pageSize": "number", "pageNumber": "number", "hasNextPage": "boolean"}
	if name != "" {
		fields[name] = "array of " + element
	}
	return fields
}

// documentedScalars are the documented values that are not objects, and the one map.
var documentedScalars = []struct{ schema, want, why string }{
	{"CurrencyCode", currency, "section 2.2"},
	{"InputInventoryType", inventory, "responses have more values, which are public"},
	{"HistoricalOrderStatus", "string of AUTHFAILED DIDNOTSHIP CANCELED COMPLETED RETURNED", "the values of the history filter"},
	{"BatchStatus", "string", "status fields are free strings"},
	{"BatchItemStatus", "string", "status fields are free strings"},
	{"ListingStatus", "string", "status fields are free strings"},
	{"OrderStatus", "string", "status fields are free strings"},
	{"OperationStatus", "string", "status fields are free strings"},
	{"OperationType", "string", "no list of values is stated"},
	{"OperationInitiator", "string", "no list of values is stated"},
	{"OperationChannel", "string", "no list of values is stated"},
	{"BatchStatusCounts", "object", "any status name may be a key"},
}

func TestDocumentedSchemas_MatchDocument(t *testing.T) {
	schemas := load(t).Components.Schemas
	for _, want := range documentedShapes {
		about := want.section + " " + want.schema + ": " + want.why
		require.Contains(t, schemas, want.schema)
		schema := schemas[want.schema].Value
		got := map[string]string{}
		for name, p := range properties(schema, "") {
			switch {
			case p.level != "documented": // An addition of the spec.
			case want.columns:
				got[name] = describeColumns(p)
			default:
				got[name] = describe(p.ref)
			}
		}
		assert.Equal(t, want.fields, got, about)
		assert.Equal(t, want.closed, forbidsOthers(schema), about)
	}
}

func TestDocumentedScalars_MatchDocument(t *testing.T) {
	schemas := load(t).Components.Schemas
	for _, want := range documentedScalars {
		require.Contains(t, schemas, want.schema)
		assert.Equal(t, want.want, describe(&openapi3.SchemaRef{Value: schemas[want.schema].Value}), "%s: %s", want.schema, want.why)
	}
	counts := schemas["BatchStatusCounts"].Value.AdditionalProperties.Schema
	require.NotNil(t, counts)
	assert.Equal(t, "number", describe(counts), "sample payloads have strings, but the declaration has numbers")
}

func TestDocumentedSchemas_AreAllTranscribed(t *testing.T) {
	transcribed := map[string]bool{}
	for _, s := range documentedShapes {
		transcribed[s.schema] = true
	}
	for _, s := range documentedScalars {
		transcribed[s.schema] = true
	}
	for name, ref := range load(t).Components.Schemas {
		assert.Equal(t, transcribed[name], provenance(ref.Value.Extensions, "") == "documented", name)
	}
}

// The document has no Required column for envelopes, but paging depends on all of their members.
func TestEnvelopes_RequireAllMembers(t *testing.T) {
	schemas := load(t).Components.Schemas
	for name, array := range map[string]string{
		"ListingPage": "listings", "OrderPage": "orders", "ProductPage": "products", "ListingOperationPage": "operations",
	} {
		for member, p := range properties(schemas[name].Value, "") {
			assert.True(t, p.required, "%s.%s", name, member)
		}
		assert.True(t, strings.HasPrefix(describe(properties(schemas[name].Value, "")[array].ref), "array of "), name)
	}
}

func forbidsOthers(s *openapi3.Schema) bool {
	return s.AdditionalProperties.Has != nil && !*s.AdditionalProperties.Has
}
