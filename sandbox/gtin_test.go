package sandbox_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

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
