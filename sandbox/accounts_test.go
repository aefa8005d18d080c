package sandbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// seller makes the requests of one account.
type seller struct {
	*market
	account sandbox.Account
}

// add adds an account.
func (m *market) add(name string) seller {
	m.t.Helper()
	a, err := m.AddAccount(m.t.Context(), name)
	require.NoError(m.t, err)
	return seller{m, a}
}

func (s seller) request(method, path string, body any) *http.Request {
	s.t.Helper()
	r := s.market.request(method, path, body)
	r.Header.Set("Authorization", "Bearer "+s.account.Token)
	r.Header.Set("x-api-key", s.account.APIKey)
	return r
}

func (s seller) call(method, path string, body any) response {
	s.t.Helper()
	return s.send(s.request(method, path, body))
}

func TestAccounts_DeriveCredentialsFromTheName(t *testing.T) {
	one, other := open(t), open(t)
	b, a := one.add("b").account, one.add("a").account
	assert.Equal(t, a, other.add("a").account)
	assert.Equal(t, b, other.add("b").account)
	seen := map[string]bool{}
	for _, account := range one.Accounts() {
		for _, credential := range []string{account.APIKey, account.Token, account.RefreshToken} {
			assert.False(t, seen[credential], "credentials are unique")
			seen[credential] = true
		}
	}
	assert.Len(t, seen, 9)
	seeded := open(t, func(o *sandbox.Options) { o.Seed = 1 })
	assert.NotEqual(t, a, seeded.add("a").account)
	locked := open(t, func(o *sandbox.Options) { o.APIKey = "private" })
	assert.NotEqual(t, a, locked.add("a").account, "they depend on those of the first account")
}

func TestAccounts_MustBeUnique(t *testing.T) {
	for _, row := range []struct {
		accounts []sandbox.Account
		what     string
	}{
		{[]sandbox.Account{{}}, "name"},
		{[]sandbox.Account{{Name: "a"}, {Name: "a"}}, "name"},
		{[]sandbox.Account{{Name: sandbox.FirstAccount}}, "name"},
		{[]sandbox.Account{{Name: "a", APIKey: sandbox.DefaultAPIKey}}, "API key"},
		{[]sandbox.Account{{Name: "a", Token: "x"}, {Name: "b", Token: "x"}}, "access token"},
		{[]sandbox.Account{{Name: "a", RefreshToken: sandbox.DefaultRefreshToken}}, "refresh token"},
	} {
		_, err := sandbox.New(sandbox.Options{Accounts: row.accounts})
		require.ErrorContains(t, err, "sandbox: accounts: "+row.what)
	}
	m := open(t)
	m.add("a")
	_, err := m.AddAccount(t.Context(), "a")
	require.ErrorIs(t, err, sandbox.ErrAccountExists)
	_, err = m.AddAccount(t.Context(), "")
	require.ErrorContains(t, err, "sandbox: add account: name")
}

func TestAccounts_StayInTheFile(t *testing.T) {
	file := tempFile(t)
	chosen := func(key string) func(*sandbox.Options) {
		return func(o *sandbox.Options) {
			o.DB, o.Accounts = file, []sandbox.Account{{Name: "chosen", APIKey: key, Token: "chosen-token"}}
		}
	}
	first := open(t, chosen("chosen-key"))
	added := first.add("added")
	id := added.call(http.MethodPost, "/selling/listings", map[string]any{"variantId": chicago(t), "amount": "200"}).text("listingId")
	before := first.Accounts()
	assert.Equal(t, "chosen-key", before[1].APIKey)
	require.NoError(t, first.Close())

	second := open(t, inFile(file), func(o *sandbox.Options) { o.Seed = 7 })
	assert.Equal(t, before, second.Accounts(), "with another seed, and without being chosen again")
	again := seller{second, second.Accounts()[2]}
	assert.Equal(t, id, again.call(http.MethodGet, "/selling/listings/"+id, nil).text("listingId"))
	require.NoError(t, second.Close())

	third := open(t, chosen("another-key"))
	assert.Equal(t, "another-key", third.Accounts()[1].APIKey,
		"a chosen credential replaces the stored one")
	assert.Equal(t, before[1].RefreshToken, third.Accounts()[1].RefreshToken)
}

func TestAccounts_CredentialsDoNotMix(t *testing.T) {
	m := open(t)
	s := m.add("second")
	r := s.request(http.MethodGet, "/selling/listings", nil)
	r.Header.Set("x-api-key", m.APIKey())
	m.send(r).
		refused(http.StatusUnauthorized, "x-api-key header", "both are valid, of different accounts")
	r = m.request(http.MethodGet, "/selling/listings", nil)
	r.Header.Set("x-api-key", s.account.APIKey)
	m.send(r).refused(http.StatusUnauthorized, "x-api-key header", "the other way round")
	assert.Equal(t, http.StatusOK, s.call(http.MethodGet, "/selling/listings", nil).status)
}

