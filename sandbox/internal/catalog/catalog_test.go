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

func TestCatalog_IsCompleteAndUnambiguous(t *testing.T) {
	c := load(t)
	require.GreaterOrEqual(t, len(c.Products()), 150)
	seen := map[string]bool{}
	once := func(key string) {
		t.Helper()
		require.False(t, seen[key], "%s is repeated", key)
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
			assert.True(t, strings.EqualFold(p.URLKey, strings.Split(v.Name, ":")[0]), v.Name)
			assert.NotEmpty(t, v.Sizes, v.Name)
			for _, g := range p.Variants[i].GTINs {
				once("gtin " + g.Identifier)
			}
		}
	}
	for _, want := range []string{
		"sneakers", "shoes", "apparel", "accessories", "collectibles", "electronics",
		"trading cards",
	} {
		assert.Positive(t, types[want], want)
	}
}

// Programs may store ids.
func TestCatalog_IDsNeverChange(t *testing.T) {
	p := byStyle(t, load(t), "DZ5485-612")
	assert.Equal(t, "2eb59961-b445-5044-8c10-76efaf210e63", p.ID)
	assert.Equal(t, "7cc805a8-e5cf-5ed3-bdee-b00bf511b7ef", p.Variants[14].ID)
	assert.Equal(t, "10.5", p.Variants[14].Size)
	assert.Equal(t, "Jordan-1-Retro-High-OG-Chicago-Lost-and-Found:14", p.Variants[14].Name)
}

func TestCatalog_DerivesAttributes(t *testing.T) {
	p := byStyle(t, load(t), "DZ5485-612")
	assert.Equal(t, "red", p.Color)
	assert.Equal(t, "FW22", p.Season)
	assert.Equal(t, "men", p.Gender)
	assert.Equal(t, "180", p.RetailPrice.String())
}

func TestCatalog_ConvertsSizes(t *testing.T) {
	v := byStyle(t, load(t), "DZ5485-612").Variants[14]
	var got []string
	for _, s := range v.Sizes {
		got = append(got, s.Text)
	}
	assert.Equal(t, []string{"US M 10.5", "US W 12", "UK 9.5", "CM 28.5"}, got)
}
