package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestMarketData_HasAllFigures(t *testing.T) {
	m := open(t)
	p, v := variant(t, "DZ5485-612", "10.5")
	path := "/catalog/products/" + p.ID + "/variants/" + v + "/market-data"
	usd := m.get("%s", path)
	assert.Equal(t, "USD", usd.text("currencyCode"), "the default")
	assert.Equal(t, usd.at("lowestAskAmount"), usd.at("standardMarketData", "lowestAsk"))
	assert.Equal(t, usd.body, m.get("%s?currencyCode=USD&country=DE", path).body,
		"the country is accepted and ignored")
	assert.Equal(t, usd.body, open(t).get("%s", path).body, "the same seed, the same market")
	other := open(t, func(o *sandbox.Options) { o.Seed = 2 })
	assert.NotEqual(t, usd.body, other.get("%s", path).body, "another seed, another market")

	jpy := m.get("%s?currencyCode=JPY", path)
	assert.Equal(t, "JPY", jpy.text("currencyCode"))
	assert.NotContains(t, jpy.text("highestBidAmount"), ".", "the yen has no smaller unit")

	all := m.get("/catalog/products/%s/market-data?currencyCode=USD", p.ID)
	assert.Len(t, all.body, len(p.Variants))
	assert.Equal(t, usd.body, all.at(14))
	m.call("GET", path+"?currencyCode=XXX", nil).
		refused(400, `query parameter "currencyCode"`, "no such currency")
}

func TestMarketData_MissingAmountsAreNull(t *testing.T) {
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

func TestMarketData_IncludesListings(t *testing.T) {
	m := open(t)
	p, v := variant(t, "DZ5485-612", "10.5")
	path := "/catalog/products/" + p.ID + "/variants/" + v + "/market-data"
	before := m.get("%s", path).at("lowestAskAmount")
	id := m.sell("1")
	assert.Equal(t, "1", m.get("%s", path).text("lowestAskAmount"))
	assert.NotEqual(t, "1", m.get("%s?currencyCode=EUR", path).text("lowestAskAmount"),
		"every currency has its own book")
	m.call("PUT", "/selling/listings/"+id+"/deactivate", nil)
	m.settle()
	assert.Equal(t, before, m.get("%s", path).at("lowestAskAmount"))
}

func TestMarketData_RefusesVariantsOfAnotherProduct(t *testing.T) {
	p, _ := variant(t, "DZ5485-612", "10.5")
	_, v := variant(t, "DD1391-100", "10.5")
	open(t).call("GET", "/catalog/products/"+p.ID+"/variants/"+v+"/market-data", nil).
		refused(400, `path parameter "variantId"`, "the rule of the service")
}

// quote reads the market of the variant that tests sell.
func (m *market) quote(currency string) response {
	m.t.Helper()
	p, v := variant(m.t, "DZ5485-612", "10.5")
	return m.get("/catalog/products/%s/variants/%s/market-data?currencyCode=%s", p.ID, v, currency)
}

func (m *market) bid(amount string) string {
	m.t.Helper()
	b, err := m.Bid(m.t.Context(), chicago(m.t), "USD", amount)
	require.NoError(m.t, err)
	require.Equal(m.t, b.OrderNumber == "", b.Reason != "", "a bid without an order has a reason: %v", b)
	return b.OrderNumber
}

// around returns the lowest ask of the generated book and a price ten dollars below it.
func (m *market) around() (generated, below int64) {
	m.t.Helper()
	generated, err := strconv.ParseInt(m.quote("USD").text("lowestAskAmount"), 10, 64)
	require.NoError(m.t, err)
	require.Greater(m.t, generated, int64(20))
	return generated, generated - 10
}

func usd(n int64) string { return strconv.FormatInt(n, 10) }

func TestBids_BuyAtThePriceOfTheAsk(t *testing.T) {
	m := open(t)
	_, price := m.around()
	cheap, dear := m.sell(usd(price)), m.sell(usd(price+1))
	assert.Empty(t, m.bid(usd(price-1)), "below every ask")
	number := m.bid(usd(price + 100))
	require.NotEmpty(t, number)
	o := m.get("/selling/orders/%s", number)
	assert.Equal(t, cheap, o.text("listingId"), "the cheapest")
	assert.Equal(t, usd(price), o.text("amount"), "not the amount of the bid")
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", cheap).text("status"))
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", dear).text("status"))
	assert.NotEmpty(t, m.bid(usd(price+1)), "a bid that is just enough")
	assert.Equal(t, usd(price-1), m.quote("USD").text("highestBidAmount"),
		"the first bid is still open")
}

func TestBids_BuyListingsThatGoLive(t *testing.T) {
	for _, row := range []struct {
		goesLive func(m *market, price string) string
		why      string
	}{
		{func(m *market, price string) string {
			a := m.createListing(price, nil)
			return a.text("listingId")
		}, "a new listing"},
		{func(m *market, price string) string {
			path := m.batch("create-listing", map[string]any{"variantId": chicago(m.t), "amount": price, "quantity": 1})
			m.settle()
			return m.get("%s/items", path).text("items", 0, "result", "listingId")
		}, "an item of a batch"},
		{func(m *market, price string) string {
			a := m.createListing(price, map[string]any{"active": false})
			m.settle()
			m.call(http.MethodPut, "/selling/listings/"+a.text("listingId")+"/activate", map[string]any{})
			return a.text("listingId")
		}, "a listing that is activated"},
		{func(m *market, price string) string {
			id := m.sell("90000")
			m.call(http.MethodPatch, "/selling/listings/"+id, map[string]any{"amount": price})
			return id
		}, "a listing that becomes cheaper"},
	} {
		t.Run(row.why, func(t *testing.T) {
			m := open(t)
			_, price := m.around()
			assert.Empty(t, m.bid(usd(price)))
			assert.Empty(t, m.bid(usd(price+5)))
			id := row.goesLive(m, usd(price))
			m.settle()
			l := m.get("/selling/listings/%s", id)
			require.Equal(t, "MATCHED", l.text("status"))
			order := m.get("/selling/orders/%s", l.text("order", "orderNumber"))
			assert.Equal(t, usd(price+5), order.text("amount"), "the buyer pays the standing bid")
			assert.Equal(t, json.Number(usd(price+5)), order.at("payout", "salePrice"))
			assert.Equal(t, json.Number(usd(price+5)), l.at("payout", "salePrice"))
			assert.Equal(t, usd(price), l.text("amount"), "the listing keeps its ask")
			assert.Equal(t, usd(price), m.quote("USD").text("highestBidAmount"),
				"the higher of the two has bought")
		})
	}
}

func TestBids_WaitWhileTheGeneratedAskIsLower(t *testing.T) {
	m := open(t)
	generated, _ := m.around()
	id := m.sell(usd(generated + 10))
	assert.Empty(t, m.bid(usd(generated+10)), "a buyer takes the lowest ask")
	q := m.quote("USD")
	assert.Equal(t, usd(generated), q.text("lowestAskAmount"))
	if bid := q.at("highestBidAmount"); bid != nil {
		n, err := strconv.ParseInt(bid.(string), 10, 64)
		require.NoError(t, err)
		assert.Less(t, n, generated, "the bid is not shown, or the book would be crossed")
	}
	m.call(http.MethodPatch, "/selling/listings/"+id, map[string]any{"amount": usd(generated)})
	m.settle()
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", id).text("status"),
		"it buys once it is the lowest ask")
}

