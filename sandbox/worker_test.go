package sandbox_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// inBackground leaves the work to the sandbox, on the clock of the bubble.
func inBackground(o *sandbox.Options) {
	o.Manual, o.Now = false, nil
}

func TestTheWorkerWorksInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, inBackground)
		path := m.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "200", "quantity": 300})
		<-time.After(2 * time.Second)
		synctest.Wait()
		assert.Equal(t, "IN_PROGRESS", m.get("%s", path).text("status"))
		<-time.After(time.Second)
		synctest.Wait()
		assert.Equal(t, counts("0", "0", "300", "0"), m.get("%s", path).at("itemStatuses"))

		op := m.call(http.MethodPost, "/selling/listings", map[string]any{"variantId": chicago(t), "amount": "200"})
		<-time.After(time.Second)
		synctest.Wait()
		assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", op.text("listingId")).text("status"), "new work wakes it up")
	})
}

func TestWhatWasAcceptedIsDoneOnceAfterARestart(t *testing.T) {
	file := tempFile(t)
	killed := open(t, inFile(file)) // it is never closed before the next one starts
	path := killed.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "200", "quantity": 500})
	op := killed.call(http.MethodPost, "/selling/listings", map[string]any{"variantId": chicago(t), "amount": "300"})
	killed.pass(1500 * time.Millisecond) // some items are in progress, some queued, none done
	assert.Equal(t, "IN_PROGRESS", killed.get("%s", path).text("status"))
	killed.pass(time.Second) // some are done
	before := killed.get("%s/items?status=COMPLETED", path)
	require.Positive(t, before.len("items"))
	require.Less(t, before.len("items"), 500)

	next := open(t, inFile(file))
	next.pass(time.Hour)
	b := next.get("%s", path)
	assert.Equal(t, "COMPLETED", b.text("status"))
	assert.Equal(t, counts("0", "0", "500", "0"), b.at("itemStatuses"))
	made := map[string]bool{}
	for _, item := range next.get("%s/items", path).body.(map[string]any)["items"].([]any) {
		made[item.(map[string]any)["result"].(map[string]any)["listingId"].(string)] = true
	}
	assert.Len(t, made, 500, "every item made one listing")
	assert.Equal(t, "501", next.get("/selling/listings?pageSize=1").at("count").(interface{ String() string }).String(), "and no others were made")
	assert.Equal(t, "SUCCEEDED", next.get("/selling/listings/%s/operations/%s", op.text("listingId"), op.text("operationId")).text("operationStatus"))
}

func TestAClosedSandboxCarriesOnAfterTheNextStart(t *testing.T) {
	file := tempFile(t)
	synctest.Test(t, func(t *testing.T) {
		first := open(t, inBackground, inFile(file))
		path := first.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "200", "quantity": 50})
		<-time.After(1500 * time.Millisecond)
		require.NoError(t, first.Close())

		second := open(t, inBackground, inFile(file))
		<-time.After(time.Minute)
		synctest.Wait()
		assert.Equal(t, counts("0", "0", "50", "0"), second.get("%s", path).at("itemStatuses"))
	})
}
