package quota

import (
	"slices"
	"time"
)

// schedule is all that says who goes next, and when. There are two lanes, each in order of arrival: requests
// alone, and batches. A batch may wait minutes for room for its items, and reads do not stand behind it.
type schedule struct {
	windows windows
	lanes   [2][]*waiter
}

// waiter is a call that waits to be let go.
type waiter struct {
	items int
	nth   int           // In order of arrival.
	came  time.Time     // When it arrived.
	goes  chan struct{} // Closed when it may go.
	held  *window       // What it was held back by, once it goes or leaves; nil if by nothing.
}

func (s *schedule) lane(w *waiter) *[]*waiter {
	return &s.lanes[min(w.items, 1)]
}

// next returns who goes next and when, at the earliest now, and the window that is full until then. Of two
// who can go at the same time it is the one who came first.
func (s *schedule) next(now time.Time) (first *waiter, at time.Time, full *window) {
	for _, lane := range s.lanes {
		if len(lane) == 0 {
			continue
		}
		free, by := s.windows.free(lane[0].items, now)
		if first == nil || free.Before(at) || free.Equal(at) && lane[0].nth < first.nth {
			first, at, full = lane[0], free, by
		}
	}
	return first, at, full
}

// let lets the first of a lane go.
func (s *schedule) let(w *waiter, at time.Time) {
	s.windows.take(w.items, at)
	lane := s.lane(w)
	*lane = (*lane)[1:]
}

// turn foresees when a waiter goes if nobody leaves, and the window it waits for last.
func (s *schedule) turn(w *waiter, now time.Time) (at time.Time, full *window) {
	ahead := schedule{slices.Clone(s.windows), s.lanes}
	for {
		first, at, by := ahead.next(now)
		if by != nil {
			full = by
		}
		if first == w {
			return at, full
		}
		ahead.let(first, at)
		now = at
	}
}
