package quota_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

func TestQuota_CheckRefusesNegativeFields(t *testing.T) {
	for name, q := range map[string]quota.Quota{
		"RequestsPerSecond": {RequestsPerSecond: -1},
		"RequestsPerDay":    {RequestsPerDay: -1},
		"ItemsPerWindow":    {ItemsPerWindow: -1},
		"ItemsWindow":       {ItemsWindow: -1},
		"ItemsPerDay":       {ItemsPerDay: -1},
	} {
		assert.Error(t, q.Check(), name)
	}
	require.NoError(t, quota.Public.Check())
	require.NoError(t, quota.Unlimited.Check())
	require.NoError(t, quota.Quota{}.Check())
}

func TestQuota_OrFillsZeroFields(t *testing.T) {
	onlyRequests := quota.Unlimited
	onlyRequests.RequestsPerSecond = 3
	for _, tc := range []struct {
		q, want quota.Quota
		why     string
	}{
		{quota.Quota{}, quota.Public, "no field is set"},
		{quota.Public, quota.Public, "every field is set"},
		{
			quota.Quota{ItemsPerWindow: 50},
			quota.Quota{
				RequestsPerSecond: 1, RequestsPerDay: 25_000,
				ItemsPerWindow: 50, ItemsWindow: 5 * time.Minute, ItemsPerDay: 50_000,
			},
			"one field is set",
		},
		{
			quota.Quota{RequestsPerSecond: 7, RequestsPerDay: 6, ItemsPerWindow: 5, ItemsWindow: 4, ItemsPerDay: 3},
			quota.Quota{RequestsPerSecond: 7, RequestsPerDay: 6, ItemsPerWindow: 5, ItemsWindow: 4, ItemsPerDay: 3},
			"every field has another value",
		},
		{quota.Unlimited, quota.Unlimited, "Unlimited has no fields to fill"},
		{onlyRequests, onlyRequests, "neither has a copy of Unlimited with a limit"},
	} {
		assert.Equal(t, tc.want, tc.q.Or(quota.Public), tc.why)
	}
	assert.Equal(t, quota.Unlimited, quota.Quota{}.Or(quota.Unlimited))
}

func TestUnlimited_DiffersFromZeroQuota(t *testing.T) {
	unlimited := quota.Unlimited
	assert.True(t, unlimited == quota.Unlimited, "quotas can be compared")
	assert.False(t, unlimited == quota.Quota{})
	assert.NotEqual(t, fmt.Sprint(quota.Quota{}), fmt.Sprint(quota.Unlimited), "and printed")
	assert.Contains(t, fmt.Sprintf("%+v", quota.Unlimited), "elseUnlimited:true")
}
