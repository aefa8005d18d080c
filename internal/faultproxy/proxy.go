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

// Proxy stands in front of a target. It is safe for concurrent use.
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

// Start listens on a free loopback port. Each request is read in full, then decide is called with it, from many
// goroutines at a time; it must leave the body to target, a handler in this process. Its fault happens to the
// request on the way there. Close the proxy when it is done with.
func Start(target http.Handler, decide func(*http.Request) Fault) (*Proxy, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fault proxy: listen: %w", err)
	}
	p := &Proxy{target: target, decide: decide, url: "http://" + listener.Addr().String()}
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: time.Minute}
	p.accepts.Go(func() { _ = p.server.Serve(listener) }) // it ends with ErrServerClosed
	return p, nil
}

// URL returns the address of the proxy, without a path.
func (p *Proxy) URL() string { return p.url }

// Requests returns how many requests have come so far.
func (p *Proxy) Requests() int { return int(p.requests.Load()) }

// Close breaks all connections, which ends what is stalled, and returns when no request is served any more.
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
	if p.closed || err != nil { // the caller went away before the request was whole
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	p.requests.Add(1)
	if err := p.decide(r).strike(w, r, p.target); err != nil {
		panic(http.ErrAbortHandler)
	}
}
