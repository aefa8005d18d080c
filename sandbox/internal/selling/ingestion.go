package selling

import (
	"context"
	"fmt"
	"slices"

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
