package selling

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// Ingest writes down products that an account proposes for the catalog, to be
// reviewed. Every one is JSON that a [catalog.Proposal] is read from. It returns
// the id of the ingestion.
func (s *Service) Ingest(ctx context.Context, account int64, products [][]byte) (id string, err error) {
	err = s.write(ctx, func(c *change) error {
		if id, err = c.newUUID("ingestion"); err != nil {
			return err
		}
		for _, input := range products {
			productID, err := c.newUUID("product")
			if err != nil {
				return err
			}
			err = c.tx.InsertProposal(store.Proposal{
				IngestionID: id, Account: account, Status: store.InReview, DueAt: c.now.Add(c.Review),
				ProductID: productID, Input: string(input), CreatedAt: c.now, UpdatedAt: c.now,
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return id, err
}

// LoadCatalog makes catalog and search agree with the database, as they do from
// then on: the catalog gets the products that were ingested, and the search of
// a new database gets to know all products. It is called before anything else,
// and once more after the database was emptied.
func (s *Service) LoadCatalog(ctx context.Context) error {
	err := s.Store.Update(ctx, func(tx *store.Tx) error {
		accepted, err := tx.AcceptedProposals()
		if err != nil {
			return err
		}
		products := slices.Clone(s.Catalog.Products())
		s.Catalog.Reset()
		for _, proposal := range accepted {
			p, err := product(proposal)
			if err != nil {
				return err
			}
			s.Catalog.Add(p)
			products = append(products, p)
		}
		return search(tx, products)
	})
	if err != nil {
		return fmt.Errorf("load catalog: %w", err)
	}
	return nil
}

// search lets these products be found and no others. Nothing is written if that
// is so already.
func search(tx *store.Tx, products []*catalog.Product) error {
	known, err := tx.SearchedProducts()
	if err != nil {
		return err
	}
	var ids []string
	for _, p := range products {
		ids = append(ids, p.ID)
	}
	slices.Sort(ids)
	if slices.Equal(ids, known) {
		return nil
	}
	var texts []store.ProductText
	for _, p := range products {
		texts = append(texts, textOf(p))
	}
	return tx.ReplaceProductTexts(texts...)
}

// The release dates that are believed: since there have been brands, and as far
// ahead as products are announced.
const (
	oldestRelease  = 1900 // year
	releaseHorizon = 2    // years
)

// reviews ends reviews of proposed products that are due.
func (c *change) reviews() error {
	due, err := c.tx.DueProposals(c.now, chunk)
	if err != nil {
		return err
	}
	for _, p := range due {
		err := c.row("review of product "+p.ProductID,
			func() error { return c.endReview(p) },
			func() error {
				c.strayed = true // the catalog may have it already
				return c.tx.FinishProposal(p.Seq, broken, c.now)
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// endReview accepts or rejects a proposal. The catalog has an accepted product
// a moment before the commit, so that whoever reads that it was accepted finds
// it. Should the commit fail, the review is repeated and ends in the same way;
// should it be given up, the catalog is read anew.
func (c *change) endReview(proposal store.Proposal) error {
	p, err := c.review(proposal)
	reason, err := mistake(err)
	if err != nil {
		return err
	}
	if err := c.tx.FinishProposal(proposal.Seq, reason, c.now); err != nil || reason != "" {
		return err
	}
	if err := c.tx.InsertProductTexts(textOf(p)); err != nil {
		return err
	}
	c.Catalog.Add(p)
	return nil
}

// review returns the product that a proposal makes, or why it makes none. What
// a review looks at is not published; assumed is:
//
//   - The retail price, the release date, the pictures, the sizes and all trade
//     item numbers are possible; see [catalog.Proposal.Product].
//   - The product came out in 1900 or later, and comes out within two years.
//   - The catalog has no product of that brand and style id, or of that brand
//     and title if there is no style id.
//   - The catalog has none of the trade item numbers.
//
// Proposals are reviewed in the order they were made. So the second of two that
// are about the same product is rejected, be it in the same request or not.
func (c *change) review(proposal store.Proposal) (*catalog.Product, error) {
	made, err := product(proposal)
	if err != nil {
		return nil, err
	}
	if made.ReleaseDate.Year() < oldestRelease || made.ReleaseDate.After(c.now.AddDate(releaseHorizon, 0, 0)) {
		return nil, refused("the release date %s is too far away", made.ReleaseDate.Format(time.DateOnly))
	}
	if known, ok := c.Catalog.Namesake(made); ok && known.ID != made.ID {
		return nil, refused("the product is in the catalog already: %s", known.ID)
	}
	for _, v := range made.Variants {
		for _, g := range v.GTINs {
			if known, ok := c.Catalog.VariantByGTIN(g); ok && known.Product.ID != made.ID {
				return nil, refused("the trade item number %s belongs to variant %s already", g.Identifier, known.ID)
			}
		}
	}
	return made, nil
}

// product makes a product of a proposal.
func product(p store.Proposal) (*catalog.Product, error) {
	var proposed catalog.Proposal
	if err := json.Unmarshal([]byte(p.Input), &proposed); err != nil {
		return nil, fmt.Errorf("read proposal %d: %w", p.Seq, err)
	}
	made, err := proposed.Product(p.ProductID)
	if err != nil {
		return nil, refused("%s", err.Error())
	}
	return made, nil
}

func textOf(p *catalog.Product) store.ProductText {
	return store.ProductText{ProductID: p.ID, Text: p.Text()}
}
