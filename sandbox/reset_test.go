package sandbox_test

import (
	"context"
	"database/sql"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestReset_RestoresTheInitialState(t *testing.T) {
	for name, file := range map[string]string{"in memory": "", "in a file": tempFile(t)} {
		m := open(t, inFile(file), withQuota(quota.Quota{RequestsPerDay: 100, ItemsPerDay: 5}))
		second := m.add("second").account
		first := m.sell("200")
		m.call(http.MethodPost, createBatch, listings(t, 5))
		_, err := m.Buy(t.Context(), first)
		require.NoError(t, err)
		require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultLost}))
		token := m.refreshAfterFault()
		m.mu.Lock()
		m.now = noon
		m.mu.Unlock()
		require.NoError(t, m.Advance(t.Context(), time.Hour))
		require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultLost}))

		require.NoError(t, m.Reset(t.Context()), name)

		assert.Empty(t, m.Counters(), name)
		assert.Empty(t, m.Faults(), name)
		assert.Equal(t, noon, m.Now(), name)
		assert.Equal(t, second, m.Accounts()[1], name)
		assert.Equal(t, http.StatusOK, m.with(token).status, name)
		assert.Equal(t, 0, m.get("/selling/listings?isExpired=true").len("listings"), name)
		assert.Equal(t, 0, m.get("/selling/orders/active").len("orders"), name)
		assert.Equal(t, http.StatusOK, m.call(http.MethodPost, createBatch, listings(t, 5)).status,
			"%s: the quota is unused", name)
		require.NoError(t, m.Reset(t.Context()))
		assert.Equal(t, first, m.sell("200"), "%s: ids begin again", name)
	}
}

// refreshAfterFault makes a call that fails by a fault, and refreshes the token.
func (m *market) refreshAfterFault() any {
	m.t.Helper()
	assert.Nil(m.t, m.create(), "the fault")
	return m.refresh(m.RefreshToken())["access_token"]
}

// rows counts the rows of all tables, without the shadow tables of virtual ones.
func rows(t *testing.T, file string) map[string]int {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file)
	require.NoError(t, err)
	defer db.Close()
	list, err := db.QueryContext(t.Context(), `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'`)
	require.NoError(t, err)
	defer list.Close()
	counts := map[string]int{}
	for list.Next() {
		var name string
		require.NoError(t, list.Scan(&name))
		counts[name] = 0
	}
	require.NoError(t, list.Err())
	for name := range counts {
		var n int
		require.NoError(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM "`+name+`"`).Scan(&n))
		counts[name] = n
	}
	return counts
}

func TestReset_EmptiesAllTablesButAccounts(t *testing.T) {
	file := tempFile(t)
	m := open(t, inFile(file), func(o *sandbox.Options) { o.BookTrades = true })
	own(t, m)
	m.sell("2") // to the book
	_, err := m.Bid(t.Context(), chicago(t), "USD", "1")
	require.NoError(t, err)
	require.NoError(t, m.FailWork(t.Context(), sandbox.Failure{Target: unknownID}))
	m.signIn(url.Values{}).exchange()
	m.pass(time.Hour)
	found := func() string { return m.raw(http.MethodGet, "/catalog/search?query=AB1234-100", nil).Body.String() }
	require.Contains(t, found(), "AB1234-100", "the product was accepted")
	for table, n := range rows(t, file) {
		require.Positive(t, n, "%s: the test needs a row in it", table)
	}
	require.NoError(t, m.Reset(t.Context()))
	for table, n := range rows(t, file) {
		switch table {
		case "accounts", "grants", "secrets", "goose_db_version":
			assert.Positive(t, n, table)
		default:
			assert.Zero(t, n, table)
		}
	}
	assert.NotContains(t, found(), "AB1234-100")
	assert.Contains(t, m.raw(http.MethodGet, "/catalog/search?query=DZ5485-612", nil).Body.String(),
		"DZ5485-612", "the catalog stays")
}

func TestReseed_ChangesPricesAndIDs(t *testing.T) {
	m := open(t)
	product, v := variant(t, "DZ5485-612", "10.5")
	price := func() string {
		w := m.raw(http.MethodGet, "/catalog/products/"+product.ID+"/variants/"+v+"/market-data", nil)
		return w.Body.String()
	}
	before := price()
	require.NoError(t, m.Reseed(t.Context(), 7))
	assert.NotEqual(t, before, price())
	require.NoError(t, m.Reset(t.Context()))
	seeded := open(t, func(o *sandbox.Options) { o.Seed = 7 })
	assert.Equal(t, seeded.sell("2000"), m.sell("2000"), "as in a sandbox with that seed")
	require.NoError(t, m.Reseed(t.Context(), 0))
	assert.Equal(t, before,
		open(t).raw(http.MethodGet, "/catalog/products/"+product.ID+"/variants/"+v+"/market-data", nil).Body.String())
}

func TestReset_WhileRequestsAreHandled(t *testing.T) {
	m := open(t, inBackground, func(o *sandbox.Options) { o.Delay = -1 })
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			w := m.create()
			assert.Equal(t, http.StatusCreated, w.Code)
			assert.Less(t, m.call(http.MethodGet, "/selling/listings", nil).status, 300)
		}
	}()
	for seed := range uint64(20) {
		require.NoError(t, m.Reset(t.Context()))
		require.NoError(t, m.Reseed(t.Context(), seed))
	}
	<-done
}

// slowReader is a response whose client does not read before it is released.
type slowReader struct {
	httptest.ResponseRecorder
	writing, read chan struct{}
}

func (w *slowReader) Write(p []byte) (int, error) {
	close(w.writing)
	<-w.read
	return w.ResponseRecorder.Write(p)
}

func TestReset_DoesNotWaitForSlowReaders(t *testing.T) {
	m := open(t)
	w := &slowReader{*httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	var clients sync.WaitGroup
	clients.Go(func() { m.ServeHTTP(w, m.request(http.MethodGet, "/selling/listings", nil)) })
	defer clients.Wait()
	defer close(w.read)
	<-w.writing
	done := make(chan error, 1)
	clients.Go(func() {
		err := m.Reset(t.Context())
		m.get("/selling/listings")
		done <- err
	})
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(20 * time.Second):
		require.Fail(t, "Reset and all others wait for a client")
	}
}

// impatient is a context that ends after a number of calls of Err.
type impatient struct {
	context.Context //nolint:containedctx // it is one
	left            int
}

func (c *impatient) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestReset_FinishesAfterItsContextEnds(t *testing.T) {
	m := open(t)
	m.sell("200")
	require.NoError(t, m.Advance(t.Context(), time.Hour))
	require.ErrorIs(t, m.Reset(&impatient{t.Context(), 0}), context.Canceled)
	assert.Equal(t, 1, m.get("/selling/listings").len("listings"), "it did not begin")
	require.NoError(t, m.Reset(&impatient{t.Context(), 1}))
	assert.Equal(t, 0, m.get("/selling/listings").len("listings"))
	assert.Equal(t, m.clock(), m.Now())
}
