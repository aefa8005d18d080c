package gen

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scalars returns a value of each scalar type that is not zero.
func scalars() map[string]json.Unmarshaler {
	return map[string]json.Unmarshaler{
		"Amount": new(Amount("1")), "Figure": new(Figure("1")), "Int": new(Int(1)),
		"Time": new(TimeOf(time.Unix(1, 0))), "Counts": &Counts{"queued": 1},
	}
}

// zeroScalars are the types of scalars with the text that their zero value marshals as.
var zeroScalars = map[string]string{"Amount": "null", "Figure": "null", "Int": "0", "Time": "null", "Counts": "{}"}

func TestScalars_AreZeroAfterOtherKinds(t *testing.T) {
	for _, in := range []string{"true", "false", `["1"]`, "{}", "", `"`, `"a`, "nul", "1x", "-", " 1", "1 ", "+1", "x"} {
		for name, scalar := range scalars() {
			if name == "Counts" && in == "{}" {
				continue // no counts
			}
			require.Error(t, scalar.UnmarshalJSON([]byte(in)), "%s from %q", name, in)
			out, err := json.Marshal(scalar)
			require.NoError(t, err, name)
			assert.Equal(t, zeroScalars[name], string(out), "%s from %q", name, in)
		}
	}
}

func TestScalars_ErrorsQuoteAtMostFortyBytes(t *testing.T) {
	long := strings.Repeat("9", 100_000)
	_, decimalErr := Amount(long).Decimal()
	for name, err := range map[string]error{
		"Amount": decimalErr,
		"Figure": new(Figure).UnmarshalJSON([]byte(`"` + long + `x"`)),
		"Int":    new(Int).UnmarshalJSON([]byte(long)),
		"Time":   new(Time).UnmarshalJSON([]byte(`"` + long + `"`)),
	} {
		require.Error(t, err, name)
		assert.LessOrEqual(t, strings.Count(err.Error(), "9"), 43, name) // 19 digits and 9999 are not quotes
		assert.Less(t, len(err.Error()), 200, name)
	}
}

func TestScalars_AreOmittedIfAbsentAndKeptIfZero(t *testing.T) {
	type price struct {
		Ask    Amount `json:"ask,omitzero"`
		Bid    Amount `json:"bid,omitzero"`
		Payout Figure `json:"payout,omitzero"`
		Fee    Figure `json:"fee,omitzero"`
		Made   Time   `json:"made,omitzero"`
		Ended  Time   `json:"ended,omitzero"`
	}
	made := TimeOf(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC))
	out, err := json.Marshal(price{Ask: "0.00", Payout: "0.00", Made: made})
	require.NoError(t, err)
	assert.JSONEq(t, `{"ask":"0.00","payout":0.00,"made":"2026-03-04T05:06:07.000Z"}`, string(out))
}

func TestOneLine_BoundsTextFromOutside(t *testing.T) {
	for _, tc := range []struct{ in, want, why string }{
		{"sold", "sold", "short text is not changed"},
		{" a\r\n\tb\x00c  d ", "a b c d", "white space and control characters"},
		{"a\xffb", "a\uFFFDb", "invalid UTF-8"},
		{strings.Repeat("x", 301), strings.Repeat("x", 300) + "…", "300 bytes at most"},
		{"x" + strings.Repeat("é", 150), "x" + strings.Repeat("é", 149) + "…", "a character is not cut"},
	} {
		got := OneLine(tc.in)
		assert.Equal(t, tc.want, got, tc.why)
		assert.True(t, utf8.ValidString(got), tc.why)
	}
}
