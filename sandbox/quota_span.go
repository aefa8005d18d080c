package sandbox

import "time"

// span is what was counted within the time that has just gone by.
type span struct {
	most  int
	per   time.Duration
	unit  string
	marks []mark // Oldest first.
	sum   int
}

type mark struct {
	at time.Time
	n  int
}

// wait returns how long it takes until there is room for n more; zero if there is.
func (s *span) wait(now time.Time, n int) time.Duration {
	for len(s.marks) > 0 && now.Sub(s.marks[0].at) >= s.per {
		s.sum -= s.marks[0].n
		s.marks = s.marks[1:]
	}
	left := s.sum
	for i := 0; left+n > s.most; i++ {
		if left -= s.marks[i].n; left+n <= s.most {
			return s.marks[i].at.Add(s.per).Sub(now)
		}
	}
	return 0
}

func (s *span) add(now time.Time, n int) {
	s.marks = append(s.marks, mark{now, n})
	s.sum += n
}
