package gen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Counts tells how many items of a batch are in each status. Its keys are status
// names in lower case (queued, in_progress, completed, failed); a status that
// this version does not know is counted under its own name. The zero value has
// no counts and marshals as {}.
type Counts map[string]Int

// Of returns the number of items in status, whatever the case of its letters:
// "IN_PROGRESS" and "in_progress" are the same status.
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

// MarshalJSON writes a JSON object of numbers, {} for nil.
func (c Counts) MarshalJSON() ([]byte, error) {
	if c == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]Int(c))
}

// UnmarshalJSON reads an object whose members are counts, as numbers or as
// strings; null is nil. When members cannot be read it keeps the others and
// returns an error that names the unreadable ones.
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
	var unreadable []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var count Int
		if err := count.UnmarshalJSON(members[name]); err != nil || count < 0 {
			unreadable = append(unreadable, name)
			continue
		}
		counts[name] = count
	}
	*c = counts
	return unreadableMembers(unreadable)
}

// unreadableMembers names as many members as there are known statuses and only
// counts the rest, so that a hostile answer cannot fill errors and logs.
func unreadableMembers(names []string) error {
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
	return fmt.Errorf("decode counts: not a count: %s", list)
}
