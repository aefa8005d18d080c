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

// network is the connection of the worker with the sandbox, which breaks 12 in 100 requests.
type network struct {
	*faultproxy.Proxy
	market *sandbox.Sandbox

	mu       sync.Mutex
	random   *rand.Rand
	isWhole  bool
	requests int // Of the current process.
	writes   int // Batches that it submitted.
	first    time.Time
	firstSub time.Time
	on       func(requests, writes int, isWrite bool) // Called for each request.
}

func newNetwork(market *sandbox.Sandbox, seed uint64) (*network, error) {
	n := &network{market: market, random: rand.New(rand.NewPCG(seed, 3))}
	var err error
	n.Proxy, err = faultproxy.Start(market, n.decide)
	return n, err
}

// heal ends all faults.
func (n *network) heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.isWhole = true
	n.market.ClearFaults()
}

// begin begins to count the requests of a process.
func (n *network) begin(on func(requests, writes int, isWrite bool)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests, n.writes, n.first, n.firstSub, n.on = 0, 0, time.Time{}, time.Time{}, on
}

// firsts returns when the first request and the first batch of the process arrived; zero if none did.
func (n *network) firsts() (request, write time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.first, n.firstSub
}

func (n *network) decide(r *http.Request) faultproxy.Fault {
	n.mu.Lock()
	defer n.mu.Unlock()
	isWrite := r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/batch/")
	if n.requests++; n.requests == 1 {
		n.first = time.Now()
	}
	if isWrite {
		if n.writes++; n.writes == 1 {
			n.firstSub = time.Now()
		}
	}
	if n.on != nil {
		n.on(n.requests, n.writes, isWrite)
	}
	if n.isWhole {
		return faultproxy.Fault{}
	}
	return n.draw(r)
}

// draw draws the fault of a request.
func (n *network) draw(r *http.Request) faultproxy.Fault {
	status := func(code int, applied bool) faultproxy.Fault {
		op, _ := gen.MatchOperation(r.Method, strings.TrimPrefix(r.URL.Path, sandbox.BasePath))
		err := n.market.Fail(sandbox.Fault{
			Operation: string(op.ID), Kind: sandbox.FaultStatus, Status: code, Applied: applied,
		})
		if err != nil {
			panic(err) // an invalid fault is a bug of this program
		}
		return faultproxy.Fault{}
	}
	codes := []int{500, 502, 503, 504}
	switch share := n.random.IntN(100); {
	case share < 3:
		return faultproxy.Fault{Kind: []faultproxy.Kind{
			faultproxy.LostResponse, faultproxy.ResetAfterHeaders, faultproxy.CutMidBody,
		}[n.random.IntN(3)]}
	case share < 5:
		return faultproxy.Fault{Kind: faultproxy.Reset}
	case share < 8:
		return status(codes[n.random.IntN(4)], n.random.IntN(2) == 0)
	case share < 9:
		return status(http.StatusTooManyRequests, false)
	case share < 12:
		return faultproxy.Fault{Kind: faultproxy.Latency, Delay: time.Duration(n.random.IntN(200)) * time.Millisecond}
	default:
		return faultproxy.Fault{}
	}
}
