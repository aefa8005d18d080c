package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// aurora returns a sneaker that the catalog does not have, with changes; nil removes a member.
func aurora(changes map[string]any) map[string]any {
	p := map[string]any{
		"category": "sneakers", "productTitle": "Trail Runner Aurora", "brand": "Fjord",
		"productImages": []any{"https://images.example.com/aurora.png"},
		"variants":      []any{"10", "10.5"},
		"retailPrice":   "129.5", "releaseDate": "2026-03-01", "countryOfOrigin": "NO",
		"colorway": "Polar Blue/White",
		"gtin":     "4006381333931", "gender": "men", "styleCode": "FJ2045-400",
		"partnerProductId": "aurora-400",
	}
	for member, value := range changes {
		if p[member] = value; value == nil {
			delete(p, member)
		}
	}
	return p
}

// auroraPath finds aurora by its trade item number.
const auroraPath = "/catalog/products/variants/gtins/4006381333931"

// ingest ingests products and returns the path of the ingestion.
func (m *market) ingest(products ...map[string]any) string {
	m.t.Helper()
	a := m.call(http.MethodPost, "/catalog/ingestion", map[string]any{"items": products})
	require.Equal(m.t, http.StatusCreated, a.status, "%v", a.body)
	return "/catalog/ingestion/" + a.text("ingestionId")
}

func TestIngestion_ReviewedProductIsInTheCatalog(t *testing.T) {
	m := open(t)
	path := m.ingest(aurora(nil))
	item := m.get("%s", path)
	assert.Equal(t, "In Review", item.text("items", 0, "status"))
	assert.Equal(t, "aurora-400", item.text("items", 0, "partnerProductId"))
	assert.Nil(t, item.at("items", 0, "result"))
	m.call(http.MethodGet, auroraPath, nil).
		refused(404, "variant with the trade item number", "it is not in the catalog before the end of the review")
	m.pass(sandbox.DefaultReview - time.Second)
	assert.Equal(t, "In Review", m.get("%s", path).text("items", 0, "status"),
		"a review takes a minute")

	m.pass(time.Second)
	item = m.get("%s", path)
	assert.Equal(t, "Completed", item.text("items", 0, "status"))
	assert.Equal(t, "Fjord", item.text("items", 0, "result", "brand"))
	assert.Equal(t, "Trail Runner Aurora", item.text("items", 0, "result", "title"))
	assert.Nil(t, item.at("items", 0, "rejectionDetails"))
	sent, err := json.Marshal(aurora(nil))
	require.NoError(t, err)
	shown, err := json.Marshal(item.at("items", 0, "input"))
	require.NoError(t, err)
	assert.JSONEq(t, string(sent), string(shown), "the input as it was sent")

	byNumber := m.get(auroraPath)
	product, variant := byNumber.text("productId"), byNumber.text("variantId")
	assert.Equal(t, variant, item.text("items", 0, "result", "variantId"),
		"the variant with the number of the product")
	assert.Equal(t, "10", byNumber.text("variantValue"))
	p := m.get("/catalog/products/%s", product)
	assert.Equal(t, "FJ2045-400", p.text("styleId"))
	assert.Equal(t, "SS26", p.text("productAttributes", "season"))
	assert.Equal(t, json.Number("129.5"), p.at("productAttributes", "retailPrice"))
	assert.Len(t, m.get("/catalog/products/%s/variants", product).body, 2)
	assert.Equal(t, byNumber.body, m.get("/catalog/products/%s/variants/%s", product, variant).body)
	for _, query := range []string{"fjord+aurora", "FJ2045-999", "trail+runer+auora"} {
		assert.Contains(t, m.get("/catalog/search?query=%s", query).each("products", "productId"),
			product, query)
	}
	assert.Len(t, m.get("/catalog/products/%s/market-data", product).body, 2, "it has a market")
	assert.Equal(t, variant,
		m.get("/catalog/products/%s/variants/%s/market-data", product, variant).text("variantId"))

	op := m.call(http.MethodPost, "/selling/listings", map[string]any{"variantId": variant, "amount": "200"})
	require.Equal(t, http.StatusCreated, op.status, "it can be sold")
	m.settle()
	listing := m.get("/selling/listings/%s", op.text("listingId"))
	assert.Equal(t, "ACTIVE", listing.text("status"))
	assert.Equal(t, "Trail Runner Aurora", listing.text("product", "productName"))
}

