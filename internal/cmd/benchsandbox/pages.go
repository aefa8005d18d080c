package main

import (
	"fmt"
	"slices"
	"time"
)

// depths are where in a list a page is.
var depths = [...]string{"first", "middle", "last"}

// series are the times of one kind of request.
type series struct {
	name  string
	times [len(depths)][]time.Duration // a get has the first only
}

// measured are all kinds of requests.
type measured []*series

// query is a list of listings that is asked for.
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

// listing is what we look at of a listing.
type listing struct {
	ListingID string
	Product   struct{ ProductID string }
	Variant   struct{ VariantID string }
}

// anyListing reads a listing from anywhere in the file.
func (m *market) anyListing() (listing, error) {
	var page struct {
		Count    int
		Listings []listing
	}
	for range 2 { // the first tells how many there are
		if _, err := m.get(&page, "/selling/listings?pageSize=1&pageNumber=%d", 1+m.random.IntN(max(1, page.Count))); err != nil {
			return listing{}, err
		}
		if len(page.Listings) == 0 {
			return listing{}, fmt.Errorf("page of one of %d listings: it is empty", page.Count)
		}
	}
	return page.Listings[0], nil
}

// sample makes requests of all kinds in turn, so that whatever else the machine
// does meets all of them.
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

// sample reads the first page of a list, one in its middle and the last.
func (s *series) sample(m *market, q query) error {
	filter, err := q.filter(m)
	if err != nil {
		return err
	}
	var page struct{ Count int }
	for depth := range depths {
		pages := max(1, page.Count/100) // whole ones only, for they are compared
		number := 1 + (pages-1)*depth/(len(depths)-1)
		took, err := m.get(&page, "/selling/listings?pageSize=100&pageNumber=%d%s", number, filter)
		if err != nil {
			return err
		}
		s.times[depth] = append(s.times[depth], took)
	}
	return nil
}

// report prints all times and returns which promises they break.
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
			if median > mostMedian {
				broken = append(broken, fmt.Errorf("%s: the median of the %s page is %s, more than %s", s.name, depths[depth], median, mostMedian))
			}
		}
		if first, last := s.times[0], s.times[len(depths)-1]; len(last) > 0 {
			ratio := float64(last[len(last)/2]) / float64(first[len(first)/2])
			fmt.Printf("%-36s %-8s %9.2fx\n", s.name, "depth", ratio)
			if ratio > mostDepth {
				broken = append(broken, fmt.Errorf("%s: the last page takes %.2f times as long as the first, more than %.0f", s.name, ratio, mostDepth))
			}
		}
	}
	return broken
}
