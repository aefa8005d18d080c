package main

import (
	"fmt"
	"slices"
	"time"
)

// depths are the places of pages in a list.
var depths = [...]string{"first", "middle", "last"}

// series has the times of one kind of request.
type series struct {
	name  string
	times [len(depths)][]time.Duration // a get has the first only
}

// measured are all kinds of requests.
type measured []*series

// query is a list of listings.
type query struct {
	name   string
	filter func(*market) (string, error)
}

var queries = []query{
	{"all", func(*market) (string, error) { return "", nil }},
	{"by status", func(*market) (string, error) { return "&listingStatuses=ACTIVE", nil }},
	{"by rare status", func(*market) (string, error) { return "&listingStatuses=MATCHED", nil }},
	{"by product", func(m *market) (string, error) {
		l, err := m.anyListing()
		return "&productIds=" + l.Product.ProductID, err
	}},
	{"by variant and status", func(m *market) (string, error) {
		l, err := m.anyListing()
		return "&listingStatuses=ACTIVE&variantIds=" + l.Variant.VariantID, err
	}},
	{"by date", func(m *market) (string, error) {
		first := m.now.AddDate(0, 0, -40-m.random.IntN(300))
		return "&fromDate=" + first.Format(time.DateOnly) + "&toDate=" + first.AddDate(0, 0, 30).Format(time.DateOnly), nil
	}},
}

// listing has the members that are used of a listing.
type listing struct {
	ListingID string
	Product   struct{ ProductID string }
	Variant   struct{ VariantID string }
}

// anyListing reads a random listing.
func (m *market) anyListing() (listing, error) {
	var page struct {
		Count    int
		Listings []listing
	}
	for range 2 { // the first request returns the count
		if _, err := m.get(&page, "/selling/listings?pageSize=1&pageNumber=%d", 1+m.random.IntN(max(1, page.Count))); err != nil {
			return listing{}, err
		}
		if len(page.Listings) == 0 {
			return listing{}, fmt.Errorf("read a random listing: empty page of %d", page.Count)
		}
	}
	return page.Listings[0], nil
}

// sample makes requests of all kinds in turn, so that other load affects all of them.
func (m *market) sample(n int) (measured, error) {
	all := measured{{name: "get a listing"}}
	for _, q := range queries {
		all = append(all, &series{name: "page of 100, " + q.name})
	}
	for range n {
		l, err := m.anyListing()
		if err != nil {
			return nil, err
		}
		took, err := m.get(&l, "/selling/listings/%s", l.ListingID)
		if err != nil {
			return nil, err
		}
		all[0].times[0] = append(all[0].times[0], took)
		for i, q := range queries {
			if err := all[i+1].sample(m, q); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// sample reads the first, the middle and the last page of a list.
func (s *series) sample(m *market, q query) error {
	filter, err := q.filter(m)
	if err != nil {
		return err
	}
	var page struct{ Count int }
	for depth := range depths {
		pages := max(1, page.Count/100) // whole pages only, since they are compared
		number := 1 + (pages-1)*depth/(len(depths)-1)
		took, err := m.get(&page, "/selling/listings?pageSize=100&pageNumber=%d%s", number, filter)
		if err != nil {
			return err
		}
		s.times[depth] = append(s.times[depth], took)
	}
	return nil
}

// report prints all times and returns the limits that they exceed.
func (all measured) report() (broken []error) {
	fmt.Printf("%-36s %-8s %10s %10s\n", "in the handler", "", "median", "p99")
	for _, s := range all {
		for depth, times := range s.times {
			if len(times) == 0 {
				continue
			}
			slices.Sort(times)
			median := times[len(times)/2]
			fmt.Printf("%-36s %-8s %10s %10s\n", s.name, depths[depth], median.Round(10*time.Microsecond),
				times[len(times)*99/100].Round(10*time.Microsecond))
			if median > maxMedian {
				broken = append(broken, fmt.Errorf("%s: the median of the %s page is %s, more than %s", s.name, depths[depth], median, maxMedian))
			}
		}
		if first, last := s.times[0], s.times[len(depths)-1]; len(last) > 0 {
			ratio := float64(last[len(last)/2]) / float64(first[len(first)/2])
			fmt.Printf("%-36s %-8s %9.2fx\n", s.name, "depth", ratio)
			if ratio > maxDepth {
				broken = append(broken, fmt.Errorf("%s: the last page takes %.2f times as long as the first, more than %.0f", s.name, ratio, maxDepth))
			}
		}
	}
	return broken
}
