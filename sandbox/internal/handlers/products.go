package handlers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// SearchProducts finds products by a fuzzy search; see [catalog.Clues].
func (h *Handlers) SearchProducts(
	ctx context.Context, r wire.SearchProductsRequestObject,
) (wire.SearchProductsResponseObject, error) {
	hits, err := h.search(ctx, r.Params.Query)
	if err != nil {
		return nil, err
	}
	p := pageOf(r.Params.PageNumber, r.Params.PageSize)
	response := wire.SearchProducts200JSONResponse{
		Count: len(hits), PageNumber: p.number, PageSize: p.size, HasNextPage: p.hasNext(len(hits)),
	}
	for _, id := range slice(hits, p) {
		hit, ok := h.catalog.Product(id)
		if !ok {
			return nil, fmt.Errorf("search: product (%s): not in the catalog", id)
		}
		response.Products = append(response.Products, productModel(hit))
	}
	return response, nil
}

// search returns the ids of the products that match a query: first the one that it names exactly, and
// then those that match its words. Words that match no product are taken to be misspelt.
func (h *Handlers) search(ctx context.Context, query string) (ids []string, err error) {
	clues := catalog.Clues(query)
	err = h.store.View(ctx, func(tx *store.Tx) error {
		misspelt, err := tx.Unmatched(clues)
		if err != nil {
			return err
		}
		ids, err = tx.Search(append(clues, catalog.Guesses(query, misspelt...)...))
		return err
	})
	named, ok := h.catalog.Named(query)
	if !ok {
		return ids, err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == named.ID })
	return slices.Insert(ids, 0, named.ID), err
}

// GetProduct adds the size chart and the two flags to what a search has.
func (h *Handlers) GetProduct(
	_ context.Context, r wire.GetProductRequestObject,
) (wire.GetProductResponseObject, error) {
	p, err := h.product(r.ProductID)
	if err != nil {
		return nil, err
	}
	var systems []wire.SizeConversion
	for _, size := range p.Variants[0].Sizes {
		systems = append(systems, wire.SizeConversion{Name: &size.System.Name, Type: &size.System.Code})
	}
	response := productModel(p)
	response.SizeChart = &wire.ProductSizeChart{AvailableConversions: &systems, DefaultConversion: &systems[0]}
	response.IsFlexEligible, response.IsDirectEligible = new(p.Type == "sneakers"), new(true)
	return wire.GetProduct200JSONResponse(response), nil
}

// ListVariants lists the variants of a product in the order of their sizes.
func (h *Handlers) ListVariants(
	_ context.Context, r wire.ListVariantsRequestObject,
) (wire.ListVariantsResponseObject, error) {
	p, err := h.product(r.ProductID)
	if err != nil {
		return nil, err
	}
	response := make(wire.ListVariants200JSONResponse, 0, len(p.Variants))
	for _, v := range p.Variants {
		response = append(response, variantModel(v))
	}
	return response, nil
}

// GetVariant finds a variant of that product only. One of another product is refused, as for market
// data.
func (h *Handlers) GetVariant(
	_ context.Context, r wire.GetVariantRequestObject,
) (wire.GetVariantResponseObject, error) {
	p, err := h.product(r.ProductID)
	if err != nil {
		return nil, err
	}
	if err := pathID("variantId", r.VariantID); err != nil {
		return nil, err
	}
	v, ok := h.catalog.Variant(r.VariantID)
	if !ok {
		return nil, wire.NoSuch("variant", r.VariantID)
	}
	if v.Product != p {
		return nil, notContained(r.ProductID, r.VariantID)
	}
	return wire.GetVariant200JSONResponse(variantModel(v)), nil
}

// notContained refuses a variant of another product.
func notContained(productID, variantID string) error {
	return wire.Invalidf("path parameter %q: product %s does not contain variant %s", "variantId", productID, variantID)
}

func (h *Handlers) product(id string) (*catalog.Product, error) {
	if err := pathID("productId", id); err != nil {
		return nil, err
	}
	p, ok := h.catalog.Product(id)
	if !ok {
		return nil, wire.NoSuch("product", id)
	}
	return p, nil
}

// productModel returns the model of a product in a search.
func productModel(p *catalog.Product) wire.Product {
	return wire.Product{
		ProductID: p.ID, URLKey: &p.URLKey, StyleID: optional(p.StyleID),
		ProductType: &p.Type, Title: &p.Title, Brand: &p.Brand,
		ProductAttributes: &wire.ProductAttributes{
			Gender: optional(p.Gender), Season: &p.Season,
			ReleaseDate: new(p.ReleaseDate.Format(time.DateOnly)),
			Colorway:    optional(p.Colorway), Color: optional(p.Color), RetailPrice: figure(p.RetailPrice),
		},
	}
}

func variantModel(v *catalog.Variant) wire.Variant {
	var sizes []wire.VariantSize
	for _, size := range v.Sizes {
		sizes = append(sizes, wire.VariantSize{Size: &size.Text, Type: &size.System.Code})
	}
	gtins := make([]wire.GTIN, 0, len(v.GTINs))
	for _, g := range v.GTINs {
		gtins = append(gtins, wire.GTIN{Identifier: &g.Identifier, Type: &g.Type})
	}
	return wire.Variant{
		ProductID: v.Product.ID, VariantID: v.ID, VariantName: &v.Name, VariantValue: &v.Size,
		SizeChart: &wire.VariantSizeChart{AvailableConversions: &sizes, DefaultConversion: &sizes[0]},
		Gtins:     &gtins, IsFlexEligible: new(v.Product.Type == "sneakers"), IsDirectEligible: new(true),
	}
}

// GetVariantByGTIN finds a variant by a number in any form: by a UPC also as the EAN that begins
// with zero, and by the ITF-14 of a package of it.
func (h *Handlers) GetVariantByGTIN(
	_ context.Context, r wire.GetVariantByGTINRequestObject,
) (wire.GetVariantByGTINResponseObject, error) {
	g, err := catalog.ParseGTIN(r.GTIN)
	if err != nil {
		return nil, wire.Invalidf("path parameter %q: %s", "gtin", err.Error())
	}
	v, ok := h.catalog.VariantByGTIN(g)
	if !ok {
		return nil, wire.NoSuch("variant with the trade item number", r.GTIN)
	}
	return wire.GetVariantByGTIN200JSONResponse(variantModel(v)), nil
}
