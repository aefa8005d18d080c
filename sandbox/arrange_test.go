package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

func TestBook_IsArranged(t *testing.T) {
	m := open(t, func(o *sandbox.Options) { o.BookTrades = true })
	set := func(b sandbox.Book) {
		t.Helper()
		require.NoError(t, m.SetBook(t.Context(), chicago(t), "USD", b))
	}
	set(sandbox.Book{Asks: []string{"320", "300"}, Bids: []string{"200", "250.50"}, FlexAsk: "310"})
	q := m.quote("USD")
	assert.Equal(t, "300", q.text("lowestAskAmount"))
	assert.Equal(t, "250.50", q.text("highestBidAmount"))
	assert.Equal(t, "310", q.text("flexLowestAskAmount"))
	assert.Equal(t, "275", q.text("sellFasterAmount"))

	l := m.get("/selling/listings/%s", m.sell("240"))
	assert.Equal(t, "250.50", m.get("/selling/orders/%s", l.text("order", "orderNumber")).text("amount"))
	assert.Equal(t, "200", m.quote("USD").text("highestBidAmount"))

	set(sandbox.Book{})
	q = m.quote("USD")
	for _, member := range []string{"lowestAskAmount", "highestBidAmount", "sellFasterAmount", "flexLowestAskAmount"} {
		assert.Nil(t, q.at(member), "nothing is on the market")
	}
	assert.NotNil(t, m.quote("EUR").at("lowestAskAmount"), "another currency")
	require.NoError(t, m.Reset(t.Context()))
	assert.NotNil(t, m.quote("USD").at("lowestAskAmount"), "the generated book is back")
}

func TestBook_LetsBidsBuyThatItHeldBack(t *testing.T) {
	m := open(t)
	generated, _ := m.around()
	id := m.sell(usd(generated + 1))
	assert.Empty(t, m.bid(usd(generated+1)))
	require.NoError(t, m.SetBook(t.Context(), chicago(t), "USD", sandbox.Book{}))
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", id).text("status"))
}

func TestBook_RefusesWhatMakesNoSense(t *testing.T) {
	m := open(t)
	for _, row := range []struct {
		variantID, currency string
		book                sandbox.Book
		why                 string
	}{
		{unknownID, "USD", sandbox.Book{}, "no such variant"},
		{chicago(t), "XXX", sandbox.Book{}, "no such currency"},
		{chicago(t), "USD", sandbox.Book{Asks: []string{"x"}}, "no amount"},
		{chicago(t), "USD", sandbox.Book{Bids: []string{"-1"}}, "a negative amount"},
		{chicago(t), "USD", sandbox.Book{FlexAsk: "0"}, "zero"},
		{chicago(t), "USD", sandbox.Book{Asks: []string{"100"}, Bids: []string{"100"}}, "they would trade"},
	} {
		require.Error(t, m.SetBook(t.Context(), row.variantID, row.currency, row.book), row.why)
	}
}

func TestBids_AreListedAndWithdrawn(t *testing.T) {
	m := open(t)
	_, price := m.around()
	first, err := m.Bid(t.Context(), chicago(t), "USD", usd(price))
	require.NoError(t, err)
	second, err := m.Bid(t.Context(), chicago(t), "EUR", "2")
	require.NoError(t, err)
	bids, err := m.Bids(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []sandbox.Bid{first, second}, bids)
	assert.Equal(t, usd(price), bids[0].Amount)
	assert.NotEmpty(t, bids[0].Reason)

	require.NoError(t, m.WithdrawBid(t.Context(), first.ID))
	require.Error(t, m.WithdrawBid(t.Context(), first.ID), "it is withdrawn already")
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", m.sell(usd(price))).text("status"), "no bid reaches it")
	bids, err = m.Bids(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []sandbox.Bid{second}, bids)
}

