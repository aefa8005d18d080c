package sandbox_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestAdvance_DoesTheWorkThatFallsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, inBackground)
		path := m.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "200", "quantity": 300})
		begin := time.Now()
		require.NoError(t, m.Advance(t.Context(), time.Second))
		assert.Equal(t, "IN_PROGRESS", m.get("%s", path).text("status"))
		require.NoError(t, m.Advance(t.Context(), 2*time.Second))
		assert.Equal(t, "COMPLETED", m.get("%s", path).text("status"))
		assert.Zero(t, time.Since(begin), "no real time passed")
		assert.Equal(t, begin.Add(3*time.Second), m.Now())
	})
}

func TestAdvance_WakesTheWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, inBackground)
		a := m.createListing("200", nil)
		require.NoError(t, m.Advance(t.Context(), 400*time.Millisecond))
		synctest.Wait()
		<-time.After(600 * time.Millisecond) // 400 ms earlier than it would have
		synctest.Wait()
		assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", a.text("listingId")).text("status"))
	})
}

func TestAdvance_LeavesManualWorkToWork(t *testing.T) {
	m := open(t)
	a := m.createListing("200", nil)
	require.NoError(t, m.Advance(t.Context(), time.Minute))
	assert.Equal(t, "INACTIVE", m.get("/selling/listings/%s", a.text("listingId")).text("status"))
	require.NoError(t, m.Work(t.Context()))
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", a.text("listingId")).text("status"))
}

func TestAdvance_LastsUntilReset(t *testing.T) {
	file := tempFile(t)
	first := open(t, inFile(file))
	require.NoError(t, first.Advance(t.Context(), 20*24*time.Hour))
	require.NoError(t, first.Advance(t.Context(), 10*24*time.Hour))
	a := first.createListing("200", nil)
	require.NoError(t, first.Close())

	second := open(t, inFile(file))
	assert.Equal(t, noon.Add(30*24*time.Hour), second.Now())
	second.settle()
	assert.Equal(t, "ACTIVE", second.get("/selling/listings/%s", a.text("listingId")).text("status"),
		"it is due by the advanced clock")
	second.now = noon
	require.NoError(t, second.Reset(t.Context()))
	assert.Equal(t, noon, second.Now())
	require.NoError(t, second.Close())
	assert.Equal(t, noon, open(t, inFile(file)).Now())
}

func TestAdvance_GoesForwardAndUpToALimit(t *testing.T) {
	m := open(t)
	require.Error(t, m.Advance(t.Context(), -1))
	require.NoError(t, m.Advance(t.Context(), math.MaxInt64))
	require.Error(t, m.Advance(t.Context(), 1))
	assert.Equal(t, noon.Add(math.MaxInt64), m.Now())
}

func TestWorker_StampsLateWorkWithItsDueTime(t *testing.T) {
	m := open(t, func(o *sandbox.Options) { o.OrderStep = time.Hour })
	_, number := m.order("200") // at 12:00:04
	batch := m.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "5000", "quantity": 1})
	m.pass(30 * 24 * time.Hour)
	assert.Equal(t, "2026-11-02T12:00:06.000Z", m.get("%s", batch).text("completedAt"))
	order := m.get("/selling/orders/%s", number)
	assert.Equal(t, "COMPLETED", order.text("status"))
	assert.Equal(t, "2026-11-02T19:00:04.000Z", order.text("updatedAt"), "seven steps after the sale")
}

// One jump of the clock comes out as many small ones do, stamps included.
func TestAdvance_OneJumpEqualsMany(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			cuts := rand.New(rand.NewPCG(seed, 2))
			inOne := simulate(t, seed, func(m *market, d time.Duration) { m.jump(d) })
			inMany := simulate(t, seed, func(m *market, d time.Duration) {
				for range cuts.IntN(12) {
					part := time.Duration(cuts.Int64N(int64(d)))
					m.jump(part)
					d -= part
				}
				m.jump(d)
			})
			assert.Equal(t, inMany, inOne)
		})
	}
}

func (m *market) jump(d time.Duration) {
	m.t.Helper()
	require.NoError(m.t, m.Advance(m.t.Context(), d))
	require.NoError(m.t, m.Work(m.t.Context()))
}

// simulate lets a seller and buyers act, moves the clock by jumps, and returns all that can be read
// in the end.
func simulate(t *testing.T, seed uint64, jump func(*market, time.Duration)) map[string]string {
	t.Helper()
	m := open(t, func(o *sandbox.Options) { o.Seed, o.OrderStep, o.BookTrades = seed, time.Minute, seed%2 == 0 })
	random := rand.New(rand.NewPCG(seed, 1))
	var paths []string
	for range 5 {
		paths = append(paths, m.actAtRandom(random)...)
		jump(m, time.Duration(random.Int64N(int64(5*time.Minute))))
	}
	jump(m, 2*time.Hour)

	listings := m.get("/selling/listings?pageSize=100&isExpired=true")
	require.Greater(t, listings.len("listings"), 10)
	for _, id := range listings.each("listings", "listingId") {
		paths = append(paths, "/selling/listings/"+id, "/selling/listings/"+id+"/operations?pageSize=100")
	}
	for _, list := range []string{"/selling/orders/active?pageSize=100", "/selling/orders/history?pageSize=100"} {
		paths = append(paths, list)
		for _, number := range m.get("%s", list).each("orders", "orderNumber") {
			paths = append(paths, "/selling/orders/"+number)
		}
	}
	all := map[string]string{}
	for _, path := range paths {
		all[path] = m.raw(http.MethodGet, path, nil).Body.String()
	}
	return all
}

// actAtRandom makes requests that may be refused, and returns the paths of what was accepted.
func (m *market) actAtRandom(random *rand.Rand) (paths []string) {
	m.t.Helper()
	price := func() string { return usd(100 + random.Int64N(150)) }
	soon := func() time.Time { return m.Now().Add(time.Duration(random.Int64N(int64(8 * time.Minute)))) }
	terms := func() map[string]any {
		return map[string]any{
			"variantId": chicago(m.t), "amount": price(), "active": random.IntN(4) > 0, "expiresAt": soon(),
		}
	}
	item := terms()
	item["quantity"] = 1 + random.IntN(5)
	unknown := map[string]any{"variantId": unknownID, "amount": "1", "quantity": 1}
	batch := m.batch("create-listing", item, unknown)
	paths = append(paths, batch, batch+"/items")
	for range 2 {
		m.call(http.MethodPost, "/selling/listings", terms())
	}
	for _, id := range m.get("/selling/listings").each("listings", "listingId") {
		path := "/selling/listings/" + id
		switch random.IntN(6) {
		case 0:
			m.call(http.MethodPatch, path, map[string]any{"amount": price(), "expiresAt": soon()})
		case 1:
			m.call(http.MethodPut, path+"/deactivate", nil)
		case 2:
			m.call(http.MethodPut, path+"/activate", map[string]any{"amount": price()})
		case 3:
			m.call(http.MethodDelete, path, nil)
		case 4:
			batch := m.batch("update-listing", map[string]any{"listingId": id, "amount": price(), "active": true})
			paths = append(paths, batch, batch+"/items")
		}
	}
	m.bid(price())
	return paths
}
