// Package wire is the served side of the service's OpenAPI document: its models, which say every null and
// every zero aloud, and the strict server that the sandbox implements. A changed document does not compile
// until the sandbox follows.
package wire

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen -config oapi-codegen.yaml ../../../api/openapi.yaml

import (
	"encoding/json"
	"time"
)

// List is an array that marshals as [] when it is empty or nil.
type List[T any] []T

// MarshalJSON implements [json.Marshaler].
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}

// Counts maps lower-case item statuses to how many items are in them; it marshals as {} when it is nil.
type Counts map[string]int

// MarshalJSON implements [json.Marshaler].
func (c Counts) MarshalJSON() ([]byte, error) {
	if c == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]int(c))
}

// Time is a time that marshals as RFC 3339 in UTC with milliseconds and Z, as the service writes it.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// MarshalJSON implements [json.Marshaler].
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Format(`"` + timeLayout + `"`)), nil
}
