package gen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Int is a whole number: a count, a page number or a quantity. It marshals as a JSON number, and is
// a plain number in a query. It unmarshals from a JSON number, a string that holds one, or null as
// 0. The fraction must be zero: 12.0 is 12, and 12.5 is an error.
type Int int

// UnmarshalJSON reads 12, "12", 12.0 and null (0). Anything else is an error and leaves 0, and so
// is a number that an int does not hold.
func (i *Int) UnmarshalJSON(data []byte) error {
	*i = 0
	text, present, err := readScalar(data)
	if err != nil {
		return fmt.Errorf("decode integer: %w", err)
	}
	if !present {
		return nil
	}
	n, ok := wholeNumber(text)
	if !ok {
		return fmt.Errorf("decode integer: not a whole number in the range of int (%s)", excerpt(text))
	}
	*i = Int(n)
	return nil
}

// wholeNumber needs a decimal only for the rare 12.0 and 1e2.
func wholeNumber(text string) (n int, ok bool) {
	if !isNumber(text) {
		return 0, false
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n, true
	}
	d, err := parseDecimal(text)
	if err != nil || !d.IsInt() {
		return 0, false
	}
	whole, _, ok := d.Int64(0)
	return int(whole), ok && int64(int(whole)) == whole
}

// Counts is the number of items of a batch by their status. Its keys are status names in lower case
// (queued, in_progress, completed, failed). A status that this version does not know is counted
// under its own name. The zero value has no counts and marshals as {}.
type Counts map[string]Int

// Of returns the number of items in status. The case of its letters does not matter: "IN_PROGRESS"
// and "in_progress" are the same status.
func (c Counts) Of(status string) int {
	n := 0
	for name, count := range c {
		if strings.EqualFold(name, status) {
			n += int(count)
		}
	}
	return n
}

// Total returns the number of items in all statuses.
func (c Counts) Total() int {
	n := 0
	for _, count := range c {
		n += int(count)
	}
	return n
}

// MarshalJSON returns a JSON object of numbers, {} for nil.
func (c Counts) MarshalJSON() ([]byte, error) {
	if c == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]Int(c))
}

// UnmarshalJSON reads an object whose members are counts, as numbers or as strings; null is nil. If
// some members are not counts, it keeps the others and returns an error that names the invalid
// ones.
func (c *Counts) UnmarshalJSON(data []byte) error {
	*c = nil
	if string(data) == "null" {
		return nil
	}
	if len(data) == 0 || data[0] != '{' {
		return fmt.Errorf("decode counts: want an object, got %s", kindOf(data))
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return fmt.Errorf("decode counts: %w", err)
	}
	counts := make(Counts, len(members))
	var invalid []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var count Int
		if err := count.UnmarshalJSON(members[name]); err != nil || count < 0 {
			invalid = append(invalid, name)
			continue
		}
		counts[name] = count
	}
	*c = counts
	return invalidCounts(invalid)
}

// invalidCounts names as many members as there are known statuses and only counts the rest, so that
// a hostile response cannot fill errors and logs.
func invalidCounts(names []string) error {
	const named = 4
	if len(names) == 0 {
		return nil
	}
	shown := make([]string, 0, named)
	for _, name := range names[:min(named, len(names))] {
		shown = append(shown, excerpt(name))
	}
	list := strings.Join(shown, ", ")
	if rest := len(names) - named; rest > 0 {
		list += fmt.Sprintf(" and %d more", rest)
	}
	return fmt.Errorf("decode counts: not a count (%s)", list)
}
