package gen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Decode reads an answer into v, a pointer to a struct or a slice, leniently by member: a member of the wrong
// kind leaves its field zero and is named in oddities by its JSON pointer, so that one odd field does not
// hide an answer that is about money. Only an empty body, broken JSON or a wrong kind at the top is an error.
func Decode(body []byte, v any) (oddities []string, err error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, errors.New("the body is empty")
	}
	if err = json.Unmarshal(body, v); err == nil {
		return nil, nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || !json.Valid(body) {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	target := reflect.ValueOf(v).Elem()
	if want, got := topKind(target), body[len(body)-len(bytes.TrimLeft(body, " \t\r\n"))]; want != got {
		return nil, fmt.Errorf("it begins with %q where %q belongs", got, want)
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
		d.odd(path, err)
	case kind == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.decode(path, data, v.Elem())
	case kind == reflect.Struct:
		var members map[string]json.RawMessage
		if err := json.Unmarshal(data, &members); err != nil {
			d.clear(path, err, v)
			return
		}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if member, ok := members[name]; ok {
				v.Field(i).SetZero()
				d.decode(path+"/"+name, member, v.Field(i))
			}
		}
	case kind == reflect.Slice:
		var elements []json.RawMessage
		if err := json.Unmarshal(data, &elements); err != nil {
			d.clear(path, err, v)
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(elements), len(elements)))
		for i, element := range elements {
			d.decode(fmt.Sprintf("%s/%d", path, i), element, v.Index(i))
		}
	default:
		d.clear(path, err, v)
	}
}

func (d *lenient) clear(path string, err error, v reflect.Value) {
	v.SetZero()
	d.odd(path, err)
}

// odd names a member by its JSON pointer. The list is bounded, as the answer may be nothing but oddities.
func (d *lenient) odd(path string, err error) {
	if len(d.oddities) < 20 {
		d.oddities = append(d.oddities, path+": "+err.Error())
	}
}
