package quota_test

import (
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/quota"
	"github.com/sellside-sdk/sellside-go/quota/limitertest"
)

func TestTheLimiterKeepsItsContract(t *testing.T) {
	limitertest.Run(t, quota.NewLimiter)
}

func TestTheLimiterKeepsItsContractInRealTime(t *testing.T) {
	limitertest.RunInRealTime(t, quota.NewLimiter, 400*time.Millisecond)
}
