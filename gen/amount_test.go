package gen

import (
	"encoding/json"
	"testing"

	"github.com/govalues/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAmount_KeepsItsText(t *testing.T) {
	for _, tc := range []struct {
		in, out string
		want    Amount
		why     string
	}{
		{`"76.0000"`, `"76.0000"`, "76.0000", "trailing zeros are the service's own"},
		{`"23500.0000"`, `"23500.0000"`, "23500.0000", "currencies without minor units have zeros too"},
		{`"0.00"`, `"0.00"`, "0.00", "zero is an amount"},
		{`150`, `"150"`, "150", "a number is read, and marshalled as a string"},
		{`76.10`, `"76.10"`, "76.10", "a binary fraction would drop the last zero"},
		{`9007199254740993.01`, `"9007199254740993.01"`, "9007199254740993.01", "more digits than a binary fraction holds"},
		{`-1.5e3`, `"-1.5e3"`, "-1.5e3", "an exponent is kept"},
		{`"soon"`, `"soon"`, "soon", "only Decimal checks the text"},
		{`"\u0031\u0035"`, `"15"`, "15", "escapes are resolved"},
		{`""`, `null`, "", "an empty text is absent"},
		{`null`, `null`, "", "null is absent"},
	} {
		a := Amount("stale")
		require.NoError(t, json.Unmarshal([]byte(tc.in), &a), tc.why)
		assert.Equal(t, tc.want, a, tc.why)
		assert.Equal(t, string(tc.want), a.String(), tc.why)
		out, err := json.Marshal(a)
		require.NoError(t, err, tc.why)
		assert.Equal(t, tc.out, string(out), tc.why)
	}
}

func TestAmount_DecimalIsExactOrAnError(t *testing.T) {
	for _, tc := range []struct {
		in   Amount
		want string // Empty for an error.
		why  string
	}{
		{"150", "150", "whole"},
		{"76.0000", "76.0000", "the scale is kept"},
		{"-12.50", "-12.50", "deductions are negative"},
		{"1.5e3", "1500", "exponents are numbers"},
		{"99999999999999999.99", "99999999999999999.99", "19 digits fit"},
		{"5.0000000000000000000000000", "5.000000000000000000", "zeros that do not fit do not change the value"},

		{"soon", "", "a word is not a number"},
		{"1,50", "", "a decimal comma"},
		{" 1", "", "white space"},
		{"0x10", "", "hexadecimal"},
		{"1e99", "", "beyond the range of a decimal"},
		{"1e-25", "", "it would be rounded to zero"},
		{"0.12345678901234567890123", "", "it would be rounded"},
		{"1e999999999", "", "a huge exponent must not cost memory or time"},
	} {
		d, err := tc.in.Decimal()
		figure, figureErr := Figure(tc.in).Decimal()
		assert.Equal(t, d, figure, tc.why)
		if tc.want == "" {
			require.Error(t, err, tc.why)
			require.Error(t, figureErr, tc.why)
			require.NotErrorIs(t, err, ErrAbsent, tc.why)
			continue
		}
		require.NoError(t, err, tc.why)
		require.NoError(t, figureErr, tc.why)
		assert.Equal(t, tc.want, d.String(), tc.why)
	}
	_, err := Amount("").Decimal()
	require.ErrorIs(t, err, ErrAbsent)
	_, err = Figure("").Decimal()
	require.ErrorIs(t, err, ErrAbsent)
}

func TestAmount_EqualComparesValues(t *testing.T) {
	for _, tc := range []struct {
		a, b Amount
		want bool
		why  string
	}{
		{"76", "76.0000", true, "zeros after the point do not change the value"},
		{"1e2", "100.00", true, "nor does the notation"},
		{"76", "76.01", false, "a cent more"},
		{"5", "-5", false, "the sign"},
		{"", "", true, "both are absent"},
		{"", "0", false, "absent is not zero"},
		{"soon", "soon", true, "text that is not a number is compared as text"},
		{"soon", "later", false, "text that is not a number is compared as text"},
		{"soon", "1", false, "text that is not a number does not equal a number"},
		{"0.12345678901234567890123", "0.12345678901234567890124", false, "rounding must not make them equal"},
	} {
		assert.Equal(t, tc.want, tc.a.Equal(tc.b), tc.why)
		assert.Equal(t, tc.want, tc.b.Equal(tc.a), tc.why)
		assert.Equal(t, tc.want, Figure(tc.a).Equal(Figure(tc.b)), tc.why)
	}
}

