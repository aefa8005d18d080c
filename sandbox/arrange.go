package sandbox

import (
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/control"
)

// AddProduct adds a product to the catalog of this sandbox, until Reset, and returns it with the ids
// of the product and of its variants. Title is required; ids are ignored. What is empty has a
// default: the brand Sandbox, the type sneakers, a retail price of 100, a release today, and the one
// variant One Size. It fails if the catalog has a product of that brand and style id, or of that
// brand and title if there is no style id.
func (s *Sandbox) AddProduct(ctx context.Context, p Product) (Product, error) {
	proposed := control.Product{
		Title: p.Title, Brand: p.Brand, StyleID: p.StyleID, Type: p.Type,
		RetailPrice: p.RetailPrice, ReleaseDate: p.ReleaseDate,
	}
	for _, v := range p.Variants {
		proposed.Sizes = append(proposed.Sizes, v.Size)
	}
	added, err := s.control.AddProduct(ctx, proposed)
	if err != nil {
		return Product{}, wrap("add product", err)
	}
	return productOf(added), nil
}

// Listing describes a listing to be made.
type Listing struct {
	Account       string // name; FirstAccount if empty
	VariantID     string
	Amount        string // decimal text
	Currency      string // ISO 4217 code; USD if empty
	InventoryType string // STANDARD if empty; also DIRECT, FLEX and DFS
	// Status is ACTIVE if empty; also INACTIVE, DELETED, MATCHED (sold), COMPLETED (sold and paid) and
	// CANCELED (sold, but not paid).
	Status    string
	ExpiresAt time.Time // 999 days from now if zero
}

// AddListings makes n equal listings, 100,000 at most, at once, all or none, and returns their ids. They come into
// their status as the requests of a seller and of buyers would bring them there, with the operations
// and orders that belong to it. A listing that goes live is sold if an open bid reaches it.
func (s *Sandbox) AddListings(ctx context.Context, n int, l Listing) ([]string, error) {
	ids, err := s.control.AddListings(ctx, n, control.Listing(l))
	return ids, wrap("add listings", err)
}

// AddOrder makes a listing, sells it at its price and moves the order to a status of docs/states.md.
// It returns the number of the order. The status of the listing follows from that of the order;
// Listing.Status is ignored. From then on the order moves as others do; see Options.OrderStep.
func (s *Sandbox) AddOrder(ctx context.Context, l Listing, status string) (orderNumber string, err error) {
	orderNumber, err = s.control.AddOrder(ctx, control.Listing(l), status)
	return orderNumber, wrap("add order", err)
}

// AddOperation records an operation on a listing that its seller did not start, such as RECLAIM or
// TPS_CHECK, and returns its id. It has no effect on the listing. It has SUCCEEDED, or FAILED with a
// failure if that is not empty.
func (s *Sandbox) AddOperation(ctx context.Context, listingID, operationType, failure string) (id string, err error) {
	op, err := s.selling.AddOperation(ctx, listingID, operationType, failure)
	return op.ID, wrap("add operation", err)
}

// Failure makes writes fail after they were accepted: operations end FAILED, and items of batches
// too, or they get stuck. For refused requests and lost responses see Fault.
type Failure struct {
	// Target is the id of a listing or of a variant. If empty, it is any of them. Items that create a
	// listing have a variant only.
	Target string
	// Operation is the type of the operation, such as UPDATE; items of batches have CREATE, UPDATE and
	// DELETE. If empty, it is any of them.
	Operation string
	// Times is the number of operations and items that fail; 1 if 0.
	Times int
	// Error is the error that they have; a sentence that says it was arranged if empty.
	Error string
	// Stuck leaves them as they are, PENDING or IN_PROGRESS, for ever.
	Stuck bool
}

// FailWork makes the next operations and items fail that are worked. Failures wait in the order of
// their calls of FailWork, until Reset.
func (s *Sandbox) FailWork(ctx context.Context, f Failure) error {
	return wrap("fail work", s.control.FailWork(ctx, control.Failure(f)))
}
