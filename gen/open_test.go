package gen_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestOpenObjects_KeepEveryMember(t *testing.T) {
	const big = "14226361841571254273"
	for _, tc := range []struct{ changes, why string }{
		{`{"additions":{"active":true,"amount":"76","currencyCode":"USD","ask":{"askId":` + big + `}}}`, "terms directly inside"},
		{`{"additions":{"askData":{"amount":"76"},"-":1,"":2}}`, "names that are no fields"},
		{`{"updates":{"updatedAt":"2026-11-02T09:14:07.120Z","amount":{"from":"76.0000","to":"77"}}}`, "updates"},
		{`{"removals":{"ask":{"askId":` + big + `}}}`, "removals, and a number beyond 2^63"},
	} {
		body := `{"listingId":"l1","operationId":"o1","operationType":"UPDATE","operationStatus":"PENDING","changes":` + tc.changes + `}`
		var op gen.ListingOperation
		decoded, err := gen.Decode(t.Context(), []byte(body), &op)
		require.NoError(t, err, tc.why)
		assert.Empty(t, decoded.Warnings, tc.why)

		text, err := json.Marshal(op.Changes)

		require.NoError(t, err, tc.why)
		assert.JSONEq(t, tc.changes, string(text), tc.why)
		for name, object := range map[string]gen.OpenMembers{
			"additions": op.Changes.Additions.Members, "updates": op.Changes.Updates.Members, "removals": op.Changes.Removals,
		} {
			var all map[string]map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(tc.changes), &all))
			assert.Len(t, object, len(all[name]), "%s: %s", tc.why, name)
			for member, raw := range all[name] {
				assert.Equal(t, string(raw), string(object[member]), "%s: %s, as it was sent", tc.why, member)
			}
		}
	}
}

func TestOpenObjects_KeepMembersBesideOneOfTheWrongKind(t *testing.T) {
	var op gen.ListingOperation
	decoded, err := gen.Decode(t.Context(), []byte(
		`{"changes":{"additions":{"active":"yes","amount":"76","askData":{"amount":[],"currency":"USD"}},"updates":[]}}`), &op)

	require.NoError(t, err)
	assert.Equal(t, []string{
		"/changes/additions/active: a string, want bool",
		"/changes/additions/askData/amount: an array, want gen.Amount",
		"/changes/updates: an array, want gen.OperationUpdates",
	}, decoded.Warnings)
	additions := op.Changes.Additions
	assert.Nil(t, additions.Active)
	assert.Equal(t, "USD", additions.AskData.Currency)
	assert.Equal(t, `"yes"`, string(additions.Members["active"]), "the raw member is there")
	assert.Equal(t, `"76"`, string(additions.Members["amount"]))
	assert.Nil(t, op.Changes.Updates.Members)
}

func TestOpenObjects_FieldsPrecedeMembers(t *testing.T) {
	additions := gen.OperationAdditions{
		AskData: gen.AskData{Amount: "80"},
		Members: gen.OpenMembers{"askData": json.RawMessage(`{"amount":"76"}`), "ASKDATA": json.RawMessage(`{"amount":"77"}`), "amount": json.RawMessage(`"76"`)},
	}
	text, err := json.Marshal(additions)
	require.NoError(t, err)
	assert.JSONEq(t, `{"askData":{"amount":"80"},"ASKDATA":{"amount":"77"},"amount":"76"}`, string(text))
}