func TestAddProduct_IsLikeAnyOther(t *testing.T) {
	file := tempFile(t)
	m := open(t, inFile(file))
	p, err := m.AddProduct(t.Context(), sandbox.Product{
		Title: "Test Runner Blue", Brand: "Acme", StyleID: "AC-0001", RetailPrice: "250",
		Variants: []sandbox.Variant{{Size: "9"}, {Size: "10"}},
	})
	require.NoError(t, err)
	require.Len(t, p.Variants, 2)
	assert.Equal(t, p.ID, m.get("/catalog/search?query=AC-0001").text("products", 0, "productId"))
	assert.Equal(t, "test-runner-blue", m.get("/catalog/products/%s", p.ID).text("urlKey"))
	m.get("/catalog/products/%s/variants/%s/market-data", p.ID, p.Variants[1].ID)
	id := m.createListing("99", map[string]any{"variantId": p.Variants[1].ID}).text("listingId")
	m.settle()
	assert.Equal(t, "10", m.get("/selling/listings/%s", id).text("variant", "variantValue"))
	_, err = m.AddProduct(t.Context(), sandbox.Product{Title: "Another", Brand: "Acme", StyleID: "ac-0001"})
	require.Error(t, err, "it exists")
	_, err = m.AddProduct(t.Context(), sandbox.Product{})
	require.Error(t, err, "it has no title")

	plain, err := m.AddProduct(t.Context(), sandbox.Product{Title: "Plain"})
	require.NoError(t, err)
	assert.Equal(t, "One Size", plain.Variants[0].Size)
	require.NoError(t, m.Close())
	m = open(t, inFile(file))
	m.get("/catalog/products/%s", p.ID)
	require.NoError(t, m.Reset(t.Context()))
	assert.Equal(t, http.StatusNotFound, m.call(http.MethodGet, "/catalog/products/"+p.ID, nil).status)
}

func TestAddListings_InEveryStatus(t *testing.T) {
	m := open(t)
	for _, s := range state.Listing.States() {
		ids, err := m.AddListings(t.Context(), 3, sandbox.Listing{VariantID: chicago(t), Amount: "5000", Status: s.Name})
		require.NoError(t, err, s.Name)
		require.Len(t, ids, 3)
		for _, id := range ids {
			l := m.get("/selling/listings/%s", id)
			require.Equal(t, s.Name, l.text("status"))
			assert.Equal(t, s.Name == state.Matched || s.Name == state.Completed || s.Name == state.Canceled,
				l.at("order") != nil, s.Name)
		}
		assert.EqualValues(t, "3", m.get("/selling/listings?listingStatuses=%s", s.Name).at("count"), "lists know them")
	}
	ids, err := m.AddListings(t.Context(), 1, sandbox.Listing{VariantID: chicago(t), Amount: "5000"})
	require.NoError(t, err)
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", ids[0]).text("status"), "the default")
}

func TestAddListings_OfTheServiceAndOfOtherAccounts(t *testing.T) {
	m := open(t)
	other := m.add("other")
	for _, kind := range []string{"STANDARD", "DIRECT", "FLEX", "DFS"} {
		ids, err := m.AddListings(t.Context(), 1, sandbox.Listing{
			Account: "other", VariantID: chicago(t), Amount: "5000", InventoryType: kind,
		})
		require.NoError(t, err)
		r := other.request(http.MethodGet, "/selling/listings?inventoryTypes="+kind, nil)
		assert.Equal(t, ids[0], other.sendUnchecked(r).text("listings", 0, "listingId"), kind)
	}
	assert.EqualValues(t, "0", m.get("/selling/listings").at("count"), "they are of the other account")
	number, err := m.AddOrder(t.Context(), sandbox.Listing{VariantID: chicago(t), Amount: "5000", InventoryType: "FLEX"}, "SYSTEMFULFILLED")
	require.NoError(t, err)
	assert.Regexp(t, `^02-[0-9A-Z]{10}$`, number)
	order := m.sendUnchecked(m.request(http.MethodGet, "/selling/orders/"+number, nil))
	assert.Equal(t, "FLEX", order.text("inventoryType"))
}

func TestAddListings_RefuseWhatMakesNoSense(t *testing.T) {
	m := open(t)
	valid := sandbox.Listing{VariantID: chicago(t), Amount: "5000"}
	for _, row := range []struct {
		change func(*sandbox.Listing)
		why    string
	}{
		{func(l *sandbox.Listing) { l.VariantID = unknownID }, "no such variant"},
		{func(l *sandbox.Listing) { l.Amount = "x" }, "no amount"},
		{func(l *sandbox.Listing) { l.Currency = "XXX" }, "no such currency"},
		{func(l *sandbox.Listing) { l.Status = "SOLD" }, "no such status"},
		{func(l *sandbox.Listing) { l.InventoryType = "X" }, "no such type"},
		{func(l *sandbox.Listing) { l.Account = "nobody" }, "no such account"},
	} {
		l := valid
		row.change(&l)
		_, err := m.AddListings(t.Context(), 2, l)
		require.Error(t, err, row.why)
	}
	for _, n := range []int{-1, 0, 100_001} {
		_, err := m.AddListings(t.Context(), n, valid)
		require.Error(t, err, n)
	}
	_, err := m.AddOrder(t.Context(), valid, "NONE")
	require.Error(t, err, "no such order status")
	assert.EqualValues(t, "0", m.get("/selling/listings?isExpired=true").at("count"), "nothing is left behind")
}

