package sandbox_test

import (
	"net/http"
	"testing"
)

func TestWhatIsNotServedYetSaysSo(t *testing.T) {
	m := open(t)
	ingestion := map[string]any{"items": []any{map[string]any{
		"category": "sneakers", "productTitle": "t", "brand": "b", "productImages": []any{}, "variants": []any{},
		"retailPrice": 100, "releaseDate": "2026-01-01", "countryOfOrigin": "CN",
	}}}
	for _, row := range []struct {
		method, path string
		body         any
		operation    string
	}{
		{"GET", "/selling/orders/323314425-323214184/shipping-document", nil, "GetShippingDocuments"},
		{"GET", "/selling/orders/323314425-323214184/shipping-document/1", nil, "GetShippingDocument"},
		{"GET", "/catalog/products/variants/gtins/036000291452", nil, "GetVariantByGTIN"},
		{"POST", "/catalog/ingestion", ingestion, "IngestProducts"},
		{"GET", "/catalog/ingestion/1", nil, "GetIngestion"},
	} {
		m.call(row.method, row.path, row.body).refused(http.StatusNotImplemented, row.operation+" is not served", row.path)
	}
}
