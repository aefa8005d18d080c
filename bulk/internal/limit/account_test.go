package limit_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/bulk/internal/limit"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

var tenItems = quota.Quota{ItemsPerWindow: 10, ItemsWindow: time.Minute}

// process is what one process has: a database and a limiter.
type process struct {
	*limit.Limiter
	db *db.DB
}

func start(t *testing.T, file, account string, q quota.Quota) process {
	t.Helper()
	d, err := openDatabase(file)
	require.NoError(t, err)
	return process{
		limit.New(d, limit.Config{Account: account, Quota: q, AttemptTimeout: 30 * time.Second}), d,
	}
}

// stop ends a process; a process that is killed does not close its limiter.
func (p process) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.Close(context.Background()))
	require.NoError(t, p.db.Close())
}

func (p process) acquire(t *testing.T, items int) quota.Release {
	t.Helper()
	release, err := p.Acquire(t.Context(), items)
	require.NoError(t, err)
	return release
}

func simulate(t *testing.T, test func(t *testing.T, file string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ledger.db")
	synctest.Test(t, func(t *testing.T) { test(t, file) })
}

func TestLimiter_RemembersAcrossRestarts(t *testing.T) {
	simulate(t, func(t *testing.T, file string) {
		began := time.Now()
		first := start(t, file, "a", tenItems)
		first.acquire(t, 10)(quota.Sent)
		first.stop(t)
		second := start(t, file, "a", tenItems)
		second.acquire(t, 1)
		assert.Equal(t, time.Minute, time.Since(began))
		second.stop(t)
	})
}

func TestLimiter_ChargesPlacesOfDeadProcess(t *testing.T) {
	simulate(t, func(t *testing.T, file string) {
		began := time.Now()
		dead := start(t, file, "a", tenItems)
		dead.acquire(t, 10)
		require.NoError(t, dead.db.Close()) // its place stays in use
		next := start(t, file, "a", tenItems)
		next.acquire(t, 1)
		assert.InDelta(t, 90*time.Second, time.Since(began), float64(time.Second), "attempt timeout and window")
		next.stop(t)
	})
}

func TestLimiter_ChargesPlaceOfProcessThatWakes(t *testing.T) {
	simulate(t, func(t *testing.T, file string) {
		stopped, other := start(t, file, "a", tenItems), start(t, file, "a", tenItems)
		release := stopped.acquire(t, 10)
		<-time.After(10 * time.Minute) // longer than its attempt timeout and a window
		other.acquire(t, 1)(quota.NotSent)
		release(quota.Sent) // its request arrived only now
		synctest.Wait()
		woke := time.Now()
		other.acquire(t, 1)
		assert.GreaterOrEqual(t, time.Since(woke), time.Minute-time.Second)
		stopped.stop(t)
		other.stop(t)
	})
}

func TestLimiter_SharesAnAccountInOrder(t *testing.T) {
	simulate(t, func(t *testing.T, file string) {
		began := time.Now()
		a, b, other := start(t, file, "a", tenItems), start(t, file, "a", tenItems), start(t, file, "b", tenItems)
		a.acquire(t, 10)(quota.Sent)
		synctest.Wait()
		ended := make(chan string, 4)
		enqueue := func(p process, name string) {
			go func() {
				release, err := p.Acquire(t.Context(), 10)
				if assert.NoError(t, err) {
					release(quota.Sent)
				}
				ended <- name
			}()
			synctest.Wait()
			<-time.After(time.Second)
		}
		for _, name := range []string{"b1", "a1", "b2", "a2"} {
			enqueue(map[byte]process{'a': a, 'b': b}[name[0]], name)
		}
		other.acquire(t, 10)
		assert.Less(t, time.Since(began), 10*time.Second, "accounts have their own quotas")
		for _, name := range []string{"b1", "a1", "b2", "a2"} {
			assert.Equal(t, name, <-ended)
		}
		assert.InDelta(t, 4*time.Minute, time.Since(began), float64(5*time.Second))
		for _, p := range []process{a, b, other} {
			p.stop(t)
		}
	})
}

func TestLimiter_AdmitsAfterDeadQueue(t *testing.T) {
	simulate(t, func(t *testing.T, file string) {
		began := time.Now()
		dead, next := start(t, file, "a", tenItems), start(t, file, "a", tenItems)
		next.acquire(t, 10)(quota.Sent)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, err := dead.Acquire(ctx, 10)
			assert.ErrorIs(t, err, context.Canceled)
		}()
		synctest.Wait()
		require.NoError(t, dead.db.Close()) // its call stays in the queue
		next.acquire(t, 10)
		assert.InDelta(t, time.Minute, time.Since(began), float64(2*time.Second))
		cancel()
		<-ended
		_ = dead.Close(context.Background()) // it cannot write any more
		next.stop(t)
	})
}

func TestLimiter_SeesWhatOtherProcessReturns(t *testing.T) {
	simulate(t, func(t *testing.T, file string) {
		a, b := start(t, file, "a", tenItems), start(t, file, "a", tenItems)
		release := a.acquire(t, 10)
		time.AfterFunc(20*time.Second, func() { release(quota.NotSent) })
		began := time.Now()
		b.acquire(t, 10)
		assert.InDelta(t, 20*time.Second, time.Since(began), float64(time.Second))
		a.stop(t)
		b.stop(t)
	})
}

func TestCoolDown_HoldsForAllProcesses(t *testing.T) {
	simulate(t, func(t *testing.T, file string) {
		a, b := start(t, file, "a", tenItems), start(t, file, "a", tenItems)
		began := time.Now()
		require.NoError(t, a.CoolDown(t.Context(), began.Add(40*time.Second)))
		require.NoError(t, a.CoolDown(t.Context(), began.Add(20*time.Second)), "it does not become shorter")
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := b.Acquire(ctx, 1)
		failed, ok := errors.AsType[*quota.Error](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, 40*time.Second, failed.Wait)
		b.acquire(t, 1)
		assert.Equal(t, 40*time.Second, time.Since(began))
		a.stop(t)
		b.stop(t)
	})
}

func TestLimiter_DeletesOldCharges(t *testing.T) {
	simulate(t, func(t *testing.T, file string) {
		p := start(t, file, "a", quota.Quota{ItemsPerDay: 1000})
		for range 50 {
			p.acquire(t, 1)(quota.Sent)
			<-time.After(time.Hour)
		}
		var charges, calls int
		require.NoError(t, p.db.View(t.Context(), func(r db.Reader) error {
			_, err := db.Get(t.Context(), r, []any{&charges, &calls},
				`SELECT (SELECT count(*) FROM quota_charges), (SELECT count(*) FROM quota_calls)`)
			return err
		}))
		assert.Equal(t, 24, charges)
		assert.Zero(t, calls)
		p.stop(t)
	})
}

func TestLimiter_FailsWithoutItsDatabase(t *testing.T) {
	simulate(t, func(t *testing.T, file string) {
		p := start(t, file, "a", tenItems)
		require.NoError(t, p.db.Close())
		_, err := p.Acquire(t.Context(), 1)
		require.Error(t, err)
		_, err = p.Remaining(t.Context())
		require.Error(t, err)
	})
}
