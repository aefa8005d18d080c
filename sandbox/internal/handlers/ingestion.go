package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// maxSizes is how many sizes a proposed product may have; assumed.
const maxSizes = 100

// IngestProducts takes products for review, all or none of them.
func (h *Handlers) IngestProducts(ctx context.Context, r wire.IngestProductsRequestObject) (wire.IngestProductsResponseObject, error) {
	if err := checkElements(len(r.Body.Items)); err != nil {
		return nil, err
	}
	products := make([][]byte, 0, len(r.Body.Items))
	for i, item := range r.Body.Items {
		if n := len(item.Variants); n == 0 || n > maxSizes {
			return nil, wire.Invalidf("/items/%d/variants: there are %d, a product has 1 to %d", i, n, maxSizes)
		}
		for _, t := range telling(item) {
			if strings.TrimSpace(t.text) == "" {
				return nil, wire.Invalidf("/items/%d/%s: it is missing or blank", i, t.member)
			}
		}
		input, err := json.Marshal(item)
		if err != nil {
			return nil, fmt.Errorf("ingest: %w", err)
		}
		products = append(products, input)
	}
	id, err := h.selling.Ingest(ctx, accountOf(ctx), products)
	return wire.IngestProducts201JSONResponse{IngestionID: id}, err
}

// said is a member of a proposed product and what it says.
type said struct{ member, text string }

// telling returns the members of a proposed product that must say something.
// The document cannot require what only shoes need, nor more than a blank.
func telling(p wire.IngestionProduct) []said {
	all := []said{{"productTitle", p.ProductTitle}, {"brand", p.Brand}}
	for i, v := range p.Variants {
		all = append(all, said{fmt.Sprintf("variants/%d/size", i), v.Size})
	}
	if p.Category == wire.IngestionCategorySneakers || p.Category == wire.IngestionCategoryShoes {
		all = append(all, said{"colorway", deref(p.Colorway)}, said{"gtin", deref(p.GTIN)},
			said{"gender", deref(p.Gender)}, said{"styleCode", deref(p.StyleCode)})
	}
	return all
}

// GetIngestion may be called at any time to see how far the review is. An
// ingestion of another account is not found, though its products are in the
// catalog for everybody.
func (h *Handlers) GetIngestion(ctx context.Context, r wire.GetIngestionRequestObject) (wire.GetIngestionResponseObject, error) {
	if err := pathID("ingestionId", r.IngestionID); err != nil {
		return nil, err
	}
	wanted, err := oneOf("status", r.Params.Status, store.InReview, store.Accepted, store.Rejected)
	if err != nil {
		return nil, err
	}
	if len(wanted) > 1 {
		return nil, wire.Invalidf("query parameter %q: products can be filtered by one status only", "status")
	}
	var proposals []store.Proposal
	err = h.store.View(ctx, func(tx *store.Tx) (err error) {
		proposals, err = tx.Ingestion(accountOf(ctx), r.IngestionID)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, wire.NoSuch("ingestion", r.IngestionID)
	}
	if err != nil {
		return nil, err
	}
	var answer wire.GetIngestion200JSONResponse
	for _, p := range proposals {
		if len(wanted) > 0 && p.Status != wanted[0] {
			continue
		}
		item, err := h.proposal(p)
		if err != nil {
			return nil, err
		}
		answer.Items = append(answer.Items, item)
	}
	return answer, nil
}

// proposal shows a proposed product and its review.
func (h *Handlers) proposal(p store.Proposal) (wire.IngestionItem, error) {
	var input wire.IngestionProduct
	if err := json.Unmarshal([]byte(p.Input), &input); err != nil {
		return wire.IngestionItem{}, fmt.Errorf("read proposal %d: %w", p.Seq, err)
	}
	w := wire.IngestionItem{
		IngestionID: p.IngestionID, Status: p.Status, Input: &input, PartnerProductID: input.PartnerProductID,
		CreatedAt: timestamp(p.CreatedAt), UpdatedAt: timestamp(p.UpdatedAt),
	}
	if p.Reason != "" {
		w.RejectionDetails = &wire.RejectionDetails{Reason: &p.Reason}
	}
	if made, ok := h.catalog.Product(p.ProductID); ok && p.Status == store.Accepted {
		w.Result = &wire.IngestionResult{Brand: &made.Brand, Title: &made.Title, VariantID: &h.leading(made, input.GTIN).ID}
	}
	return w, nil
}

// leading is the variant that has the trade item number of the product as a
// whole; the first one for a product without a number.
func (h *Handlers) leading(p *catalog.Product, gtin *string) *catalog.Variant {
	if g, err := catalog.ParseGTIN(deref(gtin)); err == nil {
		if v, ok := h.catalog.VariantByGTIN(g); ok && v.Product == p {
			return v
		}
	}
	return p.Variants[0]
}

// deref reads a text that may be missing.
func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
