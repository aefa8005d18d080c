package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
	"github.com/sellside-sdk/sellside-go/internal/h2peer"
	"github.com/sellside-sdk/sellside-go/internal/inproc"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// settleBound is how long the sandbox of a seed takes at most to show a batch's first listing.
func settleBound() time.Duration { return sandbox.SettleWithin(workDelay) }

// sellSeed sells the inventory of a seed and counts what the sandbox holds in the end.
func (r run) sellSeed(ctx context.Context, seed uint64) (o outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.deadline)
	defer cancel()
	market, err := sandbox.New(sandbox.Options{Seed: seed, Delay: workDelay})
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, market.Close()) }()
	connect := overHTTP1
	if seed%2 == 0 {
		connect = overHTTP2
	}
	broken, err := connect(market, r.network(seed))
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, broken.close()) }()
	c, err := dial(market, broken.url, broken.transport)
	if err != nil {
		return o, err
	}

	s := seller{c: c, blind: r.blind, out: r.out}
	batches := inventory(seed, r.listings)
	for i, items := range batches {
		if err := s.sell(ctx, items); err != nil {
			return s.outcome, fmt.Errorf("batch %d of %d: %w", i+1, len(batches), err)
		}
	}
	truth, err := dial(market, "http://127.0.0.1", &inproc.Transport{Handler: market})
	if err != nil {
		return s.outcome, err
	}
	return s.outcome, s.compare(ctx, truth, batches)
}

// link is the network between a seller and its market.
type link struct {
	url       string
	transport http.RoundTripper // nil for that of the client.
	close     func() error
}

// overHTTP1 makes a link without TLS.
func overHTTP1(market *sandbox.Sandbox, meet func(*http.Request) mishap) (link, error) {
	proxy, err := faultproxy.Start(market, func(req *http.Request) faultproxy.Fault {
		m := meet(req)
		m.inject(req, market)
		return m.network
	})
	if err != nil {
		return link{}, err
	}
	return link{url: proxy.URL(), close: proxy.Close}, nil
}

// overHTTP2 makes a link with TLS.
func overHTTP2(market *sandbox.Sandbox, meet func(*http.Request) mishap) (link, error) {
	peer := h2peer.Start(market, func(req *http.Request) h2peer.Ending {
		m := meet(req)
		m.inject(req, market)
		select {
		case <-time.After(m.network.Delay):
		case <-req.Context().Done():
		}
		return m.stream
	})
	transport := peer.Transport()
	return link{url: peer.URL(), transport: transport, close: func() error {
		transport.CloseIdleConnections()
		peer.Close()
		return nil
	}}, nil
}

// dial returns a client of the sandbox, through a network or straight.
func dial(market *sandbox.Sandbox, url string, transport http.RoundTripper) (*client.Client, error) {
	return client.New(
		client.WithBaseURL(url+sandbox.BasePath), client.WithAPIKey(market.APIKey()), client.WithToken(market.Token()),
		client.WithHTTPClient(&http.Client{Transport: transport}), client.WithQuota(quota.Unlimited),
		client.WithRetry(client.RetryPolicy{MaxAttempts: 8, MinDelay: 2 * time.Millisecond, MaxDelay: 50 * time.Millisecond}),
	)
}

// inventory draws batches of at most 100 listings. Many of its items are equal, within a batch and between
// batches, because that is what makes a batch hard to tell from another.
func inventory(seed uint64, listings int) [][]gen.CreateItem {
	random := rand.New(rand.NewPCG(seed, 1))
	products := sandbox.Catalog()
	var batches [][]gen.CreateItem
	for listings > 0 {
		var items []gen.CreateItem
		product := products[random.IntN(len(products))]
		for room := min(100, listings); room > 0; {
			n := min(room, 1+random.IntN(10))
			variant := product.Variants[random.IntN(len(product.Variants))]
			amount := gen.Amount(fmt.Sprintf("%d.%02d", 100+random.IntN(5), 50*random.IntN(2)))
			items = append(items, gen.CreateItem{VariantID: variant.ID, Amount: amount, Quantity: gen.Int(n)})
			room, listings = room-n, listings-n
		}
		batches = append(batches, items)
	}
	return batches
}
