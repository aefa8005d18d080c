// Package faultproxy simulates a network that fails: a proxy on a loopback socket that decides for
// each request whether it is delivered, and which part of the response arrives.
//
//	p, err := faultproxy.Start(target, func(r *http.Request) faultproxy.Fault {
//		return faultproxy.Fault{Kind: faultproxy.LostResponse}
//	})
//	...
//	defer p.Close()
//
// The kinds of faults differ in whether the target gets the request, which a client cannot know
// without a response:
//
//	kind                the target gets it   the client gets
//	None                yes                  the response
//	Latency             yes                  the response, after Delay
//	LostResponse        yes                  a reset connection, before the first byte
//	ResetAfterHeaders   yes                  status and headers, then a reset connection
//	CutMidBody          yes                  status, headers and half of the body, then an orderly end
//	Stall               yes                  nothing, until it disconnects
//	Reset               no                   a reset connection, before the first byte
//
// A complete response that is wrong, such as a 503, is not a fault of a network: the sandbox sends
// those.
//
// A client of net/http repeats a GET by itself if a connection that it has used before is reset
// before the first byte. The proxy counts, and decides on, both requests.
package faultproxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy is a proxy in front of a target. It is safe for concurrent use.
type Proxy struct {
	target   http.Handler
	decide   func(*http.Request) Fault
	server   *http.Server
	url      string
	accepts  sync.WaitGroup
	requests atomic.Int64

	serving sync.RWMutex // Requests read it, Close writes it.
	closed  bool
}

// Start listens on a free loopback port. It reads each request in full and calls decide with it,
// from many goroutines at a time. Decide must not read the body, which target gets, and returns the
// fault of the request. Close the proxy after use.
func Start(target http.Handler, decide func(*http.Request) Fault) (*Proxy, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fault proxy: listen: %w", err)
	}
	p := &Proxy{target: target, decide: decide, url: "http://" + listener.Addr().String()}
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: time.Minute}
	p.accepts.Go(func() { _ = p.server.Serve(listener) }) // returns ErrServerClosed
	return p, nil
}

// URL returns the address of the proxy, without a path.
func (p *Proxy) URL() string { return p.url }

// Requests returns the number of requests so far.
func (p *Proxy) Requests() int { return int(p.requests.Load()) }

// Close breaks all connections, which ends stalled requests, and waits until no request is served.
// It can be called more than once.
func (p *Proxy) Close() error {
	err := p.server.Close()
	p.accepts.Wait()
	p.serving.Lock()
	defer p.serving.Unlock()
	p.closed = true
	return err
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	p.serving.RLock()
	defer p.serving.RUnlock()
	body, err := io.ReadAll(r.Body)
	if p.closed || err != nil { // or the client is gone
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	p.requests.Add(1)
	if err := p.decide(r).inject(w, r, p.target); err != nil {
		panic(http.ErrAbortHandler)
	}
}
