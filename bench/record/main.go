// Command record writes the bodies that the benchmarks read, to the directory bodies. They are
// responses of a sandbox with a fixed clock and seed, so that only a change of the sandbox changes
// them. They are committed: figures of two commits compare only if the bodies are the same.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/inproc"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

const (
	items    = 500 // listings of the batch
	elements = 100 // of the batch, which is the most that a batch may have
	inactive = 10  // listings that are deactivated
	sold     = 20
)

func main() {
	if err := record(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

// clock is a clock that a test moves.
type clock struct{ now time.Time }

// record sells a part of a batch of listings, and writes the responses of the calls.
func record(ctx context.Context) (err error) {
	c := &clock{time.Date(2026, 11, 2, 9, 14, 7, 120_000_000, time.UTC)}
	market, err := sandbox.New(sandbox.Options{
		Manual: true, Delay: -1, OrderStep: -1, Seed: 1, Now: func() time.Time { return c.now },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, market.Close()) }()
	transport := &inproc.Transport{Handler: market}
	defer transport.Close()
	seller, err := client.New(
		client.WithBaseURL("https://sandbox.invalid"+sandbox.BasePath),
		client.WithAPIKey(market.APIKey()), client.WithToken(market.Token()),
		client.WithQuota(quota.Unlimited), client.WithHTTPClient(&http.Client{Transport: transport}),
	)
	if err != nil {
		return err
	}
	batch, err := seller.Batches.Create(ctx, offers())
	if err != nil {
		return err
	}
	if err := market.Work(ctx); err != nil {
		return err
	}
	results, err := batch.Results(ctx, "")
	if err != nil {
		return err
	}
	for i, item := range results {
		c.now = c.now.Add(1300 * time.Millisecond)
		id := item.Result.ListingID
		switch {
		case i%(items/inactive) == 3:
			_, err = seller.Listings.Deactivate(ctx, id)
		case i%(items/sold) == 8:
			_, err = market.Buy(ctx, id)
		default:
			continue
		}
		if err = errors.Join(err, market.Work(ctx)); err != nil {
			return err
		}
	}
	variant := results[0].ListingInput.VariantID
	product, err := productOf(variant)
	if err != nil {
		return err
	}
	return errors.Join(
		write(market, "page.json", "/selling/listings?pageSize=100"),
		write(market, "items.json", "/selling/batch/create-listing/"+batch.ID()+"/items"),
		write(market, "listing.json", "/selling/listings/"+results[8].Result.ListingID),
		write(market, "market.json", "/catalog/products/"+product+"/variants/"+variant+"/market-data?currencyCode=USD"),
	)
}

// offers returns the elements of the batch, each of another variant.
func offers() (offers []gen.CreateItem) {
	for i, p := range sandbox.Catalog() {
		for j, v := range p.Variants {
			if len(offers) == elements {
				return offers
			}
			offers = append(offers, gen.CreateItem{
				VariantID: v.ID, Amount: gen.Amount(fmt.Sprintf("%d.50", 1080+7*i+j)), CurrencyCode: gen.CurrencyCodeUSD,
				Quantity: items / elements, ExpiresAt: gen.TimeOf(time.Date(2027, 6, 30, 12, 0, 0, 0, time.UTC)),
			})
		}
	}
	return offers
}

// productOf returns the product that a variant belongs to.
func productOf(variantID string) (string, error) {
	for _, p := range sandbox.Catalog() {
		for _, v := range p.Variants {
			if v.ID == variantID {
				return p.ID, nil
			}
		}
	}
	return "", fmt.Errorf("find product: variant %s: not in the catalog", variantID)
}

// write writes the response of a sandbox to a file.
func write(market *sandbox.Sandbox, name, path string) error {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, sandbox.BasePath+path, http.NoBody)
	r.Header.Set("Authorization", "Bearer "+market.Token())
	r.Header.Set("x-api-key", market.APIKey())
	w := httptest.NewRecorder()
	market.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		return fmt.Errorf("get %s: %d %s", path, w.Code, w.Body)
	}
	return os.WriteFile(filepath.Join("bodies", name), w.Body.Bytes(), 0o600)
}
