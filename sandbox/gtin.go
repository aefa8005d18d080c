package sandbox

import (
	"context"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// GetVariantByGTIN takes a number in any of its forms: a UPC is also found as
// the EAN that begins with a zero, and an item by the ITF-14 of a package of it.
func (s *server) GetVariantByGTIN(_ context.Context, r wire.GetVariantByGTINRequestObject) (wire.GetVariantByGTINResponseObject, error) {
	g, err := catalog.ParseGTIN(r.GTIN)
	if err != nil {
		return nil, badRequest("path parameter %q: %s", "gtin", err.Error())
	}
	v, ok := s.catalog.VariantByGTIN(g)
	if !ok {
		return nil, notFound("variant with the trade item number", r.GTIN)
	}
	return wire.GetVariantByGTIN200JSONResponse(showVariant(v)), nil
}
