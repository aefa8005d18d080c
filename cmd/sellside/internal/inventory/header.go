package inventory

import (
	"slices"
	"strings"
)

// The names of the columns.
const (
	styleID   = "style_id"
	size      = "size"
	price     = "price"
	currency  = "currency"
	quantity  = "quantity"
	variantID = "variant_id"
	active    = "active"
	expiresAt = "expires_at"
)

var (
	required = []string{styleID, size, price, currency, quantity}
	optional = []string{variantID, active, expiresAt}
)

// columns are the names of the header in the order of the file.
type columns []string

// readHeader reads the line that names the columns, and notes every name that is unknown, twice or missing.
func readHeader(f *File, line int, names []string) columns {
	known := slices.Concat(required, optional)
	before := len(f.mistakes)
	if len(names) == 1 && strings.ContainsAny(names[0], ";\t") {
		f.Add(line, "the columns are not separated by commas: save the file as comma-separated values")
		f.Unreadable = true
		return columns{}
	}
	seen := columns{}
	for _, name := range names {
		switch {
		case !slices.Contains(known, name):
			f.Add(line, "unknown column %q: the columns are %s, and optionally %s", name, strings.Join(required, ", "), strings.Join(optional, ", "))
		case slices.Contains(seen, name):
			f.Add(line, "column %s stands there twice: take one out", name)
		}
		seen = append(seen, name)
	}
	for _, name := range required {
		if !slices.Contains(seen, name) {
			f.Add(line, "column %s is missing", name)
		}
	}
	f.Unreadable = len(f.mistakes) > before
	return seen
}
