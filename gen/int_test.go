package gen

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/oapi-codegen/runtime"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInt_ReadsWholeNumbers(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want Int
		why  string
	}{
		{`12`, 12, "a number"},
		{`"12"`, 12, "the service sends counts as strings too"},
		{`12.0`, 12, "the fraction is zero"},
		{`"12.00"`, 12, "the same in a string"},
		{`1e2`, 100, "an exponent"},
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

func TestInt_RefusesOtherNumbers(t *testing.T) {
	for _, tc := range []struct{ in, why string }{
		{`12.5`, "half an item"},
		{`"x"`, "a word"},
		{`""`, "only null is 0"},
		{`" 12"`, "white space"},
		{`"+12"`, "JSON numbers have no plus sign"},
		{`"012"`, "JSON numbers have no leading zeros"},
		{`"1_000"`, "separators are for source code"},
		{`9223372036854775808`, "one more than the largest"},
		{`1e30`, "beyond a decimal"},
		{`1e999999999`, "a huge exponent must not cost memory or time"},
		{`12.00000000000000000000001`, "rounding must not make it whole"},
	} {
		i := Int(7)
		require.Error(t, json.Unmarshal([]byte(tc.in), &i), tc.why)
		assert.Zero(t, i, tc.why)
	}
}

func TestInt_IsANumberInJSONAndInAQuery(t *testing.T) {
	out, err := json.Marshal(map[string]Int{"quantity": 12})
	require.NoError(t, err)
	assert.Equal(t, `{"quantity":12}`, string(out))

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
		out, err := json.Marshal(i)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(out, &again))
		require.Equal(t, i, again)
	})
}

func TestCounts_ReadNumbersAndStrings(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want Counts
		why  string
	}{
		{`{"queued":3,"completed":97}`, Counts{"queued": 3, "completed": 97}, "numbers, as documented"},
		{`{"queued":"3","completed":"97"}`, Counts{"queued": 3, "completed": 97}, "strings, as the service sends"},
		{`{"on_hold":1}`, Counts{"on_hold": 1}, "an unknown status is counted"},
		{`{"failed":null}`, Counts{"failed": 0}, "null is 0"},
		{`{}`, Counts{}, "no item has a status yet"},
		{`null`, nil, "null has no counts"},
	} {
		c := Counts{"stale": 1}
		require.NoError(t, json.Unmarshal([]byte(tc.in), &c), tc.why)
		assert.Equal(t, tc.want, c, tc.why)
	}
}

func TestCounts_KeepTheValidMembersAndNameTheOthers(t *testing.T) {
	c := Counts{"stale": 1}
	err := json.Unmarshal([]byte(`{"queued":3,"failed":"IN_PROGRESS","completed":{},"in_progress":-1,"on_hold":1.5}`), &c)
	require.Error(t, err)
	assert.Equal(t, Counts{"queued": 3}, c)
	for _, name := range []string{`"completed"`, `"failed"`, `"in_progress"`, `"on_hold"`} {
		assert.Contains(t, err.Error(), name)
	}
	assert.NotContains(t, err.Error(), "queued")
}

func TestCounts_ErrorNamesFourMembersAtMost(t *testing.T) {
	var members []string
	for i := range 1000 {
		members = append(members, fmt.Sprintf(`"%04d%s":[]`, i, strings.Repeat("x", 1000)))
	}
	var c Counts
	err := c.UnmarshalJSON([]byte("{" + strings.Join(members, ",") + "}"))
	require.ErrorContains(t, err, "0003xxx")
	require.ErrorContains(t, err, "996 more")
	assert.NotContains(t, err.Error(), "0004xxx")
	assert.Less(t, len(err.Error()), 300)
}

func TestCounts_OfIgnoresCase(t *testing.T) {
	c := Counts{"in_progress": 2, "completed": 5}
	assert.Equal(t, 2, c.Of("IN_PROGRESS"))
	assert.Equal(t, 2, c.Of("in_progress"))
	assert.Equal(t, 0, c.Of("failed"))
	assert.Equal(t, 4, Counts{"failed": 1, "FAILED": 3}.Of("failed"), "Of and Total agree if the service mixes cases")
	assert.Equal(t, 0, Counts(nil).Of("failed"))
}

func TestCounts_TotalIsTheSumOverAllStatuses(t *testing.T) {
	assert.Equal(t, 8, Counts{"in_progress": 2, "completed": 5, "on_hold": 1}.Total())
	assert.Equal(t, 0, Counts(nil).Total())
}

func TestCounts_MarshalAsAnObjectOfNumbers(t *testing.T) {
	for want, c := range map[string]Counts{
		`{}`:                          nil,
		`{"completed":97,"queued":3}`: {"queued": 3, "completed": 97},
	} {
		out, err := json.Marshal(c)
		require.NoError(t, err)
		assert.Equal(t, want, string(out))
	}
}

func FuzzCounts(f *testing.F) {
	for _, seed := range []string{
		`{"queued":3,"failed":"4"}`, `{"queued":-1}`, `{"queued":null}`, `{"":1e2}`, `null`, `[]`, `"IN_PROGRESS"`,
		`{"a":1,"a":2,"A":3}`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var counts, again Counts
		if err := counts.UnmarshalJSON(data); err != nil {
			require.Less(t, len(err.Error()), 500)
		}
		for _, n := range counts {
			require.GreaterOrEqual(t, int(n), 0, "a count is never negative")
		}
		out, err := json.Marshal(counts)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(out, &again))
		require.Len(t, again, len(counts))
		for status, n := range counts {
			require.Equal(t, n, again[status])
		}
	})
}
