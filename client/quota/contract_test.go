package quota_test

import (
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/quota/limitertest"
)

func TestLimiter_KeepsContract(t *testing.T) {
	limitertest.Run(t, quota.NewLimiter)
}

func TestLimiter_KeepsContractInRealTime(t *testing.T) {
	limitertest.RunInRealTime(t, quota.NewLimiter, 400*time.Millisecond)
}
