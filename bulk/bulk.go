// Package bulk keeps an inventory in step with a marketplace: it makes the listings of an account
// what the rows of a stock list say, within the quota of the service, across crashes and days.
//
//	b, err := bulk.Open(ctx, bulk.Config{Ledger: "stock.db", Account: "first", Connect: connect})
//	plan, err := b.Plan(ctx, reader.Rows(), bulk.PlanOptions{Source: "stock.csv"})
//	run, err := b.Apply(ctx, plan)
//
// # Ledger
//
// What was wanted, sent and seen is kept in one file. Each batch is recorded before it is sent, its
// id as soon as it is known, and its items when they end. A process that was killed is continued by
// planning the same inventory again: what was done is not done twice, and what may have been done
// is found out by package recovery before anything else of its row is sent. Without the file,
// nothing is known of the listings: they are foreign, and never touched.
//
// # Plans
//
// A [Plan] has a generation. A newer plan replaces what an older one has not recorded yet. What is
// in flight, or of unknown outcome, stays as it is across plans.
//
// Quantity is stock at a stated time: what is owed is the quantity less the sales since. A row
// without a time has the one at which the ledger first saw its quantity. A doubt is a conflict that
// the plan shows, and the lower reading holds.
//
// # Costs
//
// A batch of 100 items takes three requests: it is submitted, polled, and its items are read. An
// item that is not known takes one request by GTIN and two by style id. The first plan reads all
// listings, 100 a request; later ones the orders since the last time, usually two requests, and the
// listings of the days since, 100 a request: more than one page of them at most every five minutes a
// page. Listings in doubt are read together, if they share batches or variants, or one a request. An
// outcome that is unknown is found out after 11 minutes with the default settings, by at least 6
// requests for a batch of creates, and one for each update or delete.
//
// # What remains
//
// A process that is stopped between its last check of the clock and the system call that sends a
// batch, and that continues after another process has taken the account over, sends that batch late;
// see [client.WithSendCheck]. The settle time has to cover what the network delivers late.
package bulk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
	"github.com/sellside-sdk/sellside-go/bulk/internal/limit"
	"github.com/sellside-sdk/sellside-go/bulk/internal/work"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

var (
	// ErrReplaced reports that a newer plan has replaced the plan.
	ErrReplaced = ledger.ErrReplaced
	// ErrWorking reports that another process works with the ledger.
	ErrWorking = db.ErrWorking
	// ErrFenced reports that another process has taken the account over, since this one was stopped
	// or cut off from the database for longer than its lease. It is safe to run the same again.
	ErrFenced = db.ErrFenced
	// ErrNotFound reports a run or a row that the ledger does not have.
	ErrNotFound = errors.New("not in the ledger")
	// ErrCanceled reports that a run was canceled while it was applied.
	ErrCanceled = errors.New("the run was canceled")
)

// Config is what a [Bulk] works with.
type Config struct {
	// Ledger is the file of the ledger, which is created if it does not exist, or the URL of a
	// PostgreSQL database, postgres://..., which many accounts may share. Several processes may have
	// it open; one at a time plans or applies: for the file, or for each account of a database.
	Ledger string
	// Account names the account in the ledger; "default" if it is empty.
	Account string
	// Quota is that of the account, quota.Public by default.
	Quota quota.Quota
	// Queue waits for another process that works for the account on PostgreSQL, instead of returning
	// [ErrWorking]. One that died is replaced after 30 s.
	Queue bool
	// Connect returns a client of the account that uses the limiter, see [client.WithLimiter]. It
	// is required unless the ledger is only read.
	Connect func(quota.Limiter) (*client.Client, error)
	// Settle is the longest time that the service takes to show a batch; 10 minutes by default. See
	// recovery.Options: too short a time causes duplicates.
	Settle time.Duration
	// OnResult is called with the outcome of each row's part of a batch as soon as it is recorded,
	// from one goroutine at a time. Nil ignores it.
	OnResult func(Result)
	// OnEvent is called with what happens, for people, as OnResult. Nil ignores it.
	OnEvent func(text string)
	// Logger receives the warnings of the jobs. Nil discards them.
	Logger *slog.Logger
}

// Bulk keeps an inventory of one account in step. It is safe for concurrent use; plans and runs
// exclude each other.
type Bulk struct {
	config Config
	db     *db.DB
	ledger *ledger.Ledger
	client *client.Client // Nil if the ledger is only read.
	limit  *limit.Limiter

	mu      sync.Mutex // Locked during a plan or a run.
	worker  *db.Worker // Nil before the first plan or run.
	engine  *work.Engine
	fence   atomic.Int64  // Of the worker; 0 before it is known.
	session chan *session // Has the session that jobs work for, or nil.
}

// Open opens a ledger. Close it.
func Open(ctx context.Context, c Config) (*Bulk, error) {
	c.Account = cmp.Or(c.Account, "default")
	c.Quota = c.Quota.Or(quota.Public)
	if c.Ledger == "" {
		return nil, errors.New("open ledger: Config.Ledger is empty: name a file")
	}
	limits, err := limit.Migrations()
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	database, err := db.Open(ctx, db.Config{
		Database: c.Ledger, Logger: c.Logger,
		Migrations: []db.Migrations{{Name: "ledger", Files: ledger.Migrations()}, limits},
	})
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err) // which names a file, and no URL with its password
	}
	b := &Bulk{config: c, db: database, ledger: ledger.New(database, c.Account), session: make(chan *session, 1)}
	b.session <- nil
	if c.Connect == nil {
		return b, nil
	}
	b.limit = limit.New(database, limit.Config{Account: c.Account, Quota: c.Quota})
	if b.client, err = c.Connect(b.limit); err != nil {
		return nil, errors.Join(err, b.limit.Close(ctx), database.Close())
	}
	return b, nil
}

