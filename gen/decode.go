package gen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

const (
	// maxElements bounds the elements of all arrays of a response, and the members of an object,
	// because 16 MiB of {} would decode to gigabytes. No operation lists as many at once.
	maxElements = 50_000
	// maxDepth bounds the depth of arrays and objects. The spec needs a tenth.
	maxDepth = 100
	// largeSize is the size in bytes above which a body is scanned before memory is allocated for
	// it, and ctx is checked. The pages of the service are smaller.
	largeSize = 1 << 20
	// maxWarnings bounds the warnings of a response whose members may all be of the wrong kind.
	maxWarnings = 20
)

// Kind is a kind of JSON value. The zero value means that a member is missing.
type Kind string

// The kinds of JSON values, as errors name them.
const (
	KindObject  Kind = "an object"
	KindArray   Kind = "an array"
	KindString  Kind = "a string"
	KindNumber  Kind = "a number"
	KindBoolean Kind = "a boolean"
	KindNull    Kind = "null"
)

// Decoded is the report of [Decode] about a body.
type Decoded struct {
	// Members are the members of a JSON object at the top of the document that are fields of the
	// value.
	Members Members
	// Warnings name the members of the wrong kind, whose fields are zero, by their JSON pointers.
	// There are 20 at most.
	Warnings []string
}

// Members are members of a JSON object, in their order. No name occurs twice.
type Members []Member

// Member is the name of a member in the spec, and the kind of its value.
type Member struct {
	Name string
	Kind Kind
}

// Kind returns the kind of a member; the zero Kind if it is missing.
func (m Members) Kind(name string) Kind {
	for _, member := range m {
		if member.Name == name {
			return member.Kind
		}
	}
	return ""
}

// set sets the kind of a member. Of a name that occurs twice, the last value counts.
func (m Members) set(name string, kind Kind) Members {
	for i := range m {
		if m[i].Name == name {
			m[i].Kind = kind
			return m
		}
	}
	if m == nil {
		m = make(Members, 0, 16) // more than most objects have
	}
	return append(m, Member{Name: name, Kind: kind})
}

// Decode decodes the body of a response into v, which it sets to zero before: a pointer to a schema
// that is read, or to a slice of [MarketData] or [Variant]. It keeps no reference to the body.
//
// Decode is lenient by member. A member that is missing or null leaves its field zero, and an
// unknown one is ignored. A member of the wrong kind leaves its field zero and is reported as a
// warning, so that one such member does not hide a response about money. If a member occurs twice,
// the last one counts. Names match exactly. The caller decides by [Decoded].Members whether the
// body has the members that the response must have.
//
// An empty body, invalid JSON, another kind at the top of the document, nesting deeper than 100,
// and more than 50,000 elements of arrays in all, or members of one object, are errors. v is
// undefined after an error. If ctx ends, its error is returned, but a body of up to 1 MiB is
// decoded nevertheless.
func Decode(ctx context.Context, body []byte, v any) (Decoded, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return Decoded{}, errors.New("empty body")
	}
	if len(body) > largeSize {
		scan := newDecoder(body)
		scan.ctxErr = ctx.Err
		scan.skip()
		if err := scan.end(); err != nil {
			return Decoded{}, err
		}
	}
	d := newDecoder(body)
	if len(body) > largeSize {
		d.ctxErr = ctx.Err
	}
	want, got := KindObject, kinds[d.json.Next()]
	object, isObject := v.(decodable)
	if !isObject {
		want = KindArray
	}
	switch {
	case got != want:
		d.skip()
	case isObject:
		object.decodeJSON(d)
	case !d.decodeRootArray(v):
		return Decoded{}, fmt.Errorf("%T is not a response of the spec", v)
	}
	if err := d.end(); err != nil {
		return Decoded{}, err
	}
	if got != want {
		return Decoded{}, fmt.Errorf("got %s, want %s", got, want)
	}
	return Decoded{Members: d.members, Warnings: d.warnings}, nil
}

// syntaxError returns the error of encoding/json, which names the place, about a body that the
// tokenizer refused.
func syntaxError(body []byte, err error) error {
	var raw json.RawMessage
	if syntax := json.Unmarshal(body, &raw); syntax != nil {
		err = syntax
	}
	return fmt.Errorf("invalid JSON: %w", err)
}
