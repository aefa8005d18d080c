package gen

import (
	"encoding/json"
	"errors"
	"strings"
)

// Paged sees to it that a page does not pass for the last one of its list without saying so, because the rest of the
// list would be missed in silence. A page whose word on whether there is more cannot be read is refused. One that
// leaves hasNextPage out, or null, has HasNextPage set unless it is empty: whoever asks for the page after it finds
// out. It takes what [Decode] took and returned; an answer that is no page is left alone.
func Paged(body []byte, answer any, oddities []string) error {
	for _, odd := range oddities { // these members come before the entries, and so do their oddities
		if strings.HasPrefix(odd, "/hasNextPage: ") || strings.HasPrefix(odd, "/nextCursor: ") {
			return errors.New(odd)
		}
	}
	var more *bool
	entries := 0
	switch page := answer.(type) {
	case *ListingPage:
		more, entries = &page.HasNextPage, len(page.Listings)
	case *OrderPage:
		more, entries = &page.HasNextPage, len(page.Orders)
	case *ProductPage:
		more, entries = &page.HasNextPage, len(page.Products)
	}
	if entries == 0 || *more {
		return nil
	}
	var said struct {
		HasNextPage *bool `json:"hasNextPage"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return err
	}
	*more = said.HasNextPage == nil
	return nil
}
