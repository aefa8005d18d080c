package client_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// saleListings is 10,000 in make sale.
var saleListings = flag.Int("sale-listings", 2_000, "listings of the simulated sale, a multiple of 500")

// inventory is n items, no two of them with the same variant and amount.
func inventory(n int) []gen.CreateItem {
	var variants []string
	for _, p := range sandbox.Catalog() {
		for _, v := range p.Variants {
			variants = append(variants, v.ID)
		}
	}
	items := make([]gen.CreateItem, n)
	for i := range items {
		items[i] = gen.CreateItem{
			VariantID: variants[i%len(variants)], Amount: gen.Amount(strconv.Itoa(200 + i/len(variants))), Quantity: 1,
		}
	}
	return items
}

// TestSale_LastsAsLongAsTheQuota sells at the public quota: 500 listings every five minutes. 10,000
// listings are 20 groups of batches with 19 times five minutes between them, and the requests after
// the last group.
func TestSale_LastsAsLongAsTheQuota(t *testing.T) {
	groups := *saleListings / 500
	began := time.Now()
	var simulated time.Duration
	synctest.Test(t, func(t *testing.T) {
		market := sandboxtest.NewInProcess(t,
			func(o *sandbox.Options) { o.Quota, o.Delay = quota.Public, 0 }, quirks)
		c, err := client.New(
			client.WithBaseURL(market.URL), client.WithHTTPClient(market.HTTPClient()),
			client.WithAPIKey(market.APIKey()), client.WithToken(market.Token()))
		require.NoError(t, err)

		start := time.Now()
		sold := map[string]bool{}
		for items := range slices.Chunk(inventory(groups*500), 100) {
			batch, err := c.Batches.Create(t.Context(), items)
			require.NoError(t, err)
			results, err := batch.Wait(t.Context())
			require.NoError(t, err)
			for _, r := range results {
				sold[r.Result.ListingID] = true
			}
		}
		simulated = time.Since(start)

		assert.Len(t, sold, groups*500)
		least := time.Duration(groups-1) * 300 * time.Second
		assert.GreaterOrEqual(t, simulated, least)
		assert.LessOrEqual(t, simulated, least*103/100)
		statuses := map[int]int{}
		for _, counts := range market.Counters() {
			for status, n := range counts {
				statuses[status] += n
			}
		}
		assert.Len(t, statuses, 1, "only 200: %v", statuses)
		t.Logf("%d listings took %s of simulated time, %.4f times %d x 300 s, and %d requests; 429: %d",
			groups*500, simulated, simulated.Seconds()/least.Seconds(), groups-1, statuses[http.StatusOK], statuses[http.StatusTooManyRequests])
	})
	t.Logf("in %s of real time", time.Since(began).Round(time.Millisecond))
}

// arrivalsListings is how many listings are sold. The seed makes the delays.
var (
	arrivalsListings = flag.Int("arrivals-listings", 2_000,
		"listings of the sale whose requests take time to arrive, a multiple of 500")
	arrivalsSeed = flag.Uint64("arrivals-seed", 1, "seed of the delays of that sale")
)

// slowNetwork is a network in simulated time: everything written takes up to delay to arrive, in
// order.
type slowNetwork struct {
	delay    time.Duration
	accepted chan net.Conn
	closed   chan struct{}
	pumps    sync.WaitGroup

	mu   sync.Mutex
	rand *rand.Rand
}

func newSlowNetwork(delay time.Duration, seed uint64) *slowNetwork {
	return &slowNetwork{delay: delay, accepted: make(chan net.Conn), closed: make(chan struct{}), rand: rand.New(rand.NewPCG(seed, 13))}
}

// Dial connects to the listener.
func (n *slowNetwork) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case n.accepted <- n.slow(far):
		return n.slow(near), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Accept implements [net.Listener].
func (n *slowNetwork) Accept() (net.Conn, error) {
	select {
	case conn := <-n.accepted:
		return conn, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (n *slowNetwork) Close() error {
	close(n.closed)
	return nil
}

// Addr implements [net.Listener].
func (n *slowNetwork) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }

func (n *slowNetwork) takes() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Duration(n.rand.Int64N(int64(n.delay) + 1))
}

// slowConn delivers what is written to it later. As with a socket, Write does not wait for that.
type slowConn struct {
	net.Conn
	network *slowNetwork
	closed  chan struct{}
	close   func()
	more    chan struct{} // Has an element if something was written.

	mu    sync.Mutex
	queue []packet
}

type packet struct {
	due  time.Time
	data []byte
}

func (n *slowNetwork) slow(conn net.Conn) *slowConn {
	c := &slowConn{Conn: conn, network: n, closed: make(chan struct{}), more: make(chan struct{}, 1)}
	c.close = sync.OnceFunc(func() { close(c.closed) })
	n.pumps.Go(c.deliver)
	return c
}

