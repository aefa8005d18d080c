// Package specgen generates requests from an OpenAPI document, for tests of its server: valid
// requests, requests that violate the document in every way it defines, and requests that are odd
// in ways it does not mention.
//
// Requests depend on the document, on what was learned from responses and on the choices only: the
// same three give the same requests.
package specgen

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Choices makes decisions. IntN returns a number from 0 to n-1, where 0 is the plainest choice. A
// [math/rand/v2.Rand] makes them at random, [Bytes] follows the input of a fuzzer, and [Plain]
// always makes the plainest.
type Choices interface {
	IntN(n int) int
}

// Spec is a document to generate requests from.
type Spec struct {
	operations []Operation
}

// Operation is an operation of a document.
type Operation struct {
	ID     string
	Method string
	Path   string // with its parameters in braces
	Tag    string // the first one
	// Statuses are the declared ones in ascending order, without the default.
	Statuses []int

	parameters []*openapi3.Parameter
	body       *openapi3.Schema // nil if there is none
}

// Load reads a document. It fails if the document is invalid or has an operation without an id.
func Load(document []byte) (*Spec, error) {
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	s := &Spec{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.OperationID == "" {
				return nil, fmt.Errorf("read document (%s %s): operationId missing", method, path)
			}
			s.operations = append(s.operations, operation(method, path, item, op))
		}
	}
	slices.SortFunc(s.operations, func(a, b Operation) int { return cmp.Compare(a.ID, b.ID) })
	return s, nil
}

// Operations returns all operations in the order of their ids. The caller must not change them.
func (s *Spec) Operations() []Operation { return s.operations }

func operation(method, path string, item *openapi3.PathItem, op *openapi3.Operation) Operation {
	o := Operation{ID: op.OperationID, Method: method, Path: path}
	for _, p := range slices.Concat(item.Parameters, op.Parameters) {
		o.parameters = append(o.parameters, p.Value)
	}
	if len(op.Tags) > 0 {
		o.Tag = op.Tags[0]
	}
	if op.RequestBody != nil {
		o.body = op.RequestBody.Value.Content["application/json"].Schema.Value
	}
	for status := range op.Responses.Map() {
		if n, err := strconv.Atoi(status); err == nil {
			o.Statuses = append(o.Statuses, n)
		}
	}
	slices.Sort(o.Statuses)
	return o
}

func segments(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }

// parameter returns the name in the braces of a segment.
func parameter(segment string) (name string, ok bool) {
	name, ok = strings.CutPrefix(segment, "{")
	return strings.TrimSuffix(name, "}"), ok
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func equal(a, b thing) bool { return maps.Equal(a, b) }

// Plain always makes the plainest choice, which gives valid requests with the required members
// only.
type Plain struct{}

// IntN returns 0.
func (Plain) IntN(int) int { return 0 }

// Bytes makes choices from the input of a fuzzer, and plain ones after its end.
type Bytes struct {
	left []byte
}

// NewBytes returns the choices of an input, which must not be changed afterwards.
func NewBytes(input []byte) *Bytes { return &Bytes{input} }

// More reports whether there is input left.
func (b *Bytes) More() bool { return len(b.left) > 0 }

// IntN consumes as many bytes as every number below n takes.
func (b *Bytes) IntN(n int) int {
	v := 0
	for reach := 1; reach < n && len(b.left) > 0; reach <<= 8 {
		v = v<<8 | int(b.left[0])
		b.left = b.left[1:]
	}
	return v % max(n, 1)
}
