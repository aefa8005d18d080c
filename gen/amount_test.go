package gen

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/govalues/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAmountKeepsTheTextItReads(t *testing.T) {
	for _, tc := range []struct {
		in, wire string
		want     Amount
		why      string
	}{
		{`"76.0000"`, `"76.0000"`, "76.0000", "trailing zeros are the service's own"},
		{`"23500.0000"`, `"23500.0000"`, "23500.0000", "currencies without minor units carry zeros too"},
		{`"0.00"`, `"0.00"`, "0.00", "zero is an amount"},
		{`150`, `"150"`, "150", "a number is read, and written as a string"},
		{`76.10`, `"76.10"`, "76.10", "a binary fraction would drop the last zero"},
		{`9007199254740993.01`, `"9007199254740993.01"`, "9007199254740993.01", "more digits than a binary fraction holds"},
		{`-1.5e3`, `"-1.5e3"`, "-1.5e3", "an exponent is kept as it came"},
		{`"soon"`, `"soon"`, "soon", "only Decimal judges the text"},
		{`"\u0031\u0035"`, `"15"`, "15", "escapes are resolved"},
		{`""`, `null`, "", "no text is no amount"},
		{`null`, `null`, "", "null is no amount"},
	} {
		a := Amount("stale")
		require.NoError(t, json.Unmarshal([]byte(tc.in), &a), tc.why)
		assert.Equal(t, tc.want, a, tc.why)
		assert.Equal(t, string(tc.want), a.String(), tc.why)
		wire, err := json.Marshal(a)
		require.NoError(t, err, tc.why)
		assert.Equal(t, tc.wire, string(wire), tc.why)
	}
}

func TestAmountRefusesOtherKindsAndIsAbsentThen(t *testing.T) {
	for in, message := range map[string]string{
		`true`:           "decode amount: want a string or a number, got a boolean",
		`{"amount":"1"}`: "decode amount: want a string or a number, got an object",
		`["1"]`:          "decode amount: want a string or a number, got an array",
	} {
		a := Amount("stale")
		require.EqualError(t, json.Unmarshal([]byte(in), &a), message)
		assert.Empty(t, a, in)
	}
}

func TestAmountUnmarshalJSONSurvivesWhatIsNoJSON(t *testing.T) {
	for _, in := range []string{"", `"`, `"a`, "nul", "1x", "-", " 1", "1 ", "+1", "x"} {
		a := Amount("stale")
		require.Error(t, a.UnmarshalJSON([]byte(in)), "%q", in)
		assert.Empty(t, a, "%q", in)
	}
}

func TestAbsentAmountIsOmittedAndZeroIsNot(t *testing.T) {
	type price struct {
		Ask Amount `json:"ask,omitzero"`
		Bid Amount `json:"bid,omitzero"`
	}
	wire, err := json.Marshal(price{Ask: "0.00"})
	require.NoError(t, err)
	assert.JSONEq(t, `{"ask":"0.00"}`, string(wire))
}

func TestAmountDecimalIsExactOrAnError(t *testing.T) {
	for _, tc := range []struct {
		in   Amount
		want string
		why  string
	}{
		{"150", "150", "whole"},
		{"76.0000", "76.0000", "the scale is kept"},
		{"-12.50", "-12.50", "deductions are negative"},
		{"1.5e3", "1500", "exponents are numbers"},
		{"99999999999999999.99", "99999999999999999.99", "19 digits fit"},
		{"5.0000000000000000000000000", "5.000000000000000000", "zeros that do not fit lose no value"},
	} {
		d, err := tc.in.Decimal()
		require.NoError(t, err, tc.why)
		assert.Equal(t, tc.want, d.String(), tc.why)
	}
	for _, tc := range []struct {
		in       Amount
		mentions string
		why      string
	}{
		{"soon", `read "soon" as a decimal number`, "words are no number"},
		{"1,50", `read "1,50" as a decimal number`, "a decimal comma is no number"},
		{" 1", `read " 1" as a decimal number`, "white space is no number"},
		{"0x10", `read "0x10" as a decimal number`, "hexadecimal is no decimal"},
		{"1e99", `read "1e99" as a decimal number`, "it is beyond a decimal's range"},
		{"1e-25", "more than 19 significant digits", "it would be rounded to zero"},
		{"0.12345678901234567890123", "more than 19 significant digits", "it would be rounded"},
		{"1e999999999", `read "1e999999999" as a decimal number`, "a huge exponent costs nothing"},
	} {
		_, err := tc.in.Decimal()
		require.ErrorContains(t, err, tc.mentions, tc.why)
		require.NotErrorIs(t, err, ErrAbsent, tc.why)
	}
	_, err := Amount("").Decimal()
	require.ErrorIs(t, err, ErrAbsent)
}

func TestAmountErrorsQuoteAtMostFortyBytes(t *testing.T) {
	_, err := Amount(strings.Repeat("9", 100_000)).Decimal()
	require.Error(t, err)
	assert.LessOrEqual(t, strings.Count(err.Error(), "9"), 42)
	assert.Less(t, len(err.Error()), 200)
}

func TestAmountsAreEqualByValue(t *testing.T) {
	for _, tc := range []struct {
		a, b Amount
		want bool
		why  string
	}{
		{"76", "76.0000", true, "zeros after the point add nothing"},
		{"1e2", "100.00", true, "notation adds nothing"},
		{"76", "76.01", false, "a cent is a cent"},
		{"", "", true, "both are absent"},
		{"", "0", false, "absent is not zero"},
		{"soon", "soon", true, "what is no number is compared by text"},
		{"soon", "later", false, "what is no number is compared by text"},
		{"soon", "1", false, "what is no number equals no number"},
		{"0.12345678901234567890123", "0.12345678901234567890124", false, "rounding must not make them equal"},
	} {
		assert.Equal(t, tc.want, tc.a.Equal(tc.b), tc.why)
		assert.Equal(t, tc.want, tc.b.Equal(tc.a), tc.why)
	}
}

func TestAmountOfKeepsTheScale(t *testing.T) {
	assert.Equal(t, Amount("150.00"), AmountOf(decimal.MustParse("150.00")))
	assert.Equal(t, Amount("0"), AmountOf(decimal.Zero), "a zero decimal is an amount of zero, not an absent one")
}

func FuzzAmount(f *testing.F) {
	for _, seed := range []string{`"76.0000"`, `0.00`, `null`, `""`, `"1e-25"`, `{}`, `"\ud800"`, `-`, `1e999999999`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var a, again Amount
		if err := a.UnmarshalJSON(data); err != nil {
			require.Empty(t, a)
			require.Less(t, len(err.Error()), 300)
			return
		}
		require.True(t, json.Valid(data), "only JSON is read")
		wire, err := json.Marshal(a)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(wire, &again))
		require.Equal(t, a, again)
		if d, err := a.Decimal(); err == nil {
			require.True(t, a.Equal(AmountOf(d)), "a decimal has the value of its text")
		} else {
			require.Less(t, len(err.Error()), 400)
		}
	})
}
