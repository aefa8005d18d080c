package sandbox_test

import (
	"bytes"
	"database/sql"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestWorker_WorksInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, inBackground)
		path := m.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "200", "quantity": 300})
		<-time.After(2 * time.Second)
		synctest.Wait()
		assert.Equal(t, "IN_PROGRESS", m.get("%s", path).text("status"))
		<-time.After(time.Second)
		synctest.Wait()
		assert.Equal(t, counts("0", "0", "300", "0"), m.get("%s", path).at("itemStatuses"))

		op := m.createListing("200", nil)
		<-time.After(time.Second)
		synctest.Wait()
		assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", op.text("listingId")).text("status"),
			"new work wakes it")
	})
}

func TestWorker_DoesAcceptedWorkOnceAfterARestart(t *testing.T) {
	file := tempFile(t)
	killed := open(t, inFile(file))
	path := killed.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "200", "quantity": 500})
	op := killed.createListing("300", nil)
	killed.pass(1500 * time.Millisecond) // some items are in progress, some queued, none done
	assert.Equal(t, "IN_PROGRESS", killed.get("%s", path).text("status"))
	killed.pass(time.Second) // some are done
	before := killed.get("%s/items?status=COMPLETED", path)
	require.Positive(t, before.len("items"))
	require.Less(t, before.len("items"), 500)

	next := open(t, inFile(asKilled(t, file)))
	next.pass(time.Hour)
	b := next.get("%s", path)
	assert.Equal(t, "COMPLETED", b.text("status"))
	assert.Equal(t, counts("0", "0", "500", "0"), b.at("itemStatuses"))
	made := map[string]bool{}
	for _, item := range next.get("%s/items", path).body.(map[string]any)["items"].([]any) {
		made[item.(map[string]any)["result"].(map[string]any)["listingId"].(string)] = true
	}
	assert.Len(t, made, 500, "every item made one listing")
	assert.Equal(t, "501",
		next.get("/selling/listings?pageSize=1").at("count").(interface{ String() string }).String(), "no others were made")
	assert.Equal(t, "SUCCEEDED",
		next.get("/selling/listings/%s/operations/%s", op.text("listingId"), op.text("operationId")).text("operationStatus"))
}

func TestWorker_ContinuesAfterTheNextStart(t *testing.T) {
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

// sabotage makes the database refuse changes by triggers.
func sabotage(t *testing.T, file string, triggers ...string) {
	t.Helper()
	for _, trigger := range triggers {
		execute(t, file, trigger+` BEGIN SELECT RAISE(ABORT, 'sabotage'); END`)
	}
}

// execute runs a statement in the file of a sandbox.
func execute(t *testing.T, file, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), statement, args...)
	require.NoError(t, err)
}

func TestWorker_GivesUpBrokenRows(t *testing.T) {
	file := tempFile(t)
	var log bytes.Buffer
	m := open(t, inFile(file), func(o *sandbox.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	sabotage(t, file,
		`CREATE TRIGGER a BEFORE INSERT ON operations WHEN NEW.amount = 66600`,
		`CREATE TRIGGER b BEFORE UPDATE ON listings WHEN NEW.amount = 77700`,
		`CREATE TRIGGER c BEFORE UPDATE ON orders WHEN NEW.status <> OLD.status AND NEW.amount = 88800`)
	listing, stuck := m.order("888")
	_, free := m.order("889")
	id := m.sell("100")
	batch := m.batch("create-listing",
		map[string]any{"variantId": chicago(t), "amount": "5000", "quantity": 3},
		map[string]any{"variantId": chicago(t), "amount": "666", "quantity": 1},
		map[string]any{"variantId": chicago(t), "amount": "5000", "quantity": 3})
	m.call(http.MethodPatch, "/selling/listings/"+id, map[string]any{"amount": "777"})
	m.pass(time.Hour)

	b := m.get("%s", batch)
	assert.Equal(t, "COMPLETED", b.text("status"))
	assert.Equal(t, counts("0", "0", "6", "1"), b.at("itemStatuses"))
	item := m.get("%s/items?status=FAILED", batch)
	assert.NotEmpty(t, item.text("items", 0, "error"))
	assert.Equal(t, "100", m.get("/selling/listings/%s", id).text("amount"))
	assert.NotEmpty(t, m.get("/selling/listings/%s/operations", id).text("operations", 0, "error"))
	assert.Equal(t, "CREATED", m.get("/selling/orders/%s", stuck).text("status"),
		"it stays until it is moved")
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", listing).text("status"))
	assert.NotEqual(t, "CREATED", m.get("/selling/orders/%s", free).text("status"))
	assert.Contains(t, log.String(), "sabotage", "the log has the cause")
	assert.NotContains(t, item.text("items", 0, "error"), "sabotage")
	assert.Len(t, m.get("/selling/listings?pageSize=100").each("listings", "listingId"), 9,
		"failed rows leave nothing behind")
	assert.EqualValues(t, "9", m.get("/selling/listings").at("count"))
}

func TestWorker_LeavesRowsThatCannotBeGivenUp(t *testing.T) {
	file := tempFile(t)
	m := open(t, inFile(file))
	sabotage(t, file, `CREATE TRIGGER a BEFORE UPDATE ON listings WHEN NEW.expired = 1 AND NEW.amount = 66600`)
	expires := noon.Add(time.Minute).Format(time.RFC3339)
	var ids []string
	for _, amount := range []string{"666", "500"} {
		a := m.createListing(amount, map[string]any{"expiresAt": expires})
		ids = append(ids, a.text("listingId"))
	}
	// More than one step takes.
	m.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "700", "quantity": 1200, "expiresAt": expires})
	m.settle()
	require.NoError(t, m.Advance(t.Context(), time.Hour))
	require.ErrorContains(t, m.Work(t.Context()), "expiry of listing "+ids[0])
	assert.EqualValues(t, "1201",
		m.get("/selling/listings?listingStatuses=INACTIVE&isExpired=true").at("count"), "one call does the others")
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", ids[0]).text("status"))
	assert.Equal(t, "INACTIVE", m.get("/selling/listings/%s", ids[1]).text("status"))
}

func TestWorker_RetriesSalesThatFailed(t *testing.T) {
	file := tempFile(t)
	m := open(t, inFile(file))
	_, price := m.around()
	m.bid(usd(price))
	sabotage(t, file, `CREATE TRIGGER a BEFORE INSERT ON orders`)
	id := m.createListing(usd(price), nil).text("listingId")
	m.tick(time.Minute)
	require.Error(t, m.Work(t.Context()))
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", id).text("status"), "it went live")
	execute(t, file, `DROP TRIGGER a`)
	m.pass(0)
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", id).text("status"))
}