func TestAccounts_HaveSeparateQuotas(t *testing.T) {
	m := open(t, withQuota(quota.Quota{RequestsPerSecond: 1, ItemsPerWindow: 5, ItemsWindow: time.Hour}))
	s := m.add("second")
	m.get("/selling/listings")
	assert.Equal(t, http.StatusOK, s.call(http.MethodGet, "/selling/listings", nil).status,
		"the first account used up its own")
	for _, who := range []func(string, string, any) response{m.call, s.call} {
		who(http.MethodGet, "/selling/listings", nil).
			refused(http.StatusTooManyRequests, "quota", "the second request")
	}
	m.pass(time.Second)
	assert.Equal(t, http.StatusOK, m.call(http.MethodPost, createBatch, listings(t, 5)).status)
	assert.Equal(t, http.StatusOK, s.call(http.MethodPost, createBatch, listings(t, 5)).status)
	m.pass(time.Second)
	s.call(http.MethodPost, createBatch, listings(t, 1)).
		refused(http.StatusTooManyRequests, "quota", "more items")
}

func TestAccounts_ShareTheMarket(t *testing.T) {
	m := open(t)
	s := m.add("second")
	product, v := variant(t, "DZ5485-612", "10.5")
	path := fmt.Sprintf("/catalog/products/%s/variants/%s/market-data", product.ID, v)
	m.sell("1")
	assert.Equal(t, "1", s.call(http.MethodGet, path, nil).text("lowestAskAmount"))
}

func TestAccounts_PrintNoSecrets(t *testing.T) {
	a := open(t).add("second").account
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		assert.Equal(t, "sandbox.Account second", fmt.Sprintf(verb, a), verb)
	}
}

func TestAccounts_PublicCredentialsDeriveNoPrivateOnes(t *testing.T) {
	file := tempFile(t)
	public := open(t, inFile(file))
	token := public.refresh(public.RefreshToken())["access_token"]
	derived := public.add("before").account
	require.NoError(t, public.Close())

	private := open(t, inFile(file), func(o *sandbox.Options) {
		o.APIKey, o.Token, o.RefreshToken = "private-1", "private-2", "private-3"
	})
	private.with(token).
		refused(http.StatusUnauthorized, "Authorization header", "a token of the public credentials")
	assert.Equal(t, derived, private.Accounts()[1], "stored credentials stay")
	known, made := open(t).add("new").account, private.add("new").account
	assert.NotEqual(t, known.APIKey, made.APIKey)
	assert.NotEqual(t, known.Token, made.Token)
	assert.NotEqual(t, known.RefreshToken, made.RefreshToken)
}

func TestAuthentication_NeedsBothCredentials(t *testing.T) {
	m := open(t)
	for _, row := range []struct{ header, value, why string }{
		{"Authorization", "", "no token"},
		{"Authorization", "Bearer wrong", "an unknown token"},
		{"Authorization", "Basic " + m.Token(), "another scheme"},
		{"Authorization", m.Token(), "no scheme"},
		{"x-api-key", "", "no API key"},
		{"x-api-key", "wrong", "an unknown API key"},
	} {
		r := m.request(http.MethodGet, "/selling/listings", nil)
		if row.value == "" {
			r.Header.Del(row.header)
		} else {
			r.Header.Set(row.header, row.value)
		}
		m.send(r).refused(http.StatusUnauthorized, row.header+" header", row.why)
	}
	m.get("/selling/listings")
}

// belongings are ids of the first account.
type belongings struct{ listing, sold, operation, create, update, remove, order, ingestion string }

func own(t *testing.T, m *market) belongings {
	t.Helper()
	b := belongings{listing: m.sell("200"), sold: m.sell("300")}
	b.operation = m.get("/selling/listings/%s", b.listing).text("lastOperation", "operationId")
	b.create = m.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "250", "quantity": 2})
	b.update = m.batch("update-listing", map[string]any{"listingId": b.listing, "amount": "260"})
	b.remove = m.batch("delete-listing", map[string]any{"listingId": "x"})
	var err error
	b.order, err = m.Buy(t.Context(), b.sold)
	require.NoError(t, err)
	ingestion := m.call(http.MethodPost, "/catalog/ingestion", map[string]any{"items": []any{map[string]any{
		"category": "sneakers", "productTitle": "A Shoe", "brand": "A Brand",
		"productImages": []any{"https://images.example.com/1.png"},
		"variants":      []any{"10"}, "retailPrice": "100",
		"releaseDate": "2026-01-01", "countryOfOrigin": "CN",
		"colorway": "White", "gtin": "036000291452", "gender": "men", "styleCode": "AB1234-100",
	}}})
	require.Equal(t, http.StatusCreated, ingestion.status, "%v", ingestion.body)
	b.ingestion = ingestion.text("ingestionId")
	m.settle()
	return b
}

// readAll returns all responses about them.
func (b belongings) readAll(m *market) []string {
	m.t.Helper()
	var texts []string
	for _, path := range []string{
		"/selling/listings/" + b.listing, "/selling/listings/" + b.sold,
		"/selling/listings/" + b.listing + "/operations",
		b.create, b.create + "/items", b.update, b.update + "/items", b.remove, b.remove + "/items",
		"/selling/orders/" + b.order, "/catalog/ingestion/" + b.ingestion,
		"/selling/listings?pageSize=100", "/selling/orders/active",
	} {
		w := m.raw(http.MethodGet, path, nil)
		require.Equal(m.t, http.StatusOK, w.Code, path)
		texts = append(texts, w.Body.String())
	}
	return texts
}

