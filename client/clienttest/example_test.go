package clienttest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// matchLowestAsk is the code under test: it sets a listing's price to the lowest ask of its variant.
func matchLowestAsk(ctx context.Context, c *client.Client, listingID string) error {
	listing, err := c.Listings.Get(ctx, listingID)
	if err != nil {
		return err
	}
	market, err := c.Catalog.GetMarketData(ctx, listing.Product.ProductID, listing.Variant.VariantID, "USD")
	if err != nil {
		return err
	}
	_, err = c.Listings.Update(ctx, listingID, gen.UpdateListingRequest{Amount: market.LowestAskAmount})
	return err
}

// printer stands in for the *testing.T that a test function has and an example does not.
type printer struct {
	testing.TB
	cleanup func()
}

func (p *printer) Helper()                           {}
func (p *printer) Cleanup(f func())                  { p.cleanup = f }
func (p *printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func Example() {
	t := &printer{}

	srv := clienttest.New(t)
	srv.Expect(gen.OpGetListing).Path("listingId", "98e2e748").RespondExample()
	srv.Expect(gen.OpGetVariantMarketData).
		Query("currencyCode", "USD").
		Respond(200, gen.MarketData{LowestAskAmount: "155"})
	srv.Expect(gen.OpUpdateListing).BodyJSON(`{"amount":"155"}`).RespondExample()

	err := matchLowestAsk(context.Background(), srv.Client(), "98e2e748")
	fmt.Println("error:", err)

	t.cleanup() // the test would fail here if an expectation were left over
	// Output: error: <nil>
}
