package clienttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/sellside-sdk/sellside-go/api"
	"github.com/sellside-sdk/sellside-go/gen"
)

// contract is the spec, ready to judge requests and answers. It never changes, so all servers share one.
type contract struct {
	routes  map[gen.OperationID]*routers.Route
	options *openapi3filter.Options
}

var loadContract = sync.OnceValues(func() (*contract, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	if err != nil {
		return nil, fmt.Errorf("load spec: %w", err)
	}
	c := &contract{routes: make(map[gen.OperationID]*routers.Route), options: &openapi3filter.Options{
		MultiError:                        true,
		AuthenticationFunc:                checkCredential,
		RejectWhenRequestBodyNotSpecified: true,
		SkipSettingDefaults:               true, // a check must not change what it checks
	}}
	c.options.WithCustomSchemaErrorFunc(schemaReason)
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			c.routes[gen.OperationID(operation.OperationID)] = &routers.Route{
				Spec: doc, Path: path, PathItem: item, Method: method, Operation: operation,
			}
		}
	}
	return c, nil
})

// checkRequest says how a request breaks the contract of the operation it belongs to.
func (c *contract) checkRequest(op gen.Operation, r *http.Request, params map[string]string, body []byte) error {
	route := c.routes[op.ID]
	checked := r.Clone(r.Context())
	checked.Body, checked.ContentLength = http.NoBody, int64(len(body))
	if len(body) > 0 {
		checked.Body = io.NopCloser(bytes.NewReader(body))
	}
	err := openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
		Request: checked, PathParams: params, Route: route, Options: c.options,
	})
	return errors.Join(err, checkQuery(route, r))
}

// checkQuery refuses what the validator lets pass: parameters that the operation does not have, and
// parameters that are sent twice (the service reads lists from one comma-separated value).
func checkQuery(route *routers.Route, r *http.Request) error {
	var errs []error
	for name, values := range r.URL.Query() {
		switch {
		case route.Operation.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil:
			errs = append(errs, fmt.Errorf("query parameter %q is not in the spec", name))
		case len(values) > 1:
			errs = append(errs, fmt.Errorf("query parameter %q is sent %d times; send one value", name, len(values)))
		}
	}
	return errors.Join(errs...)
}

// checkCredential demands that a credential is there; which one it is remains the test's business.
func checkCredential(_ context.Context, input *openapi3filter.AuthenticationInput) error {
	scheme, header := input.SecurityScheme, input.RequestValidationInput.Request.Header
	if scheme.Type == "apiKey" {
		if header.Get(scheme.Name) == "" {
			return fmt.Errorf("header %s is missing", scheme.Name)
		}
		return nil
	}
	if token, ok := strings.CutPrefix(header.Get("Authorization"), "Bearer "); !ok || strings.TrimSpace(token) == "" {
		return errors.New("header Authorization holds no bearer token")
	}
	return nil
}

// checkAnswer turns a scripted body into bytes and says how the answer breaks the operation's contract.
func (c *contract) checkAnswer(id gen.OperationID, status int, body any) (answer, error) {
	route := c.routes[id]
	if route == nil {
		return answer{}, fmt.Errorf("the spec has no operation %q", id)
	}
	response := route.Operation.Responses.Status(status)
	if response == nil && status >= http.StatusBadRequest {
		response = route.Operation.Responses.Default()
	}
	if response == nil {
		return answer{}, fmt.Errorf("status %d is not declared; use Raw to answer it all the same", status)
	}
	a := answer{status: status, header: http.Header{"Content-Type": {mediaType(response.Value)}}}
	var err error
	if a.body, err = encode(body); err != nil {
		return a, err
	}
	return a, openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: &http.Request{Method: route.Method}, Route: route,
		},
		Status: status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), Options: c.options,
	})
}

// mediaType returns the type that a response is sent as; the spec gives every response exactly one.
func mediaType(response *openapi3.Response) string {
	for name := range response.Content {
		return name
	}
	return ""
}

// schemaReason keeps a report to one line: the validator's own text prints the schema and the whole value.
func schemaReason(err *openapi3.SchemaError) string {
	reason := err.Reason
	if err.Origin != nil {
		reason = err.Origin.Error()
	}
	if len(err.JSONPointer()) == 0 {
		return reason
	}
	return fmt.Sprintf("/%s: %s", strings.Join(err.JSONPointer(), "/"), reason)
}