func TestBids_BuyWhenAnotherSeedBringsThemIntoReach(t *testing.T) {
	m := open(t)
	generated, _ := m.around()
	listing := m.sell(usd(generated + 1))
	assert.Empty(t, m.bid(usd(generated+1)), "the generated ask is lower")
	for seed := uint64(1); m.get("/selling/listings/%s", listing).text("status") == "ACTIVE"; seed++ {
		require.Less(t, seed, uint64(50), "with one of the seeds it is higher")
		require.NoError(t, m.Reseed(t.Context(), seed))
		m.pass(0)
		if ask := m.quote("USD").at("lowestAskAmount"); ask == usd(generated+1) {
			require.Equal(t, "MATCHED", m.get("/selling/listings/%s", listing).text("status"))
		}
	}
}

// Steps read no bids that no ask came to reach. The bid of the test is inserted without the sandbox.
func TestBids_AreMatchedWhereAnAskChanged(t *testing.T) {
	file := tempFile(t)
	m := open(t, inFile(file))
	_, price := m.around()
	id := m.sell(usd(price))
	execute(t, file, `INSERT INTO bids (variant_id, currency, amount, created_at) VALUES (?, 'USD', ?, 0)`, chicago(t), 100*price)
	m.settle()
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", id).text("status"), "no ask changed")
	m.call(http.MethodPatch, "/selling/listings/"+id, map[string]any{"amount": usd(price - 1)})
	m.settle()
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", id).text("status"), "its ask changed")
}

func TestMarketData_HasTheHighestBid(t *testing.T) {
	m := open(t)
	generated, price := m.around()
	for i := range int64(20) {
		m.bid(usd(price + i)) // half of them are above the generated ask
	}
	assert.Equal(t, usd(generated-1), m.quote("USD").text("highestBidAmount"))
}

