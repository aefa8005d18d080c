package sandbox_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestSearch_IsPaged(t *testing.T) {
	m := open(t)
	first := m.get("/catalog/search?query=jordan+1&pageSize=5")
	assert.Equal(t, 5, first.len("products"))
	assert.Equal(t, true, first.at("hasNextPage"))
	second := m.get("/catalog/search?query=jordan+1&pageSize=5&pageNumber=2")
	assert.NotEqual(t, first.text("products", 0, "productId"), second.text("products", 0, "productId"))
	assert.Equal(t, first.at("count"), second.at("count"))
	assert.NotContains(t, first.at("products", 0), "sizeChart", "only a single product has it")
	assert.Equal(t, 0, m.get("/catalog/search?query=zzzzzz").len("products"))
}

func TestSearch_ForgivesAWrongLetter(t *testing.T) {
	m := open(t)
	assert.Contains(t, m.get("/catalog/search?query=chicgao").each("products", "styleId"), "DZ5485-612",
		"two letters are swapped")
	past := m.get("/catalog/search?query=jordan&pageNumber=100000")
	assert.Equal(t, 0, past.len("products"))
	assert.NotEqual(t, json.Number("0"), past.at("count"), "the count does not depend on the page")
}

func TestProducts_HaveAttributesAndVariants(t *testing.T) {
	m := open(t)
	want, variantID := variant(t, "DZ5485-612", "10.5")
	p := m.get("/catalog/products/%s", want.ID)
	assert.Equal(t, "DZ5485-612", p.text("styleId"))
	assert.Equal(t, want.Title, p.text("title"))
	assert.Equal(t, map[string]any{
		"gender": "men", "season": "FW22", "releaseDate": "2022-11-19",
		"colorway": "Varsity Red/Black/Sail/Muslin",
		"color":    "red", "retailPrice": json.Number("180"),
	}, p.at("productAttributes"))
	assert.Equal(t, "us m", p.text("sizeChart", "defaultConversion", "type"))

	variants := m.get("/catalog/products/%s/variants", want.ID)
	assert.Len(t, variants.body, len(want.Variants))
	v := m.get("/catalog/products/%s/variants/%s", want.ID, variantID)
	assert.Equal(t, "10.5", v.text("variantValue"))
	assert.Equal(t, "jordan-1-retro-high-og-chicago-lost-and-found", p.text("urlKey"))
	assert.Equal(t, "Jordan-1-Retro-High-OG-Chicago-Lost-and-Found:14", v.text("variantName"))
	assert.Equal(t, 2, v.len("gtins"))
	assert.Equal(t, v.body, variants.at(14))
}

func TestProducts_AreAllServed(t *testing.T) {
	m := open(t)
	products := sandbox.Catalog()
	require.GreaterOrEqual(t, len(products), 150)
	for _, p := range products {
		assert.Equal(t, p.StyleID, m.get("/catalog/products/%s", p.ID).text("styleId"))
		assert.Len(t, m.get("/catalog/products/%s/variants", p.ID).body, len(p.Variants))
	}
}

// Package catalog has the forms of numbers and their check digits.
func TestGTINs_FindVariants(t *testing.T) {
	m := open(t)
	p, id := variant(t, "DZ5485-612", "10.5")
	want := m.get("/catalog/products/%s/variants/%s", p.ID, id)
	upc, ean := want.text("gtins", 0, "identifier"), want.text("gtins", 1, "identifier")
	const path = "/catalog/products/variants/gtins/"
	for _, gtin := range []string{upc, ean, "0" + upc} {
		assert.Equal(t, want.body, m.get("%s", path+gtin).body, gtin)
	}
	m.call("GET", path+"036000291452", nil).refused(404, "variant with the trade item number", "unknown")
	m.call("GET", path+"036000291453", nil).refused(400, `path parameter "gtin"`, "a wrong check digit")
	m.call("GET", path+id, nil).refused(400, `path parameter "gtin"`, "no number")
}

func TestSearch_ServesABlankQuery(t *testing.T) {
	m := open(t)
	page := m.get("/catalog/search?query=%s", "%20")
	assert.Equal(t, json.Number("0"), page.at("count"))
	assert.Equal(t, 0, page.len("products"))
}

// A trade item number or a URL key finds its product first.
func TestSearch_FindsWhatAQueryNames(t *testing.T) {
	m := open(t)
	product, id := variant(t, "DZ5485-612", "10.5")
	v := m.get("/catalog/products/%s/variants/%s", product.ID, id)
	queries := []string{m.get("/catalog/products/%s", product.ID).text("urlKey")}
	for i := range v.len("gtins") {
		queries = append(queries, v.text("gtins", i, "identifier"))
	}
	require.Len(t, queries, 3)
	for _, query := range queries {
		page := m.get("/catalog/search?query=%s", query)
		assert.Equal(t, product.ID, page.text("products", 0, "productId"), query)
		seen := map[string]bool{}
		for _, id := range page.each("products", "productId") {
			assert.False(t, seen[id], "%s: listed twice", query)
			seen[id] = true
		}
	}
	for _, p := range sandbox.Catalog() {
		key := m.get("/catalog/products/%s", p.ID).text("urlKey")
		assert.Equal(t, p.ID, m.get("/catalog/search?query=%s", key).text("products", 0, "productId"), key)
	}
}

func TestSearch_GuessesAMisspeltWord(t *testing.T) {
	page := open(t).get("/catalog/search?query=%s", "jordan+chicgao")
	assert.Equal(t, "DZ5485-612", page.text("products", 0, "styleId"))
}
