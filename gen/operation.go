package gen

import (
	"slices"
	"strings"
)

// OperationID is the operationId of an operation in the spec, such as [OpGetListing].
type OperationID string

// Operation is one row of the operations table.
type Operation struct {
	ID     OperationID
	Method string // An HTTP method, such as GET.
	Route  string // The path below the base URL, with its parameters in braces.
	Tag    string // The group the operation belongs to: Listings, Batches, Orders or Catalog.

	// RetrySafe is true if repeating the call cannot change anything on the service (x-retry-safe in
	// the spec).
	RetrySafe bool
}

// Operations returns the operations table in the spec's order. The caller may change the slice.
func Operations() []Operation { return slices.Clone(operations[:]) }

// LookupOperation returns the row of an operation, and false for an id that the spec does not have.
func LookupOperation(id OperationID) (Operation, bool) {
	i := slices.IndexFunc(operations[:], func(op Operation) bool { return op.ID == id })
	if i < 0 {
		return Operation{}, false
	}
	return operations[i], true
}

// MatchOperation returns the operation of a request by its method and its escaped path below the
// base URL, such as "/selling/listings/98e2e748". A literal segment has precedence over a
// parameter, as in the service: /selling/orders/active is not an order number. It returns false if
// no route matches, or if a parameter is empty, "." or "..", which would reach another route.
func MatchOperation(method, path string) (Operation, bool) {
	best, literals, depth := -1, -1, strings.Count(path, "/")
	for i := range operations {
		if operations[i].Method != method || strings.Count(operations[i].Route, "/") != depth {
			continue
		}
		if n, ok := matchRoute(operations[i].Route, path); ok && n > literals {
			best, literals = i, n
		}
	}
	if best < 0 {
		return Operation{}, false
	}
	return operations[best], true
}

// matchRoute reports whether a path matches the route, and how many of its segments are literal.
func matchRoute(route, path string) (literals int, ok bool) {
	for wantMore := true; wantMore; {
		var want, got string
		var more bool
		want, route, wantMore = strings.Cut(route, "/")
		got, path, more = strings.Cut(path, "/")
		switch {
		case wantMore != more:
			return 0, false
		case !strings.HasPrefix(want, "{"):
			if got != want {
				return 0, false
			}
			literals++
		case got == "" || got == "." || got == "..":
			return 0, false
		}
	}
	return literals, true
}
