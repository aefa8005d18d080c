package sandbox_test

import (
	"net/http"
	"strings"
	"testing"
)

// A name where an id belongs is a mistake of the caller's and no id that has
// gone stale, so it is answered 400 wherever the document declares that.
func TestANameWhereAnIDBelongsIsRefused(t *testing.T) {
	m := open(t)
	const name, unknown = "air-jordan-1", "98e2e748-8000-45bf-a624-5531d6a68318"
	for _, row := range []struct{ method, path, parameter string }{
		{"GET", "/selling/listings/" + name, "listingId"},
		{"PATCH", "/selling/listings/" + name, "listingId"},
		{"DELETE", "/selling/listings/" + name, "listingId"},
		{"PUT", "/selling/listings/" + name + "/activate", "listingId"},
		{"PUT", "/selling/listings/" + name + "/deactivate", "listingId"},
		{"GET", "/selling/listings/" + name + "/operations", "listingId"},
		{"GET", "/selling/listings/" + unknown + "/operations/" + name, "operationId"},
		{"GET", "/catalog/products/" + name + "/market-data", "productId"},
		{"GET", "/catalog/products/" + name + "/variants/" + unknown, "productId"},
		{"GET", "/catalog/products/" + name + "/variants/" + unknown + "/market-data", "productId"},
	} {
		var body any
		if row.method == http.MethodPatch || strings.HasSuffix(row.path, "/activate") {
			body = map[string]any{}
		}
		m.call(row.method, row.path, body).refused(http.StatusBadRequest, `path parameter "`+row.parameter+`"`, row.method+" "+row.path)
	}
}
