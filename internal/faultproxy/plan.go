package faultproxy

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
)

// Share is how often one of some faults happens. Which of them is drawn evenly.
type Share struct {
	PerMille int // Of all requests: 50 is 5 %.
	Faults   []Fault
}

// Plan draws faults at random. The same seed and shares give the same faults in the same order; which of the
// requests in flight gets which of them depends on when they arrive. It is safe for concurrent use.
type Plan struct {
	mu     sync.Mutex
	random *rand.Rand
	shares []Share
}

// NewPlan returns the plan of a seed. The shares must not exceed 1000 together; the rest is [None].
func NewPlan(seed uint64, shares ...Share) (*Plan, error) {
	sum := 0
	for _, s := range shares {
		if s.PerMille < 0 || len(s.Faults) == 0 {
			return nil, errors.New("fault plan: a share needs 0 or more per mille and at least one fault")
		}
		sum += s.PerMille
	}
	if sum > 1000 {
		return nil, fmt.Errorf("fault plan: the shares are %d per mille together: want 1000 at most", sum)
	}
	return &Plan{random: rand.New(rand.NewPCG(seed, 0)), shares: shares}, nil
}

// Decide draws the fault of the next request, whatever that is. It is an argument for [Start].
func (p *Plan) Decide(*http.Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.random.IntN(1000)
	for _, s := range p.shares {
		if n < s.PerMille {
			return s.Faults[p.random.IntN(len(s.Faults))]
		}
		n -= s.PerMille
	}
	return Fault{}
}
