package db_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/bulk/internal/db/dbtest"
)

func acquire(t *testing.T, d *db.DB, account string, queue bool) *db.Lease {
	t.Helper()
	l, err := d.AcquireLease(t.Context(), db.LeaseConfig{Account: account, Term: leaseTerm, Queue: queue})
	require.NoError(t, err)
	return l
}

func TestLease_FencesTheOneBefore(t *testing.T) {
	forEach(t, func(t *testing.T, d *db.DB) {
		first, other := acquire(t, d, "a", false), acquire(t, d, "b", false)
		require.NoError(t, d.CheckFence(t.Context(), "a", first.Fence()))
		require.NoError(t, first.Release(t.Context()))
		require.NoError(t, d.CheckFence(t.Context(), "a", first.Fence()), "no other worker has taken it")
		second := acquire(t, d, "a", false)
		assert.Greater(t, second.Fence(), first.Fence())
		require.ErrorIs(t, d.CheckFence(t.Context(), "a", first.Fence()), db.ErrFenced)
		require.NoError(t, first.Release(t.Context()), "again, which does not release the second")
		require.NoError(t, d.CheckFence(t.Context(), "b", other.Fence()), "accounts have their own")
		require.NoError(t, second.Release(t.Context()))
		require.NoError(t, other.Release(t.Context()))
	})
}

// TestLease_ExcludesProcesses has a lease in another process, which renews it until it is killed. A
// database that is a file has the lock of its worker instead.
func TestLease_ExcludesProcesses(t *testing.T) {
	for name, database := range dbtest.Shared(t) {
		d := open(t, database)
		c := startChild(t, "lease", database)
		fence, err := strconv.ParseInt(c.expect(t, "fence "), 10, 64)
		require.NoError(t, err)
		if name == "postgres" {
			_, err := d.AcquireLease(t.Context(), db.LeaseConfig{Account: "a", Term: leaseTerm})
			require.ErrorIs(t, err, db.ErrWorking)
			expiry := func() int64 { return count(t, d, `SELECT expires_at FROM fences WHERE account = 'a'`) }
			for before := expiry(); expiry() == before; { // until it is renewed
				require.NoError(t, t.Context().Err())
			}
		}
		c.kill()
		killed := time.Now()
		l := acquire(t, d, "a", true)
		t.Logf("%s: acquired %s after the kill, with a term of %s", name, time.Since(killed).Round(time.Millisecond), leaseTerm)
		assert.Equal(t, fence+1, l.Fence())
		require.ErrorIs(t, d.CheckFence(t.Context(), "a", fence), db.ErrFenced)
		require.NoError(t, l.Release(t.Context()))
	}
}
