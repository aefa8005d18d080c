// Package quota limits how fast an account uses the service: requests per second and day, batch items per
// window and day.
//
// Package client asks a [Limiter] for a place before every request and releases the place afterwards. The
// package is separate so that a limiter that several processes share can be written, and tested with package
// limitertest, without importing the client.
//
// # What a place costs
//
// A service counts requests when they arrive, which a client cannot see. So a place is held from before the
// request is sent until the request has arrived for sure, and counts for one window more. However long a
// request is under way, no window of the service ever holds more than its limit.
//
// The cost is throughput: a limiter passes the places of a window once per window plus one round trip. With 1
// request per second and a round trip of 100 ms that is one request every 1.1 s; with 500 items in 5 minutes,
// 500 items every 5 minutes and 100 ms.
//
// A client that gets no response releases a place 2 s after the request was written. A request that takes
// longer than 2 s to arrive can therefore exceed a window, and may earn one 429.
package quota

import (
	"cmp"
	"errors"
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
	// processes of an account share it: give them one [Limiter], or each its part.
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
