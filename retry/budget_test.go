package retry

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// takes counts the retries that a budget gives at once.
func takes(b *Budget) int {
	n := 0
	for b.Take() {
		n++
	}
	return n
}

func TestABudgetRefills(t *testing.T) {
	for name, tc := range map[string]struct {
		budget *Budget
		size   int
		refill time.Duration
	}{
		"as told":                        {&Budget{Size: 3, Refill: time.Minute}, 3, time.Minute},
		"by default":                     {&Budget{}, 20, time.Second},
		"with a size alone":              {&Budget{Size: 2}, 2, time.Second},
		"with a refill alone":            {&Budget{Refill: time.Hour}, 20, time.Hour},
		"by default, if it is below one": {&Budget{Size: -1, Refill: -1}, 20, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := tc.budget
				assert.Equal(t, tc.size, takes(b))
				<-time.After(tc.refill - 1)
				assert.Zero(t, takes(b))
				<-time.After(1)
				assert.Equal(t, 1, takes(b))
				<-time.After(100 * tc.refill)
				assert.Equal(t, tc.size, takes(b), "it holds no more than its size")
				b.GiveBack(2)
				assert.Equal(t, 2, takes(b))
				b.GiveBack(1000)
				assert.Equal(t, tc.size, takes(b), "nor is more given back than was taken")
			})
		})
	}
}
