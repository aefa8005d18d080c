package retry

import (
	"cmp"
	"sync"
	"time"
)

// Budget is how many retries a client may have taken at a time. It keeps a brown-out of the service from being
// multiplied by everybody's retries. A call that is answered after all gives back what it took, which a rate
// limiter could not: scattered faults never use it up, however many they are, while faults that last do so at
// once. It is safe for concurrent use. A field that is not above zero has its default.
type Budget struct {
	Size   int           // Retries at a time; 20 by default.
	Refill time.Duration // How long it takes until one comes back that was not given back; 1 s by default.

	mu    sync.Mutex
	taken int
	since time.Time // When the last one came back.
}

// Take takes one retry, and reports whether there was one left.
func (b *Budget) Take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	size, refill := cmp.Or(max(b.Size, 0), 20), cmp.Or(max(b.Refill, 0), time.Second)
	back := int(time.Since(b.since) / refill)
	b.since = b.since.Add(time.Duration(back) * refill)
	if b.taken = max(0, b.taken-back); b.taken == 0 {
		b.since = time.Now()
	}
	if b.taken >= size {
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
