package selling

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

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
