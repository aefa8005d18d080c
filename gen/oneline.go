package gen

import (
	"strings"
	"unicode"
)

// OneLine makes one short line of text from outside.
func OneLine(text string) string {
	const most = 300
	blank := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), blank), " ")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