func TestAccounts_CannotReachEachOther(t *testing.T) {
	m := open(t)
	b := own(t, m)
	stranger := m.add("stranger")
	before := b.readAll(m)
	listing := "/selling/listings/" + b.listing
	tried := map[string]bool{}
	for _, row := range []struct {
		operation, method, path string
		body                    any
		what                    string
	}{
		{"GetListing", "GET", listing, nil, "listing"},
		{"UpdateListing", "PATCH", listing, map[string]any{"amount": "1"}, "listing"},
		{"DeleteListing", "DELETE", listing, nil, "listing"},
		{"ActivateListing", "PUT", listing + "/activate", map[string]any{}, "listing"},
		{"DeactivateListing", "PUT", listing + "/deactivate", nil, "listing"},
		{"ListListingOperations", "GET", listing + "/operations", nil, "listing"},
		{"GetListingOperation", "GET", listing + "/operations/" + b.operation, nil, "operation"},
		{"GetCreateListingsBatch", "GET", b.create, nil, "create batch"},
		{"ListCreateListingsBatchItems", "GET", b.create + "/items", nil, "create batch"},
		{"GetUpdateListingsBatch", "GET", b.update, nil, "update batch"},
		{"ListUpdateListingsBatchItems", "GET", b.update + "/items", nil, "update batch"},
		{"GetDeleteListingsBatch", "GET", b.remove, nil, "delete batch"},
		{"ListDeleteListingsBatchItems", "GET", b.remove + "/items", nil, "delete batch"},
		{"GetOrder", "GET", "/selling/orders/" + b.order, nil, "order"},
		{"GetShippingDocuments", "GET", "/selling/orders/" + b.order + "/shipping-document", nil, "order"},
		{"GetShippingDocument", "GET", "/selling/orders/" + b.order + "/shipping-document/" + b.order, nil, "order"},
		{"GetIngestion", "GET", "/catalog/ingestion/" + b.ingestion, nil, "ingestion"},
	} {
		tried[row.operation] = true
		stranger.call(row.method, row.path, row.body).
			refused(unknownStatus(t, row.operation), row.what, row.operation+": a 403 would reveal that the id exists")
	}
	m.settle()
	assert.Equal(t, before, b.readAll(m), "nothing was changed")
	for _, operation := range operationsWithIDs(t) {
		assert.True(t, tried[operation], "sandbox/accounts_test.go: add a row for %s, which takes an id of an account", operation)
	}
}

// operationsWithIDs returns the operations with an id that belongs to an account.
func operationsWithIDs(t *testing.T) []string {
	t.Helper()
	doc, err := document()
	require.NoError(t, err)
	var ids []string
	for path, item := range doc.Paths.Map() {
		if !slices.ContainsFunc([]string{"{listingId}", "{batchId}", "{orderNumber}", "{ingestionId}"}, func(id string) bool { return strings.Contains(path, id) }) {
			continue
		}
		for _, operation := range item.Operations() {
			ids = append(ids, operation.OperationID)
		}
	}
	require.NotEmpty(t, ids)
	return ids
}

func TestAccounts_BatchesReachOwnListingsOnly(t *testing.T) {
	m := open(t)
	id := m.sell("200")
	stranger := m.add("stranger")
	for _, kind := range []string{"update-listing", "delete-listing"} {
		a := stranger.call(http.MethodPost, "/selling/batch/"+kind, map[string]any{"items": []any{map[string]any{"listingId": id}}})
		m.settle()
		items := stranger.call(http.MethodGet, "/selling/batch/"+kind+"/"+a.text("batchId")+"/items", nil)
		assert.Equal(t, "FAILED", items.text("items", 0, "status"), kind)
		assert.NotEmpty(t, items.text("items", 0, "error"), kind)
	}
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", id).text("status"))
	assert.Equal(t, 1, m.get("/selling/listings/%s/operations", id).len("operations"),
		"the others were not made")
}

func TestAccounts_ListOwnRowsOnly(t *testing.T) {
	m := open(t)
	b := own(t, m)
	stranger := m.add("stranger")
	batchID := b.create[strings.LastIndex(b.create, "/")+1:]
	for _, row := range []struct{ path, list string }{
		{"/selling/listings", "listings"},
		{"/selling/listings?isExpired=true", "listings"},
		{"/selling/listings?batchIds=" + batchID, "listings"},
		{"/selling/listings?variantIds=" + chicago(t), "listings"},
		{"/selling/orders/active", "orders"},
		{"/selling/orders/history", "orders"},
	} {
		w := httptest.NewRecorder()
		m.ServeHTTP(w, stranger.request(http.MethodGet, row.path, nil))
		assert.Contains(t, w.Body.String(), `"`+row.list+`":[]`, row.path)
		assert.Contains(t, w.Body.String(), `"count":0`, row.path)
	}
}
