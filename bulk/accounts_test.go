package bulk_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/bulk/internal/db/dbtest"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// TestBulk_ExcludesOthersOfItsAccount has two processes' worth of one account.
func TestBulk_ExcludesOthersOfItsAccount(t *testing.T) {
	for name, database := range dbtest.Shared(t) {
		t.Run(name, func(t *testing.T) {
			m := sandboxtest.New(t)
			first := open(t, m, database)
			_, err := first.Plan(t.Context(), rowsOf(inventory(10, 200)), bulk.PlanOptions{})
			require.NoError(t, err)
			second, err := bulk.Open(t.Context(), bulk.Config{
				Ledger: database, Quota: quota.Unlimited,
				Connect: func(quota.Limiter) (*client.Client, error) { return m.Client(), nil },
			})
			require.NoError(t, err)
			_, err = second.Plan(t.Context(), rowsOf(inventory(10, 200)), bulk.PlanOptions{})
			require.ErrorIs(t, err, bulk.ErrWorking)
			require.NoError(t, second.Close())
		})
	}
}

// TestBulk_WaitsForOthersOfItsAccount runs one account from two processes' worth, one after the
// other. Only PostgreSQL lets one wait.
func TestBulk_WaitsForOthersOfItsAccount(t *testing.T) {
	for name, database := range dbtest.Shared(t) {
		t.Run(name, func(t *testing.T) {
			m := sandboxtest.New(t)
			text := inventory(50, 200)
			keep := func(b *bulk.Bulk) {
				plan, err := b.Plan(context.Background(), rowsOf(text), bulk.PlanOptions{})
				if assert.NoError(t, err) {
					_, err = b.Apply(context.Background(), plan, "apply")
					assert.NoError(t, err)
				}
			}
			queue := func(c *bulk.Config) { c.Queue = true }
			if name == "file" {
				keep(open(t, m, database, queue))
			} else {
				var running sync.WaitGroup
				for range 3 {
					b := open(t, m, database, queue)
					running.Go(func() {
						keep(b)
						assert.NoError(t, b.Close())
					})
				}
				running.Wait()
			}
			assert.Len(t, live(t, m), 50, "listed once")
		})
	}
}

// TestBulk_ServesManyAccounts applies inventories of three accounts from one database at once.
func TestBulk_ServesManyAccounts(t *testing.T) {
	for name, database := range dbtest.Shared(t) {
		t.Run(name, func(t *testing.T) {
			accounts := []string{"first", "Second & Søn", ""}
			if name == "file" {
				accounts = accounts[:1] // one worker at a time
			}
			var running sync.WaitGroup
			for _, account := range accounts {
				m := sandboxtest.New(t)
				b := open(t, m, database, func(c *bulk.Config) { c.Account = account })
				running.Go(func() {
					for range 2 {
						plan, err := b.Plan(context.Background(), rowsOf(inventory(120, 200)), bulk.PlanOptions{})
						if !assert.NoError(t, err) {
							return
						}
						_, err = b.Apply(context.Background(), plan, "apply")
						assert.NoError(t, err)
						assert.Len(t, live(t, m), 120, account)
					}
				})
			}
			running.Wait()
		})
	}
}

func TestApply_EndsWhenItsAccountIsTakenOver(t *testing.T) {
	for name, database := range dbtest.Shared(t) {
		t.Run(name, func(t *testing.T) {
			m := sandboxtest.New(t)
			b := open(t, m, database)
			plan, err := b.Plan(t.Context(), rowsOf(inventory(10, 200)), bulk.PlanOptions{})
			require.NoError(t, err)
			other, err := db.Open(t.Context(), db.Config{Database: database})
			require.NoError(t, err)
			require.NoError(t, other.Tx(t.Context(), func(tx db.Tx) error {
				_, err := db.NextFence(t.Context(), tx, "default")
				return err
			}))
			require.NoError(t, other.Close())
			_, err = b.Apply(t.Context(), plan, "apply")
			require.ErrorIs(t, err, bulk.ErrFenced)
			assert.Empty(t, live(t, m))
		})
	}
}
