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

// The release dates that a review accepts.
const (
	oldestRelease  = 1900 // year
	releaseHorizon = 2    // years from now
)

// Ingest inserts products that an account proposes for the catalog, to be reviewed, and returns the
// id of the ingestion. Each product is the JSON of a [catalog.Proposal].
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

// LoadCatalog makes the catalog and the search index agree with the database: it adds the accepted
// products to the catalog, and all products to the index of a new database. It must be called
// before anything else, and again after the database was emptied.
func (s *Service) LoadCatalog(ctx context.Context) error {
	err := s.Store.Update(ctx, func(tx *store.Tx) error {
		accepted, err := tx.AcceptedProposals()
		if err != nil {
			return err
		}
		products := slices.Clone(s.Catalog.Products())
		s.Catalog.Reset()
		for _, proposal := range accepted {
			p, err := newProduct(proposal)
			if err != nil {
				return err
			}
			s.Catalog.Add(p)
			products = append(products, p)
		}
		return indexProducts(tx, products)
	})
	if err != nil {
		return fmt.Errorf("load catalog: %w", err)
	}
	return nil
}

// indexProducts makes the search find these products and no others. It writes nothing if that is so
// already.
func indexProducts(tx *store.Tx, products []*catalog.Product) error {
	indexed, err := tx.SearchedProducts()
	if err != nil {
		return err
	}
	var ids []string
	for _, p := range products {
		ids = append(ids, p.ID)
	}
	slices.Sort(ids)
	if slices.Equal(ids, indexed) {
		return nil
	}
	var texts []store.ProductText
	for _, p := range products {
		texts = append(texts, textOf(p))
	}
	return tx.ReplaceProductTexts(texts...)
}

// workReviews ends reviews that are due.
func (c *change) workReviews() error {
	due, err := c.tx.DueProposals(c.now, chunk)
	if err != nil {
		return err
	}
	for _, p := range due {
		err := c.workRow("review of product "+p.ProductID,
			func() error { return c.endReview(p) },
			func() error {
				c.catalogDirty = true // it may have the product already
				return c.tx.FinishProposal(p.Seq, internalFailure, c.now)
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// endReview accepts or rejects a proposal. The catalog has an accepted product just before the
// commit, so that a request that reads the acceptance finds the product. If the commit fails, the
// review is repeated and ends in the same way; if it is given up, the catalog is loaded again.
func (c *change) endReview(proposal store.Proposal) error {
	p, err := c.review(proposal)
	rejection, err := split(err)
	if err != nil {
		return err
	}
	if err := c.tx.FinishProposal(proposal.Seq, rejection, c.now); err != nil || rejection != "" {
		return err
	}
	if err := c.tx.InsertProductTexts(textOf(p)); err != nil {
		return err
	}
	c.Catalog.Add(p)
	return nil
}

// review returns the product of a proposal, or why there is none. The criteria of a review are not
// published; assumed is:
//
//   - The retail price, the release date, the images, the sizes and all trade item numbers are
//     possible; see [catalog.Proposal.Product].
//   - The product was released in 1900 or later, or will be within two years.
//   - The catalog has no product of that brand and style id, or of that brand and title if there is
//     no style id.
//   - The catalog has none of the trade item numbers.
//
// Proposals are reviewed in their order, so that of two about the same product the second is
// rejected.
func (c *change) review(proposal store.Proposal) (*catalog.Product, error) {
	p, err := newProduct(proposal)
	if err != nil {
		return nil, err
	}
	if p.ReleaseDate.Year() < oldestRelease || p.ReleaseDate.After(c.now.AddDate(releaseHorizon, 0, 0)) {
		return nil, refused("release date (%s): must be from %d to %d years from now",
			p.ReleaseDate.Format(time.DateOnly), oldestRelease, releaseHorizon)
	}
	if known, ok := c.Catalog.Namesake(p); ok && known.ID != p.ID {
		return nil, refused("product %s of the catalog is the same", known.ID)
	}
	for _, v := range p.Variants {
		for _, g := range v.GTINs {
			if known, ok := c.Catalog.VariantByGTIN(g); ok && known.Product.ID != p.ID {
				return nil, refused("trade item number (%s): belongs to variant %s", g.Identifier, known.ID)
			}
		}
	}
	return p, nil
}

// newProduct returns the product of a proposal.
func newProduct(p store.Proposal) (*catalog.Product, error) {
	var proposed catalog.Proposal
	if err := json.Unmarshal([]byte(p.Input), &proposed); err != nil {
		return nil, fmt.Errorf("read proposal (%d): %w", p.Seq, err)
	}
	product, err := proposed.Product(p.ProductID)
	if err != nil {
		return nil, refused("%s", err.Error())
	}
	return product, nil
}

func textOf(p *catalog.Product) store.ProductText {
	return store.ProductText{ProductID: p.ID, Text: p.Text()}
}
