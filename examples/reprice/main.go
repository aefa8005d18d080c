// Command reprice sets every active listing in a currency to one below the lowest ask of its variant,
// but not below a floor. It leaves a variant alone whose lowest ask is one's own. Its service and
// credentials are those of client.FromEnv.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

func main() {
	floor := flag.String("floor", "", "lowest ask (required)")
	currency := flag.String("currency", "USD", "currency of the listings and of the floor")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := client.FromEnv(client.WithUserAgent("reprice/1.0"))
	if err != nil {
		log.Fatal(err)
	}
	if err := reprice(ctx, c, gen.Amount(*floor), gen.CurrencyCode(*currency)); err != nil {
		log.Fatal(err)
	}
}

// reprice costs a request for each product and for each 100 listings, and one batch for each 100
// changes. A batch of unknown outcome ends it: run it again, it reads the listings anew.
func reprice(ctx context.Context, c *client.Client, floor gen.Amount, currency gen.CurrencyCode) error {
	var changes []gen.UpdateItem
	for price, err := range c.Catalog.ListPrices(ctx, client.PriceQuery{Own: true, Currency: currency}) {
		if err != nil {
			return err
		}
		if price.Market == nil || price.Market.LowestAskAmount == "" || price.LowestIsOwn {
			continue // nothing to follow, or nothing to undercut but oneself
		}
		amount, err := target(price.Market.LowestAskAmount, floor, currency)
		if err != nil {
			return err
		}
		for _, l := range price.Own {
			if l.CurrencyCode != currency || l.Amount.Equal(amount) {
				continue
			}
			change := gen.UpdateItem{ListingID: l.ListingID, Amount: amount, CurrencyCode: currency}
			if l.Ask != nil {
				change.ExpiresAt = l.Ask.AskExpiresAt // left out, it may become the default
			}
			changes = append(changes, change)
		}
	}
	var batches []*client.Batch[gen.UpdateBatchItem]
	for items := range slices.Chunk(changes, 100) {
		batch, err := c.Batches.Update(ctx, items)
		if err != nil {
			return err
		}
		batches = append(batches, batch)
	}
	var failed error
	for done, err := range client.WaitBatches(ctx, batches) {
		failed = errors.Join(failed, err)
		for _, item := range done.Items {
			fmt.Println(item.Status, item.ListingInput.ListingID, item.ListingInput.Amount)
		}
	}
	return failed
}

// target returns the lowest ask less 1, in the smallest unit of the currency, and at least the floor.
func target(lowest, floor gen.Amount, currency gen.CurrencyCode) (gen.Amount, error) {
	market, errMarket := lowest.Decimal()
	least, errFloor := floor.Decimal()
	below, errBelow := market.Sub(decimal.One)
	if err := errors.Join(errMarket, errFloor, errBelow); err != nil {
		return "", fmt.Errorf("lowest ask %s, floor %s: %w", lowest, floor, err)
	}
	if below.Cmp(least) < 0 {
		return floor.Ceil(currency)
	}
	return gen.AmountOf(below).Floor(currency)
}
