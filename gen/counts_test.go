package gen

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCountsReadNumbersAndStrings(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want Counts
		why  string
	}{
		{`{"queued":3,"completed":97}`, Counts{"queued": 3, "completed": 97}, "numbers, as declared"},
		{`{"queued":"3","completed":"97"}`, Counts{"queued": 3, "completed": 97}, "strings, as they come"},
		{`{"on_hold":1}`, Counts{"on_hold": 1}, "a new status is counted"},
		{`{"failed":null}`, Counts{"failed": 0}, "null counts nothing"},
		{`{}`, Counts{}, "no item has a status yet"},
		{`null`, nil, "null is no counts"},
	} {
		c := Counts{"stale": 1}
		require.NoError(t, json.Unmarshal([]byte(tc.in), &c), tc.why)
		assert.Equal(t, tc.want, c, tc.why)
	}
}

func TestCountsKeepTheReadableMembersAndNameTheOthers(t *testing.T) {
	c := Counts{"stale": 1}
	err := json.Unmarshal([]byte(`{"queued":3,"failed":"IN_PROGRESS","completed":{},"in_progress":-1,"on_hold":1.5}`), &c)
	require.EqualError(t, err, `decode counts: not a count: "completed", "failed", "in_progress", "on_hold"`)
	assert.Equal(t, Counts{"queued": 3}, c)
}

func TestCountsRefuseOtherKinds(t *testing.T) {
	for in, message := range map[string]string{
		`"IN_PROGRESS"`: "decode counts: want an object, got a string",
		`[]`:            "decode counts: want an object, got an array",
		`3`:             "decode counts: want an object, got a number",
		`true`:          "decode counts: want an object, got a boolean",
	} {
		c := Counts{"stale": 1}
		require.EqualError(t, json.Unmarshal([]byte(in), &c), message)
		assert.Nil(t, c, in)
	}
}

func TestCountsErrorsStayShort(t *testing.T) {
	var members []string
	for i := range 1000 {
		members = append(members, fmt.Sprintf(`"%04d%s":[]`, i, strings.Repeat("x", 1000)))
	}
	var c Counts
	err := c.UnmarshalJSON([]byte("{" + strings.Join(members, ",") + "}"))
	require.ErrorContains(t, err, "and 996 more")
	assert.Less(t, len(err.Error()), 300)
}

func TestCountsOfIgnoresCase(t *testing.T) {
	c := Counts{"in_progress": 2, "completed": 5}
	assert.Equal(t, 2, c.Of("IN_PROGRESS"))
	assert.Equal(t, 2, c.Of("in_progress"))
	assert.Equal(t, 0, c.Of("failed"))
	assert.Equal(t, 4, Counts{"failed": 1, "FAILED": 3}.Of("failed"), "Of and Total agree when the service mixes cases")
	assert.Equal(t, 0, Counts(nil).Of("failed"))
}

func TestCountsTotalIsTheSumOverAllStatuses(t *testing.T) {
	assert.Equal(t, 8, Counts{"in_progress": 2, "completed": 5, "on_hold": 1}.Total())
	assert.Equal(t, 0, Counts(nil).Total())
}

func TestCountsAreWrittenAsAnObjectOfNumbers(t *testing.T) {
	for want, c := range map[string]Counts{
		`{}`:                          nil,
		`{"completed":97,"queued":3}`: {"queued": 3, "completed": 97},
	} {
		wire, err := json.Marshal(c)
		require.NoError(t, err)
		assert.Equal(t, want, string(wire))
	}
}
