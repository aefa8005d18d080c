package guard

import (
	"encoding/base64"
	"fmt"
	"html"
	"strings"
)

// Redacted is what [Redact] puts in the place of a secret.
const Redacted = "[redacted]"

// telling is how much of a secret is too much, in characters.
const telling = 10

// Redact takes secrets out of text that came from outside and may repeat them: as they are, escaped as in JSON,
// HTML or a URL, and in base64, also as a part of something longer, or cut off by the end of the text. A secret that
// looks like an escape itself, such as "%25", is found as it is.
func Redact(text string, secrets ...string) string {
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		for _, form := range append(base64Forms(secret), secret) {
			text = strings.ReplaceAll(text, form, Redacted)
		}
		text = redactEscaped(text, secret)
	}
	return text
}

// base64Forms is what base64 makes of a secret, wherever in its text the secret begins: of the characters at
// the ends only those that depend on nothing else. Forms that could be there by chance are left out.
func base64Forms(secret string) []string {
	var forms []string
	for before := range 3 {
		whole := []byte(strings.Repeat("\x00", before) + secret)
		from, to := (before*8+5)/6, len(whole)*8/6
		if to-from < telling {
			continue
		}
		std := base64.RawStdEncoding.EncodeToString(whole)[from:to]
		forms = append(forms, std, strings.NewReplacer("+", "-", "/", "_").Replace(std))
	}
	return forms
}

// redactEscaped looks for the secret at every place, with any of its characters escaped, or its end missing.
func redactEscaped(text, secret string) string {
	var kept strings.Builder
	for i := 0; i < len(text); {
		if n := escapedPrefix(text[i:], secret); n > 0 {
			kept.WriteString(Redacted)
			i += n
			continue
		}
		kept.WriteByte(text[i])
		i++
	}
	return kept.String()
}

// escapedPrefix returns how many bytes of text write the secret, or all of it that fits; zero if they do not.
func escapedPrefix(text, secret string) (n int) {
	for i := range len(secret) {
		if n == len(text) && i >= telling {
			return n
		}
		size := escapedByte(text[n:], secret[i])
		if size == 0 {
			return 0
		}
		n += size
	}
	return n
}

// escapedByte returns how many bytes of text write the one byte c, zero if they do not.
func escapedByte(text string, c byte) int {
	if text == "" {
		return 0
	}
	switch text[0] {
	case '%':
		if len(text) >= 3 && strings.EqualFold(text[1:3], fmt.Sprintf("%02x", c)) {
			return 3
		}
	case '\\':
		n := 1
		for n < 4 && n < len(text) && text[n] == '\\' {
			n++ // of what is quoted once more
		}
		rest := text[n:]
		if len(rest) >= 5 && strings.EqualFold(rest[:5], fmt.Sprintf("u%04x", c)) {
			return n + 5
		}
		if rest != "" && rest[0] == c {
			return n + 1
		}
	case '&':
		end := strings.IndexByte(text[:min(len(text), 10)], ';') + 1
		if end > 0 && html.UnescapeString(text[:end]) == string(rune(c)) {
			return end
		}
	}
	if text[0] == c {
		return 1
	}
	return 0
}
