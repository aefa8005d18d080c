package main

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// mishap is what happens to one request: something to its connection, or a status that the sandbox answers.
type mishap struct {
	network faultproxy.Fault
	answer  sandbox.Fault // Of the request's operation; none if its Kind is empty.
}

// befall has the sandbox fail a request that is on its way there, and returns what its connection meets. Two
// calls of an operation at once may swap their statuses, which leaves the mix as it is.
func (m mishap) befall(r *http.Request, market *sandbox.Sandbox) faultproxy.Fault {
	if m.answer.Kind != "" {
		op, _ := gen.MatchOperation(r.Method, strings.TrimPrefix(r.URL.Path, sandbox.BasePath))
		m.answer.Operation = string(op.ID)
		if err := market.Fail(m.answer); err != nil {
			panic(err) // a mishap that makes no sense is a mistake of this program
		}
	}
	return m.network
}

func connection(k faultproxy.Kind) mishap { return mishap{network: faultproxy.Fault{Kind: k}} }

// status is the mishap of an answer; applied means that the request is done all the same.
func status(code int, applied bool) mishap {
	return mishap{answer: sandbox.Fault{Kind: sandbox.FaultStatus, Status: code, Applied: applied}}
}

// share is how often one of some mishaps happens. Which of them is drawn evenly.
type share struct {
	perMille int // Of all requests, reads as well as writes.
	mishaps  []mishap
}

func mix() []share {
	return []share{
		{50, []mishap{connection(faultproxy.LostAnswer), connection(faultproxy.ResetAfterHeaders), connection(faultproxy.CutMidBody)}},
		{50, []mishap{connection(faultproxy.Reset)}},
		{25, []mishap{status(500, false), status(502, false), status(503, false), status(504, false)}},
		{25, []mishap{status(500, true), status(502, true), status(503, true), status(504, true)}},
		{50, []mishap{status(429, false)}},
		{20, []mishap{{network: faultproxy.Fault{Kind: faultproxy.Latency, Delay: 50 * time.Millisecond}}}},
	}
}

// network decides what happens to each request of a seed's seller, from many goroutines at a time.
type network func(seed uint64) func(*http.Request) mishap

// broken is the network of the program. A seed draws the same mishaps in the same order each time; which of the
// requests in flight gets which of them depends on when they arrive.
func broken(seed uint64) func(*http.Request) mishap {
	var mu sync.Mutex
	random, shares := rand.New(rand.NewPCG(seed, 0)), mix()
	return func(*http.Request) mishap {
		mu.Lock()
		defer mu.Unlock()
		n := random.IntN(1000)
		for _, s := range shares {
			if n < s.perMille {
				return s.mishaps[random.IntN(len(s.mishaps))]
			}
			n -= s.perMille
		}
		return mishap{}
	}
}
