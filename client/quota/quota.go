// Package quota limits how fast an account uses the service: requests per second and per day, batch
// items per window and per day.
//
// Package client takes a place from a [Limiter] for every attempt of a request. The packages are
// separate so that a limiter that several processes share can be written and tested, with package
// limitertest, without importing client.
//
// # Contract
//
// The service counts a request when the request arrives, which a client cannot observe. A place
// therefore counts from before the request is sent until one window after the request has certainly
// arrived:
//
//  1. Acquire waits for a place before the client asks for a connection. The place is now in use.
//  2. The client releases the place when the first byte of the response shows that the request has
//     arrived, or when the attempt ends. Its [Outcome] reports what became of the request: sent,
//     never sent, or refused with a 429.
//  3. A place whose request was sent counts for one window more. A place whose request was never
//     sent is free at once. After a 429 the request counts, but its items do not.
//
// So no span of a window's length has more arrivals than its limit, however long each request is
// under way.
//
// There is one exception. If no response comes, the client releases the place 2 s after the request
// was written. A request that takes longer than that to arrive can exceed a window and may get a
// 429.
//
// # Cost
//
// Each place is unavailable for one window plus one round trip, which lowers the throughput: with 1
// request per second and a round trip of 100 ms, one request every 1.1 s; with 500 items in 5
// minutes, 500 items every 5 minutes and 100 ms.
package quota

import (
	"cmp"
	"errors"
	"time"
)

// Quota is how much an account may use the service. A zero field sets no limit, except in
// client.WithQuota, which fills it from [Public]. The windows slide: a limit applies to every span
// of a window's length. (A token bucket lets twice as much through.)
type Quota struct {
	RequestsPerSecond int
	RequestsPerDay    int           // In any 24 hours.
	ItemsPerWindow    int           // Batch items, counted as listings.
	ItemsWindow       time.Duration // Length of the window of ItemsPerWindow; 5 minutes if zero.
	ItemsPerDay       int           // Batch items in any 24 hours.

	// elseUnlimited is set in copies of Unlimited: Or leaves their zero fields zero.
	elseUnlimited bool
}

var (
	// Public is what live services of this kind publish for an account, and the default of a
	// client. All processes of an account share it: share one [Limiter], or divide the quota among
	// them.
	Public = Quota{
		RequestsPerSecond: 1,
		RequestsPerDay:    25_000,
		ItemsPerWindow:    500,
		ItemsWindow:       5 * time.Minute,
		ItemsPerDay:       50_000,
	}
	// Unlimited sets no limit, for the sandbox and for tests. Unlike the zero Quota, it is not
	// filled by [Quota.Or]. To limit some things only, set fields of a copy.
	Unlimited = Quota{elseUnlimited: true}
)

// Check returns an error if a field is negative.
func (q Quota) Check() error {
	least := min(q.RequestsPerSecond, q.RequestsPerDay, q.ItemsPerWindow, q.ItemsPerDay)
	if least < 0 || q.ItemsWindow < 0 {
		return errors.New("quota: no field may be negative")
	}
	return nil
}

// Or returns q with its zero fields set from defaults. It returns copies of [Unlimited] unchanged.
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
