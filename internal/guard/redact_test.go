package guard_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/internal/guard"
)

const (
	key   = "key/9f+2c==&51d0<'"
	token = `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzZWxsZXIifQ.c2ln/b2Y+dGhl_c2V-sbGVyu`
)

func TestRedactKnowsTheWaysToWriteASecret(t *testing.T) {
	for what, write := range map[string]func(string) string{
		"as it is":               func(s string) string { return s },
		"escaped for a query":    url.QueryEscape,
		"escaped for a path":     url.PathEscape,
		"with small hex digits":  func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "%2F", "%2f") },
		"escaped more than need": everyByte("%", "%02X"),
		"in JSON": func(s string) string {
			data, err := json.Marshal(s)
			require.NoError(t, err)
			return string(data)
		},
		"with escaped slashes":      func(s string) string { return strings.ReplaceAll(s, "/", `\/`) },
		"quoted once more":          func(s string) string { return strings.ReplaceAll(s, "/", `\\/`) },
		"in unicode escapes":        everyByte(`\u`, "%04x"),
		"in HTML":                   html.EscapeString,
		"in character references":   everyByte("&#x", "%x;"),
		"in base64":                 func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"in base64 of a header":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte("Bearer " + s + "\r\n")) },
		"in base64 of a pair":       func(s string) string { return base64.URLEncoding.EncodeToString([]byte("me:" + s + ":too")) },
		"in base64 at another byte": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("12345" + s)) },
	} {
		for _, secret := range []string{key, token} {
			text := "before " + write(secret) + " after"
			got := guard.Redact(text, key, token)
			assert.Contains(t, got, "[redacted]", "%s: %s", what, got)
			assert.Less(t, len(got), len("before \"[redacted]\" after")+26, "%s: %s", what, got)
			assert.True(t, strings.HasPrefix(got, "before ") && strings.HasSuffix(got, " after"), got)
		}
	}
}

func everyByte(prefix, format string) func(string) string {
	return func(s string) string {
		var text strings.Builder
		for i := range len(s) {
			text.WriteString(prefix + fmt.Sprintf(format, s[i]))
		}
		return text.String()
	}
}

func TestRedactLeavesTheRestAsItIs(t *testing.T) {
	for _, text := range []string{"", "no secret", "\xff%2f\\u00", "&amp", "%", `\`, "key/9f", strings.Repeat("&#x6b;", 3)} {
		assert.Equal(t, text, guard.Redact(text, key, token, ""))
	}
	assert.Equal(t, "a [redacted]b[redacted]", guard.Redact("a xyb%78y", "xy"))
}

func TestRedactFindsASecretThatTheEndCutsOff(t *testing.T) {
	for n := 10; n < len(token); n++ {
		assert.Equal(t, "body [redacted]", guard.Redact("body "+token[:n], key, token))
	}
	assert.Equal(t, "body eyJ", guard.Redact("body eyJ", key, token), "three letters tell nothing")
}

func FuzzRedact(f *testing.F) {
	f.Add("a%2fb&amp;", "b&")
	f.Add(`\u0061`, "a")
	f.Fuzz(func(t *testing.T, text, secret string) {
		got := guard.Redact(text, secret)
		if secret != "" && !strings.Contains("[redacted]", secret) && strings.Trim(secret, "[]redact") == secret {
			assert.NotContains(t, got, secret)
		}
	})
}
