package retry

import (
	"context"
	"time"
)

// throttledAnswers is how often a call may be answered 429: a service that keeps being asked may lock the account.
const throttledAnswers = 3

// Tries are the attempts of one call. Its policy has its defaults filled in; the gate and the budget are those of
// the client.
type Tries struct {
	Policy Policy
	Gate   *Gate
	Budget *Budget

	made, throttled, unauthorized int
	taken                         int // From the budget.
}

// Another reports, after an attempt of an outcome that [Decide] lets be repeated or not, whether the call has
// another attempt, and how long to wait before it. It takes a retry from the budget for it. A call that has none
// and was answered gives back all that it took. What Decide leaves open is bounded here: a call is answered 429
// three times, and 401 once.
//
// There is none either if the pause would be longer than the policy allows or than what is left of the call's time, or
// not over before ctx ends: the caller gets the last response at once, with its Retry-After.
func (t *Tries) Another(ctx context.Context, o Outcome, may bool, asked, left time.Duration) (pause time.Duration, another bool) {
	t.made++
	pause = t.Policy.Delay(t.made, asked)
	switch o {
	case Throttled:
		t.throttled++
		pause = t.Gate.Close(func(inRow int) time.Duration { return t.Policy.Delay(inRow, asked) })
		may = may && t.throttled < throttledAnswers && t.Gate.Remaining() <= t.Policy.MaxRetryAfter
	case Unauthorized:
		t.unauthorized++
		may, pause = may && t.unauthorized == 1, 0
	}
	deadline, ends := ctx.Deadline()
	inTime := asked <= t.Policy.MaxRetryAfter && pause < left && (!ends || time.Until(deadline) > pause)
	if may && t.made < t.Policy.MaxAttempts && inTime && t.Budget.Take() {
		t.taken++
		return pause, true
	}
	if o.answered() {
		t.Answered()
	}
	return 0, false
}

// Made is how many attempts have ended.
func (t *Tries) Made() int { return t.made }

// Answered gives back to the budget what a call took that ends with an answer.
func (t *Tries) Answered() {
	t.Budget.GiveBack(t.taken)
	t.taken = 0
}

// NotMade gives back what was taken for an attempt that is not made after all, because it was refused or ctx ended
// first. What the attempts before it took stays taken: they were made, and failed.
func (t *Tries) NotMade() {
	t.Budget.GiveBack(1)
	t.taken--
}
