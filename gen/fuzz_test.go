package gen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

// fuzzDecoder compares a generated decoder with encoding/json on the same model. It never accepts
// what is not JSON. Both have the same value if the decoder has no warning, and no leniency of its
// own applies: a member that occurs twice, a name in another case, and limits.
func fuzzDecoder[T any](f *testing.F) {
	for _, seed := range seeds[T](f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body []byte) { assertDecodesAsEncodingJSON[T](t, body) })
}

func assertDecodesAsEncodingJSON[T any](t *testing.T, body []byte) {
	t.Helper()
	var got, want T
	original := bytes.Clone(body)
	decoded, err := gen.Decode(t.Context(), body, &got)
	if !bytes.Equal(original, body) {
		t.Fatal("the body was changed")
	}
	strict := json.Unmarshal(body, &want)
	if err != nil {
		if strict == nil && !isLimited(body, reflect.TypeFor[T]()) {
			t.Fatalf("encoding/json accepts it: %v", err)
		}
		return
	}
	if !json.Valid(body) {
		t.Fatal("accepted what is not JSON")
	}
	if len(decoded.Warnings) > 20 {
		t.Fatal("more than 20 warnings")
	}
	clear(body) // nothing points into it
	agree := (strict == nil) == (len(decoded.Warnings) == 0) && (strict != nil || reflect.DeepEqual(got, want))
	if !agree && !hasTwins(original) { // which encoding/json merges, or accepts in another case
		t.Fatalf("encoding/json: %v\n%+v\ndiffers from, with the warnings %v,\n%+v", strict, want, decoded.Warnings, got)
	}
}

// isLimited reports whether a body that encoding/json accepts is refused nevertheless: for null at
// the top, and for its depth or its number of elements.
func isLimited(body []byte, typ reflect.Type) bool {
	want := map[reflect.Kind]byte{reflect.Struct: '{', reflect.Slice: '['}[typ.Kind()]
	if bytes.TrimSpace(body)[0] != want || bytes.Count(body, []byte(",")) >= 50_000 {
		return true
	}
	return bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) > 100
}

// hasTwins reports whether names of an object are equal but for their case, or whether a name needs
// another case to be the name of a field.
func hasTwins(body []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var objects []map[string]bool // nil for an array
	isName := false
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		switch token := token.(type) {
		case json.Delim:
			switch token {
			case '{':
				objects, isName = append(objects, map[string]bool{}), true
				continue
			case '[':
				objects = append(objects, nil)
			default:
				objects = objects[:len(objects)-1]
			}
		case string:
			if isName {
				names, name := objects[len(objects)-1], foldName(token)
				if names[name] || fieldNames[name] != "" && fieldNames[name] != token {
					return true
				}
				names[name], isName = true, false
				continue
			}
		}
		isName = len(objects) > 0 && objects[len(objects)-1] != nil
	}
}

// foldName returns a name in one case, as encoding/json compares names: the Kelvin sign and the long
// s fold too.
func foldName(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// fieldNames are the names of all members that have a field, by their folded names.
var fieldNames = func() map[string]string {
	names := map[string]string{}
	for _, schema := range readSchemas {
		for field := range reflect.TypeOf(schema).Fields() {
			names[foldName(jsonName(field))] = jsonName(field)
		}
	}
	return names
}()

// seeds are bodies of a schema: complete, empty, and with each value of another kind.
func seeds[T any](tb testing.TB) [][]byte {
	tb.Helper()
	typ := reflect.TypeFor[T]()
	elem := typ
	if typ.Kind() == reflect.Slice {
		elem = typ.Elem()
	}
	doc, err := openapi3.NewLoader().LoadFromFile("../api/openapi.yaml")
	require.NoError(tb, err)
	var whole any
	for name, schema := range doc.Components.Schemas {
		if schemaTypes[name] == elem {
			whole = complete(schema.Value)
		}
	}
	text, err := json.Marshal(whole)
	require.NoError(tb, err)
	all := []string{string(text), `{}`, `{"a":[{}],"b":{"c":null}}`, "null", "", "[[["}
	for old, replaced := range map[string]string{
		`":"`: `" : "\ud800\u00e9\n`, `":[`: `":{},"x":[`, `":true`: `":"true"`, `":{`: `":[`, `":1`: `":"1`,
		`"`: "\"\xff", `"}`: `",}`, `,`: " ,\r\n\t", `:`: `:null,"z":`, `null`: `[]`, `-0`: `-`, `0`: `0.0e+0`,
	} {
		all = append(all, strings.ReplaceAll(string(text), old, replaced))
	}
	bodies := make([][]byte, 0, len(all))
	for _, body := range all {
		if typ.Kind() == reflect.Slice {
			body = fmt.Sprintf("[%s, null,%s]", body, body)
		}
		bodies = append(bodies, []byte(body))
	}
	return bodies
}
