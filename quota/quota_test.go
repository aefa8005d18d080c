package quota_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/quota"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNegativeFieldsAreRefused(t *testing.T) {
	for name, q := range map[string]quota.Quota{
		"RequestsPerSecond": {RequestsPerSecond: -1},
		"RequestsPerDay":    {RequestsPerDay: -1},
		"ItemsPerWindow":    {ItemsPerWindow: -1},
		"ItemsWindow":       {ItemsWindow: -1},
		"ItemsPerDay":       {ItemsPerDay: -1},
	} {
		assert.EqualError(t, q.Check(), "quota: no field may be negative", name)
	}
	require.NoError(t, quota.Public.Check())
	require.NoError(t, quota.Unlimited.Check())
}

func TestTheZeroQuotaIsUnlimited(t *testing.T) {
	assert.Equal(t, quota.Quota{}, quota.Unlimited)
	assert.False(t, quota.NewLimiter(quota.Unlimited).CountsItems())
}

func TestOnlyItemLimitsCountItems(t *testing.T) {
	for want, quotas := range map[bool][]quota.Quota{
		true:  {quota.Public, {ItemsPerWindow: 1}, {ItemsPerDay: 1}},
		false: {{RequestsPerSecond: 1}, {RequestsPerDay: 1}, {ItemsWindow: time.Minute}},
	} {
		for _, q := range quotas {
			assert.Equal(t, want, quota.NewLimiter(q).CountsItems(), "%+v", q)
		}
	}
}

func TestAnErrorSaysWhichLimitAndWhatToDo(t *testing.T) {
	assert.EqualError(t, &quota.Error{Limit: 500, Per: 5 * time.Minute, Unit: "items"},
		"the quota of 500 items in 5m0s is smaller than this call: split it")
	assert.EqualError(t, &quota.Error{Limit: 1, Per: time.Second, Unit: "requests", Wait: 3 * time.Second},
		"the quota of 1 requests in 1s is used up for 3s, which is after the deadline")
}