func TestAddOrder_InEveryStatus(t *testing.T) {
	m := open(t)
	for _, s := range state.Order.States() {
		number, err := m.AddOrder(t.Context(), sandbox.Listing{VariantID: chicago(t), Amount: "5000"}, s.Name)
		require.NoError(t, err, s.Name)
		o := m.get("/selling/orders/%s", number)
		assert.Equal(t, s.Name, o.text("status"))
		assert.NotNil(t, o.at("payout"), s.Name)
		list := "active"
		if s.Ended {
			list = "history"
		}
		assert.True(t, m.has(list+"?orderStatus="+s.Name, number), s.Name)
	}
	number, err := m.AddOrder(t.Context(), sandbox.Listing{VariantID: chicago(t), Amount: "5000"}, "RECEIVED")
	require.NoError(t, err)
	assert.NotNil(t, m.get("/selling/orders/%s", number).at("shipment", "trackingUrl"), "it was shipped on its way")
}

func TestAddOperation_RecordsWhatNoSellerStarts(t *testing.T) {
	m := open(t)
	id := m.sell("200")
	for _, row := range []struct{ kind, failure, status string }{
		{"TPS_CHECK", "", "SUCCEEDED"}, {"RECLAIM", "", "SUCCEEDED"}, {"CANCEL_RECLAIM", "too late", "FAILED"},
	} {
		operation, err := m.AddOperation(t.Context(), id, row.kind, row.failure)
		require.NoError(t, err)
		op := m.get("/selling/listings/%s/operations/%s", id, operation)
		assert.Equal(t, row.kind, op.text("operationType"))
		assert.Equal(t, row.status, op.text("operationStatus"))
		assert.Equal(t, "SYSTEM", op.text("operationInitiatedBy"))
		assert.Equal(t, row.failure != "", op.at("error") == row.failure)
		assert.Equal(t, operation, m.get("/selling/listings/%s", id).text("lastOperation", "operationId"))
	}
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", id).text("status"))
	_, err := m.AddOperation(t.Context(), id, "DANCE", "")
	require.Error(t, err)
	_, err = m.AddOperation(t.Context(), unknownID, "RECLAIM", "")
	require.Error(t, err)
}

func TestFailWork_FailsOperationsAndItems(t *testing.T) {
	m := open(t)
	id, other := m.sell("200"), m.sell("300")
	fail := func(f sandbox.Failure) { t.Helper(); require.NoError(t, m.FailWork(t.Context(), f)) }
	fail(sandbox.Failure{Target: id, Operation: "UPDATE", Times: 2, Error: "not today"})
	fail(sandbox.Failure{Target: chicago(t), Operation: "CREATE"})
	update := func(id string) string {
		return m.call(http.MethodPatch, "/selling/listings/"+id, map[string]any{"amount": "210"}).text("operationId")
	}
	failed, spared := update(id), update(other)
	items := m.batch("update-listing",
		map[string]any{"listingId": id, "amount": "220"}, map[string]any{"listingId": other, "amount": "220"})
	created := m.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "400", "quantity": 2})
	m.settle()
	op := m.get("/selling/listings/%s/operations/%s", id, failed)
	assert.Equal(t, "FAILED", op.text("operationStatus"))
	assert.NotEmpty(t, op.text("error"))
	assert.Equal(t, "SUCCEEDED", m.get("/selling/listings/%s/operations/%s", other, spared).text("operationStatus"))
	assert.Equal(t, []string{"FAILED", "COMPLETED"}, m.get("%s/items", items).each("items", "status"))
	assert.Equal(t, []string{"FAILED", "COMPLETED"}, m.get("%s/items", created).each("items", "status"))
	assert.Equal(t, "200", m.get("/selling/listings/%s", id).text("amount"), "nothing was changed")

	again := update(id)
	m.settle()
	assert.Equal(t, "SUCCEEDED", m.get("/selling/listings/%s/operations/%s", id, again).text("operationStatus"),
		"it failed twice, as arranged")
}

func TestFailWork_LeavesWorkStuck(t *testing.T) {
	m := open(t)
	id := m.sell("200")
	require.NoError(t, m.FailWork(t.Context(), sandbox.Failure{Stuck: true, Times: 2}))
	op := m.call(http.MethodPatch, "/selling/listings/"+id, map[string]any{"amount": "210"}).text("operationId")
	batch := m.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "400", "quantity": 3})
	require.NoError(t, m.Advance(t.Context(), 100*365*24*time.Hour))
	require.NoError(t, m.Work(t.Context()))
	assert.Equal(t, "PENDING", m.get("/selling/listings/%s/operations/%s", id, op).text("operationStatus"))
	b := m.get("%s", batch)
	assert.Equal(t, "IN_PROGRESS", b.text("status"))
	assert.Nil(t, b.at("completedAt"))
	assert.Equal(t, counts("0", "1", "2", "0"), b.at("itemStatuses"))
	require.NoError(t, m.Reset(t.Context()))
	m.sell("200")

	for _, f := range []sandbox.Failure{{Times: -1}, {Operation: "DANCE"}} {
		require.Error(t, m.FailWork(t.Context(), f))
	}
}

