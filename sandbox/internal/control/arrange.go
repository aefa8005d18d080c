package control

import (
	"cmp"
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/gateway"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// Product is what sandbox.AddProduct adds, where its fields are explained.
type Product struct {
	Title       string    `json:"title"`
	Brand       string    `json:"brand"`
	StyleID     string    `json:"styleId"`
	Type        string    `json:"productType"`
	RetailPrice string    `json:"retailPrice"`
	ReleaseDate time.Time `json:"releaseDate"`
	Sizes       []string  `json:"sizes"`
}

// AddProduct adds a product to the catalog.
func (c *Control) AddProduct(ctx context.Context, p Product) (*catalog.Product, error) {
	if p.Title == "" {
		return nil, wire.Invalidf("title: must not be empty")
	}
	if p.ReleaseDate.IsZero() {
		p.ReleaseDate = c.Clock.Now()
	}
	if len(p.Sizes) == 0 {
		p.Sizes = []string{"One Size"}
	}
	proposal := catalog.Proposal{
		Category: cmp.Or(p.Type, "sneakers"), Title: p.Title, Brand: cmp.Or(p.Brand, "Sandbox"),
		Images: []string{"https://sandbox.invalid/image.jpg"}, StyleCode: p.StyleID,
		RetailPrice: cmp.Or(p.RetailPrice, "100"),
		ReleaseDate: p.ReleaseDate.UTC().Format(time.DateOnly),
		Sizes:       p.Sizes,
	}
	return c.Selling.AddProduct(ctx, proposal)
}

// Listing is what sandbox.Listing describes, where its fields are explained.
type Listing struct {
	Account       string    `json:"account"`
	VariantID     string    `json:"variantId"`
	Amount        string    `json:"amount"`
	Currency      string    `json:"currencyCode"`
	InventoryType string    `json:"inventoryType"`
	Status        string    `json:"listingStatus"`
	ExpiresAt     time.Time `json:"expiresAt"`
}

// AddListings makes n listings and returns their ids.
func (c *Control) AddListings(ctx context.Context, n int, l Listing) ([]string, error) {
	a, err := c.arranged(l)
	if err != nil {
		return nil, err
	}
	return c.Selling.AddListings(ctx, n, a)
}

// AddOrder makes a listing with an order in a status, and returns the number of the order.
func (c *Control) AddOrder(ctx context.Context, l Listing, status string) (string, error) {
	a, err := c.arranged(l)
	if err != nil {
		return "", err
	}
	return c.Selling.AddOrder(ctx, a, status)
}

func (c *Control) arranged(l Listing) (selling.Arranged, error) {
	account := c.Gateway.Accounts.Named(cmp.Or(l.Account, gateway.FirstAccount))
	if account.Seq == 0 {
		return selling.Arranged{}, wire.Invalidf("account (%.80q): not found", l.Account)
	}
	return selling.Arranged{
		Account: account.Seq, Status: l.Status,
		NewListing: selling.NewListing{
			VariantID: l.VariantID, InventoryType: l.InventoryType,
			Terms: selling.Terms{Amount: l.Amount, Currency: l.Currency, ExpiresAt: l.ExpiresAt},
		},
	}, nil
}

// Failure is what sandbox.Failure describes, where its fields are explained.
type Failure struct {
	Target    string `json:"target"`
	Operation string `json:"operation"`
	Times     int    `json:"times"`
	Error     string `json:"error"`
	Stuck     bool   `json:"stuck"`
}

// FailWork makes operations and items that are accepted fail or get stuck.
func (c *Control) FailWork(ctx context.Context, f Failure) error {
	row := store.Failure{Target: f.Target, Operation: f.Operation, Times: f.Times}
	if !f.Stuck {
		row.Error = cmp.Or(f.Error, "a test has arranged this failure")
	}
	return c.Selling.AddFailure(ctx, row)
}
