package sandbox_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestMarketDataIsShown(t *testing.T) {
	m := open(t)
	p, v := variant(t, "DZ5485-612", "10.5")
	path := "/catalog/products/" + p.ID + "/variants/" + v + "/market-data"
	usd := m.get("%s", path)
	assert.Equal(t, "USD", usd.text("currencyCode"), "the default")
	assert.Equal(t, usd.at("lowestAskAmount"), usd.at("standardMarketData", "lowestAsk"))
	assert.Equal(t, usd.body, m.get("%s?currencyCode=USD&country=DE", path).body, "the country is accepted and ignored")
	assert.Equal(t, usd.body, open(t).get("%s", path).body, "the same seed, the same market")
	other := open(t, func(o *sandbox.Options) { o.Seed = 2 })
	assert.NotEqual(t, usd.body, other.get("%s", path).body, "another seed, another market")

	jpy := m.get("%s?currencyCode=JPY", path)
	assert.Equal(t, "JPY", jpy.text("currencyCode"))
	assert.NotContains(t, jpy.text("highestBidAmount"), ".", "the yen has no smaller unit")

	all := m.get("/catalog/products/%s/market-data?currencyCode=USD", p.ID)
	assert.Len(t, all.body, len(p.Variants))
	assert.Equal(t, usd.body, all.at(14))
	m.call("GET", path+"?currencyCode=XXX", nil).refused(400, "currencyCode", "no such currency")
}

func TestAMissingAmountMeansThereIsNone(t *testing.T) {
	m := open(t)
	var noAsk, noBid int
	for _, p := range sandbox.Catalog()[:20] {
		a := m.get("/catalog/products/%s/market-data", p.ID)
		for i := range p.Variants {
			if a.at(i, "lowestAskAmount") == nil {
				noAsk++
				assert.Nil(t, a.at(i, "sellFasterAmount"))
			}
			if a.at(i, "highestBidAmount") == nil {
				noBid++
			}
		}
	}
	assert.Positive(t, noAsk)
	assert.Positive(t, noBid)
}

func TestOurOwnAsksAreOnTheMarket(t *testing.T) {
	m := open(t)
	p, v := variant(t, "DZ5485-612", "10.5")
	path := "/catalog/products/" + p.ID + "/variants/" + v + "/market-data"
	before := m.get("%s", path).at("lowestAskAmount")
	id := m.sell("1")
	assert.Equal(t, "1", m.get("%s", path).text("lowestAskAmount"))
	assert.NotEqual(t, "1", m.get("%s?currencyCode=EUR", path).text("lowestAskAmount"), "every currency has its own book")
	m.call("PUT", "/selling/listings/"+id+"/deactivate", nil)
	m.settle()
	assert.Equal(t, before, m.get("%s", path).at("lowestAskAmount"))
}

func TestAVariantOfAnotherProductIsAValidationError(t *testing.T) {
	p, _ := variant(t, "DZ5485-612", "10.5")
	_, v := variant(t, "DD1391-100", "10.5")
	open(t).call("GET", "/catalog/products/"+p.ID+"/variants/"+v+"/market-data", nil).
		refused(400, "does not contain", "the rule of the service")
}
