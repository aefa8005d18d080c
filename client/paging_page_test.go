package client_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
)

// TestPage_IsTheLastOnlyIfItSaysSo reads one page of every page-numbered list.
func TestPage_IsTheLastOnlyIfItSaysSo(t *testing.T) {
	for why, tc := range map[string]struct {
		entries, rest string
		more          bool
	}{
		"it says so":                            {`[{}]`, `,"hasNextPage":false`, false},
		"it says that there is more":            {`[{}]`, `,"hasNextPage":true`, true},
		"it says nothing":                       {`[{}]`, ``, true},
		"it says null":                          {`[{}]`, `,"hasNextPage":null`, true},
		"nothing beside odd members":            {`[{"amount":[]}]`, `,"count":"N/A"`, true},
		"it says so beside odd members":         {`[{"amount":[]}]`, `,"hasNextPage":false`, false},
		"another case of the name":              {`[{}]`, `,"HASNEXTPAGE":false`, false},
		"it says nothing and is empty":          {`[]`, ``, false},
		"it says null and is empty":             {`[]`, `,"hasNextPage":null`, false},
		"it is empty and says there are more":   {`[]`, `,"hasNextPage":true`, true},
		"its numbers say so":                    {`[{},{}]`, `,"count":2,"pageSize":100,"pageNumber":1`, false},
		"they say so of a later page":           {`[{}]`, `,"count":"201","pageSize":"100","pageNumber":"3","hasNextPage":null`, false},
		"they say so of a full page":            {`[{},{}]`, `,"count":4,"pageSize":2,"pageNumber":2`, false},
		"they say that there is more":           {`[{},{}]`, `,"count":5,"pageSize":2,"pageNumber":2`, true},
		"its word goes before them":             {`[{},{}]`, `,"count":2,"pageSize":2,"pageNumber":1,"hasNextPage":true`, true},
		"also when it is the last":              {`[{},{}]`, `,"count":5,"pageSize":2,"pageNumber":2,"hasNextPage":false`, false},
		"the count is that of this page":        {`[{},{}]`, `,"count":2,"pageSize":2,"pageNumber":2`, true},
		"the count is less than this page":      {`[{},{}]`, `,"count":1,"pageSize":2,"pageNumber":1`, true},
		"the page is larger than its size":      {`[{},{}]`, `,"count":2,"pageSize":1,"pageNumber":1`, true},
		"the count is missing":                  {`[{}]`, `,"pageSize":2,"pageNumber":1`, true},
		"the size is missing":                   {`[{}]`, `,"count":1,"pageNumber":1`, true},
		"the number is missing":                 {`[{}]`, `,"count":1,"pageSize":2`, true},
		"the numbers are as large as can be":    {`[{}]`, `,"count":9223372036854775807,"pageSize":9223372036854775807,"pageNumber":9223372036854775807`, true},
		"the count is negative":                 {`[{}]`, `,"count":-1,"pageSize":2,"pageNumber":1`, true},
		"members of entries are not the page's": {`[{"hasNextPage":false}]`, ``, true},
	} {
		var body string
		c := cannedClient(t, func(*http.Request) canned { return canned{status: 200, body: []byte(body)} })
		read := map[string]func() (bool, error){
			"listings": func() (bool, error) {
				p, err := c.Listings.ListPage(t.Context(), client.ListingFilter{})
				return err == nil && p.HasNextPage, err
			},
			"orders": func() (bool, error) {
				p, err := c.Orders.ListHistoryPage(t.Context(), client.OrderHistoryFilter{})
				return err == nil && p.HasNextPage, err
			},
			"products": func() (bool, error) {
				p, err := c.Catalog.SearchPage(t.Context(), client.ProductQuery{Query: "jordan"})
				return err == nil && p.HasNextPage, err
			},
		}
		for array, page := range read {
			body = `{"` + array + `":` + tc.entries + tc.rest + `}`
			more, err := page()
			require.NoError(t, err, "%s: %s", array, why)
			assert.Equal(t, tc.more, more, "%s: %s", array, why)
		}
	}
}

func TestPage_OfACursorListIsTheLastOnlyIfItSaysSo(t *testing.T) {
	for why, tc := range map[string]struct {
		body, cursor string
		ok           bool
	}{
		"it says null":                   {`{"operations":[{}],"nextCursor":null}`, "", true},
		"it says so with an empty text":  {`{"operations":[{}],"nextCursor":""}`, "", true},
		"it has a cursor":                {`{"operations":[{}],"nextCursor":"c2"}`, "c2", true},
		"it has one in another case":     {`{"operations":[{}],"NextCursor":"c2"}`, "c2", true},
		"it says nothing":                {`{"operations":[{}]}`, "", false},
		"nothing beside odd members":     {`{"operations":[{"createdAt":[]}]}`, "", false},
		"it says nothing but is empty":   {`{"operations":[]}`, "", true},
		"it cannot be read":              {`{"operations":[{}],"nextCursor":7}`, "", false},
		"it cannot be read and is empty": {`{"operations":[],"nextCursor":[]}`, "", false},
		"the operations have one":        {`{"operations":[{"nextCursor":"c2"}]}`, "", false},
	} {
		c := cannedClient(t, func(*http.Request) canned { return canned{status: 200, body: []byte(tc.body)} })
		p, err := c.Listings.ListOperationsPage(t.Context(), listingID, "", 0)
		if !tc.ok {
			assert.True(t, isA[*client.DecodeError](err), "%s: %v", why, err)
			continue
		}
		require.NoError(t, err, why)
		assert.Equal(t, tc.cursor, p.NextCursor, why)
	}
}
