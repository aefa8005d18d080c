package gateway

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/routers"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/handlers"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// route leads to the handler of one operation.
type route struct {
	method   string
	path     string   // as the document writes it
	segments []string // of the whole path, with that of the base
	handler  http.HandlerFunc
}

// methods are those that operations may have, in the order of an Allow header.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// newRoutes orders routes by path, so that the first one that matches is the best: a literal
// segment comes before a parameter, since no literal begins with a character above the brace.
func newRoutes(base string, all handlers.Routes) []route {
	routes := make([]route, 0, len(all))
	for pattern, handler := range all {
		method, path, _ := strings.Cut(pattern, " ")
		routes = append(routes, route{method, path, strings.Split(base+path, "/"), handler})
	}
	slices.SortFunc(routes, func(a, b route) int {
		return cmp.Or(cmp.Compare(a.path, b.path), slices.Index(methods, a.method)-slices.Index(methods, b.method))
	})
	return routes
}

// find returns the route of a request and sets its path values. It refuses a path that no operation
// has with 404, and one whose operations have other methods with 405.
//
// This is the only place where a path is interpreted. Segments are compared decoded, each for
// itself: %61ctive is active, and a%2Fb is one segment.
func (g *Gateway) find(r *http.Request) (*route, *wire.Error) {
	sent, ok := split(r.URL)
	first := slices.IndexFunc(g.routes, func(o route) bool { return ok && o.match(sent) })
	if first < 0 {
		return nil, &wire.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("path (%.200q): not found", r.URL.Path)}
	}
	var allowed []string
	for i := first; i < len(g.routes) && g.routes[i].path == g.routes[first].path; i++ {
		if o := &g.routes[i]; o.method == r.Method {
			o.setPathValues(r, sent)
			return o, nil
		}
		allowed = append(allowed, g.routes[i].method)
	}
	return nil, notAllowed(r, strings.Join(allowed, ", "))
}

// notAllowed refuses the method of a request. allowed is the value of the Allow header.
func notAllowed(r *http.Request, allowed string) *wire.Error {
	return &wire.Error{
		Status: http.StatusMethodNotAllowed, Message: fmt.Sprintf("method (%.20s): not allowed", r.Method),
		Header: http.Header{"Allow": {allowed}},
	}
}

// split returns the decoded segments of a path. Paths are not cleaned: a path that would change
// matches no route.
func split(u *url.URL) ([]string, bool) {
	if path.Clean(u.Path) != u.Path {
		return nil, false
	}
	segments := strings.Split(u.EscapedPath(), "/")
	for i, s := range segments {
		decoded, err := url.PathUnescape(s)
		if err != nil {
			return nil, false
		}
		segments[i] = decoded
	}
	return segments, true
}

// match reports whether segments of a path are those of the route.
func (r *route) match(sent []string) bool {
	return slices.EqualFunc(r.segments, sent, func(own, sent string) bool {
		return own == sent || isParameter(own) && sent != ""
	})
}

func (r *route) setPathValues(request *http.Request, sent []string) {
	for i, own := range r.segments {
		if isParameter(own) {
			request.SetPathValue(strings.Trim(own, "{}"), sent[i])
		}
	}
}

func isParameter(segment string) bool { return strings.HasPrefix(segment, "{") }

// contract returns what the document says about the operation of the route.
func (r *route) contract() *routers.Route { return theContract().routes[r.method+" "+r.path] }
