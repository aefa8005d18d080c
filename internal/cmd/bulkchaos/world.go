package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/inproc"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// sizes is how many variants a product has.
const sizes = 50

// world is a marketplace, the stock of a seller, and all who are not the worker: buyers, and another
// application of the seller.
type world struct {
	market *sandbox.Sandbox
	behind atomic.Int64   // How far the clock of the sandbox is behind, in nanoseconds.
	truth  *client.Client // Without faults.
	file   string         // The inventory.

	mu       sync.Mutex // Nothing is sold or edited while it is locked.
	random   *rand.Rand
	groups   []*group
	foreign  map[string]foreign // By listing id.
	lastSold time.Time
	sold     int
	edited   int // Listings that were changed from outside.
	oversold int
}

// foreign is a listing of another application.
type foreign struct {
	amount gen.Amount
	status gen.ListingStatus
}

// newWorld makes a marketplace and the stock of n rows.
func newWorld(ctx context.Context, seed uint64, rows int, dir string) (*world, error) {
	w := &world{
		random: rand.New(rand.NewPCG(seed, 1)), foreign: map[string]foreign{}, file: filepath.Join(dir, "stock.csv"),
	}
	// What exists before the worker was made long ago: a listing that another application made at the
	// time of a batch without a response, with equal terms, would leave the seller to tell whose it is.
	w.behind.Store(int64(2 * time.Hour))
	defer w.behind.Store(0)
	var err error
	w.market, err = sandbox.New(sandbox.Options{
		Seed: seed, Delay: 20 * time.Millisecond, OrderStep: -1,
		Now: func() time.Time { return time.Now().Add(-time.Duration(w.behind.Load())) },
	})
	if err != nil {
		return nil, err
	}
	if err := w.fill(ctx, rows); err != nil {
		return nil, errors.Join(err, w.market.Close())
	}
	return w, nil
}

func (w *world) fill(ctx context.Context, rows int) error {
	var err error
	w.truth, err = client.New(
		client.WithBaseURL("http://127.0.0.1"+sandbox.BasePath), client.WithAPIKey(w.market.APIKey()),
		client.WithToken(w.market.Token()), client.WithQuota(quota.Unlimited),
		client.WithHTTPClient(&http.Client{Transport: &inproc.Transport{Handler: w.market}}),
	)
	if err != nil {
		return err
	}
	var products []sandbox.Product
	for i := range (rows + sizes - 1) / sizes {
		p := sandbox.Product{Title: fmt.Sprintf("Product %d", i), StyleID: fmt.Sprintf("CHAOS-%04d", i)}
		for size := range sizes {
			p.Variants = append(p.Variants, sandbox.Variant{Size: strconv.Itoa(size + 1)})
		}
		if p, err = w.market.AddProduct(ctx, p); err != nil {
			return err
		}
		products = append(products, p)
	}
	w.groups = newGroups(w.random, rows, func(i int) (id, style, size string) {
		p := products[i/sizes]
		v := p.Variants[i%sizes]
		return v.ID, p.StyleID, v.Size
	})
	for _, g := range w.groups {
		book := sandbox.Book{Asks: []string{strconv.Itoa(bookAsk)}}
		if err := w.market.SetBook(ctx, g.variant, "USD", book); err != nil {
			return err
		}
		if w.random.IntN(20) == 0 {
			amounts := []int{g.price, ceiling}
			if err := w.addForeign(ctx, g.variant, strconv.Itoa(amounts[w.random.IntN(2)])); err != nil {
				return err
			}
		}
	}
	return w.write()
}

// addForeign makes a listing of another application.
func (w *world) addForeign(ctx context.Context, variant, amount string) error {
	f := foreign{amount: gen.Amount(amount), status: gen.ListingStatusActive}
	if w.random.IntN(3) == 0 {
		f.status = gen.ListingStatusInactive
	}
	ids, err := w.market.AddListings(ctx, 1, sandbox.Listing{
		VariantID: variant, Amount: string(f.amount), Status: string(f.status),
	})
	if err != nil {
		return err
	}
	w.foreign[ids[0]] = f
	return nil
}