func (c *slowConn) Write(p []byte) (int, error) {
	select {
	case <-c.closed:
		return 0, net.ErrClosed
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	due := time.Now().Add(c.network.takes())
	if n := len(c.queue); n > 0 && c.queue[n-1].due.After(due) {
		due = c.queue[n-1].due
	}
	c.queue = append(c.queue, packet{due, bytes.Clone(p)})
	select {
	case c.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

// deliver writes each packet to the other end when it is due.
func (c *slowConn) deliver() {
	defer c.Conn.Close()
	for {
		c.mu.Lock()
		queue := slices.Clone(c.queue)
		c.mu.Unlock()
		for _, p := range queue {
			select {
			case <-time.After(time.Until(p.due)):
			case <-c.closed:
				return
			}
			if _, err := c.Conn.Write(p.data); err != nil {
				return
			}
		}
		c.mu.Lock()
		c.queue = c.queue[len(queue):]
		c.mu.Unlock()
		if len(queue) > 0 {
			continue
		}
		select {
		case <-c.more:
		case <-c.closed:
			return
		}
	}
}

func (c *slowConn) Close() error {
	c.close()
	return c.Conn.Close()
}

// selfSigned is a certificate for a host, valid also on simulated time, which begins in 2000.
func selfSigned(t *testing.T, host string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(crand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, roots
}

// TestArrivals_KeepPublicQuota sells an inventory over TLS to a sandbox that counts requests when
// they arrive, and enforces the public quota. Every request and response takes up to 300 ms, so
// that a request may arrive much faster than the one before it.
func TestArrivals_KeepPublicQuota(t *testing.T) {
	for _, major := range []int{1, 2} {
		t.Run(fmt.Sprintf("HTTP %d", major), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { sellOverSlowNetwork(t, major) })
		})
	}
}

func sellOverSlowNetwork(t *testing.T, major int) {
	const host, delay, products = "market.test", 300 * time.Millisecond, 140
	market, err := sandbox.New(sandbox.Options{Quota: quota.Public})
	require.NoError(t, err)
	defer func() { assert.NoError(t, market.Close()) }()
	network := newSlowNetwork(delay, *arrivalsSeed)
	certificate, roots := selfSigned(t, host)
	protocol := map[int]string{1: "http/1.1", 2: "h2"}[major]
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, major, r.ProtoMajor)
			market.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: time.Minute, IdleTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{protocol}, MinVersion: tls.VersionTLS12},
	}
	var serving sync.WaitGroup
	serving.Go(func() { assert.ErrorIs(t, srv.ServeTLS(network, "", ""), http.ErrServerClosed) })
	transport := &http.Transport{
		DialContext: network.Dial, ForceAttemptHTTP2: major == 2, IdleConnTimeout: 30 * time.Second,
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS12},
	}
	defer func() {
		transport.CloseIdleConnections()
		assert.NoError(t, srv.Close())
		serving.Wait()
		network.pumps.Wait()
	}()
	c, err := client.New(
		client.WithBaseURL("https://"+host+sandbox.BasePath), client.WithHTTPClient(&http.Client{Transport: transport}),
		client.WithAPIKey(market.APIKey()), client.WithToken(market.Token()))
	require.NoError(t, err)

	start := time.Now()
	lookUps := lookUp(t, c, products)
	looked := time.Since(start)

	start = time.Now()
	groups := *arrivalsListings / 500
	for items := range slices.Chunk(inventory(groups*500), 100) {
		batch, err := c.Batches.Create(t.Context(), items)
		require.NoError(t, err)
		results, err := batch.Wait(t.Context())
		require.NoError(t, err)
		require.Len(t, results, len(items))
	}
	sold := time.Since(start)

	refused, arrived := 0, 0
	for _, statuses := range market.Counters() {
		for status, n := range statuses {
			arrived += n
			if status == http.StatusTooManyRequests {
				refused += n
			}
		}
	}
	windows := time.Duration(groups-1) * 5 * time.Minute
	t.Logf("%d of %d requests refused with 429; %d look-ups in %s, %s each; %d listings in %s, %.4f times %s",
		refused, arrived, lookUps, looked, looked/time.Duration(lookUps), groups*500, sold, sold.Seconds()/windows.Seconds(), windows)
	assert.Zero(t, refused)
	assert.LessOrEqual(t, sold, windows*105/100)
	assert.LessOrEqual(t, looked, time.Duration(lookUps)*(time.Second+2*delay)+10*time.Second,
		"a second and a round trip per request, and a handshake")
}

// lookUp reads products and their variants, eight at a time, and returns the number of requests.
func lookUp(t *testing.T, c *client.Client, products int) (requests int) {
	t.Helper()
	queue := make(chan sandbox.Product)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for p := range queue {
				_, err := c.Catalog.SearchPage(t.Context(), client.ProductQuery{Query: p.StyleID})
				_, unread := c.Catalog.ListVariants(t.Context(), p.ID)
				assert.NoError(t, errors.Join(err, unread))
			}
		})
	}
	all := sandbox.Catalog()
	for i := range products {
		queue <- all[i%len(all)]
	}
	close(queue)
	workers.Wait()
	return 2 * products
}
