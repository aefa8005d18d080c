package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Create creates one listing. If the response is lost, it looks for a listing of the same terms. To
// know it, an ask without an expiry gets one that no other has, as items of a
// [recovery.Submission] do. A listing of another expiry, or without an ask, cannot be known.
func (s Settings) Create(ctx context.Context, listing gen.CreateListingRequest) (Result, error) {
	result := Result{Change: gen.OperationTypeCreate}
	isMarked := listing.ExpiresAt.IsZero() && (listing.Active == nil || *listing.Active)
	if isMarked {
		marked, err := recovery.New([]gen.CreateItem{{VariantID: "any", Amount: "1", Quantity: 1}}) // for its expiry
		if err != nil {
			return result.unsent(err), err
		}
		listing.ExpiresAt = marked.Items[0].ExpiresAt
	}
	sentAt := time.Now()
	op, err := s.Client.Listings.Create(ctx, listing)
	switch {
	case op != nil:
		return s.wait(ctx, result, op)
	case !errors.Is(err, client.ErrOutcomeUnknown):
		return result.unsent(err), Stops(ctx, err)
	case !isMarked:
		return result.mayExist(listing, err), nil
	}
	s.Log("no response to the new listing: looking for it for up to %s", s.Settle)
	id, err := s.find(ctx, listing, sentAt)
	if id == "" {
		return result.mayExist(listing, err), err
	}
	result.ListingID, result.Status = id, Succeeded
	return result, nil
}

// looks is how often a listing is looked for.
const looks = 10

// find returns the id of a listing of these terms that was made since a time, "" if none is shown
// until the settle time has passed.
func (s Settings) find(ctx context.Context, sent gen.CreateListingRequest, since time.Time) (string, error) {
	const skew = 5 * time.Minute // as of package recovery
	ticker := time.NewTicker(max(s.Settle/looks, time.Millisecond))
	defer ticker.Stop()
	for range looks {
		filter := client.ListingFilter{VariantIDs: []string{sent.VariantID}, From: since.Add(-skew)}
		for l, err := range s.Client.Listings.List(ctx, filter) {
			if err != nil && !client.IsTransient(err) {
				return "", err
			}
			if err != nil {
				break // the next look may succeed
			}
			if isSame(l, sent) && !l.CreatedAt.Before(since.Add(-skew)) {
				return l.ListingID, nil
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return "", nil
}

// isSame reports whether a listing has the terms that were sent. Only an ask shows its expiry.
func isSame(l gen.Listing, sent gen.CreateListingRequest) bool {
	return l.Ask != nil && l.Ask.AskExpiresAt.Equal(sent.ExpiresAt.Truncate(time.Millisecond)) && l.Amount.Equal(sent.Amount)
}

// mayExist returns the result of a listing that may have been made.
func (r Result) mayExist(sent gen.CreateListingRequest, err error) Result {
	r.Status = Unknown
	why := "its response was lost"
	if err != nil {
		why = err.Error()
	}
	r.Error = fmt.Sprintf("the listing may have been made (%s): look for it with sellside listings ls --variant %s "+
		"before you create it again", why, sent.VariantID)
	return r
}
