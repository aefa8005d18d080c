package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// year is the time in which the listings were made.
const year = 365 * 24 * time.Hour

// inventory is the most listings that one batch can make.
const inventory = 10_000

// filling is the result of filling a sandbox.
type filling struct {
	created, others throughput
	changed         int
}

// fill lists inventories over a year. A tenth of the listings is inactive from the beginning and a
// tenth expires after a month; then a tenth is deleted, a twenty-fifth deactivated and a fiftieth
// bought.
func (m *market) fill(listings int) (f filling, err error) {
	begin := m.now
	for made := 0; made < listings; {
		n := min(inventory, listings-made)
		m.now = begin.Add(time.Duration(float64(year) * float64(made) / float64(listings)))
		if err := m.Work(context.Background()); err != nil { // listings expire
			return f, err
		}
		var path string
		if err := f.created.measure(m, n, func() error {
			path, err = m.submit("create-listing", m.inventory(n))
			return err
		}); err != nil {
			return f, err
		}
		if err := m.change(path, &f); err != nil {
			return f, err
		}
		if made += n; made%(10*inventory) == 0 {
			fmt.Fprintf(os.Stderr, "%d listings, %s\n", made, &f.created)
		}
	}
	m.now = begin.Add(year)
	return f, m.Work(context.Background())
}

// inventory draws the elements of a batch of n listings.
func (m *market) inventory(n int) (elements []string) {
	for i := range 100 {
		quantity := (n + 99 - i) / 100
		if quantity == 0 {
			break
		}
		more := ""
		switch i % 10 {
		case 0:
			more = `,"active":false`
		case 1:
			more = fmt.Sprintf(`,"expiresAt":%q`, m.now.Add(30*24*time.Hour).UTC().Format(time.RFC3339))
		case 2:
			more = `,"inventoryType":"DIRECT"`
		}
		variant := m.variants[m.random.IntN(len(m.variants))]
		elements = append(elements, fmt.Sprintf(`{"variantId":%q,"amount":"%d.50","quantity":%d%s}`, variant, 80+m.random.IntN(400), quantity, more))
	}
	return elements
}

// change deletes, deactivates and sells listings of a batch.
func (m *market) change(batch string, f *filling) error {
	var items struct {
		Items []struct{ Result struct{ ListingID string } }
	}
	if _, err := m.get(&items, "%s/items", batch); err != nil {
		return err
	}
	var deleted, taken []string
	for i, item := range items.Items {
		id := item.Result.ListingID
		switch {
		case i%10 == 3:
			deleted = append(deleted, fmt.Sprintf(`{"listingId":%q}`, id))
		case i%25 == 7:
			taken = append(taken, fmt.Sprintf(`{"listingId":%q,"active":false}`, id))
		case i%50 == 1 && i/1000%10 > 1: // of the active ones
			if _, err := m.Buy(context.Background(), id); err != nil {
				continue // it is inactive
			}
			f.changed++
		}
	}
	f.changed += len(deleted) + len(taken)
	return f.submit(m, map[string][]string{"delete-listing": deleted, "update-listing": taken})
}

// submit submits changes in batches of a hundred.
func (f *filling) submit(m *market, changes map[string][]string) error {
	for kind, elements := range changes {
		for len(elements) > 0 {
			n := min(100, len(elements))
			if err := f.others.measure(m, n, func() error {
				_, err := m.submit(kind, elements[:n])
				return err
			}); err != nil {
				return err
			}
			elements = elements[n:]
		}
	}
	return nil
}
