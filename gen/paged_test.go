package gen_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestOnlyAPageThatSaysSoOrIsEmptyIsTheLast(t *testing.T) {
	for name, tc := range map[string]struct {
		listings, end string
		more          bool
	}{
		"it says so":                          {`[{}]`, `,"hasNextPage":false`, false},
		"it says that there is more":          {`[{}]`, `,"hasNextPage":true`, true},
		"it says nothing":                     {`[{}]`, ``, true},
		"it says null":                        {`[{}]`, `,"hasNextPage":null`, true},
		"it says nothing beside odd members":  {`[{"amount":[]}]`, `,"count":"N/A"`, true},
		"it says so beside odd members":       {`[{"amount":[]}]`, `,"hasNextPage":false`, false},
		"it says nothing and is empty":        {`[]`, ``, false},
		"it says null and is empty":           {`[]`, `,"hasNextPage":null`, false},
		"it says nothing and there is none":   {`null`, ``, false},
		"it is empty and says there are more": {`[]`, `,"hasNextPage":true`, true},
	} {
		for member, page := range map[string]any{"listings": new(gen.ListingPage), "orders": new(gen.OrderPage), "products": new(gen.ProductPage)} {
			body := []byte(`{"` + member + `":` + tc.listings + tc.end + `}`)
			oddities, err := gen.Decode(body, page)
			require.NoError(t, err, name)
			require.NoError(t, gen.Paged(body, page, oddities), name)
			var more bool
			switch p := page.(type) {
			case *gen.ListingPage:
				more = p.HasNextPage
			case *gen.OrderPage:
				more = p.HasNextPage
			case *gen.ProductPage:
				more = p.HasNextPage
			}
			assert.Equal(t, tc.more, more, "%s: %s", member, name)
		}
	}
}

func TestAPageWhoseEndCannotBeReadIsRefused(t *testing.T) {
	for _, body := range []string{`{"listings":[{}],"hasNextPage":"yes"}`, `{"listings":[],"hasNextPage":1}`} {
		page := new(gen.ListingPage)
		oddities, err := gen.Decode([]byte(body), page)
		require.NoError(t, err)
		require.ErrorContains(t, gen.Paged([]byte(body), page, oddities), "/hasNextPage", body)
	}
	page := new(gen.ListingOperationPage)
	body := []byte(`{"operations":[{}],"nextCursor":7}`)
	oddities, err := gen.Decode(body, page)
	require.NoError(t, err)
	require.ErrorContains(t, gen.Paged(body, page, oddities), "/nextCursor")
}

func TestWhatIsNoPageIsLeftAlone(t *testing.T) {
	listing := gen.Listing{ListingID: "l"}
	require.NoError(t, gen.Paged([]byte(`{"listingId":"l"}`), &listing, nil))
	assert.Equal(t, gen.Listing{ListingID: "l"}, listing)
}
