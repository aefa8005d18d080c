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
		"its numbers say so":                  {`[{},{}]`, `,"count":2,"pageSize":100,"pageNumber":1`, false},
		"they say so of a later page":         {`[{}]`, `,"count":"201","pageSize":"100","pageNumber":"3","hasNextPage":null`, false},
		"they say so of a full page":          {`[{},{}]`, `,"count":4,"pageSize":2,"pageNumber":2`, false},
		"they say that there is more":         {`[{},{}]`, `,"count":5,"pageSize":2,"pageNumber":2`, true},
		"its word goes before them":           {`[{},{}]`, `,"count":2,"pageSize":2,"pageNumber":1,"hasNextPage":true`, true},
		"it does so when it is the last":      {`[{},{}]`, `,"count":5,"pageSize":2,"pageNumber":2,"hasNextPage":false`, false},
		"the count is that of this page":      {`[{},{}]`, `,"count":2,"pageSize":2,"pageNumber":2`, true},
		"the count is less than this page":    {`[{},{}]`, `,"count":1,"pageSize":2,"pageNumber":1`, true},
		"the page is larger than its size":    {`[{},{}]`, `,"count":2,"pageSize":1,"pageNumber":1`, true},
		"the count is missing":                {`[{}]`, `,"pageSize":2,"pageNumber":1`, true},
		"the size is missing":                 {`[{}]`, `,"count":1,"pageNumber":1`, true},
		"the number is missing":               {`[{}]`, `,"count":1,"pageSize":2`, true},
		"the numbers are as large as can be":  {`[{}]`, `,"count":9223372036854775807,"pageSize":9223372036854775807,"pageNumber":9223372036854775807`, true},
		"the count is negative":               {`[{}]`, `,"count":-1,"pageSize":2,"pageNumber":1`, true},
	} {
		for member, page := range map[string]any{"listings": new(gen.ListingPage), "orders": new(gen.OrderPage), "products": new(gen.ProductPage)} {
			body := []byte(`{"` + member + `":` + tc.listings + tc.end + `}`)
			oddities, err := gen.Decode(body, page)
			require.NoError(t, err, name)
			assert.LessOrEqual(t, len(oddities), 2, name)
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
		oddities, err := gen.Decode([]byte(body), new(gen.ListingPage))
		require.ErrorContains(t, err, "/hasNextPage", body)
		assert.Empty(t, oddities)
	}
}

func TestOnlyAPageOfOperationsThatSaysSoOrIsEmptyIsTheLast(t *testing.T) {
	for name, tc := range map[string]struct {
		body    string
		cursor  string
		refused bool
	}{
		"it says null":                       {`{"operations":[{}],"nextCursor":null}`, "", false},
		"it says so with an empty text":      {`{"operations":[{}],"nextCursor":""}`, "", false},
		"it has a cursor":                    {`{"operations":[{}],"nextCursor":"c2"}`, "c2", false},
		"it has one in another case":         {`{"operations":[{}],"NextCursor":"c2"}`, "c2", false},
		"it says nothing":                    {`{"operations":[{}]}`, "", true},
		"it says nothing beside odd members": {`{"operations":[{"createdAt":[]}]}`, "", true},
		"it says nothing but is empty":       {`{"operations":[]}`, "", false},
		"it says nothing and there are none": {`{}`, "", false},
		"it cannot be read":                  {`{"operations":[{}],"nextCursor":7}`, "", true},
		"it cannot be read and is empty":     {`{"operations":[],"nextCursor":[]}`, "", true},
	} {
		page := new(gen.ListingOperationPage)
		_, err := gen.Decode([]byte(tc.body), page)
		if tc.refused {
			require.ErrorContains(t, err, "/nextCursor", name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, tc.cursor, page.NextCursor, name)
	}
}

func TestWhatIsNoPageIsLeftAlone(t *testing.T) {
	listing := gen.Listing{}
	oddities, err := gen.Decode([]byte(`{"listingId":"l","hasNextPage":"yes","nextCursor":7}`), &listing)
	require.NoError(t, err)
	assert.Empty(t, oddities)
	assert.Equal(t, gen.Listing{ListingID: "l"}, listing)
}
