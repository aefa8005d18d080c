package resolve_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/resolve"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

func TestLookup_RepeatsWhatMayPass(t *testing.T) {
	style, size := sandbox.Catalog()[0].StyleID, sandbox.Catalog()[0].Variants[0].Size
	for _, row := range []struct {
		fault sandbox.Fault
		why   string
	}{
		{sandbox.Fault{Kind: sandbox.FaultStatus, Status: http.StatusTooManyRequests}, "rate limited"},
		{sandbox.Fault{Kind: sandbox.FaultStatus, Status: http.StatusTooManyRequests, RetryAfter: 2 * time.Hour}, "rate limited for longer than a client waits"},
		{sandbox.Fault{Kind: sandbox.FaultStatus, Status: http.StatusServiceUnavailable}, "overloaded"},
		{sandbox.Fault{Kind: sandbox.FaultStatus, Status: http.StatusInternalServerError}, "broken"},
		{sandbox.Fault{Kind: sandbox.FaultHTML, Status: http.StatusBadGateway}, "a gateway's page"},
		{sandbox.Fault{Kind: sandbox.FaultLost}, "no response"},
	} {
		for _, operation := range []string{"SearchProducts", "ListVariants"} {
			t.Run(operation+": "+row.why, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m := sandboxtest.NewInProcess(t)
					row.fault.Operation, row.fault.Times = operation, 8
					require.NoError(t, m.Fail(row.fault))
					l := lookup(m.Client().Catalog)
					failures := 0
					l.Retrying = func(error) { failures++ }
					f := file(t, style+","+size+",")

					require.NoError(t, l.Variants(t.Context(), f))

					assert.Empty(t, f.Problems())
					assert.Equal(t, sandbox.Catalog()[0].Variants[0].ID, f.Rows[0].VariantID)
					assert.Positive(t, failures, "the failures are reported")
				})
			})
		}
	}
}

func TestLookup_GivesUpAService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sandboxtest.NewInProcess(t)
		require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultStatus, Status: http.StatusServiceUnavailable, Times: 100_000}))
		begin := time.Now()
		err := lookup(m.Client().Catalog).Variants(t.Context(), file(t, "DZ-1,9,"))
		require.ErrorIs(t, err, client.ErrServer)
		assert.Less(t, time.Since(begin), 32*time.Minute)
		assert.GreaterOrEqual(t, time.Since(begin), 30*time.Minute)
	})
}

func TestLookup_StopsIfTheAddressIsNotOfTheService(t *testing.T) {
	for _, row := range []struct {
		respond func(*clienttest.Expectation)
		is      func(error) bool
		why     string
	}{
		{
			func(e *clienttest.Expectation) { e.Raw(404, nil, []byte("not found"), "no such path") },
			func(err error) bool { return errors.Is(err, client.ErrNotFound) },
			"a path without the version is no problem of a row",
		},
		{
			func(e *clienttest.Expectation) { e.Raw(200, nil, []byte("<html>welcome</html>"), "another site") },
			func(err error) bool { _, ok := errors.AsType[*client.DecodeError](err); return ok },
			"another site",
		},
	} {
		srv := clienttest.New(t)
		row.respond(srv.Expect(gen.OpSearchProducts))
		f := file(t, "DZ-1,9,")
		err := lookup(srv.Client().Catalog).Variants(t.Context(), f)
		assert.True(t, row.is(err), "%s: %v", row.why, err)
		assert.Empty(t, f.Problems(), row.why)
	}
}

func TestLookup_StopsIfNothingListens(t *testing.T) {
	c, err := client.New(
		client.WithBaseURL("http://127.0.0.1:1/v2"), client.WithAPIKey("k"), client.WithToken("t"),
		client.WithRetry(client.RetryPolicy{MaxAttempts: 1}),
	)
	require.NoError(t, err)
	err = lookup(c.Catalog).Variants(t.Context(), file(t, "DZ-1,9,"))
	require.Error(t, err)
	assert.True(t, resolve.IsUnreachable(err), "%v", err)
}

// cachedLookup returns a lookup of a scripted server with a cache in a directory.
func cachedLookup(t *testing.T, dir string) (*clienttest.Server, *resolve.Lookup) {
	t.Helper()
	srv := clienttest.New(t, clienttest.InProcess())
	l := lookup(srv.Client().Catalog)
	l.Cache = resolve.OpenCache(dir)
	return srv, l
}

func TestCache_KeepsProductsForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "not", "there")
		expect := func(srv *clienttest.Server) {
			srv.Expect(gen.OpSearchProducts).Respond(200, page(false, "DZ-1"))
			srv.Expect(gen.OpListVariants).Respond(200, sizes("9", "10"))
		}
		for _, step := range []struct {
			row     string
			before  func()
			lookUps bool
			why     string
		}{
			{"DZ-1,9,", func() {}, true, "nothing is kept yet"},
			{"DZ-1,10,", func() {}, false, "kept by another run"},
			{"DZ-1,11,", func() {}, true, "it may have got the size since"},
			{"DZ-1,9,", func() { <-time.After(23 * time.Hour) }, false, "within a day"},
			{"DZ-1,9,", func() { <-time.After(time.Hour) }, true, "a day later"},
			{"DZ-1,9,", func() { resolve.OpenCache(dir).Drop("DZ-1") }, true, "dropped"},
			{"DZ-1,9,", func() { overwrite(t, dir, `{"at":`) }, true, "a file that is not complete"},
			{"DZ-1,9,", func() {}, false, "which was replaced"},
		} {
			step.before()
			srv, l := cachedLookup(t, dir)
			f := file(t, step.row)
			requests := 1 // for the prices
			if step.lookUps {
				expect(srv)
				requests += 2
			}
			assert.Equal(t, requests, l.Requests(f), step.why)
			require.NoError(t, l.Variants(t.Context(), f), step.why)
			if step.row != "DZ-1,11," {
				assert.Empty(t, f.Problems(), step.why)
				assert.Equal(t, "p-DZ-1", f.Rows[0].ProductID, step.why)
			}
		}
	})
}

