package guard

import (
	"fmt"
	"strings"
)

// Redacted is what [Redact] writes instead of a secret.
const Redacted = "[redacted]"

// minSecret is the length, in bytes, from which text is taken for a secret. Shorter ones occur by
// chance.
const minSecret = 8

// Redact replaces secrets in text from outside, which may repeat them: literal, URL-escaped or
// JSON-escaped, also where the end of text cuts one off after 8 bytes. It ignores secrets of less
// than 8 bytes. Text that was redacted before can be redacted again, whatever the secrets are: a
// marker in it is replaced by one marker.
func Redact(text string, secrets ...string) string {
	var out strings.Builder
	for text != "" {
		n := 0
		for _, secret := range secrets {
			n = max(n, matchSecret(text, secret))
		}
		n = includeMarker(text, n)
		if n == 0 {
			out.WriteByte(text[0])
			n = 1
		} else {
			out.WriteString(Redacted)
		}
		text = text[n:]
	}
	return out.String()
}

// includeMarker extends a match of n bytes at the beginning of text to the end of a marker that
// begins there or within the match, so that no part of a marker is left to be replaced once more.
func includeMarker(text string, n int) int {
	last := min(len(text), max(n, 1)+len(Redacted)-1)
	if i := strings.Index(text[:last], Redacted); i >= 0 {
		return max(n, i+len(Redacted))
	}
	return n
}

// matchSecret returns how many bytes at the beginning of text are the secret, zero if they are not.
func matchSecret(text, secret string) int {
	if len(secret) < minSecret {
		return 0
	}
	if strings.HasPrefix(text, secret) {
		return len(secret) // without unescaping, because the secret may look escaped, such as "%25"
	}
	n := 0
	for i := range len(secret) {
		if n == len(text) && i >= minSecret {
			return n
		}
		size := matchByte(text[n:], secret[i])
		if size == 0 {
			return 0
		}
		n += size
	}
	return n
}

// matchByte returns how many bytes at the beginning of text are c or an escape of c, zero if they
// are not.
func matchByte(text string, c byte) int {
	switch {
	case len(text) >= 3 && text[0] == '%' && strings.EqualFold(text[1:3], fmt.Sprintf("%02x", c)):
		return 3
	case len(text) >= 6 && text[0] == '\\' && strings.EqualFold(text[1:6], fmt.Sprintf("u%04x", c)):
		return 6
	case len(text) >= 2 && text[0] == '\\' && text[1] == c:
		return 2
	case text != "" && text[0] == c:
		return 1
	default:
		return 0
	}
}
