package handlers

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// defaultPageSize is the size of a page where nobody says. It is documented for
// orders and assumed for the rest.
const defaultPageSize = 10

// page is the part of a list that is asked for.
type page struct {
	number, size int
}

func pageOf[N, S int | int32](number *N, size *S) page {
	p := page{number: 1, size: defaultPageSize}
	if number != nil {
		p.number = min(int(*number), math.MaxInt32) // far beyond any list
	}
	if size != nil {
		p.size = int(*size)
	}
	return p
}

func (p page) offset() int { return (p.number - 1) * p.size }

func (p page) hasNext(count int) bool { return p.offset()+p.size < count }

// slice cuts a page out of a list.
func slice[T any](all []T, p page) []T {
	start := min(p.offset(), len(all))
	return all[start:min(start+p.size, len(all))]
}

// checkID refuses ids that no service would have given out: a style id or the
// name of a product where its id belongs.
func checkID(in, parameter, id string) error {
	if len(id) != len(uuid.Nil.String()) || uuid.Validate(id) != nil {
		return wire.Invalidf("%s parameter %q: %.80q is not an id", in, parameter, id)
	}
	return nil
}

func pathID(parameter, id string) error { return checkID("path", parameter, id) }

func queryID(parameter, id string) error { return checkID("query", parameter, id) }

// maxValues is how many different values a list can have; assumed.
const maxValues = 100

// listOf splits a list that came comma-separated in one parameter. What is empty
// or there already says nothing.
func listOf(parameter string, value *string) ([]string, error) {
	if value == nil {
		return nil, nil
	}
	var values []string
	known := map[string]bool{"": true}
	for v := range strings.SplitSeq(*value, ",") {
		if known[v] {
			continue
		}
		if known[v] = true; len(values) == maxValues {
			return nil, wire.Invalidf("query parameter %q: there are more than %d values", parameter, maxValues)
		}
		values = append(values, v)
	}
	return values, nil
}

// idsOf is listOf for ids.
func idsOf(parameter string, value *string) ([]string, error) {
	ids, err := listOf(parameter, value)
	for _, id := range ids {
		if err := queryID(parameter, id); err != nil {
			return nil, err
		}
	}
	return ids, err
}

// oneOf is listOf for values of a closed set.
func oneOf(parameter string, value *string, allowed ...string) ([]string, error) {
	values, err := listOf(parameter, value)
	for _, v := range values {
		if !slices.Contains(allowed, v) {
			return nil, wire.Invalidf("query parameter %q: %.40q is none of %s", parameter, v, strings.Join(allowed, ", "))
		}
	}
	return values, err
}

// days reads a first and a last day, both optional, and returns the moments
// from the beginning of the one to the end of the other.
func days(first, last *string) (from, until time.Time, err error) {
	if from, err = day("fromDate", first); err != nil {
		return from, until, err
	}
	if until, err = day("toDate", last); err != nil || until.IsZero() {
		return from, until, err
	}
	return from, until.AddDate(0, 0, 1), nil
}

func day(parameter string, value *string) (time.Time, error) {
	if value == nil || *value == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, *value)
	if err != nil {
		return t, wire.Invalidf("query parameter %q: %.40q is not a day as YYYY-MM-DD", parameter, *value)
	}
	if !isDated(t) {
		return t, wire.Invalidf("query parameter %q: %.40q is not in the years 1970 to 9999", parameter, *value)
	}
	return t, nil
}

// isDated reports whether a time is in the years that can be stored and shown.
// The zero time, which elsewhere stands for none, is not.
func isDated(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 1970 && year <= 9999
}
