package clienttest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// matchLowestAsk is the code under test. It sets the price of a listing to the lowest ask of its
// variant.
func matchLowestAsk(ctx context.Context, c *client.Client, listingID string) error {
	listing, err := c.Listings.Get(ctx, listingID)
	if err != nil {
		return err
	}
	market, err := c.Catalog.GetMarketData(ctx, listing.Product.ProductID, listing.Variant.VariantID, "USD")
	if err != nil {
		return err
	}
	changes := gen.UpdateListingRequest{Amount: market.LowestAskAmount, CurrencyCode: "USD"}
	if listing.Ask != nil {
		changes.ExpiresAt = listing.Ask.AskExpiresAt // left out, it may change
	}
	_, err = c.Listings.Update(ctx, listingID, changes)
	return err
}

// printer replaces the *testing.T of a test function, which an example does not have.
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
	srv.Expect(gen.OpUpdateListing).
		BodyJSON(`{"amount":"155","currencyCode":"USD","expiresAt":"2029-07-28T09:14:06.000Z"}`).
		RespondExample()

	err := matchLowestAsk(context.Background(), srv.Client(), "98e2e748")
	fmt.Println("error:", err)

	t.cleanup() // not needed in a test: fails if an expectation is not met
	// Output: error: <nil>
}

// A response that breaks the spec fails the test at once.
func ExampleExpectation_Respond() {
	t := &printer{}
	srv := clienttest.New(t, clienttest.InProcess())

	srv.Expect(gen.OpGetProduct).Respond(200, `{"title":"Jordan 1 Retro High OG"}`)
	srv.Expect(gen.OpGetProduct).Respond(204, nil)
	// Output:
	// clienttest: GetProduct: response 200 breaks the spec: response body doesn't match schema #/components/schemas/Product: /productId: property "productId" is missing
	// clienttest: GetProduct: response 204 breaks the spec: status 204 is not declared: use Raw to send it
}
