package sandbox_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/govalues/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// quote reads the market of the variant that tests sell.
func (m *market) quote(currency string) answer {
	m.t.Helper()
	p, v := variant(m.t, "DZ5485-612", "10.5")
	return m.get("/catalog/products/%s/variants/%s/market-data?currencyCode=%s", p.ID, v, currency)
}

func (m *market) bid(amount string) string {
	m.t.Helper()
	number, err := m.Bid(m.t.Context(), chicago(m.t), "USD", amount)
	require.NoError(m.t, err)
	return number
}

// around returns the lowest ask of the made-up book and a price ten dollars below it.
func (m *market) around() (foreign, below int64) {
	m.t.Helper()
	foreign, err := strconv.ParseInt(m.quote("USD").text("lowestAskAmount"), 10, 64)
	require.NoError(m.t, err)
	require.Greater(m.t, foreign, int64(20))
	return foreign, foreign - 10
}

func usd(n int64) string { return strconv.FormatInt(n, 10) }

func TestABidThatReachesAnAskBuysItAtItsPrice(t *testing.T) {
	m := open(t)
	_, price := m.around()
	cheap, dear := m.sell(usd(price)), m.sell(usd(price+1))
	assert.Empty(t, m.bid(usd(price-1)), "below every ask")
	number := m.bid(usd(price + 100))
	require.NotEmpty(t, number)
	o := m.get("/selling/orders/%s", number)
	assert.Equal(t, cheap, o.text("listingId"), "the cheapest")
	assert.Equal(t, usd(price), o.text("amount"), "nobody pays more than is asked")
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", cheap).text("status"))
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", dear).text("status"))
	assert.NotEmpty(t, m.bid(usd(price+1)), "a bid that is just enough")
	assert.Equal(t, usd(price-1), m.quote("USD").text("highestBidAmount"), "the first bid still stands")
}

func TestAListingThatGoesLiveIsSoldToTheHighestBid(t *testing.T) {
	for _, row := range []struct {
		goesLive func(m *market, price string) string
		why      string
	}{
		{func(m *market, price string) string {
			a := m.call(http.MethodPost, "/selling/listings", map[string]any{"variantId": chicago(m.t), "amount": price})
			return a.text("listingId")
		}, "a new listing"},
		{func(m *market, price string) string {
			path := m.batch("create-listing", map[string]any{"variantId": chicago(m.t), "amount": price, "quantity": 1})
			m.settle()
			return m.get("%s/items", path).text("items", 0, "result", "listingId")
		}, "an item of a batch"},
		{func(m *market, price string) string {
			a := m.call(http.MethodPost, "/selling/listings", map[string]any{"variantId": chicago(m.t), "amount": price, "active": false})
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
			assert.Equal(t, usd(price), m.get("/selling/orders/%s", l.text("order", "orderNumber")).text("amount"))
			assert.Equal(t, usd(price), m.quote("USD").text("highestBidAmount"), "the higher of the two has bought")
		})
	}
}

func TestABidWaitsWhileAnotherSellerAsksForLess(t *testing.T) {
	m := open(t)
	foreign, _ := m.around()
	id := m.sell(usd(foreign + 10))
	assert.Empty(t, m.bid(usd(foreign+10)), "a buyer does not pay more than somebody asks")
	q := m.quote("USD")
	assert.Equal(t, usd(foreign), q.text("lowestAskAmount"))
	if bid := q.at("highestBidAmount"); bid != nil {
		n, err := strconv.ParseInt(bid.(string), 10, 64)
		require.NoError(t, err)
		assert.Less(t, n, foreign, "nor is the bid shown, for the book would be crossed")
	}
	m.call(http.MethodPatch, "/selling/listings/"+id, map[string]any{"amount": usd(foreign)})
	m.settle()
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", id).text("status"), "it buys once nobody asks for less")
}

func TestABidThatAnotherSeedBringsIntoReachBuys(t *testing.T) {
	m := open(t)
	foreign, _ := m.around()
	listing := m.sell(usd(foreign + 1))
	assert.Empty(t, m.bid(usd(foreign+1)), "another seller asks for less")
	for seed := uint64(1); m.get("/selling/listings/%s", listing).text("status") == "ACTIVE"; seed++ {
		require.Less(t, seed, uint64(50), "one of them asks for more")
		require.NoError(t, m.Reseed(t.Context(), seed))
		m.pass(0)
		if ask := m.quote("USD").at("lowestAskAmount"); ask == usd(foreign+1) {
			require.Equal(t, "MATCHED", m.get("/selling/listings/%s", listing).text("status"))
		}
	}
}

