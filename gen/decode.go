package gen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Decode reads an answer into v, a pointer to a struct or a slice, leniently by member: a member of the wrong
// kind leaves its field zero and is named in oddities by its JSON pointer, so that one odd field does not
// hide an answer that is about money. Only an empty body, broken JSON or a wrong kind at the top is an error, and a
// page of a list that does not say whether there is more, because the rest would be missed in silence:
//
//   - hasNextPage or nextCursor is of the wrong kind, or nextCursor is missing on a page that holds something; null
//     and "" are its words for the end.
//   - If hasNextPage is missing or null, HasNextPage is worked out from count, pageSize and pageNumber. Where these
//     are missing or do not fit the page, it is set unless the page is empty: whoever asks for the next one finds out.
func Decode(body []byte, v any) (oddities []string, err error) {
	if oddities, err = decode(body, v); err == nil {
		err = seeToEnd(body, v, oddities)
	}
	if err != nil {
		return nil, err
	}
	return oddities, nil
}

func decode(body []byte, v any) (oddities []string, err error) {
	text := bytes.TrimSpace(body)
	if len(text) == 0 {
		return nil, errors.New("the body is empty")
	}
	target := reflect.ValueOf(v).Elem()
	if err = json.Unmarshal(body, v); err == nil && text[0] == topKind(target) { // null would fit every type
		return nil, nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || !json.Valid(body) {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if want := topKind(target); text[0] != want {
		return nil, fmt.Errorf("it begins with %q where %q belongs", text[0], want)
	}
	d := lenient{}
	target.SetZero()
	d.decode("", body, target)
	return d.oddities, nil
}

func topKind(v reflect.Value) byte {
	if v.Kind() == reflect.Slice {
		return '['
	}
	return '{'
}

// lenient decodes member by member what did not decode in one go.
type lenient struct{ oddities []string }

func (d *lenient) decode(path string, data []byte, v reflect.Value) {
	err := json.Unmarshal(data, v.Addr().Interface())
	if err == nil {
		return
	}
	_, custom := reflect.TypeAssert[json.Unmarshaler](v.Addr())
	switch kind := v.Kind(); {
	case custom: // it keeps what it could read
		d.odd(path, data, v)
	case kind == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		if d.decode(path, data, v.Elem()); v.Elem().IsZero() {
			v.SetZero() // nothing of it could be read, so it is absent
		}
	case kind == reflect.Struct:
		var members map[string]json.RawMessage
		if err := json.Unmarshal(data, &members); err != nil {
			d.clear(path, data, v)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if field := fieldOf(v, name); field.IsValid() {
				field.SetZero()
				d.decode(path+"/"+name, members[name], field)
			}
		}
	case kind == reflect.Slice:
		var elements []json.RawMessage
		if err := json.Unmarshal(data, &elements); err != nil {
			d.clear(path, data, v)
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(elements), len(elements)))
		for i, element := range elements {
			d.decode(fmt.Sprintf("%s/%d", path, i), element, v.Index(i))
		}
	default:
		d.clear(path, data, v)
	}
}

// fieldOf finds the field of a member as encoding/json does, whatever the case of its letters.
func fieldOf(v reflect.Value, member string) reflect.Value {
	for i := range v.NumField() {
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); strings.EqualFold(name, member) {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

func (d *lenient) clear(path string, data []byte, v reflect.Value) {
	v.SetZero()
	d.odd(path, data, v)
}

// odd names a member by its JSON pointer. It does not quote the member, which may hold anything, and the list
// is bounded, as the answer may be nothing but oddities.
func (d *lenient) odd(path string, data []byte, v reflect.Value) {
	if len(d.oddities) < 20 {
		d.oddities = append(d.oddities, fmt.Sprintf("%s: %s that is no %s", path, kindOf(data), v.Type()))
	}
}
