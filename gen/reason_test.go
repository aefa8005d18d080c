package gen_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestReasonReadsTheFormsOfTheService(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want gen.Reason
		why  string
	}{
		{`"The listing was sold."`, "The listing was sold.", "the documented form"},
		{`"L'annonce a été vendue ☂"`, "L'annonce a été vendue ☂", "prose is localised"},
		{`null`, "", "there was no error"},
		{`""`, "", "nothing to say"},
		{`{"message":"sold","code":7}`, "sold", "an object decodes to its message"},
		{`{"message":null}`, "", "an object whose message is null"},
		{`{}`, "", "an object without a message"},
	} {
		operation := gen.ListingOperation{Error: "stale"}
		require.NoError(t, json.Unmarshal([]byte(`{"error":`+tc.in+`}`), &operation), tc.why)
		assert.Equal(t, tc.want, operation.Error, tc.why)
	}
}

func TestReasonRefusesEverythingElse(t *testing.T) {
	for _, in := range []string{`7`, `true`, `["sold"]`, `{"message":7}`} {
		var reason gen.Reason
		require.ErrorContains(t, json.Unmarshal([]byte(in), &reason), "reason: want a string or an object with a message", in)
		assert.Empty(t, reason, in)
	}
}

func TestReasonIsWrittenAsAString(t *testing.T) {
	assert.Equal(t, "sold", members(t, gen.DeleteBatchItem{Error: "sold"})["error"])
	assert.NotContains(t, members(t, gen.DeleteBatchItem{}), "error", "no reason means no error")
}

func FuzzReason(f *testing.F) {
	for _, seed := range []string{`"sold"`, `null`, `{"message":"sold"}`, `{"message":{"message":"sold"}}`, `[]`, `7`, ``, `"\ud800"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var reason gen.Reason
		if err := reason.UnmarshalJSON(data); err != nil {
			assert.Empty(t, reason, "what cannot be read says nothing")
			return
		}
		text, err := json.Marshal(reason)
		require.NoError(t, err)
		var again gen.Reason
		require.NoError(t, json.Unmarshal(text, &again))
		assert.Equal(t, reason, again, "written once, it is the same when read again")
	})
}