// A step takes no longer because of bids that nothing has come to reach. To see it, a bid has to
// get past the sandbox.
func TestAStepLooksForBidsOnlyWhereAnAskHasChanged(t *testing.T) {
	file := tempFile(t)
	m := open(t, inFile(file))
	_, price := m.around()
	id := m.sell(usd(price))
	execute(t, file, `INSERT INTO bids (variant_id, currency, amount, created_at) VALUES (?, 'USD', ?, 0)`, chicago(t), 100*price)
	m.settle()
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", id).text("status"), "nothing has changed")
	m.call(http.MethodPatch, "/selling/listings/"+id, map[string]any{"amount": usd(price - 1)})
	m.settle()
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", id).text("status"), "its ask has")
}

func TestMarketDataShowsTheHighestOfManyBids(t *testing.T) {
	m := open(t)
	foreign, price := m.around()
	for i := range int64(20) {
		m.bid(usd(price + i)) // half of them wait above the ask of another seller
	}
	assert.Equal(t, usd(foreign-1), m.quote("USD").text("highestBidAmount"))
}

func TestMadeUpBidsBuyNothing(t *testing.T) {
	m := open(t)
	require.NotNil(t, m.quote("USD").at("highestBidAmount"))
	id := m.sell("1")
	q := m.quote("USD")
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", id).text("status"), "it stays until a test sells it")
	assert.Equal(t, "1", q.text("lowestAskAmount"))
	assert.Nil(t, q.at("highestBidAmount"), "and the bids that reach it are not shown")
}

func TestABidStandsInItsCurrencyAcrossARestart(t *testing.T) {
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

func TestABidHasToMakeSense(t *testing.T) {
	m := open(t)
	for _, row := range []struct{ variantID, currency, amount, want string }{
		{"98e2e748-8000-45bf-a624-5531d6a68318", "USD", "100", "there is no variant"},
		{chicago(t), "XXX", "100", `nobody can bid in "XXX"`},
		{chicago(t), "USD", "-1", "not a decimal number"},
		{chicago(t), "USD", "100.505", "decimal places"},
		{chicago(t), "JPY", "100.5", "decimal places"},
	} {
		number, err := m.Bid(t.Context(), row.variantID, row.currency, row.amount)
		require.ErrorContains(t, err, "sandbox: bid: ")
		require.ErrorContains(t, err, row.want)
		assert.Empty(t, number)
	}
}

func TestThePayoutOfEveryOrderAddsUp(t *testing.T) {
	m := open(t, still)
	for _, row := range []struct{ amount, currency string }{
		{"1", "USD"}, {"54.99", "USD"}, {"133.33", "EUR"}, {"100000", "USD"}, {"23500", "JPY"}, {"7", "JPY"}, {"1001", "KRW"}, {"999.99", "CHF"},
	} {
		a := m.call(http.MethodPost, "/selling/listings", map[string]any{"variantId": chicago(t), "amount": row.amount, "currencyCode": row.currency})
		m.settle()
		number, err := m.Buy(t.Context(), a.text("listingId"))
		require.NoError(t, err)
		o := m.get("/selling/orders/%s", number)
		assert.Equal(t, row.currency, o.text("payout", "currencyCode"))
		figure := func(steps ...any) decimal.Decimal {
			d, err := decimal.Parse(o.at(append([]any{"payout"}, steps...)...).(interface{ String() string }).String())
			require.NoError(t, err)
			if row.currency == "JPY" || row.currency == "KRW" {
				assert.True(t, d.IsInt(), "%s has no smaller unit", row.currency)
			}
			return d
		}
		total := decimal.Zero
		for i := range o.len("payout", "adjustments") {
			total, err = total.Add(figure("adjustments", i, "amount"))
			require.NoError(t, err)
		}
		assert.Zero(t, total.Cmp(figure("totalAdjustments")), "%v", row)
		paid, err := figure("salePrice").Add(total)
		require.NoError(t, err)
		assert.Zero(t, paid.Cmp(figure("totalPayout")), "%v", row)
		assert.Zero(t, figure("salePrice").Cmp(decimal.MustParse(row.amount)), "%v", row)
	}
}
