package limit_test

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/bulk/internal/limit"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/quota/limitertest"
)

func TestMain(m *testing.M) {
	if service := os.Getenv(childService); service != "" {
		runChild(service)
	}
	goleak.VerifyTestMain(m)
}

func openDB(t testing.TB, database string) *db.DB {
	t.Helper()
	d, err := openDatabase(database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func openDatabase(database string) (*db.DB, error) {
	schema, err := limit.Migrations()
	if err != nil {
		return nil, err
	}
	return db.Open(context.Background(), db.Config{Database: database, Migrations: []db.Migrations{schema}})
}

// ownDatabase is a limiter with a database of its own, which it closes.
type ownDatabase struct {
	*limit.Limiter
	db *db.DB
}

func (l ownDatabase) Close() error {
	if err := l.Limiter.Close(context.Background()); err != nil {
		return err
	}
	return l.db.Close()
}

func TestLimiter_KeepsTheContract(t *testing.T) {
	limitertest.RunSchedules(t, func(q quota.Quota) quota.Limiter {
		d, err := openDatabase(":memory:")
		if err != nil {
			t.Error(err)
			return quota.NewLimiter(q)
		}
		return ownDatabase{limit.New(d, limit.Config{Account: "a", Quota: q}), d}
	}, 500)
}
