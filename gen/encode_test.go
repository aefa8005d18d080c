package gen_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Request bodies marshal themselves, and the schemas in them are written as a part of one.
func TestEncode_CoversWhatIsWritten(t *testing.T) {
	for _, op := range gen.Operations() {
		if body := bodyType(t, op.ID); body != nil {
			assert.Implements(t, (*json.Marshaler)(nil), reflect.Zero(body).Interface(), op.ID)
			assert.Contains(t, writtenSchemas, body.Name(), op.ID)
		}
	}
}

// plain returns a value without the methods of its type, so that encoding/json takes its fields.
func plain(v reflect.Value) any {
	return v.Convert(reflect.StructOf(slices.Collect(v.Type().Fields()))).Interface()
}

// assertEncodes compares the encoder of a request body with encoding/json.
func assertEncodes(t *testing.T, body reflect.Value) {
	t.Helper()
	got, err := body.Interface().(json.Marshaler).MarshalJSON()
	want, strict := json.Marshal(plain(body))
	require.Equal(t, strict == nil, err == nil, "%v and %v", strict, err)
	require.Equal(t, string(want), string(got), "%s", body.Type())
	if err == nil {
		again, err := json.Marshal(body.Interface())
		require.NoError(t, err)
		require.Equal(t, string(want), string(again), "by way of encoding/json")
	}
}

// fill sets the fields of a value: to zero where a bit of zeros is set.
func fill(v reflect.Value, text string, number int64, zeros *uint64) {
	zero := *zeros&1 == 1
	*zeros = *zeros>>1 | *zeros<<63
	if zero {
		return
	}
	switch {
	case v.Type() == reflect.TypeFor[gen.Time]():
		v.Set(reflect.ValueOf(gen.TimeOf(time.Unix(number, number%1e9))))
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Kind() == reflect.Int:
		v.SetInt(number)
	case v.Kind() == reflect.Bool:
		v.SetBool(number%2 == 0)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text, number, zeros)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), int(uint64(number)%4), 4))
		for i := range v.Len() {
			fill(v.Index(i), text, number, zeros)
		}
	case v.Kind() == reflect.Struct:
		for field := range v.Type().Fields() {
			fill(v.FieldByIndex(field.Index), text, number, zeros)
		}
	}
}

// bodyTypes are the types of the request bodies.
func bodyTypes() []reflect.Type {
	var types []reflect.Type
	for _, schema := range writtenSchemas {
		if _, ok := schema.(json.Marshaler); ok {
			types = append(types, reflect.TypeOf(schema))
		}
	}
	return types
}

// FuzzEncode compares the encoder of each request body with encoding/json.
func FuzzEncode(f *testing.F) {
	for _, text := range []string{"", "162", "76.0000", "trading cards", "<b>&amp;\u2028\u2029</b>", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "\xff\xc3\xed\xa0\x80 ü 👟", "\uFFFD"} {
		for _, number := range []int64{0, 1, -62135596800, 1793000000, 253402300800, 1<<63 - 1} {
			f.Add(text, number, uint64(0))
			f.Add(text, number, uint64(0xAAAAAAAAAAAAAAAA))
			f.Add(text, number, ^uint64(0))
		}
	}
	types := bodyTypes()
	require.NotEmpty(f, types)
	f.Fuzz(func(t *testing.T, text string, number int64, zeros uint64) {
		text = text[:min(len(text), 256)] // a body has it many times
		for _, typ := range types {
			body, zeros := reflect.New(typ).Elem(), zeros
			fill(body, text, number, &zeros)
			assertEncodes(t, body)
		}
	})
}
