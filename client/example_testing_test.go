package client_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// market is what lowestAsk needs of the client.
type market interface {
	GetMarketData(ctx context.Context, productID, variantID string, currency gen.CurrencyCode) (*gen.MarketData, error)
}

// lowestAsk is the code under test.
func lowestAsk(ctx context.Context, m market, productID, variantID string) (string, error) {
	data, err := m.GetMarketData(ctx, productID, variantID, "USD")
	if err != nil {
		return "", fmt.Errorf("lowest ask: %w", err)
	}
	if data.LowestAskAmount == "" { // absent, which is not zero
		return "no ask", nil
	}
	return string(data.LowestAskAmount), nil
}

// fixedMarket is a fake for tests that are not about the service.
type fixedMarket gen.MarketData

func (m fixedMarket) GetMarketData(context.Context, string, string, gen.CurrencyCode) (*gen.MarketData, error) {
	return (*gen.MarketData)(&m), nil
}

// Code that takes its own interface gets c.Catalog in the program, and a fake in a test.
func ExampleCatalog_GetMarketData() {
	var _ market = (*client.Catalog)(nil)

	ask, err := lowestAsk(context.Background(), fixedMarket{LowestAskAmount: "171"}, "product", "variant")

	fmt.Println(ask, err)
	// Output: 171 <nil>
}

// Code that calls the service is tested with clienttest, which checks both sides against the spec.
func TestLowestAsk(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetVariantMarketData).Query("currencyCode", "USD").Respond(200, gen.MarketData{LowestAskAmount: "171"})
	srv.Expect(gen.OpGetVariantMarketData).RespondError(404, "no such product")
	c := srv.Client()

	ask, err := lowestAsk(t.Context(), c.Catalog, "product", "variant")
	require.NoError(t, err)
	require.Equal(t, "171", ask)

	_, err = lowestAsk(t.Context(), c.Catalog, "stale product", "variant")
	require.ErrorIs(t, err, client.ErrNotFound)
}
