package client_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// evening is on 2 November in UTC, and on 1 November in its zone.
var evening = time.Date(2026, 11, 1, 21, 30, 0, 0, time.FixedZone("", -5*3600))

func TestListings_SendOnlySetFilters(t *testing.T) {
	tests := map[string]struct {
		filter client.ListingFilter
		want   string
	}{
		"an empty filter asks for the largest page": {client.ListingFilter{}, "pageSize=100"},
		"a page alone": {client.ListingFilter{PageNumber: 3, PageSize: 20}, "pageNumber=3&pageSize=20"},
		"lists are one value with commas": {
			client.ListingFilter{
				ProductIDs: []string{"p1", "p2"}, VariantIDs: []string{"v1"}, BatchIDs: []string{"b1", "b2"},
				Statuses:           []gen.ListingStatus{gen.ListingStatusActive, "NEW_ONE"},
				InventoryTypes:     []gen.InventoryType{gen.InventoryTypeStandard, gen.InventoryTypeDirect},
				ShipmentDisplayIDs: []string{"SHP-2041"},
			},
			"pageSize=100&productIds=p1,p2&variantIds=v1&batchIds=b1,b2&listingStatuses=ACTIVE,NEW_ONE&inventoryTypes=STANDARD,DIRECT&initiatedShipmentDisplayIds=SHP-2041",
		},
		"days are those of UTC": {client.ListingFilter{From: evening, To: evening.Add(time.Hour), Expired: true}, "pageSize=100&fromDate=2026-11-02&toDate=2026-11-02&isExpired=true"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t)
			srv.Expect(gen.OpListListings).RespondExample()

			page, err := srv.Client().Listings.ListPage(t.Context(), test.filter)

			require.NoError(t, err)
			assert.Equal(t, listingID, page.Listings[0].ListingID)
			assert.Equal(t, query(t, test.want), srv.Requests(gen.OpListListings)[0].Query)
		})
	}
}

func query(t *testing.T, text string) url.Values {
	t.Helper()
	values, err := url.ParseQuery(text)
	require.NoError(t, err)
	return values
}

func TestListings_GetKeepsAbsentFields(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetListing).Path("listingId", listingID).NoQuery().RespondExample()
	srv.Expect(gen.OpGetListing).Respond(200, `{"listingId":"l2","status":"NEW_ONE","amount":"23500.0000","currencyCode":"JPY",
		"ask":null,"order":null,"product":{},"variant":{},"createdAt":"2026-11-02T09:14:05.812Z","updatedAt":"2026-11-02T09:14:05.812Z"}`)
	c := srv.Client()

	live, err := c.Listings.Get(t.Context(), listingID)
	require.NoError(t, err)
	idle, err := c.Listings.Get(t.Context(), "l2")
	require.NoError(t, err)

	assert.Equal(t, "14226361841571254272", live.Ask.AskID, "an id above 2^53 is text")
	assert.Nil(t, live.Order)
	assert.Nil(t, live.Payout)
	assert.Nil(t, idle.Ask)
	assert.Equal(t, gen.Amount("23500.0000"), idle.Amount, "the digits are kept")
	assert.Equal(t, gen.ListingStatus("NEW_ONE"), idle.Status, "an unknown status is kept")
}

func TestListings_WritesSendOnlyWhatIsSet(t *testing.T) {
	expires := gen.TimeOf(time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC))
	inactive := false
	tests := map[string]struct {
		op    gen.OperationID
		write func(*client.Client) (*client.Operation, error)
		body  string
	}{
		"create": {gen.OpCreateListing, func(c *client.Client) (*client.Operation, error) {
			return c.Listings.Create(t.Context(),
				gen.CreateListingRequest{VariantID: variantID, Amount: "162"})
		}, `{"variantId":"` + variantID + `","amount":"162"}`},
		"create with false": {gen.OpCreateListing, func(c *client.Client) (*client.Operation, error) {
			return c.Listings.Create(t.Context(), gen.CreateListingRequest{
				VariantID: variantID, Amount: "0.50", CurrencyCode: "EUR", ExpiresAt: expires, Active: &inactive, InventoryType: gen.InventoryTypeDirect,
			})
		}, `{"variantId":"` + variantID + `","amount":"0.50","currencyCode":"EUR","expiresAt":"2027-01-02T03:04:05.000Z","active":false,"inventoryType":"DIRECT"}`},
		"update of the price": {gen.OpUpdateListing, func(c *client.Client) (*client.Operation, error) {
			return c.Listings.Update(t.Context(), listingID, gen.UpdateListingRequest{Amount: "158.50", CurrencyCode: "EUR"})
		}, `{"amount":"158.50","currencyCode":"EUR"}`},
		"update of the expiry": {gen.OpUpdateListing, func(c *client.Client) (*client.Operation, error) {
			return c.Listings.Update(t.Context(), listingID, gen.UpdateListingRequest{ExpiresAt: expires})
		}, `{"expiresAt":"2027-01-02T03:04:05.000Z"}`},
		"activate without terms": {gen.OpActivateListing, func(c *client.Client) (*client.Operation, error) {
			return c.Listings.Activate(t.Context(), listingID, gen.ActivateListingRequest{})
		}, `{}`},
		"deactivate has no body": {gen.OpDeactivateListing, func(c *client.Client) (*client.Operation, error) {
			return c.Listings.Deactivate(t.Context(), listingID)
		}, ""},
		"delete has no body": {gen.OpDeleteListing, func(c *client.Client) (*client.Operation, error) {
			return c.Listings.Delete(t.Context(), listingID)
		}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t)
			line := srv.Expect(test.op)
			if test.body != "" {
				line.BodyJSON(test.body)
			}
			line.RespondExample()

			o, err := test.write(srv.Client())

			require.NoError(t, err)
			assert.Equal(t, operationID, o.ID())
			assert.Equal(t, listingID, o.ListingID())
			assert.Equal(t, gen.OperationStatusPending, o.Snapshot().OperationStatus,
				"the response is the first snapshot")
			assert.False(t, o.Done())
			if test.body == "" {
				assert.Empty(t, srv.Requests(test.op)[0].Body)
			}
		})
	}
}
