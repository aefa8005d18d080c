package gen

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/oapi-codegen/runtime"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTimeReadsTheFormsOfTheService(t *testing.T) {
	const ms = int(time.Millisecond)
	for _, tc := range []struct {
		in, wire string
		want     time.Time
		why      string
	}{
		{`"2026-03-04T05:06:07.089Z"`, `"2026-03-04T05:06:07.089Z"`, time.Date(2026, 3, 4, 5, 6, 7, 89*ms, time.UTC), "the usual form"},
		{`"2026-03-04T05:06:07Z"`, `"2026-03-04T05:06:07.000Z"`, time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), "milliseconds are always written"},
		{`"2026-03-04T05:06:07.1Z"`, `"2026-03-04T05:06:07.100Z"`, time.Date(2026, 3, 4, 5, 6, 7, 100*ms, time.UTC), "any fraction"},
		{`"2026-03-04T05:06:07.123456Z"`, `"2026-03-04T05:06:07.123456Z"`, time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC), "a finer fraction is kept"},
		{`"2026-03-04T05:06:07.123456789Z"`, `"2026-03-04T05:06:07.123456789Z"`, time.Date(2026, 3, 4, 5, 6, 7, 123456789, time.UTC), "down to nanoseconds"},
		{`"2026-03-04T05:06:07+02:00"`, `"2026-03-04T03:06:07.000Z"`, time.Date(2026, 3, 4, 3, 6, 7, 0, time.UTC), "an offset is resolved"},
		{`"2026-03-04T05:06:07"`, `"2026-03-04T05:06:07.000Z"`, time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), "no zone is UTC"},
		{`"2026-03-04T05:06:07.089"`, `"2026-03-04T05:06:07.089Z"`, time.Date(2026, 3, 4, 5, 6, 7, 89*ms, time.UTC), "no zone is UTC, with a fraction too"},
		{`"2026-03-04 05:06:07"`, `"2026-03-04T05:06:07.000Z"`, time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), "a space for the T"},
		{`"2026-03-04"`, `"2026-03-04T00:00:00.000Z"`, time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC), "a date is its midnight in UTC"},
		{`""`, `null`, time.Time{}, "no text is no time"},
		{`null`, `null`, time.Time{}, "null is no time"},
	} {
		got := TimeOf(time.Unix(1, 0))
		require.NoError(t, json.Unmarshal([]byte(tc.in), &got), tc.why)
		assert.Equal(t, TimeOf(tc.want), got, tc.why)
		wire, err := json.Marshal(got)
		require.NoError(t, err, tc.why)
		assert.Equal(t, tc.wire, string(wire), tc.why)
	}
}

func TestTimeRefusesEverythingElseAndIsZeroThen(t *testing.T) {
	for _, tc := range []struct{ in, message, why string }{
		{`"soon"`, `decode time: "soon" is neither RFC 3339 nor a date`, "words are no time"},
		{`"04/03/2026"`, `decode time: "04/03/2026" is neither RFC 3339 nor a date`, "nobody knows which is the month"},
		{`"2026-02-30"`, `decode time: "2026-02-30" is neither RFC 3339 nor a date`, "there is no such day"},
		{`"2026-03-04T05:06:07Z "`, `decode time: "2026-03-04T05:06:07Z " is neither RFC 3339 nor a date`, "nothing may follow"},
		{`"9999-12-31T23:59:59-01:00"`, `decode time "9999-12-31T23:59:59-01:00": the year is outside 0 to 9999`, "in UTC it has no RFC 3339 form"},
		{`1772600767`, `decode time: want a string, got a number`, "seconds or milliseconds: nobody knows"},
		{`true`, `decode time: want a string, got a boolean`, "wrong kind"},
		{`{}`, `decode time: want a string, got an object`, "wrong kind"},
		{`[]`, `decode time: want a string, got an array`, "wrong kind"},
	} {
		got := TimeOf(time.Unix(1, 0))
		require.EqualError(t, json.Unmarshal([]byte(tc.in), &got), tc.message, tc.why)
		assert.Zero(t, got, tc.why)
	}
}

func TestTimeErrorsQuoteAtMostFortyBytes(t *testing.T) {
	var got Time
	err := got.UnmarshalJSON([]byte(`"` + strings.Repeat("x", 100_000) + `"`))
	require.EqualError(t, err, `decode time: "`+strings.Repeat("x", 40)+`"… is neither RFC 3339 nor a date`)
}

func TestZeroTimeIsOmitted(t *testing.T) {
	type batch struct {
		CreatedAt   Time `json:"createdAt,omitzero"`
		CompletedAt Time `json:"completedAt,omitzero"`
	}
	wire, err := json.Marshal(batch{CreatedAt: TimeOf(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC))})
	require.NoError(t, err)
	assert.JSONEq(t, `{"createdAt":"2026-03-04T05:06:07.000Z"}`, string(wire))

	var read batch
	require.NoError(t, json.Unmarshal([]byte(`{"createdAt":"2026-03-04T05:06:07Z","completedAt":null}`), &read))
	assert.False(t, read.CreatedAt.IsZero())
	assert.True(t, read.CompletedAt.IsZero())
}

func TestTimeOutsideFourDigitYearsCannotBeWritten(t *testing.T) {
	_, err := json.Marshal(TimeOf(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)))
	require.ErrorContains(t, err, "the year is outside 0 to 9999")
}

func TestTimeOfIsComparable(t *testing.T) {
	now := time.Now()
	elsewhere := now.In(time.FixedZone("UTC+9", 9*60*60))
	assert.True(t, TimeOf(now) == TimeOf(elsewhere), "one instant is one value, whatever its zone and clock reading")
}

func TestTimeKeepsItsTimeOfDayInAQuery(t *testing.T) {
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
		wire, err := json.Marshal(at)
		require.NoError(t, err, "what was read can be written")
		require.NoError(t, json.Unmarshal(wire, &again))
		require.Equal(t, at, again)
	})
}
