package handlers

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// defaultPageSize is documented for orders and assumed for other lists.
const defaultPageSize = 10

// inventoryTypes are those of listings and orders; sellers list as the first two only.
var inventoryTypes = []string{"STANDARD", "DIRECT", "FLEX", "DFS"}

// shipmentIDs is the name of a parameter of several lists.
const shipmentIDs = "initiatedShipmentDisplayIds"

// page is a page of a list, counted from 1.
type page struct {
	number, size int
}

func pageOf[N, S int | int32](number *N, size *S) page {
	p := page{number: 1, size: defaultPageSize}
	if number != nil {
		p.number = min(int(*number), math.MaxInt32) // beyond every list
	}
	if size != nil {
		p.size = int(*size)
	}
	return p
}

func (p page) offset() int { return (p.number - 1) * p.size }

func (p page) hasNext(count int) bool { return p.offset()+p.size < count }

// slice returns a page of a list.
func slice[T any](all []T, p page) []T {
	start := min(p.offset(), len(all))
	return all[start:min(start+p.size, len(all))]
}

// checkID refuses what is no UUID, such as a style id or a name in the place of an id.
func checkID(in, parameter, id string) error {
	if len(id) != len(uuid.Nil.String()) || uuid.Validate(id) != nil {
		return wire.Invalidf("%s parameter %q: must be a UUID (%.80q)", in, parameter, id)
	}
	return nil
}

func pathID(parameter, id string) error { return checkID("path", parameter, id) }

func queryID(parameter, id string) error { return checkID("query", parameter, id) }

// maxID is the most characters that an id in a body may have; assumed. Ids in bodies need not be
// UUIDs, since an unknown one is the error of an item, so they are stored as they were sent.
const maxID = 64

// bodyID refuses an id in a body that is too long. pointer is its JSON pointer.
func bodyID(pointer, id string) error {
	if utf8.RuneCountInString(id) > maxID {
		return wire.Invalidf("%s: must have %d characters at most (%.80q)", pointer, maxID, id)
	}
	return nil
}

// maxValues is the most different values in a list; assumed.
const maxValues = 100

// listOf splits a comma-separated list. Empty and repeated values are ignored.
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
			return nil, wire.Invalidf("query parameter %q: must have %d values at most", parameter, maxValues)
		}
		values = append(values, v)
	}
	return values, nil
}

// idsOf splits a list of ids.
func idsOf(parameter string, value *string) ([]string, error) {
	ids, err := listOf(parameter, value)
	for _, id := range ids {
		if err := queryID(parameter, id); err != nil {
			return nil, err
		}
	}
	return ids, err
}

// oneOf splits a list of allowed values.
func oneOf(parameter string, value *string, allowed ...string) ([]string, error) {
	values, err := listOf(parameter, value)
	for _, v := range values {
		if !slices.Contains(allowed, v) {
			return nil, wire.Invalidf("query parameter %q: must be one of %s (%.40q)",
				parameter, strings.Join(allowed, ", "), v)
		}
	}
	return values, err
}

// days parses the optional parameters fromDate and toDate, each a day or a time of RFC 3339, and
// returns the beginning of the one and the end of the other.
func days(first, last *string) (from, until time.Time, err error) {
	if from, _, err = dayOrTime("fromDate", first); err != nil {
		return from, until, err
	}
	_, until, err = dayOrTime("toDate", last)
	return from, until, err
}

// dayOrTime returns the beginning and the end, which is exclusive, of a day or of the millisecond
// of a time, or zero times if there is no value.
func dayOrTime(parameter string, value *string) (begin, end time.Time, err error) {
	if value == nil || *value == "" {
		return begin, end, nil
	}
	if begin, err = time.Parse(time.DateOnly, *value); err == nil {
		end = begin.AddDate(0, 0, 1)
	} else if begin, err = time.Parse(time.RFC3339, *value); err == nil {
		begin = begin.UTC().Truncate(time.Millisecond)
		end = begin.Add(time.Millisecond)
	} else {
		return begin, end, wire.Invalidf("query parameter %q: must be YYYY-MM-DD or RFC 3339 (%.40q)", parameter, *value)
	}
	if !inRange(begin) {
		return begin, end, wire.Invalidf("query parameter %q: must be from 1970 to 9999 (%.40q)", parameter, *value)
	}
	return begin, end, nil
}

// inRange reports whether a time is in the years that can be stored and formatted. The zero time is
// not.
func inRange(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 1970 && year <= 9999
}
