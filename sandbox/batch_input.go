package sandbox

import (
	"encoding/json"
	"fmt"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/market"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// What a batch may hold is published for updates and deletions only; the rest is
// assumed.
const (
	maxElements = 100
	maxItems    = 10_000 // after every quantity has become that many items
)

// A mistake found here refuses the whole call; what can be known only about one
// item, such as a variant that does not exist, becomes the error of that item.

func createItems(elements []wire.CreateItem) ([]store.Item, error) {
	if err := checkElements(len(elements)); err != nil {
		return nil, err
	}
	var items []store.Item
	for i, e := range elements {
		if err := market.CheckNumeric(e.Amount); err != nil {
			return nil, badRequest("/items/%d/amount: %s", i, err.Error())
		}
		expires, err := expiry(fmt.Sprint("/items/", i), e.ExpiresAt)
		if err != nil {
			return nil, err
		}
		n, err := quantity(e.Quantity)
		if err != nil {
			return nil, badRequest("/items/%d/quantity: %s", i, err.Error())
		}
		if len(items)+n > maxItems {
			return nil, badRequest("/items/%d/quantity: a batch makes %d listings at most", i, maxItems)
		}
		item := store.Item{
			VariantID: e.VariantID, Amount: e.Amount, Currency: market.USD, InventoryType: selling.Standard,
			ExpiresAt: expires, Active: new(e.Active == nil || *e.Active),
		}
		if e.CurrencyCode != nil {
			item.Currency = string(*e.CurrencyCode)
		}
		if e.InventoryType != nil {
			item.InventoryType = string(*e.InventoryType)
		}
		for range n {
			items = append(items, item)
		}
	}
	return items, nil
}

func updateItems(elements []wire.UpdateItem) ([]store.Item, error) {
	if err := checkElements(len(elements)); err != nil {
		return nil, err
	}
	items := make([]store.Item, 0, len(elements))
	for i, e := range elements {
		expires, err := expiry(fmt.Sprint("/items/", i), e.ExpiresAt)
		if err != nil {
			return nil, err
		}
		item := store.Item{ListingID: e.ListingID, ExpiresAt: expires, Active: e.Active}
		if e.Amount != nil {
			if err := market.CheckNumeric(*e.Amount); err != nil {
				return nil, badRequest("/items/%d/amount: %s", i, err.Error())
			}
			item.Amount = *e.Amount
		}
		if e.CurrencyCode != nil {
			item.Currency = string(*e.CurrencyCode)
		}
		items = append(items, item)
	}
	return items, nil
}

func deleteItems(elements []wire.DeleteItem) ([]store.Item, error) {
	if err := checkElements(len(elements)); err != nil {
		return nil, err
	}
	items := make([]store.Item, 0, len(elements))
	for _, e := range elements {
		items = append(items, store.Item{ListingID: e.ListingID})
	}
	return items, nil
}

func checkElements(n int) error {
	switch {
	case n == 0:
		return badRequest("/items: there are none")
	case n > maxElements:
		return badRequest("/items: there are %d, a call takes %d at most", n, maxElements)
	}
	return nil
}

// quantity reads a number that has to be whole and positive; 2.0 is whole.
func quantity(text json.Number) (int, error) {
	d, err := decimal.Parse(text.String())
	if err != nil || !d.IsInt() || d.Sign() < 1 {
		return 0, badRequest("%.40s is not a whole number of 1 or more", text)
	}
	whole, _, ok := d.Int64(0)
	if !ok || whole > maxItems {
		return maxItems + 1, nil
	}
	return int(whole), nil
}
