package gen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

const (
	// maxElements bounds the elements of all arrays of a response, because 16 MiB of {} would decode
	// to gigabytes. No operation lists as many at once.
	maxElements = 50_000
	// maxDepth is the depth of arrays and objects that encoding/json accepts.
	maxDepth = 10_000
	// wholeSize is the size in bytes up to which a value is decoded at once, without checking ctx. A
	// page of 100 entries is smaller.
	wholeSize = 256 << 10
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
	// Members are the kinds of the members of a JSON object at the top of the document that are
	// fields of the value, by their names in the spec. A missing member has the zero Kind.
	Members map[string]Kind
	// Warnings name the members of the wrong kind, whose fields are zero, by their JSON pointers.
	// There are 20 at most.
	Warnings []string
}

// Decode decodes the body of a response into v, a pointer to a struct or a slice. It is lenient by
// member: a member of the wrong kind leaves its field zero and is reported as a warning, so that
// one such member does not hide a response about money. The caller decides by [Decoded].Members
// whether the body has the members that the response must have.
//
// An empty body, invalid JSON, another kind at the top of the document, and more than 50,000
// elements of arrays in all are errors. If ctx ends, its error is returned, but a body of up to
// 256 KiB is decoded nevertheless.
func Decode(ctx context.Context, body []byte, v any) (Decoded, error) {
	text, target := bytes.TrimSpace(body), reflect.ValueOf(v).Elem()
	if len(text) == 0 {
		return Decoded{}, errors.New("empty body")
	}
	names := memberNames(target.Type())
	out := Decoded{Members: make(map[string]Kind, len(names))}
	err := outline(ctx, text, func(member string, kind Kind) {
		if i := indexFold(names, member); i >= 0 {
			out.Members[names[i]] = kind
		}
	})
	if err == nil {
		out.Warnings, err = decode(ctx, text, target)
	}
	if err != nil {
		return Decoded{}, err
	}
	return out, nil
}