func TestBids_GeneratedOnesBuyNothing(t *testing.T) {
	m := open(t)
	require.NotNil(t, m.quote("USD").at("highestBidAmount"))
	id := m.sell("1")
	q := m.quote("USD")
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", id).text("status"),
		"until a test sells it")
	assert.Equal(t, "1", q.text("lowestAskAmount"))
	assert.Nil(t, q.at("highestBidAmount"), "bids that reach it are not shown")
}

// A listing at the highest bid of the book is sold at that bid, which is then gone.
func TestBook_TradesByOption(t *testing.T) {
	m := open(t, func(o *sandbox.Options) { o.BookTrades, o.Seed = true, 7 }) // where the book has several bids
	before := m.quote("USD")
	highest := before.text("highestBidAmount")
	for _, row := range []struct {
		discount int64
		why      string
	}{{0, "at the bid"}, {5, "below the next bid"}} {
		n, err := strconv.ParseInt(m.quote("USD").text("highestBidAmount"), 10, 64)
		require.NoError(t, err)
		l := m.get("/selling/listings/%s", m.sell(usd(n-row.discount)))
		require.Equal(t, "MATCHED", l.text("status"), row.why)
		assert.Equal(t, usd(n), m.get("/selling/orders/%s", l.text("order", "orderNumber")).text("amount"), row.why)
	}
	after := m.quote("USD")
	assert.NotEqual(t, highest, after.at("highestBidAmount"), "bids that have bought are gone")

	generated, _ := m.around()
	listing := m.sell(usd(generated + 1))
	b, err := m.Bid(t.Context(), chicago(t), "USD", usd(generated))
	require.NoError(t, err)
	assert.Empty(t, b.OrderNumber)
	assert.Contains(t, b.Reason, "from the book at "+usd(generated))
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", listing).text("status"))
	assert.NotEqual(t, usd(generated), m.quote("USD").text("lowestAskAmount"), "the ask was bought")
}

// With the option, listings that were active before are sold, too, and the trades survive a restart.
func TestBook_TradesWithListingsOfAnEarlierStart(t *testing.T) {
	file := tempFile(t)
	m := open(t, inFile(file))
	highest := m.quote("USD").text("highestBidAmount")
	listing := m.sell(highest)
	require.Equal(t, "ACTIVE", m.get("/selling/listings/%s", listing).text("status"))
	require.NoError(t, m.Close())
	trading := func(o *sandbox.Options) { o.BookTrades = true }
	m = open(t, inFile(file), trading)
	m.settle()
	require.Equal(t, "MATCHED", m.get("/selling/listings/%s", listing).text("status"))
	after := m.quote("USD").at("highestBidAmount")
	assert.NotEqual(t, highest, after)
	require.NoError(t, m.Close())
	assert.Equal(t, after, open(t, inFile(file), trading).quote("USD").at("highestBidAmount"))
}

func TestBids_ReportWhyTheyAreOpen(t *testing.T) {
	m := open(t)
	generated, price := m.around()
	for _, row := range []struct{ currency, amount, reason, why string }{
		{"USD", "2", "the lowest ask (" + usd(generated) + " USD) is above", "below every ask"},
		{"USD", usd(generated), "does not trade without Options.BookTrades", "the ask of the book is the lowest"},
	} {
		b, err := m.Bid(t.Context(), chicago(t), row.currency, row.amount)
		require.NoError(t, err)
		assert.Contains(t, b.Reason, row.reason, row.why)
	}
	m.sell(usd(price)) // sold to the second bid
	b, err := m.Bid(t.Context(), chicago(t), "USD", usd(price))
	require.NoError(t, err)
	assert.Contains(t, b.Reason, "is above the bid", "the listing is sold")
}

func TestBids_StayInTheirCurrencyAcrossARestart(t *testing.T) {
	file := tempFile(t)
	m := open(t, inFile(file))
	_, price := m.around()
	assert.Empty(t, m.bid(usd(price)))
	before := open(t).quote("JPY").body
	assert.Equal(t, before, m.quote("JPY").body, "every currency has its own book")
	require.NoError(t, m.Close())
	m = open(t, inFile(file))
	assert.Equal(t, usd(price), m.quote("USD").text("highestBidAmount"))
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", m.sell(usd(price))).text("status"))
}

func TestBids_RefuseWhatMakesNoSense(t *testing.T) {
	m := open(t)
	for _, row := range []struct{ variantID, currency, amount, what string }{
		{unknownID, "USD", "100", "variant"},
		{chicago(t), "XXX", "100", "currency"},
		{chicago(t), "USD", "-1", "amount"},
		{chicago(t), "USD", "100.505", "amount"},
		{chicago(t), "JPY", "100.5", "amount"},
	} {
		b, err := m.Bid(t.Context(), row.variantID, row.currency, row.amount)
		require.ErrorContains(t, err, "sandbox: bid: "+row.what+" ")
		assert.Zero(t, b)
	}
}
