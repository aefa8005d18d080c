package gateway

import (
	"errors"
	"fmt"
	"net/http"
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

// checkContract refuses a request that the document does not allow: with 413 if its body is too
// long, else with 400 and a message that names the parameter or the JSON pointer.
func checkContract(r *http.Request, to *route) *wire.Error {
	contract := to.contract()
	params := map[string]string{}
	for _, segment := range to.segments {
		if isParameter(segment) {
			name := strings.Trim(segment, "{}")
			params[name] = r.PathValue(name)
		}
	}
	err := openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: contract,
		Options: &openapi3filter.Options{
			AuthenticationFunc:  openapi3filter.NoopAuthenticationFunc, // done already
			SkipSettingDefaults: true,                                  // handlers distinguish them from values
		},
	})
	if err == nil {
		err = checkMembers(r, contract.Operation)
	}
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &wire.Error{
			Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the body is longer than %d bytes", tooLong.Limit),
		}
	}
	if err != nil {
		return wire.Invalidf("%s", blame(err))
	}
	return nil
}

// blame says in one line what is wrong with a request, and where.
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

// escapePointer escapes a part of a JSON pointer.
var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// cause digs out the innermost reason and the JSON pointer that leads to it.
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
	for schema != nil {
		for _, part := range schema.JSONPointer() {
			pointer += "/" + escapePointer.Replace(part)
		}
		reason = schema.Reason
		var inner *openapi3.SchemaError
		if schema.Origin == nil || !errors.As(schema.Origin, &inner) {
			break
		}
		schema = inner
	}
	return pointer, reason
}
