package sandbox_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
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

func TestSearch_StyleIDFindsItsNeighbours(t *testing.T) {
	styles := open(t).get("/catalog/search?query=DZ5485-612&pageSize=50").each("products", "styleId")
	assert.Contains(t, styles, "DZ5485-612")
	assert.Contains(t, styles, "DZ5485-106")
}

func TestSearch_ForgivesAWrongLetter(t *testing.T) {
	m := open(t)
	assert.Contains(t, m.get("/catalog/search?query=chicgao").each("products", "styleId"), "DZ5485-612", "two letters are swapped")
	past := m.get("/catalog/search?query=jordan&pageNumber=100000")
	assert.Equal(t, 0, past.len("products"))
	assert.NotEqual(t, json.Number("0"), past.at("count"), "the count does not depend on the page")
}

func TestSearch_AcceptsAnyText(t *testing.T) {
	m := open(t)
	for _, text := range []string{
		`"`, `jordan"`, `jordan* OR`, `NEAR(jordan dunk)`, `words:jordan`, "jor\x00dan", "\xff", "\u0301", "ジョーダン", `'; DROP TABLE x;--`,
		"%", strings.Repeat("a ", 50), strings.Repeat("ж", 100), strings.Repeat("chicago ", 12),
	} {
		a := m.call(http.MethodGet, "/catalog/search?query="+url.QueryEscape(text), nil)
		assert.Equal(t, http.StatusOK, a.status, "%q: %v", text, a.body)
	}
}

func TestProducts_HaveAttributesAndVariants(t *testing.T) {
	m := open(t)
	want, variantID := variant(t, "DZ5485-612", "10.5")
	p := m.get("/catalog/products/%s", want.ID)
	assert.Equal(t, "DZ5485-612", p.text("styleId"))
	assert.Equal(t, want.Title, p.text("title"))
	assert.Equal(t, map[string]any{
		"gender": "men", "season": "FW22", "releaseDate": "2022-11-19", "colorway": "Varsity Red/Black/Sail/Muslin",
		"color": "red", "retailPrice": json.Number("180"),
	}, p.at("productAttributes"))
	assert.Equal(t, "us m", p.text("sizeChart", "defaultConversion", "type"))

	variants := m.get("/catalog/products/%s/variants", want.ID)
	assert.Len(t, variants.body, len(want.Variants))
	v := m.get("/catalog/products/%s/variants/%s", want.ID, variantID)
	assert.Equal(t, "10.5", v.text("variantValue"))
	assert.Equal(t, p.text("urlKey")+":14", v.text("variantName"))
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

func TestGTINs_FindVariantsInEveryForm(t *testing.T) {
	m := open(t)
	p, id := variant(t, "DZ5485-612", "10.5")
	want := m.get("/catalog/products/%s/variants/%s", p.ID, id)
	upc, ean := want.text("gtins", 0, "identifier"), want.text("gtins", 1, "identifier")
	for _, row := range []struct{ gtin, why string }{
		{upc, "its UPC"},
		{ean, "its EAN"},
		{"0" + upc, "its UPC written as an EAN"},
		{"00" + upc, "its UPC written as an ITF-14"},
	} {
		assert.Equal(t, want.body, m.get("/catalog/products/variants/gtins/%s", row.gtin).body, row.why)
	}
}

func TestGTINs_AreChecked(t *testing.T) {
	m := open(t)
	for _, row := range []struct {
		gtin   string
		status int
		why    string
	}{
		{"036000291452", 404, "a UPC of something else"},
		{"73513537", 404, "an EAN of eight digits"},
		{"036000291453", 400, "a wrong check digit"},
		{"4006381333932", 400, "a wrong check digit of an EAN"},
		{"15400141288760", 400, "a wrong check digit of an ITF-14"},
		{"03600029145", 400, "one is missing"},
		{"03600029145O", 400, "a letter that looks like a zero"},
		{"0-36000-29145-2", 400, "as it is printed"},
		{"7cc805a8-e5cf-5ed3-bdee-b00bf511b7ef", 400, "an id of a variant"},
	} {
		what := map[int]string{404: "variant with the trade item number", 400: `path parameter "gtin"`}[row.status]
		m.call("GET", "/catalog/products/variants/gtins/"+row.gtin, nil).refused(row.status, what, row.why)
	}
}
