package client

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestErrorMessage_ReadsTheFormsOfErrorBodies(t *testing.T) {
	for _, tc := range []struct{ body, want, why string }{
		{`{"statusCode":400,"message":"no"}`, "no", "the documented form"},
		{`{"errorMessage":"no"}`, "no", "another member"},
		{`{"error":"no"}`, "no", "another member"},
		{`{"error":{"message":"no","code":7}}`, "no", "an object"},
		{`{"errors":["no",{"message":"never"}]}`, "no; never", "a list of both"},
		{`{"message":"no","errors":["never"]}`, "no; never", "two members"},
		{`{"message":7,"error":"no"}`, "no", "a member of the wrong kind does not hide another"},
		{`{"message":"no","errors":{"amount":["bad"]}}`, "no", "an object instead of the list"},
		{`{"errors":[7,null,"no"]}`, "no", "invalid elements of the list"},
		{`{"message":null}`, "", "null"},
		{`{"title":"Bad Request","detail":"no"}`, "Bad Request: no", "RFC 7807"},
		{`{"title":"Bad Request","message":"no"}`, "no", "a message says more than a title"},
		{`{"code":"Bad Request"}`, "", "unknown members"},
		{`[{"message":"no"}]`, "", "a list at the top"},
		{`<html>no</html>`, "", "the page of a gateway"},
		{`{"message":"no"`, "", "truncated JSON"},
		{``, "", "an empty body"},
	} {
		assert.Equal(t, tc.want, errorMessage([]byte(tc.body)), tc.why)
	}
}

func FuzzErrorMessage(f *testing.F) {
	for _, seed := range []string{
		`{"message":"no"}`, `{"errorMessage":"no"}`, `{"error":{"message":"no"}}`,
		`{"errors":["a",{"message":"b"},7]}`, `{"message":null,"errors":{}}`, `<html>`, ``, `[]`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		message := errorMessage(body)
		if !json.Valid(body) {
			assert.Empty(t, message, "only JSON has a message")
		}
		text, err := json.Marshal(map[string]string{"message": message})
		require.NoError(t, err)
		assert.Equal(t, strings.ToValidUTF8(message, "\uFFFD"), errorMessage(text), "the message is read again")
	})
}
