package client

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

func TestPlace_IsReleasedWhenRequestHasArrived(t *testing.T) {
	const ms = time.Millisecond
	type step struct {
		at time.Duration
		do func(*place)
	}
	wrote := func(at time.Duration) step { return step{at, (*place).wrote} }
	firstByte := func(at time.Duration) step { return step{at, (*place).firstByte} }
	abandoned := func(at time.Duration) step { return step{at, (*place).abandoned} }
	ended := func(at time.Duration, sent bool, status int) step {
		return step{at, func(p *place) { p.ended(sent, status) }}
	}
	for _, tc := range []struct {
		why   string
		steps []step
		want  []string // What is reported to the limiter, and when. Only the first report counts, and Refused after Sent.
	}{
		{"the first byte shows that it has arrived", []step{wrote(0), firstByte(300 * ms), ended(5000*ms, true, 200)}, []string{"300ms sent", "5s sent"}},
		{"without a response it has arrived after 2 s", []step{wrote(100 * ms)}, []string{"2.1s sent"}},
		{"a late response changes nothing", []step{wrote(0), firstByte(3000 * ms), ended(3000*ms, true, 200)}, []string{"2s sent", "3s sent", "3s sent"}},
		{"the status of a 429 comes after its first byte", []step{wrote(0), firstByte(300 * ms), ended(310*ms, true, 429)}, []string{"300ms sent", "310ms refused"}},
		{"or long after its arrival", []step{wrote(0), firstByte(9000 * ms), ended(9000*ms, true, 429)}, []string{"2s sent", "9s sent", "9s refused"}},
		{"a transport without a trace", []step{ended(300*ms, true, 200)}, []string{"300ms sent"}},
		{"a transport without a trace, and a 429", []step{ended(300*ms, true, 429)}, []string{"300ms refused"}},
		{"the peer ended the attempt", []step{wrote(0), ended(50*ms, true, 0)}, []string{"50ms sent"}},
		{"an unsent request is not charged", []step{ended(50*ms, false, 0)}, []string{"50ms not sent"}},
		{"nor a request whose writing failed", []step{wrote(0), ended(50*ms, false, 0)}, []string{"50ms not sent"}},
		{"an abandoned request may still arrive", []step{wrote(0), abandoned(500 * ms)}, []string{"2s sent"}},
		{"an abandoned request without a trace", []step{abandoned(500 * ms)}, []string{"2.5s sent"}},
		{"an abandoned request that is written afterwards", []step{abandoned(500 * ms), wrote(600 * ms)}, []string{"2.6s sent"}},
		{"an abandoned request that has its response", []step{wrote(0), firstByte(300 * ms), abandoned(500 * ms)}, []string{"300ms sent"}},
		{"the last of several writes counts", []step{wrote(0), wrote(1000 * ms)}, []string{"3s sent"}},
		{"a report after the end starts no timer", []step{ended(300*ms, true, 200), wrote(300 * ms)}, []string{"300ms sent"}},
		{"a report after the first byte starts no timer", []step{firstByte(300 * ms), wrote(300 * ms), ended(400*ms, true, 200)}, []string{"300ms sent", "400ms sent"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var mu sync.Mutex
				var got []string
				p := &place{release: func(o quota.Outcome) {
					mu.Lock()
					defer mu.Unlock()
					got = append(got, fmt.Sprintf("%s %s", time.Since(start), o))
				}}
				for _, s := range tc.steps {
					<-time.After(s.at - time.Since(start))
					s.do(p)
				}
				<-time.After(time.Minute)
				mu.Lock()
				defer mu.Unlock()
				assert.Equal(t, tc.want, got)
			})
		})
	}
}

func TestPlace_IsSafeForConcurrentUse(t *testing.T) { // for the race detector
	limiter := quota.NewLimiter(quota.Quota{ItemsPerDay: 100})
	for range 100 {
		release, err := limiter.Acquire(t.Context(), 1)
		assert.NoError(t, err)
		p := &place{release: release}
		var all sync.WaitGroup
		for _, do := range []func(){p.wrote, p.firstByte, p.abandoned, func() { p.ended(true, http.StatusOK) }} {
			all.Go(do)
		}
		all.Wait()
	}
	states, err := limiter.Remaining(t.Context())
	assert.NoError(t, err)
	assert.Equal(t, 100, states[0].Used, "each is charged once")
}
