package gen

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/oapi-codegen/runtime"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTime_ReadsTheFormsOfTheService(t *testing.T) {
	const ms = int(time.Millisecond)
	for _, tc := range []struct {
		in, out string
		want    time.Time
		why     string
	}{
		{`"2026-03-04T05:06:07.089Z"`, `"2026-03-04T05:06:07.089Z"`, time.Date(2026, 3, 4, 5, 6, 7, 89*ms, time.UTC), "the usual form"},
		{`"2026-03-04T05:06:07Z"`, `"2026-03-04T05:06:07.000Z"`, time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), "milliseconds are always marshalled"},
		{`"2026-03-04T05:06:07.1Z"`, `"2026-03-04T05:06:07.100Z"`, time.Date(2026, 3, 4, 5, 6, 7, 100*ms, time.UTC), "any fraction"},
		{`"2026-03-04T05:06:07.123456Z"`, `"2026-03-04T05:06:07.123456Z"`, time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC), "a finer fraction is kept"},
		{`"2026-03-04T05:06:07.123456789Z"`, `"2026-03-04T05:06:07.123456789Z"`, time.Date(2026, 3, 4, 5, 6, 7, 123456789, time.UTC), "down to nanoseconds"},
		{`"2026-03-04T05:06:07+02:00"`, `"2026-03-04T03:06:07.000Z"`, time.Date(2026, 3, 4, 3, 6, 7, 0, time.UTC), "an offset is resolved"},
		{`"2026-03-04T05:06:07"`, `"2026-03-04T05:06:07.000Z"`, time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), "no zone is UTC"},
		{`"2026-03-04T05:06:07.089"`, `"2026-03-04T05:06:07.089Z"`, time.Date(2026, 3, 4, 5, 6, 7, 89*ms, time.UTC), "no zone is UTC, with a fraction too"},
		{`"2026-03-04 05:06:07"`, `"2026-03-04T05:06:07.000Z"`, time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), "a space instead of the T"},
		{`"2026-03-04"`, `"2026-03-04T00:00:00.000Z"`, time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC), "a date is its midnight in UTC"},
		{`""`, `null`, time.Time{}, "an empty text is absent"},
		{`null`, `null`, time.Time{}, "null is absent"},
	} {
		got := TimeOf(time.Unix(1, 0))
		require.NoError(t, json.Unmarshal([]byte(tc.in), &got), tc.why)
		assert.Equal(t, TimeOf(tc.want), got, tc.why)
		out, err := json.Marshal(got)
		require.NoError(t, err, tc.why)
		assert.Equal(t, tc.out, string(out), tc.why)
	}
}

func TestTime_RefusesOtherForms(t *testing.T) {
	for _, tc := range []struct{ in, why string }{
		{`"soon"`, "a word"},
		{`"04/03/2026"`, "day and month are ambiguous"},
		{`"2026-02-30"`, "there is no such day"},
		{`"2026-03-04T05:06:07Z "`, "text after the time"},
		{`1772600767`, "seconds and milliseconds are ambiguous"},
	} {
		got := TimeOf(time.Unix(1, 0))
		require.Error(t, json.Unmarshal([]byte(tc.in), &got), tc.why)
		assert.Zero(t, got, tc.why)
	}
}

func TestTime_RefusesYearsThatRFC3339CannotWrite(t *testing.T) {
	got := TimeOf(time.Unix(1, 0))
	require.ErrorIs(t, json.Unmarshal([]byte(`"9999-12-31T23:59:59-01:00"`), &got), errTimeYear, "in UTC it is the year 10000")
	assert.Zero(t, got)
	_, err := json.Marshal(TimeOf(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)))
	require.ErrorIs(t, err, errTimeYear)
}

func TestTimeOf_IsComparable(t *testing.T) {
	now := time.Now()
	elsewhere := now.In(time.FixedZone("UTC+9", 9*60*60))
	assert.True(t, TimeOf(now) == TimeOf(elsewhere), "one instant is one value, whatever its zone and clock reading")
}

func TestTime_HasItsTimeOfDayInAQuery(t *testing.T) {
	at := TimeOf(time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.FixedZone("UTC+2", 2*60*60)))
	opts := runtime.StyleParamOptions{ParamLocation: runtime.ParamLocationQuery, Type: "string", Format: "date-time"}
	for _, value := range []any{at, &at, []Time{at}} {
		got, err := runtime.StyleParamWithOptions("form", true, "fromDate", value, opts)
		require.NoError(t, err)
		assert.Equal(t, "fromDate=2026-03-04T03%3A06%3A07.089Z", got)
	}
}

func FuzzTime(f *testing.F) {
	for _, seed := range []string{
		`"2026-03-04T05:06:07.089Z"`, `"2026-03-04T05:06:07+02:00"`, `"2026-03-04 05:06:07"`, `"2026-03-04"`,
		`"9999-12-31T23:59:59-01:00"`, `"0001-01-01"`, `""`, `null`, `1`, `"soon"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var at, again Time
		if err := at.UnmarshalJSON(data); err != nil {
			require.Zero(t, at)
			require.Less(t, len(err.Error()), 300)
			return
		}
		require.True(t, json.Valid(data), "only JSON is read")
		out, err := json.Marshal(at)
		require.NoError(t, err, "a time that was read can be marshalled")
		require.NoError(t, json.Unmarshal(out, &again))
		require.Equal(t, at, again)
	})
}
