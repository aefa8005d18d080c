package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// maxSizes is the most sizes of a proposed product; assumed.
const maxSizes = 100

// IngestProducts accepts products for review, all or none of them.
func (h *Handlers) IngestProducts(
	ctx context.Context, r wire.IngestProductsRequestObject,
) (wire.IngestProductsResponseObject, error) {
	if err := checkElements(len(r.Body.Items)); err != nil {
		return nil, err
	}
	products := make([][]byte, 0, len(r.Body.Items))
	for i, item := range r.Body.Items {
		if n := len(item.Variants); n == 0 || n > maxSizes {
			return nil, wire.Invalidf("/items/%d/variants: must have 1 to %d elements (%d)", i, maxSizes, n)
		}
		for _, m := range requiredTexts(item) {
			if strings.TrimSpace(m.text) == "" {
				return nil, wire.Invalidf("/items/%d/%s: must not be missing or blank", i, m.name)
			}
		}
		for _, m := range shownTexts(item) {
			if utf8.RuneCountInString(m.text) > maxText {
				return nil, wire.Invalidf("/items/%d/%s: must have %d characters at most (%.40q)", i, m.name, maxText, m.text)
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

// maxText is the most characters of a text in shownTexts; assumed.
const maxText = 1000

// shownTexts returns the members of a proposed product that other responses repeat: every listing
// of the product has its title, and the name of every size is made of it.
func shownTexts(p wire.IngestionProduct) []textMember {
	all := []textMember{
		{"productTitle", p.ProductTitle},
		{"brand", p.Brand},
		{"colorway", deref(p.Colorway)},
		{"gender", deref(p.Gender)},
		{"styleCode", deref(p.StyleCode)},
	}
	for i, v := range p.Variants {
		all = append(all, textMember{fmt.Sprintf("variants/%d", i), v})
	}
	return all
}

// textMember is a member of a proposed product.
type textMember struct{ name, text string }

// requiredTexts returns the members of a proposed product that must not be blank. The document can
// require neither that nor members for some categories only.
func requiredTexts(p wire.IngestionProduct) []textMember {
	all := []textMember{{"productTitle", p.ProductTitle}, {"brand", p.Brand}}
	for i, size := range p.Variants {
		all = append(all, textMember{fmt.Sprintf("variants/%d", i), size})
	}
	colorway, gender := textMember{"colorway", deref(p.Colorway)}, textMember{"gender", deref(p.Gender)}
	switch p.Category {
	case wire.IngestionCategorySneakers, wire.IngestionCategoryShoes:
		all = append(all,
			colorway, textMember{"gtin", deref(p.GTIN)}, gender, textMember{"styleCode", deref(p.StyleCode)})
	case wire.IngestionCategoryApparel, wire.IngestionCategoryAccessories:
		all = append(all, colorway, textMember{"material", deref(p.Material)}, gender)
	}
	return all
}

// GetIngestion reads an ingestion of the account, whether reviewed or not. Its products are in the
// catalog for all accounts.
func (h *Handlers) GetIngestion(
	ctx context.Context, r wire.GetIngestionRequestObject,
) (wire.GetIngestionResponseObject, error) {
	if err := pathID("ingestionId", r.IngestionID); err != nil {
		return nil, err
	}
	var proposals []store.Proposal
	err := h.store.View(ctx, func(tx *store.Tx) (err error) {
		proposals, err = tx.Ingestion(accountOf(ctx), r.IngestionID)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, wire.NoSuch("ingestion", r.IngestionID)
	}
	if err != nil {
		return nil, err
	}
	var response wire.GetIngestion200JSONResponse
	for _, p := range proposals {
		if wanted := deref(r.Params.Status); wanted != "" && !strings.EqualFold(p.Status, wanted) {
			continue
		}
		item, err := h.proposal(p)
		if err != nil {
			return nil, err
		}
		response.Items = append(response.Items, item)
	}
	return response, nil
}

// proposal returns the model of a proposed product and its review.
func (h *Handlers) proposal(p store.Proposal) (wire.IngestionItem, error) {
	var input wire.IngestionProduct
	if err := json.Unmarshal([]byte(p.Input), &input); err != nil {
		return wire.IngestionItem{}, fmt.Errorf("read proposal (%d): %w", p.Seq, err)
	}
	w := wire.IngestionItem{
		IngestionID: p.IngestionID, Status: p.Status, Input: &input,
		PartnerProductID: input.PartnerProductID,
		CreatedAt:        timestamp(p.CreatedAt), UpdatedAt: timestamp(p.UpdatedAt),
	}
	if p.Reason != "" {
		w.RejectionDetails = &wire.RejectionDetails{Reason: &p.Reason}
	}
	if product, ok := h.catalog.Product(p.ProductID); ok && p.Status == store.Accepted {
		w.Result = &wire.IngestionResult{
			Brand: &product.Brand, Title: &product.Title, VariantID: &product.Variants[0].ID,
		}
	}
	return w, nil
}

// deref returns the empty text for nil.
func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
