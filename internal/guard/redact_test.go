package guard_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/internal/guard"
)

const (
	key   = `key/9f+2c==&51d0<'"\`
	token = `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzZWxsZXIifQ.c2ln/b2Y+dGhl_c2V-sbGVyu`
)

// jsonEscape returns the content of a JSON string.
func jsonEscape(t *testing.T, text string) string {
	t.Helper()
	data, err := json.Marshal(text)
	require.NoError(t, err)
	return string(data[1 : len(data)-1])
}

func TestRedact_ReplacesEscapedSecrets(t *testing.T) {
	for _, secret := range []string{key, token} {
		for form, escaped := range map[string]string{
			"literal":                        secret,
			"URL query":                      url.QueryEscape(secret),
			"URL path":                       url.PathEscape(secret),
			"URL, lower-case digits":         lowerEscapes(secret),
			"URL, every byte":                escapeBytes(secret, "%%%02X"),
			"JSON":                           jsonEscape(t, secret),
			"JSON, escaped slashes":          strings.ReplaceAll(jsonEscape(t, secret), "/", `\/`),
			"JSON, every byte":               escapeBytes(secret, `\u%04x`),
			"JSON, every byte in upper case": escapeBytes(secret, `\u%04X`),
		} {
			got := guard.Redact("before "+escaped+" after "+escaped+escaped, token, key)
			assert.Equal(t, "before [redacted] after [redacted][redacted]", got, form)
		}
	}
	assert.Equal(t, "a [redacted]", guard.Redact("a 100%25%2Fh", "100%25%2Fh"), "the secret itself looks escaped")
}

func lowerEscapes(text string) string {
	return strings.NewReplacer("%2F", "%2f", "%2B", "%2b", "%3D", "%3d").Replace(url.QueryEscape(text))
}

func escapeBytes(text, format string) string {
	var out strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&out, format, text[i])
	}
	return out.String()
}

func TestRedact_IgnoresShortSecrets(t *testing.T) {
	assert.Equal(t, "seven77 eight88", guard.Redact("seven77 eight88", "seven77", ""))
	assert.Equal(t, "seven77 [redacted]", guard.Redact("seven77 eight888", "seven77", "eight888"))
}

func TestRedact_LeavesOtherText(t *testing.T) {
	for _, text := range []string{"", "no secret", "\xff%2f\\u00", "%", `\`, "key/9f", "KEY/9F+2C==", token[1:]} {
		assert.Equal(t, text, guard.Redact(text, key, token))
	}
}

func TestRedact_ReplacesSecretCutOffByEnd(t *testing.T) {
	for n := 8; n < len(token); n++ {
		assert.Equal(t, "body [redacted]", guard.Redact("body "+token[:n], key, token))
	}
	assert.Equal(t, "body "+token[:7], guard.Redact("body "+token[:7], key, token))
	assert.Equal(t, token[:9]+" body", guard.Redact(token[:9]+" body", key, token), "only the end cuts a secret off")
}

func TestRedact_KeepsItsMarker(t *testing.T) {
	for _, tc := range []struct {
		secrets    []string
		text, want string
		why        string
	}{
		{[]string{token, "redacted"}, "a " + token + " redacted", "a [redacted] [redacted]", "the second secret is part of the marker"},
		{[]string{"[redacted"}, "a [redacted] [redacted", "a [redacted] [redacted]", "the marker begins like the secret"},
		{[]string{"redacted]"}, "a [redacted] redacted]", "a [redacted] [redacted]", "the marker ends like the secret"},
		{[]string{"[redacted]"}, "a [redacted]", "a [redacted]", "the secret is the marker"},
		{[]string{"[redacted]-123"}, "a [redacted]-123 [redacted]", "a [redacted] [redacted]", "the secret begins with the marker"},
		{[]string{"123-[redacted]-123"}, "a 123-[redacted]-123", "a [redacted]", "the secret contains the marker"},
		{[]string{"123-[redac"}, "a 123-[redacted] 123-[redac", "a [redacted] [redacted]", "the secret ends within the marker"},
	} {
		text := tc.text
		for range 3 {
			text = guard.Redact(text, tc.secrets...)
			assert.Equal(t, tc.want, text, tc.why)
		}
	}
}

// FuzzRedact checks that no secret remains, escaped or not, and that redacting again never makes
// the text longer.
func FuzzRedact(f *testing.F) {
	f.Add("a%2fb&amp;", "b&345678")
	f.Add(`\u0061bcdefgh`, "abcdefgh")
	f.Add("[redacted]", "redacted")
	f.Add("ab", "ab[redact")
	f.Fuzz(func(t *testing.T, text, secret string) {
		if len(text)+len(secret) > 1000 {
			return
		}
		text += secret + text + url.QueryEscape(secret) + text
		once := guard.Redact(text, secret)
		require.LessOrEqual(t, len(guard.Redact(once, secret)), len(once), "%q in %q", secret, text)
		if len(secret) >= 8 && !strings.ContainsAny(secret, "[redact]+ ") {
			require.NotContains(t, once, secret)
			require.NotContains(t, once, url.QueryEscape(secret))
		}
	})
}
