package quota

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// loaded returns a schedule with a day of history and 8,000 calls that wait.
func loaded(tb testing.TB) (s *schedule, waiters []*waiter, inUse []*place, now time.Time) {
	tb.Helper()
	s = newSchedule(Quota{
		RequestsPerSecond: 200, RequestsPerDay: 40_000, ItemsPerWindow: 500, ItemsPerDay: 40_000,
	})
	now = time.Now()
	for i := range 30_000 {
		now = now.Add(time.Second)
		w := s.enqueue(s.cost(i%3%2), nil)
		for s.admit(now) {
		}
		require.NotNil(tb, w.place)
		s.release(w.place, Sent, now)
	}
	for len(waiters) < 8_000 {
		w := s.enqueue(s.cost(rand.N(2)*rand.N(100)), nil)
		for s.admit(now) {
		}
		if w.place != nil {
			inUse = append(inUse, w.place)
		} else {
			waiters = append(waiters, w)
		}
	}
	return s, waiters, inUse, now
}

// TestSchedule_StepsDoNotGrowWithQueue counts the steps that a limiter takes each time it locks.
func TestSchedule_StepsDoNotGrowWithQueue(t *testing.T) {
	s, waiters, inUse, now := loaded(t)
	most := 0
	count := func(do func()) {
		s.steps = 0
		do()
		most = max(most, s.steps)
	}
	admit := func() {
		for more := true; more; {
			count(func() {
				if more = s.admit(now); !more {
					s.nextAdmission()
				}
			})
		}
	}
	for i := range 4_000 {
		switch i % 4 {
		case 0: // a call arrives
			count(func() {
				cost := s.cost(i % 50)
				at, full := s.predict(cost, now)
				assert.False(t, at.Before(now))
				s.enqueue(cost, full)
			})
		case 1: // a call is canceled
			count(func() { s.remove(waiters[rand.N(len(waiters))]) })
		case 2: // a place is released
			count(func() {
				s.release(inUse[i%len(inUse)], Sent, now)
				s.release(inUse[i%len(inUse)], []Outcome{Sent, Refused}[i/4%2], now)
			})
		case 3:
			now = now.Add(time.Duration(rand.N(3)) * time.Second)
			count(func() { s.state(now) })
		}
		admit()
	}
	now = now.Add(48 * time.Hour) // everything charged is free at once
	admit()
	waiting := s.queues[0].calls.Len() + s.queues[1].calls.Len()
	t.Logf("%d steps at most for each lock, %d calls wait", most, waiting)
	assert.LessOrEqual(t, most, 400)
}

func TestSchedule_AdmitsQueueInSmallSteps(t *testing.T) {
	s := newSchedule(Quota{RequestsPerSecond: 8_000})
	now := time.Now()
	first := s.enqueue(s.cost(0), nil)
	for range 7_999 {
		s.enqueue(s.cost(0), nil)
	}
	rounds, most := 1, 0
	for ; s.admit(now); rounds++ {
		most = max(most, s.steps)
	}
	assert.NotNil(t, first.place)
	assert.Zero(t, s.queues[0].calls.Len())
	assert.LessOrEqual(t, most, 400)
	assert.Greater(t, rounds, 8_000/400, "the lock is released between the steps")
}

func TestSchedule_DropsExpiredEntries(t *testing.T) {
	s, now := newSchedule(Quota{RequestsPerSecond: 10, ItemsPerWindow: 50}), time.Now()
	most := 0
	for i := range 100_000 {
		w := s.enqueue(s.cost(i%2), nil)
		for s.admit(now) {
		}
		require.NotNil(t, w.place)
		s.release(w.place, Sent, now)
		s.release(w.place, []Outcome{Sent, Refused}[i%3%2], now)
		most = max(most, cap(s.history.entries))
		now = now.Add(30 * time.Second)
	}
	assert.LessOrEqual(t, most, 100)
	now = now.Add(time.Hour)
	for s.admit(now) {
	}
	assert.Equal(t, amount{}, s.inUse)
	assert.Empty(t, s.history.entries)
	for _, w := range s.windows {
		assert.Zero(t, w.charged, w.name)
	}
}

// BenchmarkSchedule_8000Waiters measures what a limiter does while it is locked; ns-max is the
// longest time.
func BenchmarkSchedule_8000Waiters(b *testing.B) {
	s, waiters, inUse, now := loaded(b)
	for name, do := range map[string]func(i int){
		"predict": func(i int) { s.predict(s.cost(i%100), now) },
		"enqueue and remove": func(i int) {
			cost := s.cost(i % 100)
			_, full := s.predict(cost, now)
			s.remove(s.enqueue(cost, full))
		},
		"remove":  func(i int) { s.remove(waiters[i%len(waiters)]) },
		"release": func(i int) { s.release(inUse[i%len(inUse)], Sent, now) },
		"admit":   func(int) { s.admit(now); s.nextAdmission() },
	} {
		b.Run(name, func(b *testing.B) {
			var most time.Duration
			i := 0
			for b.Loop() {
				start := time.Now()
				do(i)
				most = max(most, time.Since(start))
				i++
			}
			b.ReportMetric(float64(most.Nanoseconds()), "ns-max")
		})
	}
}
