package sandbox_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/quota"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// seller makes the requests of one account.
type seller struct {
	*market
	account sandbox.Account
}

// add makes an account with credentials of its own.
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

func (s seller) call(method, path string, body any) answer {
	s.t.Helper()
	return s.send(s.request(method, path, body))
}

func TestAnAccountHasCredentialsThatDependOnItsNameOnly(t *testing.T) {
	one, other := open(t), open(t)
	b, a := one.add("b").account, one.add("a").account
	assert.Equal(t, a, other.add("a").account)
	assert.Equal(t, b, other.add("b").account)
	seen := map[string]bool{}
	for _, account := range one.Accounts() {
		for _, credential := range []string{account.APIKey, account.Token, account.RefreshToken} {
			assert.False(t, seen[credential], "everybody has their own")
			seen[credential] = true
		}
	}
	assert.Len(t, seen, 9)
	seeded := open(t, func(o *sandbox.Options) { o.Seed = 1 })
	assert.NotEqual(t, a, seeded.add("a").account)
	locked := open(t, func(o *sandbox.Options) { o.APIKey = "nobody knows" })
	assert.NotEqual(t, a, locked.add("a").account, "nobody can tell it from a sandbox of other credentials")
}

func TestAccountsAreRefusedThatCouldBeTakenForOthers(t *testing.T) {
	for _, row := range []struct {
		accounts []sandbox.Account
		says     string
	}{
		{[]sandbox.Account{{}}, "needs a name of its own"},
		{[]sandbox.Account{{Name: "a"}, {Name: "a"}}, "needs a name of its own"},
		{[]sandbox.Account{{Name: sandbox.FirstAccount}}, "needs a name of its own"},
		{[]sandbox.Account{{Name: "a", APIKey: sandbox.DefaultAPIKey}}, "the same API key"},
		{[]sandbox.Account{{Name: "a", Token: "x"}, {Name: "b", Token: "x"}}, "the same access token"},
		{[]sandbox.Account{{Name: "a", RefreshToken: sandbox.DefaultRefreshToken}}, "the same refresh token"},
	} {
		_, err := sandbox.New(sandbox.Options{Accounts: row.accounts})
		require.ErrorContains(t, err, "sandbox: accounts: ")
		require.ErrorContains(t, err, row.says)
	}
	m := open(t)
	m.add("a")
	_, err := m.AddAccount(t.Context(), "a")
	require.ErrorIs(t, err, sandbox.ErrAccountExists)
	_, err = m.AddAccount(t.Context(), "")
	require.ErrorContains(t, err, "sandbox: add account: it needs a name")
}

func TestAccountsStayInTheFileWithWhatIsTheirs(t *testing.T) {
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
	assert.Equal(t, before, second.Accounts(), "whatever the seed, and whether it is chosen again or not")
	again := seller{second, second.Accounts()[2]}
	assert.Equal(t, id, again.call(http.MethodGet, "/selling/listings/"+id, nil).text("listingId"))
	require.NoError(t, second.Close())

	third := open(t, chosen("another-key"))
	assert.Equal(t, "another-key", third.Accounts()[1].APIKey, "what is chosen wins")
	assert.Equal(t, before[1].RefreshToken, third.Accounts()[1].RefreshToken)
}

func TestCredentialsOfTwoAccountsDoNotMix(t *testing.T) {
	m := open(t)
	s := m.add("second")
	r := s.request(http.MethodGet, "/selling/listings", nil)
	r.Header.Set("x-api-key", m.APIKey())
	m.send(r).refused(http.StatusUnauthorized, "not that of the access token's account", "each is valid by itself")
	r = m.request(http.MethodGet, "/selling/listings", nil)
	r.Header.Set("x-api-key", s.account.APIKey)
	m.send(r).refused(http.StatusUnauthorized, "not that of the access token's account", "and the other way round")
	assert.Equal(t, http.StatusOK, s.call(http.MethodGet, "/selling/listings", nil).status)
}

func TestEveryAccountHasAQuotaOfItsOwn(t *testing.T) {
	m := open(t, held(quota.Quota{RequestsPerSecond: 1, ItemsPerWindow: 5, ItemsWindow: time.Hour}))
	s := m.add("second")
	m.get("/selling/listings")
	assert.Equal(t, http.StatusOK, s.call(http.MethodGet, "/selling/listings", nil).status, "the first has used up its own")
	for _, who := range []func(string, string, any) answer{m.call, s.call} {
		who(http.MethodGet, "/selling/listings", nil).refused(http.StatusTooManyRequests, "1 requests", "")
	}
	m.pass(time.Second)
	assert.Equal(t, http.StatusOK, m.call(http.MethodPost, createBatch, listings(t, 5)).status)
	assert.Equal(t, http.StatusOK, s.call(http.MethodPost, createBatch, listings(t, 5)).status)
	m.pass(time.Second)
	s.call(http.MethodPost, createBatch, listings(t, 1)).refused(http.StatusTooManyRequests, "5 items", "now it has, too")
}

func TestTheMarketIsOneForAllAccounts(t *testing.T) {
	m := open(t)
	s := m.add("second")
	product, v := variant(t, "DZ5485-612", "10.5")
	path := fmt.Sprintf("/catalog/products/%s/variants/%s/market-data", product.ID, v)
	m.sell("1")
	assert.Equal(t, "1", s.call(http.MethodGet, path, nil).text("lowestAskAmount"))
}

func TestAnAccountPrintsNoSecrets(t *testing.T) {
	a := open(t).add("second").account
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		assert.Equal(t, "sandbox.Account second", fmt.Sprintf(verb, a), verb)
	}
}

func TestWhoKnewTheOldCredentialsCannotDeriveAnything(t *testing.T) {
	file := tempFile(t)
	public := open(t, inFile(file))
	token := public.refresh(public.RefreshToken())["access_token"]
	derived := public.add("made then").account
	require.NoError(t, public.Close())

	private := open(t, inFile(file), func(o *sandbox.Options) {
		o.APIKey, o.Token, o.RefreshToken = "nobody knows", "nobody knows it", "nobody knows either"
	})
	private.with(token).refused(http.StatusUnauthorized, "is not valid", "anybody could have signed it")
	assert.Equal(t, derived, private.Accounts()[1], "what an account was given stays")
	known, made := open(t).add("new").account, private.add("new").account
	assert.NotEqual(t, known.APIKey, made.APIKey)
	assert.NotEqual(t, known.Token, made.Token)
	assert.NotEqual(t, known.RefreshToken, made.RefreshToken)
}