func TestAmountOf_KeepsTheScale(t *testing.T) {
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
		out, err := json.Marshal(a)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(out, &again))
		require.Equal(t, a, again)
		if d, err := a.Decimal(); err == nil {
			require.True(t, a.Equal(AmountOf(d)), "a decimal has the value of its text")
		} else {
			require.Less(t, len(err.Error()), 400)
		}
	})
}

func TestFigure_KeepsItsNumber(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want Figure
		why  string
	}{
		{`-12.50`, "-12.50", "the last zero is kept"},
		{`"-12.50"`, "-12.50", "the service sends figures as strings too"},
		{`0.05`, "0.05", "a percentage is a fraction"},
		{`0.00`, "0.00", "zero is a figure"},
		{`9007199254740993.01`, "9007199254740993.01", "more digits than a binary fraction holds"},
		{`"1.5E+3"`, "1.5E+3", "an exponent is kept"},
		{`null`, "", "null is absent"},
	} {
		f := Figure("1")
		require.NoError(t, json.Unmarshal([]byte(tc.in), &f), tc.why)
		assert.Equal(t, tc.want, f, tc.why)
		assert.Equal(t, string(tc.want), f.String(), tc.why)
		out, err := json.Marshal(f)
		require.NoError(t, err, tc.why)
		if tc.want == "" {
			assert.Equal(t, `null`, string(out), tc.why)
			continue
		}
		assert.Equal(t, string(tc.want), string(out), tc.why)
	}
}

func TestFigure_RefusesTextThatIsNotAJSONNumber(t *testing.T) {
	for _, tc := range []struct{ text, why string }{
		{"soon", "a word"},
		{"+5", "JSON numbers have no plus sign"},
		{"05", "JSON numbers have no leading zeros"},
		{".5", "JSON numbers begin with a digit"},
		{"5.", "JSON numbers end with a digit"},
		{" 5", "white space"},
		{"5 ", "white space"},
		{"5\n", "white space"},
		{"NaN", "not a number"},
		{"1,2", "a decimal comma"},
		{"-", "a sign alone"},
		{`"5"`, "quotes"},
		{"{}", "an object"},
		{"1}", "a bracket behind a number"},
	} {
		data, err := json.Marshal(tc.text)
		require.NoError(t, err)
		f := Figure("1")
		require.Error(t, json.Unmarshal(data, &f), tc.why)
		assert.Empty(t, f, tc.why)

		_, err = Figure(tc.text).MarshalJSON()
		require.Error(t, err, "converted from text: %s", tc.why)
	}
	f := Figure("1")
	require.Error(t, json.Unmarshal([]byte(`""`), &f), "only null means absent")
	assert.Empty(t, f)
}

func TestFigureOf_CanAlwaysBeMarshalled(t *testing.T) {
	for _, text := range []string{"0", "-0.5", ".25", "1e3", "9999999999999999999", "0.0000000000000000001"} {
		f := FigureOf(decimal.MustParse(text))
		out, err := json.Marshal(f)
		require.NoError(t, err, text)
		assert.Equal(t, string(f), string(out), text)
		assert.True(t, f.Equal(Figure(text)), text)
	}
}

func FuzzFigure(f *testing.F) {
	for _, seed := range []string{`-12.50`, `"0.05"`, `null`, `"5 "`, `"+5"`, `"1}"`, `[]`, `-`, `1e999999999`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var fig, again Figure
		if err := fig.UnmarshalJSON(data); err != nil {
			require.Empty(t, fig)
			require.Less(t, len(err.Error()), 300)
			return
		}
		require.True(t, json.Valid(data), "only JSON is read")
		out, err := json.Marshal(fig)
		require.NoError(t, err, "a figure that was read can be marshalled")
		require.NoError(t, json.Unmarshal(out, &again))
		require.Equal(t, fig, again)
		if d, err := fig.Decimal(); err == nil {
			require.True(t, fig.Equal(FigureOf(d)), "a decimal has the value of its text")
		}
	})
}
