// Package quota says how much an account may ask of the service, and holds calls back so that it is kept.
//
// Package client uses it on every request. It stands apart so that a limiter that several processes share can
// be written, and tested against the same contract, without importing the client.
package quota

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// Quota is how much an account may use the service. A zero field sets no limit, but for client.WithQuota, which
// takes it from [Public]. The windows slide: no span of their length ever holds more, where a token bucket would
// let twice as much through.
type Quota struct {
	RequestsPerSecond int
	RequestsPerDay    int           // In any 24 hours.
	ItemsPerWindow    int           // Batch items, counted as listings.
	ItemsWindow       time.Duration // Length of the window of ItemsPerWindow; 5 minutes by default.
	ItemsPerDay       int           // Batch items in any 24 hours.

	// elseUnlimited marks what was made from Unlimited: zero fields stay without a limit everywhere.
	elseUnlimited bool
}

var (
	// Public is what live services of this kind publish for an account, and the default of a client. All
	// processes of an account share it, so give each its part.
	Public = Quota{
		RequestsPerSecond: 1,
		RequestsPerDay:    25_000,
		ItemsPerWindow:    500,
		ItemsWindow:       5 * time.Minute,
		ItemsPerDay:       50_000,
	}
	// Unlimited turns the quota off, for the sandbox and for tests. It differs from the zero Quota in that [Quota.Or]
	// does not fill it in. Set fields of a copy to limit only those.
	Unlimited = Quota{elseUnlimited: true}
)

// Check refuses negative fields.
func (q Quota) Check() error {
	if min(q.RequestsPerSecond, q.RequestsPerDay, q.ItemsPerWindow, q.ItemsPerDay) < 0 || q.ItemsWindow < 0 {
		return errors.New("quota: no field may be negative")
	}
	return nil
}

// Or returns q with its zero fields taken from defaults. What was made from [Unlimited] stays as it is.
func (q Quota) Or(defaults Quota) Quota {
	if q.elseUnlimited {
		return q
	}
	return Quota{
		RequestsPerSecond: cmp.Or(q.RequestsPerSecond, defaults.RequestsPerSecond),
		RequestsPerDay:    cmp.Or(q.RequestsPerDay, defaults.RequestsPerDay),
		ItemsPerWindow:    cmp.Or(q.ItemsPerWindow, defaults.ItemsPerWindow),
		ItemsWindow:       cmp.Or(q.ItemsWindow, defaults.ItemsWindow),
		ItemsPerDay:       cmp.Or(q.ItemsPerDay, defaults.ItemsPerDay),
		elseUnlimited:     defaults.elseUnlimited,
	}
}

// Limiter holds calls back so that a quota is kept. An implementation must be safe for concurrent use, and
// passes the tests of package limitertest.
type Limiter interface {
	// Wait returns nil when one request, submitting so many batch items, may be sent. Batches go in the order
	// they came, and so do requests without items; neither waits for what only the other has to wait for. It
	// returns ctx's error when that ends, and an *[Error] at once when the wait would outlast ctx's deadline
	// or the call is larger than a window; either takes nothing from the quota. With [ContextTrace]
	// it may say which window a call was held back for.
	Wait(ctx context.Context, items int) error
	// CountsItems reports whether batch items are limited, so that every batch must declare its size.
	CountsItems() bool
}

// Error reports that a call would have to wait longer than its deadline, or for ever. It was not sent; if it was a
// repeated one, a client joins this with what came of the attempt before.
type Error struct {
	Limit int           // The limit that is reached.
	Per   time.Duration // The length of its window.
	Unit  string        // What it counts: requests or items.
	Wait  time.Duration // How long the call would have to wait; zero if no wait would help.
}

func (e *Error) Error() string {
	if e.Wait == 0 {
		return fmt.Sprintf("the quota of %d %s in %s is smaller than this call: split it", e.Limit, e.Unit, e.Per)
	}
	return fmt.Sprintf("the quota of %d %s in %s is used up for %s, which is after the deadline", e.Limit, e.Unit, e.Per, e.Wait)
}
