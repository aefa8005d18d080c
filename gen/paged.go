package gen

import (
	"encoding/json"
	"errors"
	"strings"
)

// seeToEnd sees to it that a page does not pass for the last one of its list without saying so, as [Decode] promises.
// What is no page is left alone.
func seeToEnd(body []byte, answer any, oddities []string) error {
	for _, odd := range oddities { // these members come before the entries, and so do their oddities
		if strings.HasPrefix(odd, "/hasNextPage: ") || strings.HasPrefix(odd, "/nextCursor: ") {
			return errors.New(odd)
		}
	}
	var p numbered
	switch page := answer.(type) {
	case *ListingPage:
		p = numbered{&page.HasNextPage, Int(len(page.Listings)), page.Count, page.PageSize, page.PageNumber}
	case *OrderPage:
		p = numbered{&page.HasNextPage, Int(len(page.Orders)), page.Count, page.PageSize, page.PageNumber}
	case *ProductPage:
		p = numbered{&page.HasNextPage, Int(len(page.Products)), page.Count, page.PageSize, page.PageNumber}
	case *ListingOperationPage:
		p = numbered{more: new(page.NextCursor != ""), entries: Int(len(page.Operations))}
	}
	if p.entries == 0 || *p.more {
		return nil
	}
	var said struct {
		HasNextPage *bool           `json:"hasNextPage"`
		NextCursor  json.RawMessage `json:"nextCursor"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return err
	}
	if _, byCursor := answer.(*ListingOperationPage); byCursor && said.NextCursor == nil {
		return errors.New("/nextCursor: missing, so that it does not say whether there is more")
	}
	*p.more = said.HasNextPage == nil && !p.last()
	return nil
}

// numbered is what a page of a page-numbered list says of its place in it.
type numbered struct {
	more                         *bool
	entries, count, size, number Int
}

// last reports whether the numbers say that no page follows. Those that do not fit what the page holds, such as a
// count of this page alone, say nothing.
func (p numbered) last() bool {
	fit := p.size > 0 && p.number > 0 && p.count >= p.entries && (p.count-p.entries)/p.size >= p.number-1
	return fit && (p.count-1)/p.size < p.number
}
