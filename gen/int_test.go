package gen

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/oapi-codegen/runtime"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIntReadsWholeNumbers(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want Int
		why  string
	}{
		{`12`, 12, "a number"},
		{`"12"`, 12, "counts come as strings too"},
		{`12.0`, 12, "the fraction is zero"},
		{`"12.00"`, 12, "the same in a string"},
		{`1e2`, 100, "the exponent is whole"},
		{`-3`, -3, "negative"},
		{`-0`, 0, "zero has no sign"},
		{`null`, 0, "null is 0"},
		{strconv.Itoa(math.MaxInt), math.MaxInt, "the largest"},
		{strconv.Itoa(math.MinInt), math.MinInt, "the smallest"},
		{strconv.Itoa(math.MaxInt) + ".0", math.MaxInt, "no digit of a large number is lost"},
	} {
		i := Int(7)
		require.NoError(t, json.Unmarshal([]byte(tc.in), &i), tc.why)
		assert.Equal(t, tc.want, i, tc.why)
	}
}

func TestIntRefusesEverythingElseAndIsZeroThen(t *testing.T) {
	for _, tc := range []struct{ in, mentions, why string }{
		{`12.5`, `12.5" is not a whole number`, "there is no half item"},
		{`"x"`, `"x" is not a whole number`, "words are no number"},
		{`""`, `"" is not a whole number`, "only null is nothing"},
		{`" 12"`, `" 12" is not a whole number`, "white space is no part of a number"},
		{`"+12"`, `"+12" is not a whole number`, "JSON numbers have no plus sign"},
		{`"012"`, `"012" is not a whole number`, "JSON numbers have no leading zeros"},
		{`"1_000"`, `"1_000" is not a whole number`, "separators are for source code"},
		{`9223372036854775808`, "in the range of int", "one more than the largest"},
		{`1e30`, "in the range of int", "beyond a decimal"},
		{`1e999999999`, "in the range of int", "a huge exponent costs nothing"},
		{`12.00000000000000000000001`, "is not a whole number", "rounding must not make it whole"},
		{`true`, "want a string or a number, got a boolean", "wrong kind"},
		{`{}`, "want a string or a number, got an object", "wrong kind"},
		{`[12]`, "want a string or a number, got an array", "wrong kind"},
	} {
		i := Int(7)
		err := json.Unmarshal([]byte(tc.in), &i)
		require.ErrorContains(t, err, "decode integer: ", tc.why)
		require.ErrorContains(t, err, tc.mentions, tc.why)
		assert.Zero(t, i, tc.why)
	}
}

func TestIntErrorsQuoteAtMostFortyBytes(t *testing.T) {
	var i Int
	err := i.UnmarshalJSON([]byte(strings.Repeat("9", 100_000)))
	require.EqualError(t, err, `decode integer: "`+strings.Repeat("9", 40)+`"… is not a whole number in the range of int`)
}

func TestIntIsWrittenAsANumber(t *testing.T) {
	wire, err := json.Marshal(map[string]Int{"quantity": 12})
	require.NoError(t, err)
	assert.Equal(t, `{"quantity":12}`, string(wire))
}

func TestIntStandsInAQueryAsANumber(t *testing.T) {
	page := Int(12)
	opts := runtime.StyleParamOptions{ParamLocation: runtime.ParamLocationQuery, Type: "integer", Format: "int32"}
	for _, value := range []any{page, &page} {
		got, err := runtime.StyleParamWithOptions("form", true, "pageNumber", value, opts)
		require.NoError(t, err)
		assert.Equal(t, "pageNumber=12", got)
	}
}

func FuzzInt(f *testing.F) {
	for _, seed := range []string{`12`, `"12"`, `12.0`, `12.5`, `1e2`, `null`, `"x"`, `9223372036854775808`, `-0`, `1e999999999`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var i, again Int
		if err := i.UnmarshalJSON(data); err != nil {
			require.Zero(t, i)
			require.Less(t, len(err.Error()), 300)
			return
		}
		require.True(t, json.Valid(data), "only JSON is read")
		var figure Figure
		require.NoError(t, figure.UnmarshalJSON(data), "an integer is a number")
		if figure != "" {
			want, ok := new(big.Rat).SetString(string(figure))
			require.True(t, ok)
			require.Zero(t, want.Cmp(new(big.Rat).SetInt64(int64(i))), "the value is exact")
		}
		wire, err := json.Marshal(i)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(wire, &again))
		require.Equal(t, i, again)
	})
}