func TestFaults_ByIDAndByBody(t *testing.T) {
	m := open(t)
	a, b := m.sell("200"), m.sell("300")
	busy := sandbox.Fault{Kind: sandbox.FaultStatus, Status: http.StatusServiceUnavailable}
	byID, byBody := busy, busy
	byID.ID, byBody.Contains = a, `"277"`
	require.NoError(t, m.Fail(byID))
	require.NoError(t, m.Fail(byBody))
	patch := func(id, amount string) int {
		r := m.request(http.MethodPatch, "/selling/listings/"+id, map[string]any{"amount": amount})
		w := m.unchecked(r)
		return w.Code
	}
	assert.Equal(t, http.StatusOK, patch(b, "250"), "another listing, another amount")
	assert.Equal(t, http.StatusServiceUnavailable, patch(b, "277"), "the amount")
	assert.Equal(t, http.StatusServiceUnavailable, patch(a, "250"), "the listing")
	assert.Equal(t, http.StatusOK, patch(a, "277"), "once each")
	assert.Empty(t, m.Faults())
}

func TestControl_ArrangesTheMarket(t *testing.T) {
	m := open(t)
	v := `"variantId":"` + chicago(t) + `"`
	require.Equal(t, http.StatusNoContent, m.control("POST", "/books", "{"+v+`,"currencyCode":"USD","asks":["300"],"bids":["250"]}`).status)
	assert.Equal(t, "300", m.quote("USD").text("lowestAskAmount"))
	made := m.control("POST", "/products", `{"title":"Test Runner","sizes":["9"]}`)
	m.get("/catalog/products/%s/variants/%s", made.text("productId"), made.text("variants", 0, "variantId"))
	listed := m.control("POST", "/listings", "{"+v+`,"amount":"400","count":2,"listingStatus":"INACTIVE"}`)
	require.Equal(t, 2, listed.len("listingIds"))
	id, _ := listed.at("listingIds", 0).(string)
	assert.Equal(t, "INACTIVE", m.get("/selling/listings/%s", id).text("status"))
	order := m.control("POST", "/orders", "{"+v+`,"amount":"400","status":"RECEIVED"}`).text("orderNumber")
	assert.Equal(t, "RECEIVED", m.get("/selling/orders/%s", order).text("status"))
	op := m.control("POST", "/listings/"+id+"/operations", `{"operationType":"TPS_CHECK"}`).text("operationId")
	assert.Equal(t, "TPS_CHECK", m.get("/selling/listings/%s/operations/%s", id, op).text("operationType"))
	bid := m.control("POST", "/bids", "{"+v+`,"currencyCode":"USD","amount":"200"}`)
	assert.Equal(t, bid.body, m.control("GET", "/bids", "").at("bids", 0))
	path := fmt.Sprintf("/bids/%v", bid.at("id").(json.Number))
	assert.Equal(t, http.StatusNoContent, m.control("DELETE", path, "").status)
	m.control("DELETE", path, "").refused(http.StatusNotFound, "open bid", "it is withdrawn")
	m.control("DELETE", "/bids/x", "").refused(http.StatusNotFound, "open bid", "no id")
	require.Equal(t, http.StatusNoContent, m.control("POST", "/failures", `{"error":"no"}`).status)
	failed := m.createListing("500", nil)
	m.settle()
	assert.Equal(t, "FAILED", m.get("/selling/listings/%s", failed.text("listingId")).text("lastOperation", "operationStatus"))
}

// A test arranges the market that the program under test finds.
func ExampleSandbox_AddOrder() {
	s, err := sandbox.New(sandbox.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	ctx := context.Background()

	shoe, err := s.AddProduct(ctx, sandbox.Product{Title: "Test Runner", Variants: []sandbox.Variant{{Size: "9"}}})
	if err != nil {
		panic(err)
	}
	item := sandbox.Listing{VariantID: shoe.Variants[0].ID, Amount: "250"}
	if err := s.SetBook(ctx, item.VariantID, "USD", sandbox.Book{Asks: []string{"240"}, Bids: []string{"200"}}); err != nil {
		panic(err)
	}
	ids, err := s.AddListings(ctx, 30, item)
	if err != nil {
		panic(err)
	}
	number, err := s.AddOrder(ctx, item, "SHIPPED")
	if err != nil {
		panic(err)
	}
	fmt.Println(len(ids), number != "")
	// Output: 30 true
}
