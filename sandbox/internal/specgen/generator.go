package specgen

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Generator generates requests. It is not safe for concurrent use.
type Generator struct {
	Known   *Known
	Choices Choices
	// Base is the path that operations are served under.
	Base string

	// wrong is how many decisions in sixteen make the current request wrong.
	wrong int
}

// Request generates a request for an operation. About half of the random ones are valid.
func (g *Generator) Request(op Operation) Request {
	g.wrong = [...]int{0, 0, 1, 5}[g.Choices.IntN(4)]
	r := Request{Operation: op.ID, Method: op.Method, Valid: g.wrong == 0}
	r.Path = g.Base + g.path(op)
	r.Query = g.query(op)
	g.addBody(&r, op)
	if g.goWrong() && g.oneIn(2) {
		r.Method = choose(g, []string{"GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "SELL"})
	}
	if g.wrong > 0 && g.oneIn(16) {
		r.Omit = [...]string{"Authorization", "x-api-key"}[g.Choices.IntN(2)]
	}
	return r
}

// oneIn is true once in n times, and never for plain choices.
func (g *Generator) oneIn(n int) bool { return g.Choices.IntN(n) == n-1 }

// goWrong decides whether to make the next part wrong.
func (g *Generator) goWrong() bool { return g.wrong > 0 && g.Choices.IntN(16) >= 16-g.wrong }

func choose[T any](g *Generator, from []T) T { return from[g.Choices.IntN(len(from))] }

// path fills in the parameters of a path, with values that belong together if there are any.
func (g *Generator) path(op Operation) string {
	var names []string
	for _, segment := range segments(op.Path) {
		if name, ok := parameter(segment); ok {
			names = append(names, name)
		}
	}
	together := g.Known.pick(g.Choices, names...)
	var b strings.Builder
	for _, segment := range segments(op.Path) {
		b.WriteByte('/')
		name, ok := parameter(segment)
		switch value := together[name]; {
		case !ok:
			b.WriteString(segment)
		case g.goWrong():
			b.WriteString(escapeSegment(g.oddText()))
		case value != "":
			b.WriteString(escapeSegment(value))
		default:
			b.WriteString(escapeSegment(g.segment(op, name)))
		}
	}
	return b.String()
}

// segment generates a value for one path parameter.
func (g *Generator) segment(op Operation, name string) string {
	for _, p := range op.parameters {
		if p.In != openapi3.ParameterInPath || p.Name != name {
			continue
		}
		if example, ok := p.Example.(string); ok {
			return example
		}
		return g.text(name, p.Schema.Value)
	}
	return name
}

// escapeSegment escapes a segment, but not one of dots.
func escapeSegment(value string) string {
	if value == "." || value == ".." {
		return value
	}
	return url.PathEscape(value)
}

// query generates some of the parameters, and more of them if the request is wrong.
func (g *Generator) query(op Operation) string {
	var pairs []string
	add := func(name, value string) {
		pairs = append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(value))
	}
	for _, p := range op.parameters {
		switch {
		case p.In != openapi3.ParameterInQuery:
		case g.goWrong():
			add(p.Name, g.oddParameter(p))
			if g.oneIn(3) {
				add(p.Name, g.oddParameter(p))
			}
		case p.Required || g.oneIn(3):
			add(p.Name, g.parameterText(p))
			if g.goWrong() {
				add(p.Name, g.parameterText(p))
			}
		}
	}
	if g.goWrong() {
		pairs = append(pairs, choose(g, []string{"unknown=1", "=", "&&&", "%zz=%zz", "pageSize;pageNumber", "x[]=1&x[a]=2", "%00=%00"}))
	}
	return strings.Join(pairs, "&")
}

// Request is a request as text, which a failure can print and a test can send twice.
type Request struct {
	Operation   string // id of the operation it was generated for
	Method      string
	Path        string // escaped, with the base path
	Query       string // may be invalid
	ContentType string // no header if empty
	Body        []byte // no body if nil
	Omit        string // a header to leave out; none if empty
	Valid       bool   // whether it was generated to be valid
}

// HTTP returns the request as a server passes it to a handler, with the headers but for Omit. It
// fails only if the method is invalid.
func (r Request) HTTP(ctx context.Context, header http.Header) (*http.Request, error) {
	h, err := http.NewRequestWithContext(ctx, r.Method, "/", bytes.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	path, err := url.PathUnescape(r.Path)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	h.URL = &url.URL{Path: path, RawPath: r.Path, RawQuery: r.Query}
	h.RequestURI = h.URL.RequestURI()
	h.Host = "sandbox.example"
	h.Header = header.Clone()
	if r.ContentType != "" {
		h.Header.Set("Content-Type", r.ContentType)
	}
	if r.Omit != "" {
		h.Header.Del(r.Omit)
	}
	return h, nil
}

// String formats the request, truncated if it is long.
func (r Request) String() string {
	body := r.Body
	if len(body) > 2000 {
		body = append(body[:2000:2000], "..."...)
	}
	return fmt.Sprintf("%s: %s %.2000s?%.2000s (Content-Type %q, without %q) %q",
		r.Operation, r.Method, r.Path, r.Query, r.ContentType, r.Omit, body)
}
