package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/sellside-sdk/sellside-go/api"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// contract is api/openapi.yaml, ready to check requests against.
type contract struct {
	routes     map[string]*routers.Route // by "METHOD /path", as handlers have them
	operations []string                  // ids of all operations, and of the token endpoint
}

// theContract reads the document, once per process. It panics if the document, which is part of the
// program, cannot be read.
var theContract = sync.OnceValue(func() *contract {
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	if err != nil {
		panic(fmt.Errorf("sandbox: read api/openapi.yaml: %w", err))
	}
	c := &contract{routes: map[string]*routers.Route{}, operations: []string{tokenOperation}}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			c.routes[method+" "+path] = &routers.Route{
				Spec: doc, Path: path, PathItem: item, Method: method, Operation: operation,
			}
			c.operations = append(c.operations, operation.OperationID)
		}
	}
	return c
})

// LoadContract reads the document unless that was done in this process. It takes longer than the
// rest of a start, which need not wait for it: the first request does.
func LoadContract() { theContract() }

// Operations returns the ids of all operations, and of the token endpoint, in alphabetical order.
func Operations() []string { return slices.Sorted(slices.Values(theContract().operations)) }

// checkContract refuses a request that the document does not allow, with 400 and a message that
// names the parameter or the JSON pointer.
func (g *Gateway) checkContract(r *http.Request, to *route) *wire.Error {
	contract := to.contract()
	params := map[string]string{}
	for _, segment := range to.segments {
		if isParameter(segment) {
			name := strings.Trim(segment, "{}")
			params[name] = r.PathValue(name)
		}
	}
	err := g.checkQuery(r, contract)
	if err == nil {
		err = openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
			Request: r, PathParams: params, Route: contract,
			Options: &openapi3filter.Options{
				AuthenticationFunc:  openapi3filter.NoopAuthenticationFunc, // done already
				SkipSettingDefaults: true,                                  // handlers distinguish them from values
			},
		})
	}
	if err == nil {
		err = checkMembers(r, contract.Operation)
	}
	if err != nil {
		return wire.Invalidf("%s", blame(err))
	}
	return nil
}

// checkQuery refuses query parameters that the operation does not have: one that is misspelt would
// be ignored.
func (g *Gateway) checkQuery(r *http.Request, to *routers.Route) error {
	sent, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	if g.AllowUnknownParameters {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		known := to.Operation.Parameters.GetByInAndName(openapi3.ParameterInQuery, name)
		if known == nil && to.PathItem.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil {
			return fmt.Errorf("query parameter %.80q: not found", name)
		}
	}
	return nil
}

// blame returns what is wrong with a request and where, in one line.
func blame(err error) string {
	var request *openapi3filter.RequestError
	if !errors.As(err, &request) {
		return err.Error()
	}
	pointer, reason := cause(request)
	switch {
	case request.Parameter != nil:
		return fmt.Sprintf("%s parameter %q: %s", request.Parameter.In, request.Parameter.Name, reason)
	case pointer != "":
		return pointer + ": " + reason
	default:
		return "body: " + reason
	}
}

// unsupported matches the reason for a member that a closed object does not have. Its pointer is that
// of the object.
var unsupported = regexp.MustCompile(`^property "(.*)" is unsupported$`)

// escapePointer escapes a part of a JSON pointer.
var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// cause returns the innermost reason and its JSON pointer.
func cause(request *openapi3filter.RequestError) (pointer, reason string) {
	reason = request.Reason
	if request.Err == nil {
		return "", reason
	}
	var schema *openapi3.SchemaError
	if !errors.As(request.Err, &schema) {
		if reason == "" {
			reason = request.Err.Error()
		}
		return "", reason
	}
	// The reason of an allOf has the errors of its parts, whose pointers begin at the body, too.
	for inner := schema; inner != nil; {
		schema, inner = inner, nil
		if schema.Origin != nil {
			errors.As(schema.Origin, &inner)
		}
	}
	for _, part := range schema.JSONPointer() {
		pointer += "/" + escapePointer.Replace(part)
	}
	if m := unsupported.FindStringSubmatch(schema.Reason); m != nil {
		return pointer + "/" + escapePointer.Replace(m[1]), "not a member of the document"
	}
	return pointer, schema.Reason
}

// checkMembers refuses bodies that encoding/json reads differently from the document, and text
// after the value, which neither of them reads. The document matches names exactly and allows
// undeclared members; encoding/json takes "Amount" for "amount", and the last of several equal
// members.
func checkMembers(r *http.Request, o *openapi3.Operation) error {
	if o.RequestBody == nil {
		return nil
	}
	media := o.RequestBody.Value.Content.Get("application/json")
	if media == nil {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	m := members{json.NewDecoder(bytes.NewReader(body))}
	m.json.UseNumber() // a float64 cannot hold all numbers
	if err := m.check(media.Schema); err != nil {
		return err
	}
	if _, err := m.json.Token(); !errors.Is(err, io.EOF) {
		return errors.New("body: must be one JSON value")
	}
	return nil
}

// members reads the members of a body token by token.
type members struct{ json *json.Decoder }

// memberError is the error of a member. Its path is collected while returning, so that valid
// bodies, which may be deeply nested, cost nothing.
type memberError struct {
	path   []string // the innermost name first
	reason string
}

func (e *memberError) Error() string {
	var pointer strings.Builder
	for _, name := range slices.Backward(e.path) {
		pointer.WriteString("/" + escapePointer.Replace(name))
	}
	return fmt.Sprintf("%.200s: %s", pointer.String(), e.reason)
}

// under adds the name of a member to the path of its error.
func under(name string, err error) error {
	if e, ok := errors.AsType[*memberError](err); ok {
		e.path = append(e.path, name)
	}
	return err
}

// check reads a value. s is its schema, or nil if it has none.
func (m members) check(s *openapi3.SchemaRef) error {
	token, err := m.json.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		err = m.object(s)
	case json.Delim('['):
		for i := 0; err == nil && m.json.More(); i++ {
			err = under(strconv.Itoa(i), m.check(itemsOf(s)))
		}
	default:
		return nil
	}
	if err != nil {
		return err
	}
	_, err = m.json.Token() // the end of the object or array
	return err
}

func (m members) object(s *openapi3.SchemaRef) error {
	seen := map[string]bool{}
	for m.json.More() {
		token, err := m.json.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		declared, of := property(s, name)
		switch {
		case seen[name]:
			err = &memberError{reason: "must not be repeated"}
		case declared != name && declared != "":
			err = &memberError{reason: fmt.Sprintf("not found: use %q", declared)}
		default:
			err = m.check(of)
		}
		if err != nil {
			return under(name, err)
		}
		seen[name] = true
	}
	return nil
}

// property finds the declared member that encoding/json takes a name for.
func property(s *openapi3.SchemaRef, name string) (declared string, of *openapi3.SchemaRef) {
	if s == nil {
		return "", nil
	}
	if of, ok := s.Value.Properties[name]; ok {
		return name, of
	}
	for known := range s.Value.Properties {
		if strings.EqualFold(known, name) {
			return known, nil
		}
	}
	for _, part := range s.Value.AllOf {
		if declared, of = property(part, name); declared != "" {
			return declared, of
		}
	}
	return "", nil
}

// itemsOf finds the schema of the elements of an array.
func itemsOf(s *openapi3.SchemaRef) *openapi3.SchemaRef {
	if s == nil {
		return nil
	}
	for _, part := range s.Value.AllOf {
		if of := itemsOf(part); of != nil {
			return of
		}
	}
	return s.Value.Items
}
