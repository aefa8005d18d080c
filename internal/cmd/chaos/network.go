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

// fault is the fault of one request: of its connection, or the status of its response. The zero
// value is none.
type fault struct {
	http1    faultproxy.Fault // Its delay is that of both protocols.
	http2    h2peer.Ending
	response sandbox.Fault // Of the operation of the request; none if its Kind is empty.
}

// inject makes the sandbox fail a request that is on its way. Two concurrent calls of an operation
// may swap their statuses, which does not change the mix.
func (f fault) inject(r *http.Request, market *sandbox.Sandbox) {
	if f.response.Kind != "" {
		op, _ := gen.MatchOperation(r.Method, strings.TrimPrefix(r.URL.Path, sandbox.BasePath))
		f.response.Operation = string(op.ID)
		if err := market.Fail(f.response); err != nil {
			panic(err) // an invalid fault is a bug of this program
		}
	}
}

// connection returns the fault of a connection over HTTP/1, and of a stream or its connection over
// HTTP/2.
func connection(k faultproxy.Kind, at h2peer.Moment, do h2peer.Action, code http2.ErrCode) fault {
	return fault{http1: faultproxy.Fault{Kind: k}, http2: h2peer.Ending{At: at, Do: do, Code: code}}
}

// status returns the fault of a response. If applied, the sandbox handles the request first.
func status(code int, applied bool) fault {
	return fault{response: sandbox.Fault{Kind: sandbox.FaultStatus, Status: code, Applied: applied}}
}

// share is the share of requests that have one of several faults, each equally often.
type share struct {
	perMille int // Of all requests, reads and writes.
	faults   []fault
}

func mix() []share {
	return []share{
		{50, []fault{
			connection(faultproxy.LostResponse, h2peer.Applied, h2peer.ResetStream, http2.ErrCodeProtocol),
			connection(faultproxy.LostResponse, h2peer.Applied, h2peer.ResetStream, http2.ErrCodeRefusedStream),
			connection(faultproxy.LostResponse, h2peer.Applied, h2peer.GoAwayClose, http2.ErrCodeNo),
			connection(faultproxy.ResetAfterHeaders, h2peer.ResponseHeaders, h2peer.ResetStream, http2.ErrCodeInternal),
			connection(faultproxy.CutMidBody, h2peer.HalfResponse, h2peer.Close, http2.ErrCodeNo),
		}},
		{50, []fault{
			connection(faultproxy.Reset, h2peer.Headers, h2peer.ResetStream, http2.ErrCodeRefusedStream),
			connection(faultproxy.Reset, h2peer.Body, h2peer.ResetStream, http2.ErrCodeCancel),
			connection(faultproxy.Reset, h2peer.Body, h2peer.GoAway, http2.ErrCodeNo),
			connection(faultproxy.Reset, h2peer.Body, h2peer.ResetConnection, http2.ErrCodeNo),
		}},
		{25, []fault{status(500, false), status(502, false), status(503, false), status(504, false)}},
		{25, []fault{status(500, true), status(502, true), status(503, true), status(504, true)}},
		{50, []fault{status(429, false)}},
		{20, []fault{{http1: faultproxy.Fault{Kind: faultproxy.Latency, Delay: 50 * time.Millisecond}}}},
	}
}

// network returns a function that draws the fault of each request of a seed. The function is safe
// for concurrent use.
type network func(seed uint64) func(*http.Request) fault

// broken is the network of the program. A seed draws the same faults in the same order each time.
// Concurrent requests draw in the order of their arrival.
func broken(seed uint64) func(*http.Request) fault {
	var mu sync.Mutex
	random, shares := rand.New(rand.NewPCG(seed, 0)), mix()
	return func(*http.Request) fault {
		mu.Lock()
		defer mu.Unlock()
		n := random.IntN(1000)
		for _, s := range shares {
			if n < s.perMille {
				return s.faults[random.IntN(len(s.faults))]
			}
			n -= s.perMille
		}
		return fault{}
	}
}

// link is the connection of a seller with its sandbox.
type link struct {
	url       string
	transport http.RoundTripper // nil for the default of the client.
	close     func() error
}

// overHTTP1 returns a link without TLS.
func overHTTP1(market *sandbox.Sandbox, draw func(*http.Request) fault) (link, error) {
	proxy, err := faultproxy.Start(market, func(req *http.Request) faultproxy.Fault {
		f := draw(req)
		f.inject(req, market)
		return f.http1
	})
	if err != nil {
		return link{}, err
	}
	return link{url: proxy.URL(), close: proxy.Close}, nil
}

// overHTTP2 returns a link with TLS.
func overHTTP2(market *sandbox.Sandbox, draw func(*http.Request) fault) (link, error) {
	peer := h2peer.Start(market, func(req *http.Request) h2peer.Ending {
		f := draw(req)
		f.inject(req, market)
		select {
		case <-time.After(f.http1.Delay):
		case <-req.Context().Done():
		}
		return f.http2
	})
	transport := peer.Transport()
	return link{url: peer.URL(), transport: transport, close: func() error {
		transport.CloseIdleConnections()
		peer.Close()
		return nil
	}}, nil
}
