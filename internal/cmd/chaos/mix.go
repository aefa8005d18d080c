package main

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
	"github.com/sellside-sdk/sellside-go/internal/h2peer"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// mishap is what happens to one request: something to its connection, or a status that the sandbox answers.
type mishap struct {
	network faultproxy.Fault // Over HTTP/1. Its delay is that of both protocols.
	stream  h2peer.Ending    // The same over HTTP/2.
	answer  sandbox.Fault    // Of the request's operation; none if its Kind is empty.
}

// inject has the sandbox fail a request that is on its way there. Two calls of an operation at once may swap their
// statuses, which leaves the mix as it is.
func (m mishap) inject(r *http.Request, market *sandbox.Sandbox) {
	if m.answer.Kind != "" {
		op, _ := gen.MatchOperation(r.Method, strings.TrimPrefix(r.URL.Path, sandbox.BasePath))
		m.answer.Operation = string(op.ID)
		if err := market.Fail(m.answer); err != nil {
			panic(err) // a mishap that makes no sense is a mistake of this program
		}
	}
}

// connection is the mishap of a connection over HTTP/1, and of a stream or its connection over HTTP/2.
func connection(k faultproxy.Kind, at h2peer.Moment, do h2peer.Action, code http2.ErrCode) mishap {
	return mishap{network: faultproxy.Fault{Kind: k}, stream: h2peer.Ending{At: at, Do: do, Code: code}}
}

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
		{50, []mishap{
			connection(faultproxy.LostResponse, h2peer.Applied, h2peer.ResetStream, http2.ErrCodeProtocol),
			connection(faultproxy.LostResponse, h2peer.Applied, h2peer.ResetStream, http2.ErrCodeRefusedStream),
			connection(faultproxy.LostResponse, h2peer.Applied, h2peer.GoAwayClose, http2.ErrCodeNo),
			connection(faultproxy.ResetAfterHeaders, h2peer.ResponseHeaders, h2peer.ResetStream, http2.ErrCodeInternal),
			connection(faultproxy.CutMidBody, h2peer.HalfResponse, h2peer.Close, http2.ErrCodeNo),
		}},
		{50, []mishap{
			connection(faultproxy.Reset, h2peer.Headers, h2peer.ResetStream, http2.ErrCodeRefusedStream),
			connection(faultproxy.Reset, h2peer.Body, h2peer.ResetStream, http2.ErrCodeCancel),
			connection(faultproxy.Reset, h2peer.Body, h2peer.GoAway, http2.ErrCodeNo),
			connection(faultproxy.Reset, h2peer.Body, h2peer.ResetConnection, http2.ErrCodeNo),
		}},
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
