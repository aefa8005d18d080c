package db_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
)

// work starts a worker whose jobs run a function.
func work(t *testing.T, d *db.DB, f func(context.Context, *river.Job[accountArgs]) error) *db.Worker {
	t.Helper()
	w, err := d.Work(t.Context(), newWork(time.Second, f))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Stop(context.Background())) })
	return w
}

func newWork(poll time.Duration, f func(context.Context, *river.Job[accountArgs]) error) db.WorkConfig {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(f))
	return db.WorkConfig{
		Workers: workers, Queues: map[string]int{river.QueueDefault: 4}, Poll: poll,
	}
}

func insertJob(t *testing.T, d *db.DB, account string, opts *river.InsertOpts) {
	t.Helper()
	require.NoError(t, d.Tx(t.Context(), func(tx db.Tx) error {
		return tx.Insert(t.Context(), accountArgs{account}, opts)
	}))
}

func TestWork_RunsCommittedJobs(t *testing.T) {
	forEach(t, func(t *testing.T, d *db.DB) {
		ran := make(chan string, 10)
		work(t, d, func(_ context.Context, job *river.Job[accountArgs]) error {
			ran <- job.Args.Account
			return nil
		})
		insertJob(t, d, "a", nil)
		assert.Equal(t, "a", <-ran)
	})
}

func TestWork_AllowsOneWorkerOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.db")
	first, second := open(t, file), open(t, file)
	nothing := func(context.Context, *river.Job[accountArgs]) error { return nil }
	w := work(t, first, nothing)
	for _, d := range []*db.DB{first, second} {
		_, err := d.Work(t.Context(), newWork(0, nothing))
		require.ErrorIs(t, err, db.ErrWorking)
		require.NoError(t, d.Tx(t.Context(), func(tx db.Tx) error { return addNote(t.Context(), tx, int(time.Now().UnixNano())) }),
			"those that do not work may write")
	}
	require.NoError(t, w.Stop(t.Context()))
	require.NoError(t, w.Stop(t.Context()), "a second Stop does nothing")
	work(t, second, nothing)
}

func TestWork_SnoozesInSimulatedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, ":memory:")
		start := time.Now()
		var ran []time.Duration
		w := work(t, d, func(context.Context, *river.Job[accountArgs]) error {
			ran = append(ran, time.Since(start).Truncate(time.Second))
			return river.JobSnooze(20 * time.Minute)
		})
		insertJob(t, d, "a", nil)
		<-time.After(50 * time.Minute)
		require.NoError(t, w.Stop(t.Context()))
		require.Len(t, ran, 3)
		for i, at := range ran {
			assert.InDelta(t, time.Duration(i)*20*time.Minute, at, float64(15*time.Second))
		}
	})
}

func TestInsert_IsUniqueAndWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, ":memory:")
		var runs atomic.Int32
		running := make(chan struct{})
		w := work(t, d, func(_ context.Context, job *river.Job[accountArgs]) error {
			runs.Add(1)
			if job.Args.Account == "slow" {
				<-running
				return nil
			}
			return river.JobSnooze(24 * time.Hour)
		})
		insertJob(t, d, "a", nil)
		insertJob(t, d, "a", nil)
		<-time.After(time.Minute)
		assert.EqualValues(t, 1, runs.Load(), "inserted twice")

		insertJob(t, d, "a", &river.InsertOpts{ScheduledAt: time.Now().Add(48 * time.Hour)})
		<-time.After(time.Minute)
		assert.EqualValues(t, 1, runs.Load(), "not due before the snooze ends")

		insertJob(t, d, "a", nil)
		<-time.After(time.Minute)
		assert.EqualValues(t, 2, runs.Load(), "woken from its snooze")
		assert.EqualValues(t, 1, jobCount(t, d))

		insertJob(t, d, "slow", nil)
		<-time.After(time.Second)
		insertJob(t, d, "slow", nil)
		close(running)
		<-time.After(time.Second)
		assert.EqualValues(t, 3, runs.Load(), "nothing while it runs")
		insertJob(t, d, "slow", nil)
		<-time.After(time.Second)
		assert.EqualValues(t, 4, runs.Load(), "a job that is done is no duplicate")
		<-time.After(10 * time.Minute)
		assert.EqualValues(t, 1, jobCount(t, d), "finished jobs are deleted")
		require.NoError(t, w.Stop(t.Context()))
	})
}

func TestWork_RetriesFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, ":memory:")
		var ran []time.Time
		w := work(t, d, func(ctx context.Context, _ *river.Job[accountArgs]) error {
			ran = append(ran, time.Now())
			switch len(ran) {
			case 1:
				return errors.New("failed")
			case 2:
				panic("boom")
			case 3:
				<-ctx.Done() // its time runs out
				return ctx.Err()
			}
			return nil
		})
		insertJob(t, d, "a", nil)
		<-time.After(10 * time.Minute)
		require.NoError(t, w.Stop(t.Context()))
		require.Len(t, ran, 4)
		for i, most := range []time.Duration{10 * time.Second, 10 * time.Second, 150 * time.Second} {
			assert.LessOrEqual(t, ran[i+1].Sub(ran[i]), most)
		}
	})
}

func TestWorker_StopCancelsWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, ":memory:")
		started, canceled := make(chan struct{}), false
		w := work(t, d, func(ctx context.Context, _ *river.Job[accountArgs]) error {
			close(started)
			<-ctx.Done()
			canceled = true
			return ctx.Err()
		})
		insertJob(t, d, "a", nil)
		<-started
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.NoError(t, w.Stop(ctx))
		assert.True(t, canceled)
		assert.EqualValues(t, 1, jobCount(t, d), "the job runs again")
	})
}
