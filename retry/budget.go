package retry

import (
	"sync"
	"time"
)

// Budget is how many retries a client may have taken at a time. It keeps a brown-out of the service from being
// multiplied by everybody's retries. A call that is answered after all gives back what it took, which a rate
// limiter could not: scattered faults never use it up, however many they are, while faults that last do so at
// once. It is safe for concurrent use.
type Budget struct {
	Size   int           // Retries at a time.
	Refill time.Duration // How long it takes until one comes back that was not given back.

	mu    sync.Mutex
	taken int
	since time.Time // When the last one came back.
}

// Take takes one retry, and reports whether there was one left.
func (b *Budget) Take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	back := int(time.Since(b.since) / b.Refill)
	b.since = b.since.Add(time.Duration(back) * b.Refill)
	if b.taken = max(0, b.taken-back); b.taken == 0 {
		b.since = time.Now()
	}
	if b.taken == b.Size {
		return false
	}
	b.taken++
	return true
}

// GiveBack returns the retries of a call that was answered.
func (b *Budget) GiveBack(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken = max(0, b.taken-n)
}
