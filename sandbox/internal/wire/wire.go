// Package wire is the served side of the OpenAPI document: its models, which write every null and
// every zero, the strict server interface that package handlers implements, and the error body.
// After a change of the document the sandbox does not compile until its handlers follow.
package wire

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen -config oapi-codegen.yaml ../../../api/openapi.yaml

import (
	"encoding/json"
	"time"
)

// List is an array that marshals as [] if it is nil.
type List[T any] []T

// MarshalJSON implements [json.Marshaler].
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}

// Counts maps lower-case item statuses to the number of items in them. It marshals as {} if nil.
type Counts map[string]int

// MarshalJSON implements [json.Marshaler].
func (c Counts) MarshalJSON() ([]byte, error) {
	if c == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]int(c))
}

// Time is a time that marshals as RFC 3339 in UTC with milliseconds and Z, as on the service.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// MarshalJSON implements [json.Marshaler].
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Format(`"` + timeLayout + `"`)), nil
}
