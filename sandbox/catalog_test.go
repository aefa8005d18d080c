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

func TestSearchIsPaged(t *testing.T) {
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

func TestAStyleIDFindsItsNeighboursToo(t *testing.T) {
	styles := open(t).get("/catalog/search?query=DZ5485-612&pageSize=50").each("products", "styleId")
	assert.Contains(t, styles, "DZ5485-612")
	assert.Contains(t, styles, "DZ5485-106")
}

func TestABlankSearchIsRefusedAndAMisspeltOneForgiven(t *testing.T) {
	m := open(t)
	m.call(http.MethodGet, "/catalog/search?query=+%09", nil).refused(400, `query parameter "query"`, "nothing but space")
	assert.Contains(t, m.get("/catalog/search?query=chicgao").each("products", "styleId"), "DZ5485-612", "two letters are swapped")
	past := m.get("/catalog/search?query=jordan&pageNumber=100000")
	assert.Equal(t, 0, past.len("products"))
	assert.NotEqual(t, json.Number("0"), past.at("count"), "what is counted does not depend on the page")
}

// Whatever is searched for is an answer, not an instruction to the database.
func TestNoTextBreaksTheSearch(t *testing.T) {
	m := open(t)
	for _, text := range []string{
		`"`, `jordan"`, `jordan* OR`, `NEAR(jordan dunk)`, `words:jordan`, "jor\x00dan", "\xff", "\u0301", "ジョーダン", `'; DROP TABLE x;--`,
		"%", strings.Repeat("a ", 50), strings.Repeat("ж", 100), strings.Repeat("chicago ", 12),
	} {
		a := m.call(http.MethodGet, "/catalog/search?query="+url.QueryEscape(text), nil)
		assert.Equal(t, http.StatusOK, a.status, "%q: %v", text, a.body)
	}
}

func TestAProductIsShown(t *testing.T) {
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

func TestEveryProductIsServed(t *testing.T) {
	m := open(t)
	products := sandbox.Catalog()
	require.GreaterOrEqual(t, len(products), 150)
	for _, p := range products {
		assert.Equal(t, p.StyleID, m.get("/catalog/products/%s", p.ID).text("styleId"))
		assert.Len(t, m.get("/catalog/products/%s/variants", p.ID).body, len(p.Variants))
	}
}

func TestAVariantIsFoundByItsTradeItemNumber(t *testing.T) {
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

func TestTradeItemNumbersAreChecked(t *testing.T) {
	m := open(t)
	for _, row := range []struct {
		gtin      string
		status    int
		says, why string
	}{
		{"036000291452", 404, `"036000291452"`, "a UPC of something else"},
		{"73513537", 404, `"73513537"`, "an EAN of eight digits"},
		{"036000291453", 400, `path parameter "gtin": the check digit of 036000291453, its last one, should be 2`, "a wrong check digit"},
		{"4006381333932", 400, "should be 1", "a wrong check digit of an EAN"},
		{"15400141288760", 400, "should be 3", "a wrong check digit of an ITF-14"},
		{"03600029145", 400, "has 11 digits", "one is missing"},
		{"03600029145O", 400, "digits only", "a letter that looks like a zero"},
		{"0-36000-29145-2", 400, "digits only", "as it is printed"},
		{"7cc805a8-e5cf-5ed3-bdee-b00bf511b7ef", 400, "digits only", "an id of a variant"},
	} {
		m.call("GET", "/catalog/products/variants/gtins/"+row.gtin, nil).refused(row.status, row.says, row.why)
	}
}
