package faultproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// Proxy stands in front of a target. It is safe for concurrent use.
type Proxy struct {
	target http.Handler
	decide func(*http.Request) Fault
	server *http.Server
	url    string
	closed chan struct{}
	served sync.WaitGroup // The accepting goroutine.

	mu       sync.Mutex
	ended    bool
	handlers sync.WaitGroup
	counts   [kinds]int
}

// Start listens on a free loopback port. Each request is read in full, then decide is called with it, from many
// goroutines at a time; it may read the body. Its fault happens to the request on the way to target, a handler
// in this process or, by [To], another server. Close the proxy when it is done with.
func Start(target http.Handler, decide func(*http.Request) Fault) (*Proxy, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fault proxy: listen: %w", err)
	}
	p := &Proxy{target: target, decide: decide, url: "http://" + listener.Addr().String(), closed: make(chan struct{})}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	p.served.Go(func() { _ = p.server.Serve(listener) }) // it ends with ErrServerClosed
	return p, nil
}

// To is the target that is reached at a URL; the request's path is appended to its path.
func To(target *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorLog: log.New(io.Discard, "", 0),
	}
}

// URL returns the address of the proxy, without a path.
func (p *Proxy) URL() string { return p.url }

// Count returns how many requests have met the fault so far, those of [None] included.
func (p *Proxy) Count(k Kind) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[k]
}

func (p *Proxy) count(k Kind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[k]++
}

// Requests returns how many requests have come so far.
func (p *Proxy) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, count := range p.counts {
		n += count
	}
	return n
}

// Close breaks all connections, ends what is stalled and returns when nothing of the proxy runs any more.
func (p *Proxy) Close() error {
	p.mu.Lock()
	ended := p.ended
	p.ended = true
	p.mu.Unlock()
	if ended {
		return nil
	}
	close(p.closed)
	err := p.server.Close()
	p.served.Wait()
	p.handlers.Wait()
	return err
}

// ServeHTTP implements [http.Handler] for the proxy's own server.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		panic(http.ErrAbortHandler)
	}
	defer p.handlers.Done()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the caller went away before the request was whole
	}
	fresh := func(ctx context.Context) *http.Request {
		again := r.Clone(ctx)
		again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return again
	}
	f := p.decide(fresh(r.Context()))
	p.count(f.Kind)

	var got *recorder
	switch {
	case f.Kind == None:
		p.target.ServeHTTP(w, fresh(r.Context()))
		return
	case f.Kind.Delivered():
		got = &recorder{header: make(http.Header), status: http.StatusOK}
		p.target.ServeHTTP(got, fresh(context.WithoutCancel(r.Context()))) // what was delivered is done, whoever leaves
	}
	if err := p.inject(w, r, f, got); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// enter counts a handler in, unless the proxy is closed.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.handlers.Add(1)
	}
	return !p.ended
}

var errGone = errors.New("the caller or the proxy has gone")

// wait returns nil after d, and an error when there is nobody to answer any more; zero is for ever.
func (p *Proxy) wait(ctx context.Context, d time.Duration) error {
	var after <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-after:
		return nil
	case <-ctx.Done():
	case <-p.closed:
	}
	return errGone
}
