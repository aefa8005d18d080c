package catalog

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func load(t *testing.T) *Catalog {
	t.Helper()
	c, err := Load()
	require.NoError(t, err)
	return c
}

func byStyle(t *testing.T, c *Catalog, style string) *Product {
	t.Helper()
	for _, p := range c.Products() {
		if p.StyleID == style {
			return p
		}
	}
	require.Fail(t, "not in the catalog", style)
	return nil
}

func TestCatalogIsCompleteAndUnambiguous(t *testing.T) {
	c := load(t)
	require.GreaterOrEqual(t, len(c.Products()), 150)
	seen := map[string]bool{}
	once := func(key string) {
		t.Helper()
		require.False(t, seen[key], "%s stands twice", key)
		seen[key] = true
	}
	types := map[string]int{}
	for _, p := range c.Products() {
		types[p.Type]++
		once(p.ID)
		once("style " + p.StyleID)
		once("key " + p.URLKey)
		assert.Positive(t, p.RetailPrice.Sign(), p.StyleID)
		assert.NotEmpty(t, p.Variants, p.StyleID)
		for i, v := range p.Variants {
			require.NoError(t, uuid.Validate(v.ID))
			once(v.ID)
			once(p.StyleID + " in " + v.Size)
			assert.Same(t, p, v.Product)
			assert.True(t, strings.HasPrefix(v.Name, p.URLKey+":"), v.Name)
			assert.NotEmpty(t, v.Sizes, v.Name)
			for _, g := range p.Variants[i].GTINs {
				once("gtin " + g.Identifier)
			}
		}
	}
	for _, want := range []string{"sneakers", "shoes", "apparel", "accessories", "collectibles", "electronics", "trading cards"} {
		assert.Positive(t, types[want], want)
	}
}

// Programs written against the sandbox may keep ids; they must never change.
func TestIDsAreStable(t *testing.T) {
	p := byStyle(t, load(t), "DZ5485-612")
	assert.Equal(t, "2eb59961-b445-5044-8c10-76efaf210e63", p.ID)
	assert.Equal(t, "7cc805a8-e5cf-5ed3-bdee-b00bf511b7ef", p.Variants[14].ID)
	assert.Equal(t, "10.5", p.Variants[14].Size)
	assert.Equal(t, "Jordan-1-Retro-High-OG-Chicago-Lost-and-Found:14", p.Variants[14].Name)
}

func TestAttributesAreReadFromTheRow(t *testing.T) {
	p := byStyle(t, load(t), "DZ5485-612")
	assert.Equal(t, "red", p.Color)
	assert.Equal(t, "FW22", p.Season)
	assert.Equal(t, "men", p.Gender)
	assert.Equal(t, "180", p.RetailPrice.String())
}

func TestSizesAreConverted(t *testing.T) {
	v := byStyle(t, load(t), "DZ5485-612").Variants[14]
	var got []string
	for _, s := range v.Sizes {
		got = append(got, s.Text)
	}
	assert.Equal(t, []string{"US M 10.5", "US W 12", "UK 9.5", "CM 28.5"}, got)
}

func TestCheckDigitMakesGTINsValid(t *testing.T) {
	for _, row := range []struct{ digits, want, why string }{
		{"03600029145", "2", "the UPC of the textbooks"},
		{"400638133393", "1", "the EAN of the textbooks"},
		{"1540014128876", "3", "an ITF-14"},
		{"00000000000", "0", "a sum that already ends in zero"},
	} {
		assert.Equal(t, row.want, checkDigit(row.digits), row.why)
	}
}

func TestSearchIsFuzzy(t *testing.T) {
	c := load(t)
	styles := func(query string) []string {
		var found []string
		for _, p := range c.Search(query) {
			found = append(found, p.StyleID)
		}
		return found
	}
	for _, row := range []struct{ query, finds, why string }{
		{"DZ5485-612", "DZ5485-612", "a style id finds its product"},
		{"DZ5485-612", "DZ5485-106", "and the products next to it"},
		{"dz5485", "DZ5485-612", "case and colour code do not matter"},
		{"lost and found", "FD1437-612", "words of the title"},
		{"nuptse black jacket", "NF0A3C8D-LE4", "in any order"},
		{"playstat", "CFI-1215A", "the beginning of a word"},
		{"panda dunk quickly please", "DD1391-100", "half of the words are enough"},
	} {
		assert.Contains(t, styles(row.query), row.finds, row.why)
	}
	assert.Empty(t, styles("zzzzzz"), "nonsense finds nothing")
	assert.Empty(t, styles(" - "), "no words find nothing")
	assert.NotContains(t, styles("DZ5485-612"), "DD1391-100", "a style id finds only its neighbours")
}

func TestTheExactStyleIsNotNecessarilyTheFirstHit(t *testing.T) {
	c := load(t)
	elsewhere := 0
	for _, p := range c.Products() {
		hits := c.Search(p.StyleID)
		require.NotEmpty(t, hits, p.StyleID)
		require.Contains(t, hits, p, p.StyleID)
		if hits[0] != p {
			elsewhere++
		}
	}
	assert.Greater(t, elsewhere, 20)
}
