package retry

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// pollingLimit bounds a wait whose ctx has no deadline.
const pollingLimit = 30 * time.Minute

// Polling is how something is asked about until it is done. A pause that is not above zero has its default.
type Polling struct {
	// First is the pause before the second poll, 1 s by default; each is half as long again, with a jitter of a tenth.
	First   time.Duration
	Most    time.Duration    // The longest pause that the service did not ask for; 30 s by default, and never below First.
	MayPass func(error) bool // Whether a failed poll may be followed by a good one; nil means that none may.
}

// Until polls until it is done, ctx ends, or a poll fails with what cannot pass. Failures that may pass are tolerated
// as long as there is time: until ctx's deadline, or for 30 minutes if it has none. The last poll comes before the
// deadline and not after it. A poll returns for how long the service asks to be left alone, zero if it does not.
func (p Polling) Until(ctx context.Context, poll func(context.Context) (done bool, asked time.Duration, err error)) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		var cancel context.CancelFunc
		deadline = time.Now().Add(pollingLimit)
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	first := cmp.Or(max(p.First, 0), time.Second)
	most := max(first, cmp.Or(max(p.Most, 0), 30*time.Second))
	for interval := first; ; interval = min(interval+interval/2, most) {
		done, asked, err := poll(ctx)
		if done || err != nil && (ctx.Err() != nil || p.MayPass == nil || !p.MayPass(err)) {
			return err
		}
		pause := max(interval-interval/10+rand.N(interval/5+1), asked)
		left := time.Until(deadline)
		if margin := min(time.Second, left/4); pause > left-margin {
			if left < min(first, time.Second)/2 {
				return errors.Join(err, context.DeadlineExceeded)
			}
			pause = left - margin
		}
		if err := Pause(ctx, pause); err != nil {
			return err
		}
	}
}