func TestIngestion_AcceptsAnyTitle(t *testing.T) {
	m := open(t)
	for i, title := range []string{"\x00", "???", `"'*`, "\u0301", "靴", strings.Repeat("long ", 200)} {
		path := m.ingest(aurora(map[string]any{
			"category": "apparel", "material": "cotton", "productTitle": title, "gtin": nil, "styleCode": nil,
			"variants": []any{"One Size"},
		}))
		m.pass(time.Hour)
		assert.Equal(t, title, m.get("%s", path).text("items", 0, "result", "title"))
		assert.Equal(t, json.Number(strconv.Itoa(i+1)), m.get("/catalog/search?query=fjord").at("count"))
	}
}

func TestIngestion_RefusesIncompleteProposals(t *testing.T) {
	m := open(t)
	for _, row := range []struct {
		changes   map[string]any
		what, why string
	}{
		{map[string]any{"brand": nil}, "/items/1/brand", "a required member is missing"},
		{
			map[string]any{"productTitle": strings.Repeat("x", 1001)},
			"/items/1/productTitle",
			"every listing of it and the names of its sizes repeat the title",
		},
		{map[string]any{"countryOfOrigin": nil}, "/items/1/countryOfOrigin", "a required member is missing"},
		{map[string]any{"category": "boats"}, "/items/1/category", "a category that does not exist"},
		{map[string]any{"retailPrice": 129.50}, "/items/1/retailPrice", "a number where a text belongs"},
		{map[string]any{"variants": []any{map[string]any{"size": "10"}}}, "/items/1/variants/0", "an object where a text belongs"},
		{map[string]any{"variants": []any{" "}}, "/items/1/variants/0", "a blank size"},
		{map[string]any{"variants": []any{}}, "/items/1/variants", "no sizes"},
		{map[string]any{"productTitle": ""}, "/items/1/productTitle", "a blank title"},
		{map[string]any{"styleCode": nil}, "/items/1/styleCode", "sneakers have a style"},
		{map[string]any{"gtin": nil}, "/items/1/gtin", "sneakers have a number"},
		{map[string]any{"gender": nil, "category": "shoes"}, "/items/1/gender", "shoes have a gender"},
		{map[string]any{"category": "apparel"}, "/items/1/material", "apparel has a material"},
		{map[string]any{"colorway": "\t", "category": "shoes"}, "/items/1/colorway", "shoes have a colour"},
	} {
		m.call(http.MethodPost, "/catalog/ingestion", map[string]any{"items": []any{aurora(nil), aurora(row.changes)}}).
			refused(http.StatusBadRequest, row.what, row.why)
	}
	m.call(http.MethodPost, "/catalog/ingestion", `{"items":[]}`).
		refused(400, "/items", "no elements")
	many := make([]map[string]any, 101)
	for i := range many {
		many[i] = aurora(nil)
	}
	m.call(http.MethodPost, "/catalog/ingestion", map[string]any{"items": many}).
		refused(400, "/items", "too many elements")
	m.pass(time.Hour)
	m.call(http.MethodGet, auroraPath, nil).
		refused(404, "variant with the trade item number", "all are refused")
}

// Package catalog has more of what is impossible.
func TestIngestion_ReviewRejectsImpossibleProducts(t *testing.T) {
	known, _ := variant(t, "DZ5485-612", "10.5")
	for _, row := range []struct {
		changes   map[string]any
		what, why string
	}{
		{map[string]any{"brand": "jordan", "styleCode": "dz5485-612"}, "product " + known.ID, "its style is known"},
		{map[string]any{"category": "collectibles", "styleCode": nil, "brand": known.Brand, "productTitle": known.Title}, "product " + known.ID, "without a style, its title is known"},
		{map[string]any{"gtin": "036000291453"}, "trade item number", "a wrong check digit"},
		{map[string]any{"releaseDate": "1899-12-31"}, "release date", "too early"},
		{map[string]any{"releaseDate": "2028-11-03"}, "release date", "more than two years ahead"},
		{map[string]any{"retailPrice": "0"}, "retail price", "free"},
		{map[string]any{"productImages": []any{}}, "images", "none"},
	} {
		m := open(t)
		path := m.ingest(aurora(row.changes), aurora(map[string]any{"styleCode": "FJ1-1", "productTitle": "Another"}))
		m.pass(time.Hour)
		items := m.get("%s", path)
		assert.Equal(t, "Rejected", items.text("items", 0, "status"), row.why)
		assert.Regexp(t, "^"+row.what+`\b`, items.text("items", 0, "rejectionDetails", "reason"), row.why)
		assert.Nil(t, items.at("items", 0, "result"), row.why)
		assert.Equal(t, "Completed", items.text("items", 1, "status"),
			"%s: the others are accepted", row.why)
	}
}

func TestIngestion_TradeItemNumbersAreUnique(t *testing.T) {
	m := open(t)
	p, id := variant(t, "DZ5485-612", "10.5")
	taken := m.get("/catalog/products/%s/variants/%s", p.ID, id).text("gtins", 0, "identifier")
	path := m.ingest(aurora(map[string]any{"gtin": taken}))
	m.pass(time.Hour)
	assert.Contains(t, m.get("%s", path).text("items", 0, "rejectionDetails", "reason"), id)
}