func (w *world) write() error {
	f, err := os.Create(w.file + ".new")
	if err != nil {
		return err
	}
	if err := errors.Join(writeInventory(f, w.groups), f.Close()); err != nil {
		return err
	}
	return os.Rename(w.file+".new", w.file)
}

// quiet is how far a count is from the sales before and after it: the ledger has times to the
// millisecond.
const quiet = 100 * time.Millisecond

// edit lets the seller change one in so many groups.
func (w *world) edit(ctx context.Context, oneIn int) error {
	return w.change(ctx, func(g *group, asOf time.Time) {
		if w.random.IntN(oneIn) == 0 {
			g.edit(w.random, asOf)
		}
	})
}

// count lets the seller count what had orders that were canceled.
func (w *world) count(ctx context.Context) error {
	return w.change(ctx, func(g *group, asOf time.Time) {
		if g.isUnpaid && g.listed {
			g.count(w.random, g.stock, asOf)
		}
	})
}

// change changes groups and writes the inventory. Nothing is sold shortly before and after that.
func (w *world) change(ctx context.Context, change func(g *group, asOf time.Time)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := pause(ctx, time.Until(w.lastSold.Add(quiet))); err != nil {
		return err
	}
	asOf := time.Now()
	for _, g := range w.groups {
		change(g, asOf)
	}
	if err := w.write(); err != nil {
		return err
	}
	return pause(ctx, quiet)
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// happen does one thing from outside: mostly a buyer buys, otherwise another application changes or
// deletes a listing of the inventory, or makes one of its own.
func (w *world) happen(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.groups[w.random.IntN(len(w.groups))]
	live, err := w.live(ctx, g)
	if err != nil {
		return err
	}
	if len(live) <= g.stock {
		g.isCut = false
	}
	if w.random.IntN(40) == 0 {
		return w.addForeign(ctx, g.variant, strconv.Itoa(g.price)+".37") // a price that no row has
	}
	if len(live) == 0 {
		return nil
	}
	l := live[w.random.IntN(len(live))]
	switch n := w.random.IntN(100); {
	case n < 60:
		return w.buy(ctx, g, l)
	case n < 75:
		_, err = w.truth.Listings.Update(ctx, l.ListingID, gen.UpdateListingRequest{
			Amount: gen.Amount(strconv.Itoa(floor + w.random.IntN(400))), CurrencyCode: gen.CurrencyCodeUSD,
		})
	case n < 88:
		_, err = w.truth.Listings.Deactivate(ctx, l.ListingID)
	default:
		_, err = w.truth.Listings.Delete(ctx, l.ListingID)
	}
	if err == nil {
		w.edited++
	}
	if errors.Is(err, client.ErrBadRequest) || errors.Is(err, client.ErrNotFound) {
		return nil // another change of the listing is under way
	}
	return err
}

// live returns the listings of the inventory in a group.
func (w *world) live(ctx context.Context, g *group) ([]gen.Listing, error) {
	var all []gen.Listing
	for l, err := range w.truth.Listings.List(ctx, client.ListingFilter{
		VariantIDs: []string{g.variant}, Expired: true,
		Statuses: []gen.ListingStatus{gen.ListingStatusActive, gen.ListingStatusInactive},
	}) {
		if err != nil {
			return nil, err
		}
		if _, ok := w.foreign[l.ListingID]; !ok {
			all = append(all, l)
		}
	}
	return all, nil
}

// buy lets a buyer buy a listing. An item that is not in stock is oversold, unless the stock was
// taken away just before.
func (w *world) buy(ctx context.Context, g *group, l gen.Listing) error {
	switch {
	case l.Status != gen.ListingStatusActive:
		return nil
	case g.stock > 0:
	case g.isCut:
		return nil
	default:
		w.oversold++
		return nil
	}
	order, err := w.market.Buy(ctx, l.ListingID)
	if err != nil {
		return nil //nolint:nilerr // a change of the listing is under way
	}
	g.stock--
	w.sold++
	if w.random.IntN(10) == 0 {
		g.isUnpaid = true
		err = w.market.MoveOrder(ctx, order, "CANCELED")
	}
	w.lastSold = time.Now()
	return err
}
