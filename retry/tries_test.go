package retry

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func triesOf(attempts, budget int) (*Tries, *Budget) {
	b := &Budget{Size: budget, Refill: time.Hour}
	return &Tries{Policy: Policy{MaxAttempts: attempts}.WithDefaults(), Gate: &Gate{}, Budget: b}, b
}

func TestACallHasAnotherAttemptWithinItsBounds(t *testing.T) {
	for _, tc := range []struct {
		outcomes         []Outcome // All but the last have another attempt.
		attempts, budget int
		why              string
	}{
		{[]Outcome{Transient, NoAnswer, NotSent, Unreadable}, 4, 20, "as many as the policy says"},
		{[]Outcome{Transient, Transient, Transient}, 9, 2, "as many as the budget has"},
		{[]Outcome{Throttled, Throttled, Throttled}, 9, 20, "the third 429 ends it"},
		{[]Outcome{Transient, Throttled, NotSent, Throttled, Transient, Throttled}, 9, 20, "whatever comes between them"},
		{[]Outcome{Unauthorized, Transient, Unauthorized}, 9, 20, "the second 401 ends it"},
		{[]Outcome{Throttled, Unauthorized, Throttled, Throttled}, 9, 20, "429 and 401 are counted apart"},
	} {
		synctest.Test(t, func(t *testing.T) {
			tries, _ := triesOf(tc.attempts, tc.budget)
			for i, o := range tc.outcomes {
				_, another := tries.Another(t.Context(), o, true, 0, time.Hour)
				assert.Equal(t, i < len(tc.outcomes)-1, another, "%s: after %d", tc.why, i+1)
				assert.Equal(t, i+1, tries.Made())
			}
		})
	}
}

func TestWhatTheTableForbidsIsNotTriedAgain(t *testing.T) {
	for _, o := range []Outcome{NotSent, NoAnswer, Throttled, Transient, Unauthorized, Unreadable} {
		tries, budget := triesOf(9, 20)
		_, another := tries.Another(t.Context(), o, false, 0, time.Hour)
		assert.False(t, another, o)
		assert.Equal(t, 20, takes(budget), "%s: nothing is taken for it", o)
	}
}

func TestAPauseThatHelpsNobodyIsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		for asked, want := range map[time.Duration]bool{29 * time.Second: true, 30 * time.Second: false, 45 * time.Second: false} {
			one, _ := triesOf(4, 20)
			pause, another := one.Another(ctx, Transient, true, asked, time.Hour)
			assert.Equal(t, want, another, "%s before the deadline", asked)
			if another {
				assert.Equal(t, asked, pause)
			}
		}
		one, _ := triesOf(4, 20)
		_, another := one.Another(t.Context(), Transient, true, 61*time.Second, time.Hour)
		assert.False(t, another, "longer than the policy allows")
	})
}

func TestTheBudgetGetsBackWhatItIsOwed(t *testing.T) {
	for end, want := range map[Outcome]int{
		Final: 20, Unauthorized: 20, Redirect: 20, TooLarge: 20, // the service answers
		Transient: 18, Throttled: 18, NoAnswer: 18, NotSent: 18, Unreadable: 18, Ended: 18, Refused: 18, // it does not, as far as one knows
	} {
		tries, budget := triesOf(3, 20)
		for range 2 {
			_, another := tries.Another(t.Context(), Transient, true, 0, time.Hour)
			assert.True(t, another)
		}
		_, another := tries.Another(t.Context(), end, true, 0, time.Hour)
		assert.False(t, another)
		assert.Equal(t, want, takes(budget), end)
	}
}

func TestAnAttemptThatIsNotMadeCostsNothing(t *testing.T) {
	tries, budget := triesOf(9, 20)
	for range 2 {
		tries.Another(t.Context(), Transient, true, 0, time.Hour)
	}
	tries.NotMade()
	assert.Equal(t, 19, takes(budget), "the attempt before was made")
	tries.Answered()
	assert.Equal(t, 1, takes(budget))
	tries.Answered()
	assert.Zero(t, takes(budget), "and nothing comes back twice")
}
