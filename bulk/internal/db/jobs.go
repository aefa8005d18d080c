package db

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

const (
	// maxAttempts makes failures of more than an hour discard a job.
	maxAttempts = 100
	maxPause    = time.Minute
	retention   = time.Minute // Of finished jobs: the ledger does not depend on them.
	stopTimeout = 10 * time.Second
)

// WorkConfig describes what a worker does.
type WorkConfig struct {
	Workers *river.Workers
	// Queues are how many jobs run at a time, by queue; [river.QueueDefault] has those that name
	// no queue.
	Queues map[string]int
	// Poll is how often due jobs are looked for; 1 s if zero.
	Poll time.Duration
	// JobTimeout is how long a job may run; 2 minutes if zero. On PostgreSQL a job of a killed
	// worker runs again after this time and 10 s.
	JobTimeout time.Duration
	// Account is leased before the first job runs and until the worker stops, see
	// [DB.AcquireLease]. Its jobs, those of its [Queue], are taken over at once from a worker that
	// was killed. The zero value leases none.
	Account LeaseConfig
}

// Queue returns the name of the queue for the jobs of an account. River allows few characters.
func Queue(account string) string {
	sum := sha256.Sum256([]byte(account))
	return "account-" + hex.EncodeToString(sum[:8])
}

// Worker works jobs until it is stopped.
type Worker struct {
	db     *DB
	client jobClient
	lease  *Lease // Nil without an account.
	unlock func() error
}

// Fence returns the fencing number of the account's lease, 0 without an account.
func (w *Worker) Fence() int64 {
	if w.lease == nil {
		return 0
	}
	return w.lease.Fence()
}

// jobClient is a [river.Client] of any driver.
type jobClient interface {
	Start(context.Context) error
	Stop(context.Context) error
	StopAndCancel(context.Context) error
}

// Work starts to work jobs. It returns [ErrWorking] if the database is a file and has a worker
// already, in any process, or if the account has one. The worker does not stop with ctx.
//
// A job is unique by its arguments until it is done, also while it runs: inserting it again does
// nothing but make it due, and nothing at all while it runs. So a job that runs must see
// what was written meanwhile when it runs next: it snoozes briefly rather than ends while anything
// may be owed. A snooze may end a second early or a poll late. A job that fails runs again after 1
// s, then after twice the time each, up to a minute.
//
// After a worker of a file was killed, the next one runs the jobs that were running at once.
func (d *DB) Work(ctx context.Context, c WorkConfig) (_ *Worker, err error) {
	if !d.setWorking(true) {
		return nil, fmt.Errorf("start worker: %w", ErrWorking)
	}
	defer func() {
		if err != nil {
			d.setWorking(false)
			err = fmt.Errorf("start worker: %w", err)
		}
	}()
	queues := map[string]river.QueueConfig{}
	for name, n := range c.Queues {
		queues[name] = river.QueueConfig{MaxWorkers: n}
	}
	timeout := cmp.Or(c.JobTimeout, 2*time.Minute)
	client, unlock, err := d.engine.newWorker(ctx, &river.Config{
		Workers:                     c.Workers,
		Queues:                      queues,
		FetchPollInterval:           cmp.Or(c.Poll, time.Second),
		FetchCooldown:               min(cmp.Or(c.Poll, time.Second), river.FetchCooldownDefault),
		JobTimeout:                  timeout,
		RescueStuckJobsAfter:        timeout + 10*time.Second,
		MaxAttempts:                 maxAttempts,
		RetryPolicy:                 retryPolicy{},
		CompletedJobRetentionPeriod: retention,
		CancelledJobRetentionPeriod: retention,
		DiscardedJobRetentionPeriod: time.Hour,
		Logger:                      d.log,
	})
	if err != nil {
		return nil, err
	}
	w := &Worker{db: d, client: client, unlock: unlock}
	if c.Account.Account != "" {
		if w.lease, err = d.AcquireLease(ctx, c.Account); err != nil {
			return nil, errors.Join(err, unlock())
		}
		err = d.Tx(ctx, func(tx Tx) error { return takeOver(ctx, tx, c.Account.Account) })
	}
	if err == nil {
		err = client.Start(context.WithoutCancel(ctx))
	}
	if err != nil {
		return nil, errors.Join(err, w.release(ctx))
	}
	return w, nil
}

// setWorking changes whether this process works jobs, and reports whether it did.
func (d *DB) setWorking(working bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	changed := d.working != working
	d.working = working
	return changed
}

// Stop waits for the jobs that run, or cancels them when ctx ends. A second Stop does nothing. If a
// job does not end within 10 s after that, Stop returns an error, and the database keeps its
// worker.
func (w *Worker) Stop(ctx context.Context) error {
	if err := w.client.Stop(ctx); err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if err := w.client.StopAndCancel(ctx); err != nil {
			return fmt.Errorf("stop worker: %w", err)
		}
	}
	if !w.db.setWorking(false) {
		return nil
	}
	return w.release(ctx)
}

// release lets another worker take over.
func (w *Worker) release(ctx context.Context) error {
	var err error
	if w.lease != nil {
		err = w.lease.Release(ctx)
	}
	return errors.Join(err, w.unlock())
}

// takeOver makes the jobs of an account ready that a worker had when it was killed. The caller has
// the lease.
func takeOver(ctx context.Context, tx Tx, account string) error {
	_, err := tx.Exec(ctx, `UPDATE river_job SET state = 'available' WHERE queue = $1 AND state = 'running'`, Queue(account))
	if err != nil {
		return fmt.Errorf("take over jobs: %w", err)
	}
	return nil
}

// retryPolicy pauses for 1 s after the first failure, and twice the time after each one more.
type retryPolicy struct{}

func (retryPolicy) NextRetry(job *rivertype.JobRow) time.Time {
	pause := maxPause
	if failures := len(job.Errors); failures < 6 {
		pause = time.Second << failures
	}
	return time.Now().Add(pause)
}

// insert inserts a job, or makes one due that is due later than it. Completed jobs do not make a new one a duplicate.
func insert[TTx any](
	ctx context.Context, client *river.Client[TTx], tx TTx, args river.JobArgs, opts *river.InsertOpts,
) error {
	var o river.InsertOpts
	if opts != nil {
		o = *opts
	}
	o.MaxAttempts = cmp.Or(o.MaxAttempts, maxAttempts)
	o.UniqueOpts = river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
		rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}}
	result, err := client.InsertTx(ctx, tx, args, &o)
	if err != nil {
		return fmt.Errorf("insert job (%s): %w", args.Kind(), err)
	}
	due := o.ScheduledAt
	if due.IsZero() {
		due = time.Now()
	}
	if !result.UniqueSkippedAsDuplicate || result.Job.State == rivertype.JobStateRunning ||
		!result.Job.ScheduledAt.After(due) {
		return nil
	}
	if _, err := client.JobRetryTx(ctx, tx, result.Job.ID); err != nil {
		return fmt.Errorf("wake job (%s): %w", args.Kind(), err)
	}
	return nil
}
