package gen

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/govalues/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFigureIsTheNumberItReads(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want Figure
		why  string
	}{
		{`-12.50`, "-12.50", "the last zero is kept"},
		{`"-12.50"`, "-12.50", "figures come as strings too"},
		{`0.05`, "0.05", "a percentage is a fraction"},
		{`0.00`, "0.00", "zero is a figure"},
		{`9007199254740993.01`, "9007199254740993.01", "more digits than a binary fraction holds"},
		{`"1.5E+3"`, "1.5E+3", "an exponent is kept as it came"},
		{`null`, "", "null is no figure"},
	} {
		f := Figure("1")
		require.NoError(t, json.Unmarshal([]byte(tc.in), &f), tc.why)
		assert.Equal(t, tc.want, f, tc.why)
		assert.Equal(t, string(tc.want), f.String(), tc.why)
		wire, err := json.Marshal(f)
		require.NoError(t, err, tc.why)
		if tc.want == "" {
			assert.Equal(t, `null`, string(wire), tc.why)
			continue
		}
		assert.Equal(t, string(tc.want), string(wire), tc.why)
	}
}

func TestFigureRefusesWhatCannotBeWrittenAsANumber(t *testing.T) {
	for _, tc := range []struct{ in, message, why string }{
		{`"soon"`, `decode figure: "soon" is not a number`, "words are no number"},
		{`""`, `decode figure: "" is not a number`, "only null says that there is none"},
		{`"+5"`, `decode figure: "+5" is not a number`, "JSON numbers have no plus sign"},
		{`"05"`, `decode figure: "05" is not a number`, "JSON numbers have no leading zeros"},
		{`".5"`, `decode figure: ".5" is not a number`, "JSON numbers begin with a digit"},
		{`"5."`, `decode figure: "5." is not a number`, "JSON numbers end with a digit"},
		{`" 5"`, `decode figure: " 5" is not a number`, "white space is no part of a number"},
		{`"5\n"`, `decode figure: "5\n" is not a number`, "white space is no part of a number"},
		{`"NaN"`, `decode figure: "NaN" is not a number`, "it says so itself"},
		{`"1,2"`, `decode figure: "1,2" is not a number`, "a decimal comma is no JSON"},
		{`false`, `decode figure: want a string or a number, got a boolean`, "wrong kind"},
		{`{}`, `decode figure: want a string or a number, got an object`, "wrong kind"},
		{`[1]`, `decode figure: want a string or a number, got an array`, "wrong kind"},
	} {
		f := Figure("1")
		require.EqualError(t, json.Unmarshal([]byte(tc.in), &f), tc.message, tc.why)
		assert.Empty(t, f, tc.why)
	}
}

func TestFigureErrorsQuoteAtMostFortyBytes(t *testing.T) {
	var f Figure
	err := f.UnmarshalJSON([]byte(`"` + strings.Repeat("x", 100_000) + `"`))
	require.EqualError(t, err, `decode figure: "`+strings.Repeat("x", 40)+`"… is not a number`)
}

func TestHandMadeFigureMustBeANumber(t *testing.T) {
	for _, f := range []Figure{"soon", "+5", "05", "5 ", `"5"`, "{}", "1}", "-"} {
		_, err := f.MarshalJSON()
		require.ErrorContains(t, err, "is not a JSON number", "%q", string(f))
		_, err = json.Marshal(f)
		require.Error(t, err, "%q", string(f))
	}
}

func TestAbsentFigureIsOmittedAndZeroIsNot(t *testing.T) {
	type payout struct {
		Total Figure `json:"total,omitzero"`
		Sale  Figure `json:"sale,omitzero"`
	}
	wire, err := json.Marshal(payout{Total: "0.00"})
	require.NoError(t, err)
	assert.Equal(t, `{"total":0.00}`, string(wire))
}

func TestFigureDecimalIsExactOrAnError(t *testing.T) {
	d, err := Figure("-12.50").Decimal()
	require.NoError(t, err)
	assert.Equal(t, "-12.50", d.String())

	_, err = Figure("").Decimal()
	require.ErrorIs(t, err, ErrAbsent)

	_, err = Figure("0.12345678901234567890123").Decimal()
	require.ErrorContains(t, err, "more than 19 significant digits")
}

func TestFiguresAreEqualByValue(t *testing.T) {
	assert.True(t, Figure("5").Equal("5.00"))
	assert.True(t, Figure("5e-2").Equal("0.05"))
	assert.True(t, Figure("").Equal(""))
	assert.False(t, Figure("").Equal("0"))
	assert.False(t, Figure("5").Equal("-5"))
}

func TestFigureOfCanAlwaysBeWritten(t *testing.T) {
	for _, text := range []string{"0", "-0.5", ".25", "1e3", "9999999999999999999", "0.0000000000000000001"} {
		f := FigureOf(decimal.MustParse(text))
		wire, err := json.Marshal(f)
		require.NoError(t, err, text)
		assert.Equal(t, string(f), string(wire), text)
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
		wire, err := json.Marshal(fig)
		require.NoError(t, err, "what was read can be written")
		require.NoError(t, json.Unmarshal(wire, &again))
		require.Equal(t, fig, again)
		if d, err := fig.Decimal(); err == nil {
			require.True(t, fig.Equal(FigureOf(d)), "a decimal has the value of its text")
		}
	})
}