// Close waits for the request that is under way, and closes the ledger. It does not close the
// client.
func (b *Bulk) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var err error
	if b.worker != nil {
		err = b.worker.Stop(context.Background())
		b.worker = nil
	}
	if b.limit != nil {
		err = errors.Join(err, b.limit.Close(context.Background()))
	}
	return errors.Join(err, b.db.Close())
}

// slice is how long a job works before it makes room.
const slice = time.Minute

// accountArgs are the arguments of the job that works for an account.
type accountArgs struct {
	Account string `json:"account"`
}

// Kind implements [river.JobArgs].
func (accountArgs) Kind() string { return "account" }

// accountWorker works the jobs of accounts. What an account does next is a function of the ledger and
// the clock: the job only calls it.
type accountWorker struct {
	river.WorkerDefaults[accountArgs]
	bulk *Bulk
}

// session is what the jobs of an account work for: until done returns true.
type session struct {
	stop <-chan struct{}
	done func(work.Status) bool
	pick sync.Once
	seen chan struct{} // Closed when a job has picked it up.
	end  chan error
}

// Work implements [river.Worker].
func (w *accountWorker) Work(ctx context.Context, _ *river.Job[accountArgs]) error {
	s := <-w.bulk.session
	w.bulk.session <- s
	fenced := w.bulk.db.CheckFence(ctx, w.bulk.config.Account, w.bulk.fence.Load())
	if s == nil && fenced != nil {
		return river.JobSnooze(time.Second) // the job is that of another process
	}
	if s == nil {
		return nil // the process plans or applies nothing: the next one inserts a job again
	}
	s.pick.Do(func() { close(s.seen) })
	if errors.Is(fenced, db.ErrFenced) {
		w.end(fenced)
		return river.JobSnooze(time.Second)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-s.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	isDone := false
	status, err := w.bulk.engine.Run(ctx, time.Now().Add(slice), func(status work.Status) bool {
		isDone = s.done(status)
		return isDone
	})
	select {
	case <-s.stop:
		err = cmp.Or(err, context.Canceled)
	default:
		if err == nil && !isDone && !status.Next.IsZero() {
			return river.JobSnooze(max(0, time.Until(status.Next)))
		}
	}
	w.end(err)
	return river.JobSnooze(50 * time.Millisecond) // a job that is inserted now would be lost if this one ended
}

// end ends the session, if it has not ended meanwhile.
func (w *accountWorker) end(err error) {
	if current := <-w.bulk.session; current != nil {
		current.end <- err
	}
	w.bulk.session <- nil
}

// start starts the worker of the ledger, which excludes those of other processes.
func (b *Bulk) start(ctx context.Context) error {
	if b.worker != nil {
		return nil
	}
	if b.client == nil {
		return errors.New("start: Config.Connect is nil: set it to plan or apply")
	}
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &accountWorker{bulk: b}); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	worker, err := b.db.Work(ctx, db.WorkConfig{
		Workers: workers, Queues: map[string]int{db.Queue(b.config.Account): 1}, Poll: 250 * time.Millisecond,
		JobTimeout: 5 * time.Minute,
		Account:    db.LeaseConfig{Account: b.config.Account, Queue: b.config.Queue},
	})
	if err != nil {
		return err
	}
	fence := worker.Fence()
	b.fence.Store(fence)
	b.worker = worker
	b.engine = work.New(work.Config{
		Client: b.client, Ledger: b.ledger, DB: b.db, Fence: fence, Settle: b.config.Settle, Audit: true,
		CoolDown: b.limit.CoolDown,
		OnEvent:  b.config.OnEvent,
		OnItem: func(i ledger.Item) {
			if b.config.OnResult != nil {
				b.config.OnResult(resultOf(i))
			}
		},
	})
	return nil
}

// work wakes the account's job, and waits until done returns true.
func (b *Bulk) work(ctx context.Context, done func(work.Status) bool) error {
	s := &session{stop: ctx.Done(), done: done, seen: make(chan struct{}), end: make(chan error, 1)}
	<-b.session
	b.session <- s
	defer func() {
		<-b.session
		b.session <- nil
	}()
	for seen := s.seen; ; {
		// A job that is about to end without having seen the session makes the insert do nothing.
		if err := b.wake(ctx); err != nil {
			return err
		}
		again := time.After(time.Second)
		if seen == nil {
			again = nil
			if b.db.ManyWorkers() { // a worker that was replaced may still end the job
				again = time.After(lostAfter)
			}
		}
		select {
		case err := <-s.end:
			return err
		case <-ctx.Done():
			return b.stopped(ctx, s)
		case <-seen:
			seen = nil
		case <-again:
		}
	}
}

func (b *Bulk) wake(ctx context.Context) error {
	opts := &river.InsertOpts{Queue: db.Queue(b.config.Account)}
	return b.db.Tx(ctx, func(tx db.Tx) error { return tx.Insert(ctx, accountArgs{b.config.Account}, opts) })
}

// stopped waits for the call that is under way.
func (b *Bulk) stopped(ctx context.Context, s *session) error {
	select {
	case <-s.seen:
	default:
		return ctx.Err()
	}
	select {
	case err := <-s.end:
		return cmp.Or(ctx.Err(), err)
	case <-time.After(stopWithin):
		return ctx.Err()
	}
}

// lostAfter is how often a job is inserted again that may be lost.
const lostAfter = 30 * time.Second

// stopWithin is how long a session that is stopped may take.
const stopWithin = 15 * time.Second
