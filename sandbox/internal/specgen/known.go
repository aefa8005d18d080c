package specgen

import (
	"net/url"
	"slices"
	"strings"
)

// maxThings is the most things that Known has of a name.
const maxThings = 256

// aliases are members of responses whose values go into parameters of another name.
var aliases = map[string]string{"identifier": "gtin", "nextCursor": "cursor"}

// Known has ids from responses for the use of requests, together with ids they belong with, such as
// those of a listing and its operation. Without it, requests fail at the first look-up.
type Known struct {
	base   string
	paths  [][]string // the segments of every path of the document
	names  map[string]bool
	things map[string][]thing // by each of their names
	seen   map[string]int     // number of things learned, by name
}

// thing has values that belong together, by name.
type thing map[string]string

// NewKnown returns a Known without ids. base is the path that operations are served under.
func NewKnown(s *Spec, base string) *Known {
	k := &Known{base: base, names: map[string]bool{"cursor": true}, things: map[string][]thing{}, seen: map[string]int{}}
	for _, op := range s.operations {
		k.paths = append(k.paths, segments(op.Path))
		for _, p := range op.parameters {
			if p.In == "path" {
				k.names[p.Name] = true
			}
		}
	}
	return k
}

// Clone returns an independent copy.
func (k *Known) Clone() *Known {
	c := *k
	c.things, c.seen = map[string][]thing{}, map[string]int{}
	for name, things := range k.things {
		c.things[name] = slices.Clone(things)
		c.seen[name] = k.seen[name]
	}
	return &c
}

// Learn adds the ids in a response and in its links. The response is JSON as encoding/json decodes
// it into an any.
func (k *Known) Learn(response any) {
	switch v := response.(type) {
	case map[string]any:
		t := thing{}
		for name, value := range v {
			text, ok := value.(string)
			if alias, found := aliases[name]; found {
				name = alias
			}
			if ok && text != "" && k.names[name] {
				t[name] = text
			}
		}
		k.add(t)
		for _, name := range sorted(v) {
			k.Learn(v[name])
		}
	case []any:
		for _, element := range v {
			k.Learn(element)
		}
	case string:
		k.follow(v)
	}
}

// follow learns from a link.
func (k *Known) follow(link string) {
	u, err := url.Parse(link)
	if err != nil || !strings.HasPrefix(u.Path, k.base+"/") {
		return
	}
	parts := segments(strings.TrimPrefix(u.EscapedPath(), k.base))
	for _, path := range k.paths {
		if t, ok := match(path, parts); ok {
			k.add(t)
		}
	}
}

func match(path, parts []string) (thing, bool) {
	if len(path) != len(parts) {
		return nil, false
	}
	t := thing{}
	for i, segment := range path {
		if name, ok := parameter(segment); ok {
			value, err := url.PathUnescape(parts[i])
			if err != nil {
				return nil, false
			}
			t[name] = value
		} else if segment != parts[i] {
			return nil, false
		}
	}
	return t, true
}

func (k *Known) add(t thing) {
	for name := range t {
		same := func(other thing) bool { return equal(t, other) }
		switch things := k.things[name]; {
		case slices.ContainsFunc(things, same):
		case len(things) < maxThings:
			k.things[name] = append(things, t)
			k.seen[name]++
		default: // replace the oldest
			things[k.seen[name]%maxThings] = t
			k.seen[name]++
		}
	}
}

// pick chooses a thing that has all of the names, or nil.
func (k *Known) pick(c Choices, names ...string) thing {
	if len(names) == 0 {
		return nil
	}
	var fit []thing
	for _, t := range k.things[names[0]] {
		if !slices.ContainsFunc(names, func(name string) bool { return t[name] == "" }) {
			fit = append(fit, t)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return fit[c.IntN(len(fit))]
}

// value chooses a value for a name. For a plural it joins a few of them with commas.
func (k *Known) value(c Choices, name string) (string, bool) {
	if t := k.pick(c, name); t != nil {
		return t[name], true
	}
	one, plural := strings.CutSuffix(name, "s")
	if !plural || len(k.things[one]) == 0 {
		return "", false
	}
	var values []string
	for range 1 + c.IntN(3) {
		values = append(values, k.pick(c, one)[one])
	}
	return strings.Join(values, ","), true
}
