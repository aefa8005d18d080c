// Command sell lists one variant: sell VARIANT_ID AMOUNT CURRENCY. It lists it once, whatever is lost
// on the way; the command "sellside sell" does that for an inventory, and survives being killed. Its
// service and credentials are those of client.FromEnv.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: sell VARIANT_ID AMOUNT CURRENCY")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := client.FromEnv(client.WithUserAgent("sell/1.0"))
	if err != nil {
		log.Fatal(err)
	}
	item := gen.CreateItem{
		VariantID: os.Args[1], Amount: gen.Amount(os.Args[2]), CurrencyCode: gen.CurrencyCode(os.Args[3]), Quantity: 1,
	}
	if err := sell(ctx, c, item); err != nil {
		log.Fatal(err)
	}
}

func sell(ctx context.Context, c *client.Client, item gen.CreateItem) error {
	submission, err := recovery.New([]gen.CreateItem{item})
	if err != nil {
		return err
	}
	batch, err := recovery.Submit(ctx, c, submission)
	if batch == nil && errors.Is(err, client.ErrOutcomeUnknown) {
		verdict, err := recovery.Recover(ctx, c, submission, recovery.Options{})
		if err != nil {
			return err
		}
		if batch = verdict.Batch; batch == nil {
			return errors.New(verdict.String())
		}
	} else if batch == nil {
		return err // refused: nothing was created
	}
	items, err := batch.Wait(ctx)
	for _, item := range items {
		fmt.Println(item.Status, item.Result.ListingID, item.ListingInput.Amount)
	}
	return err
}
