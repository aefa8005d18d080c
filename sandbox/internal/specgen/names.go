package specgen

import (
	"maps"
	"slices"
	"strings"
)

func segments(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }

// parameter returns the name in the braces of a segment.
func parameter(segment string) (name string, ok bool) {
	name, ok = strings.CutPrefix(segment, "{")
	return strings.TrimSuffix(name, "}"), ok
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func equal(a, b thing) bool { return maps.Equal(a, b) }