func TestIngestion_AcceptsTheFirstOfEqualProposals(t *testing.T) {
	m := open(t)
	inOne := m.ingest(aurora(nil), aurora(map[string]any{"gtin": "036000291452"}))
	later := m.ingest(aurora(map[string]any{"styleCode": "FJ2045-401"}))
	m.pass(time.Hour)
	items := m.get("%s", inOne)
	assert.Equal(t, []string{"Completed", "Rejected"}, items.each("items", "status"))
	assert.Regexp(t, "^product ", items.text("items", 1, "rejectionDetails", "reason"))
	assert.Regexp(t, "^trade item number .4006381333931.", m.get("%s", later).text("items", 0, "rejectionDetails", "reason"))
	assert.Equal(t, 1, m.get("/catalog/search?query=aurora").len("products"))
}

func TestIngestion_IsFilteredByStatus(t *testing.T) {
	m := open(t)
	path := m.ingest(aurora(nil), aurora(map[string]any{"retailPrice": "0"}), aurora(nil))
	assert.Equal(t, 3, m.get("%s?status=In+Review", path).len("items"))
	assert.Equal(t, 0, m.get("%s?status=Completed", path).len("items"))
	m.pass(time.Hour)
	assert.Equal(t, 0, m.get("%s?status=In+Review", path).len("items"))
	assert.Equal(t, 1, m.get("%s?status=Completed", path).len("items"))
	assert.Equal(t, 2, m.get("%s?status=Rejected", path).len("items"))
	assert.Equal(t, 2, m.get("%s?status=REJECTED", path).len("items"), "in any case")
	assert.Equal(t, 0, m.get("%s?status=Accepted", path).len("items"), "no such status")
	assert.Equal(t, 0, m.get("%s?status=Completed,Rejected", path).len("items"), "one status only")
}

func TestIngestion_BelongsToItsAccountAndTheProductToAll(t *testing.T) {
	m := open(t)
	stranger := m.add("stranger")
	path := m.ingest(aurora(nil))
	m.pass(time.Hour)
	variant := m.get("%s", path).text("items", 0, "result", "variantId")
	stranger.call(http.MethodGet, path, nil).
		refused(400, "ingestion", "it belongs to another account")
	m.call(http.MethodGet, "/catalog/ingestion/"+unknownID, nil).
		refused(400, "ingestion", "it does not exist")
	m.call(http.MethodGet, "/catalog/ingestion/1", nil).
		refused(400, `path parameter "ingestionId"`, "no id")

	found := stranger.call(http.MethodGet, auroraPath, nil)
	assert.Equal(t, variant, found.text("variantId"))
	assert.Equal(t, 1, stranger.call(http.MethodGet, "/catalog/search?query=aurora", nil).len("products"))
	sold := stranger.call(http.MethodPost, "/selling/listings", map[string]any{"variantId": variant, "amount": "200"})
	assert.Equal(t, http.StatusCreated, sold.status)
	open(t).call(http.MethodGet, auroraPath, nil).
		refused(404, "variant with the trade item number", "other sandboxes do not have it")
}

func TestIngestion_ReviewSurvivesARestart(t *testing.T) {
	file := tempFile(t)
	killed := open(t, inFile(file))
	early := killed.ingest(aurora(nil))
	killed.pass(30 * time.Second)
	var others []map[string]any
	for _, style := range []string{"FJ1-1", "FJ1-2", "FJ1-3"} {
		others = append(others, aurora(map[string]any{"styleCode": style, "gtin": "036000291452", "variants": []any{style}}))
	}
	late := killed.ingest(others...)
	killed.pass(30 * time.Second)
	before := killed.get("%s", early)
	require.Equal(t, "Completed", before.text("items", 0, "status"))
	require.Equal(t, []string{"In Review", "In Review", "In Review"}, killed.get("%s", late).each("items", "status"))

	next := open(t, inFile(asKilled(t, file)))
	assert.Equal(t, before.body, next.get("%s", early).body)
	variant := before.text("items", 0, "result", "variantId")
	assert.Equal(t, variant, next.get(auroraPath).text("variantId"),
		"its products are found at once")
	assert.Equal(t, 1, next.get("/catalog/search?query=aurora").len("products"))
	next.pass(time.Hour)
	assert.Equal(t, []string{"Completed", "Rejected", "Rejected"}, next.get("%s", late).each("items", "status"), "the number belongs to the first one")
	assert.Equal(t, 2, next.get("/catalog/search?query=aurora").len("products"),
		"every review ended once")
}
