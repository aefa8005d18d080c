package sandbox_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
