package specgen

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// oddTexts are unexpected texts: empty, dots, slashes, control characters, invalid UTF-8, the
// syntax of other languages, and texts that look like what is expected.
var oddTexts = []string{
	"", ".", "..", "/", "a/b", "../../etc/passwd", "%2e%2e", "%", "%00", "\x00", "\x1b[31m", "\r\nX: y", "\ufeff", "\xff\xfe",
	"ünï\u202ecødé", "😀", "' OR 1=1 --", `"; DROP TABLE listings; --`, "null", "undefined", "NaN", "true", "0", "-1", "1e400",
	"active", "history", "DZ5485-612", "00000000-0000-0000-0000-000000000000", "98E2E748-8000-45BF-A624-5531D6A68318",
	"98e2e748-8000-45bf-a624-5531d6a68318", "{98e2e748-8000-45bf-a624-5531d6a68318}", "9999-12-31", "2026-02-30", "0000-00-00",
	"9999-12-31T23:59:59.999999999Z", "0001-01-01T00:00:00Z", "-5", "0.00", "1,5", "١٢٣", ",", ",,,", "a,b,,c", "usd", "USD ", "EUR", "ACTIVE",
	`"`, `""`, `"*"`, "*", "a* OR b", "NEAR(", "(", "036000291452", "036000291453", "YmVmb3JlOjE", "YmVmb3JlOi0x",
}

// oddNumbers are near the limits of number types, or beyond them.
var oddNumbers = []string{
	"0", "-1", "-0", "0.5", "1.5", "2.0", "1e2", "1e-400", "1e400", "-1e400", "101", "10001", "2147483647", "2147483648",
	"9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "99999999999999999999999999",
	"0.1000000000000000000000000000000000000000000000001",
}

// oddText returns an unlikely text.
func (g *Generator) oddText() string {
	switch g.Choices.IntN(16) {
	case 14:
		return strings.Repeat(choose(g, []string{"x", "9", "é", "\x00", "%", ","}), 1+g.Choices.IntN(3000))
	case 15:
		return choose(g, oddNumbers)
	}
	return choose(g, oddTexts)
}

// oddParameter returns an unlikely value, often a number for a number.
func (g *Generator) oddParameter(p *openapi3.Parameter) string {
	if t := merged(p.Schema.Value).Type; (t.Is(openapi3.TypeInteger) || t.Is(openapi3.TypeNumber)) && !g.oneIn(3) {
		return choose(g, oddNumbers)
	}
	return g.oddText()
}

// oddValue returns any value, which may be valid by accident.
func (g *Generator) oddValue(name string, s *openapi3.Schema) any {
	switch g.Choices.IntN(8) {
	case 0:
		return nil
	case 1:
		return json.RawMessage(choose(g, oddNumbers))
	case 2:
		return g.Choices.IntN(2) == 0
	case 3:
		return []any{g.oddText()}
	case 4:
		return map[string]any{name: g.oddText()}
	case 5:
		if s.Type.Is(openapi3.TypeString) {
			return g.text(name, s)
		}
		return nested(1 + g.Choices.IntN(60))
	}
	return g.oddText()
}

// otherCase changes the case of the first letter, which encoding/json takes for the same name.
func otherCase(name string) string {
	if upper := strings.ToUpper(name[:1]); upper != name[:1] {
		return upper + name[1:]
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// nested returns arrays in arrays.
func nested(depth int) any {
	return json.RawMessage(strings.Repeat("[", depth) + strings.Repeat("]", depth))
}

// addBody adds the body of the operation, or sometimes one that it does not have.
func (g *Generator) addBody(r *Request, op Operation) {
	if op.body == nil {
		if g.goWrong() {
			r.ContentType, r.Body = g.contentType(), []byte(g.oddText())
		}
		return
	}
	r.ContentType = "application/json"
	text, err := json.Marshal(g.value("", op.body, nil))
	if err != nil {
		text = []byte("null") // does not happen: all values are JSON
	}
	r.Body = text
	if g.goWrong() {
		r.Body = g.breakBody(text)
	}
	if g.goWrong() {
		r.ContentType = g.contentType()
	}
}

func (g *Generator) contentType() string {
	return choose(g, []string{
		"", "text/plain", "application/xml", "application/json; charset=utf-8", "application/json; charset=utf-16", "APPLICATION/JSON",
		"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/problem+json", ";", "application/json, text/plain", "*/*",
	})
}

// breakBody damages a body as networks, proxies and people do.
func (g *Generator) breakBody(text []byte) []byte {
	at := g.Choices.IntN(len(text) + 1)
	switch g.Choices.IntN(9) {
	case 0:
		return nil
	case 1:
		return []byte{}
	case 2: // truncated
		return text[:at]
	case 3: // with an insertion
		return append(append(bytes.Clone(text[:at]), g.oddText()...), text[at:]...)
	case 4: // two values
		return append(bytes.Clone(text), text...)
	case 5: // a duplicate member
		return bytes.Replace(text, []byte("{"), []byte(`{"items":[],"amount":"1","amount":null,`), 1)
	case 6:
		return []byte(strings.Repeat(choose(g, []string{"[", `{"items":`, `{"items":[`, `[{"a":`}), 1+g.Choices.IntN(20_000)))
	case 7: // too long
		return append(bytes.Clone(text), bytes.Repeat([]byte(" "), 1<<20)...)
	}
	return []byte(choose(g, []string{"null", "true", "1", `"x"`, "[]", "{}", "\xef\xbb\xbf{}", "a=b", "<a/>", "{'a':1}", "\x00"}))
}