// outline scans a document before memory is allocated for it. It bounds the size of the decoded
// document and reports the members of an object at the top. It does not check the syntax, which
// encoding/json does afterwards.
func outline(ctx context.Context, text []byte, report func(member string, kind Kind)) error {
	type container struct {
		bracket byte
		commas  int
	}
	var open []container
	elements := 0 // Of all arrays.
	for i, next := 0, wholeSize; i < len(text); i++ {
		if i >= next {
			next = i + wholeSize
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		switch c := text[i]; c {
		case '{', '[':
			if open = append(open, container{bracket: c}); len(open) > maxDepth {
				return fmt.Errorf("arrays and objects nested deeper than %d", maxDepth)
			}
			if c == '[' && !bytes.HasPrefix(bytes.TrimLeft(text[i+1:], jsonSpace), []byte("]")) {
				elements++
			}
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		case ',':
			if len(open) == 0 {
				continue
			}
			inner := &open[len(open)-1]
			inner.commas++
			if inner.bracket == '[' {
				elements++
			}
			if elements > maxElements || inner.commas >= maxElements {
				return fmt.Errorf("more than %d elements", maxElements)
			}
		case '"':
			end := stringEnd(text, i)
			if len(open) == 1 && open[0].bracket == '{' {
				reportMember(text[i:end], text[end:], report)
			}
			i = end - 1
		}
	}
	return nil
}

// reportMember reports a string that is followed by a colon, and the kind of the value after that.
func reportMember(text, rest []byte, report func(member string, kind Kind)) {
	value, isMember := bytes.CutPrefix(bytes.TrimLeft(rest, jsonSpace), []byte(":"))
	if !isMember {
		return
	}
	name := string(bytes.Trim(text, `"`))
	if bytes.ContainsRune(text, '\\') && json.Unmarshal(text, &name) != nil {
		return
	}
	report(name, kindOf(bytes.TrimLeft(value, jsonSpace)))
}

const jsonSpace = " \t\r\n"

// stringEnd returns the index behind the string that begins at text[start].
func stringEnd(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// decode decodes a document whose outline is within the bounds.
func decode(ctx context.Context, text []byte, target reflect.Value) (warnings []string, err error) {
	want := KindObject
	if target.Kind() == reflect.Slice {
		want = KindArray
	}
	if len(text) <= wholeSize && kindOf(text) == want { // null would fit every type
		if err := json.Unmarshal(text, target.Addr().Interface()); err == nil {
			return nil, nil
		}
	}
	if !json.Valid(text) {
		var syntax any
		return nil, fmt.Errorf("invalid JSON: %w", json.Unmarshal(text, &syntax))
	}
	if got := kindOf(text); got != want {
		return nil, fmt.Errorf("got %s, want %s", got, want)
	}
	d := lenient{}
	target.SetZero()
	err = d.decode(ctx, "", text, target)
	return d.warnings, err
}

// lenient decodes member by member a value that is large or could not be decoded at once.
type lenient struct{ warnings []string }

// decode returns the error of ctx if that ends before a large value is decoded. All other problems
// are warnings.
func (d *lenient) decode(ctx context.Context, path string, data []byte, v reflect.Value) error {
	kind := v.Kind()
	_, custom := reflect.TypeAssert[json.Unmarshaler](v.Addr())
	_, open := reflect.TypeAssert[openObject](v.Addr())
	custom = custom && !open
	divisible := !custom && (kind == reflect.Pointer || kind == reflect.Struct || kind == reflect.Slice)
	if len(data) <= wholeSize || !divisible {
		if json.Unmarshal(data, v.Addr().Interface()) == nil {
			return nil
		}
	}
	switch {
	case custom: // The type keeps the part that it could decode.
		d.warn(path, data, v)
	case kind == reflect.Pointer:
		return d.decodePointer(ctx, path, data, v)
	case kind == reflect.Struct:
		return d.decodeStruct(ctx, path, data, v)
	case kind == reflect.Slice:
		return d.decodeSlice(ctx, path, data, v)
	default:
		d.clear(path, data, v)
	}
	return nil
}

func (d *lenient) decodePointer(ctx context.Context, path string, data []byte, v reflect.Value) error {
	v.Set(reflect.New(v.Type().Elem()))
	err := d.decode(ctx, path, data, v.Elem())
	if v.Elem().IsZero() {
		v.SetZero() // nothing could be decoded, so the value is absent
	}
	return err
}

func (d *lenient) decodeStruct(ctx context.Context, path string, data []byte, v reflect.Value) error {
	if kindOf(data) != KindObject {
		d.clear(path, data, v)
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	names := memberNames(v.Type())
	for _, name := range slices.Sorted(maps.Keys(members)) {
		i := indexFold(names, name)
		if i < 0 {
			continue
		}
		v.Field(i).SetZero()
		if err := d.decode(ctx, path+"/"+name, members[name], v.Field(i)); err != nil {
			return err
		}
	}
	if object, ok := reflect.TypeAssert[openObject](v.Addr()); ok {
		object.setMembers(members)
	}
	return nil
}

func (d *lenient) decodeSlice(ctx context.Context, path string, data []byte, v reflect.Value) error {
	if kindOf(data) != KindArray {
		d.clear(path, data, v)
		return nil
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(data, &elements); err != nil {
		return err
	}
	v.Set(reflect.MakeSlice(v.Type(), len(elements), len(elements)))
	for i, element := range elements {
		if len(data) > wholeSize && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := d.decode(ctx, fmt.Sprintf("%s/%d", path, i), element, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// memberNames returns the names of a struct's fields in the spec, in their order; none for other
// types.
func memberNames(t reflect.Type) []string {
	if t.Kind() != reflect.Struct {
		return nil
	}
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return names
}

// indexFold returns the index of a member's name, -1 if it is missing. Like encoding/json it
// ignores the case of letters, and fields whose name is "-".
func indexFold(names []string, member string) int {
	return slices.IndexFunc(names, func(name string) bool { return name != "-" && strings.EqualFold(name, member) })
}

// clear sets a field to zero and adds a warning.
func (d *lenient) clear(path string, data []byte, v reflect.Value) {
	v.SetZero()
	d.warn(path, data, v)
}

// warn names a member by its JSON pointer. It does not quote the value, which may be a secret.
func (d *lenient) warn(path string, data []byte, v reflect.Value) {
	if len(d.warnings) < maxWarnings {
		d.warnings = append(d.warnings, fmt.Sprintf("%s: %s, want %s", path, kindOf(data), v.Type()))
	}
}
