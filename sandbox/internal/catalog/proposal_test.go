package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const proposedID = "3f1f5d0e-0f6e-4d53-9a35-0a7f3d4a8a11"

// proposed returns a valid proposal with a change.
func proposed(change func(*Proposal)) Proposal {
	p := Proposal{
		Category: "sneakers", Title: "Trail Runner Aurora", Brand: "Fjord",
		Images:      []string{"https://images.example.com/aurora.png"},
		Sizes:       []string{"10", "10.5"},
		RetailPrice: "129.50", ReleaseDate: "2026-03-01", Colorway: "Polar Blue/White",
		GTIN: "036000291452", Gender: "men",
		StyleCode: "FJ2045-400",
	}
	if change != nil {
		change(&p)
	}
	return p
}

func TestProposal_MakesAProduct(t *testing.T) {
	p, err := proposed(nil).Product(proposedID)
	require.NoError(t, err)
	assert.Equal(t, "trail-runner-aurora", p.URLKey)
	assert.Equal(t, "SS26", p.Season)
	assert.Equal(t, "blue", p.Color)
	assert.Equal(t, "129.50", p.RetailPrice.String())
	require.Len(t, p.Variants, 2)
	assert.Equal(t, "Trail-Runner-Aurora:1", p.Variants[1].Name)
	assert.Len(t, p.Variants[1].Sizes, 4, "sizes of shoes are converted")
	assert.Empty(t, p.Variants[1].GTINs)
	assert.Equal(t, []GTIN{{"036000291452", "UPC"}}, p.Variants[0].GTINs,
		"the number of the product is the first variant's")

	again, err := proposed(nil).Product(proposedID)
	require.NoError(t, err)
	assert.Equal(t, p, again, "it depends on the proposal and the id only")

	bare, err := proposed(func(p *Proposal) {
		*p = Proposal{Category: "collectibles", Title: "???", Brand: "B", Images: p.Images, Sizes: []string{"One Size"}, RetailPrice: "1", ReleaseDate: "1999-12-31"}
	}).Product(proposedID)
	require.NoError(t, err, "other categories need less")
	assert.Equal(t, proposedID, bare.URLKey, "a title without words has no key")
	assert.Empty(t, bare.Color)
	assert.Equal(t, []Size{{System{"Size", "size"}, "One Size"}}, bare.Variants[0].Sizes)
}

func TestProposal_RejectsWhatIsImpossible(t *testing.T) {
	for _, row := range []struct {
		change      func(*Proposal)
		member, why string // what the error begins with
	}{
		{func(p *Proposal) { p.RetailPrice = "0" }, "retail price", "free"},
		{func(p *Proposal) { p.RetailPrice = "-1" }, "retail price", "negative"},
		{func(p *Proposal) { p.RetailPrice = "1000000" }, "retail price", "too high"},
		{func(p *Proposal) { p.RetailPrice = "1e400" }, "retail price", "out of range of decimals"},
		{func(p *Proposal) { p.ReleaseDate = "2026-02-30" }, "release date", "no such day"},
		{func(p *Proposal) { p.ReleaseDate = "spring" }, "release date", "not a day"},
		{func(p *Proposal) { p.Images = nil }, "images", "none"},
		{func(p *Proposal) { p.Images = []string{"aurora.png"} }, "image", "a file name"},
		{func(p *Proposal) { p.Images = []string{"ftp://images.example.com/a.png"} }, "image", "not http"},
		{func(p *Proposal) { p.GTIN = "036000291453" }, "trade item number", "a wrong check digit of the product"},
		{func(p *Proposal) { p.GTIN = "unknown" }, "trade item number", "no number"},
		{func(p *Proposal) { p.Sizes[0] = "10.5" }, "size", "a repeated size"},
	} {
		_, err := proposed(row.change).Product(proposedID)
		require.Error(t, err, row.why)
		assert.True(t, strings.HasPrefix(err.Error(), row.member+" ") || strings.HasPrefix(err.Error(), row.member+":"),
			"%s: %v", row.why, err)
	}
}
