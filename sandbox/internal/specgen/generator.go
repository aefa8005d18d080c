package specgen

import (
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Generator makes requests. It is not safe for concurrent use.
type Generator struct {
	Known   *Known
	Choices Choices
	// Base is the path that the operations are served under.
	Base string

	// wrong is how many decisions out of sixteen go wrong in the request that is
	// being made.
	wrong int
}

// Request makes a request for an operation. About half of what is made at random
// fits the document.
func (g *Generator) Request(op Operation) Request {
	g.wrong = [...]int{0, 0, 1, 5}[g.Choices.IntN(4)]
	r := Request{Operation: op.ID, Method: op.Method, Fit: g.wrong == 0}
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

// oneIn is true once in n times, and never if the choices are plain.
func (g *Generator) oneIn(n int) bool { return g.Choices.IntN(n) == n-1 }

// goWrong decides whether the next part is wrong.
func (g *Generator) goWrong() bool { return g.wrong > 0 && g.Choices.IntN(16) >= 16-g.wrong }

func choose[T any](g *Generator, from []T) T { return from[g.Choices.IntN(len(from))] }

// path fills the parameters of a path in, with values that go together if there
// are any.
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

// segment makes a value for a path parameter by itself.
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

// escapeSegment escapes all but the segments of dots, which are to be sent as
// they are.
func escapeSegment(value string) string {
	if value == "." || value == ".." {
		return value
	}
	return url.PathEscape(value)
}

// query chooses some of the parameters, and makes some more of them if it goes
// wrong.
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