// overwrite replaces the only file of a directory.
func overwrite(t *testing.T, dir, text string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, entries[0].Name()), []byte(text), 0o600))
}

func TestCache_RemovesOldFiles(t *testing.T) {
	dir := t.TempDir()
	srv, l := cachedLookup(t, dir)
	srv.Expect(gen.OpSearchProducts).Respond(200, page(false, "DZ-1"))
	srv.Expect(gen.OpListVariants).Respond(200, sizes("9"))
	require.NoError(t, l.Variants(t.Context(), file(t, "DZ-1,9,")))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	old := time.Now().Add(-25 * time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(dir, entries[0].Name()), old, old))
	resolve.OpenCache(dir)
	entries, err = os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestCache_KeepsNothingThatIsMissingOrRefused(t *testing.T) {
	for _, row := range []struct {
		script func(*clienttest.Server)
		why    string
	}{
		{func(srv *clienttest.Server) {
			srv.Expect(gen.OpSearchProducts).Respond(200, page(false, "DZ-2"))
		}, "only a neighbour"},
		{func(srv *clienttest.Server) {
			srv.Expect(gen.OpSearchProducts).Respond(200, page(false, "DZ-1", "DZ-1"))
		}, "two products"},
		{func(srv *clienttest.Server) {
			srv.Expect(gen.OpSearchProducts).Respond(200, page(false, "DZ-1"))
			srv.Expect(gen.OpListVariants).RespondError(404, "gone")
		}, "a product that is gone"},
		{func(srv *clienttest.Server) { srv.Expect(gen.OpSearchProducts).RespondError(400, "no") }, "a style id that is refused"},
	} {
		dir := t.TempDir()
		srv, l := cachedLookup(t, dir)
		row.script(srv)
		f := file(t, "DZ-1,9,")
		require.NoError(t, l.Variants(t.Context(), f))
		assert.Len(t, f.Problems(), 1, row.why)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, entries, row.why)
	}
}

func TestLookup_ComparesPricesWithTheMarket(t *testing.T) {
	for _, row := range []struct {
		data  gen.MarketData
		doubt bool
		why   string
	}{
		{gen.MarketData{HighestBidAmount: "200", LowestAskAmount: "300"}, false, "half the highest bid"},
		{gen.MarketData{HighestBidAmount: "200.01"}, true, "below half the highest bid"},
		{gen.MarketData{LowestAskAmount: "10.0000"}, false, "ten times the lowest ask"},
		{gen.MarketData{LowestAskAmount: "9.99"}, true, "above ten times the lowest ask"},
		{gen.MarketData{}, false, "neither a bid nor an ask"},
		{gen.MarketData{LowestAskAmount: "0"}, false, "an ask of zero is none"},
		{gen.MarketData{HighestBidAmount: "much"}, false, "a bid that is no number"},
		{gen.MarketData{LowestAskAmount: "9999999999999999999"}, false, "beyond a decimal"},
	} {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpSearchProducts).Respond(200, page(false, "DZ-1"))
		srv.Expect(gen.OpListVariants).Respond(200, sizes("9"))
		row.data.ProductID, row.data.VariantID, row.data.CurrencyCode = "p-DZ-1", "v0-9", "USD"
		srv.Expect(gen.OpListProductMarketData).Path("productId", "p-DZ-1").Query("currencyCode", "USD").Respond(200, []gen.MarketData{row.data})
		l, f := lookup(srv.Client().Catalog), file(t, "DZ-1,9,", ",,8f4d2c4e")
		require.NoError(t, l.Variants(t.Context(), f))
		var lines []int
		require.NoError(t, l.Prices(t.Context(), f, func(line int, _ string, _ ...any) { lines = append(lines, line) }))
		assert.Equal(t, row.doubt, len(lines) == 1 && lines[0] == 2, row.why)
	}
}

func TestLookup_ReportsPricesThatItCannotCompare(t *testing.T) {
	for status, dropped := range map[int]bool{400: true, 404: true, 403: false} {
		dir := t.TempDir()
		srv, l := cachedLookup(t, dir)
		srv.Expect(gen.OpSearchProducts).Respond(200, page(false, "DZ-1"))
		srv.Expect(gen.OpListVariants).Respond(200, sizes("9"))
		srv.Expect(gen.OpListProductMarketData).RespondError(status, "no")
		f := file(t, "DZ-1,9,")
		require.NoError(t, l.Variants(t.Context(), f))
		reported := 0
		require.NoError(t, l.Prices(t.Context(), f, func(int, string, ...any) { reported++ }))
		assert.Equal(t, 1, reported, status)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Equal(t, dropped, len(entries) == 0, "the product is dropped: %d", status)
	}
}
