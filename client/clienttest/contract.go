package clienttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/sellside-sdk/sellside-go/api"
	"github.com/sellside-sdk/sellside-go/gen"
)

// contract checks requests and responses against the spec. It never changes, so all servers share
// one.
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

// checkRequest returns an error that says how a request breaks the spec of its operation.
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

// checkQuery refuses parameters that the validator accepts: those that the operation does not have,
// and those that are sent twice (the service reads a list from one comma-separated value).
func checkQuery(route *routers.Route, r *http.Request) error {
	var errs []error
	for name, values := range r.URL.Query() {
		switch {
		case route.Operation.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil:
			errs = append(errs, fmt.Errorf("query parameter %q is not in the spec", name))
		case len(values) > 1:
			errs = append(errs, fmt.Errorf("query parameter %q is sent %d times: send one value", name, len(values)))
		}
	}
	return errors.Join(errs...)
}

// checkCredential requires a credential; any value is accepted.
func checkCredential(_ context.Context, input *openapi3filter.AuthenticationInput) error {
	scheme, header := input.SecurityScheme, input.RequestValidationInput.Request.Header
	if scheme.Type == "apiKey" {
		if header.Get(scheme.Name) == "" {
			return fmt.Errorf("header %s is missing", scheme.Name)
		}
		return nil
	}
	if token, ok := strings.CutPrefix(header.Get("Authorization"), "Bearer "); !ok || strings.TrimSpace(token) == "" {
		return errors.New("header Authorization has no bearer token")
	}
	return nil
}

// checkResponse encodes a body, and returns an error that says how the response breaks the spec of
// the operation.
func (c *contract) checkResponse(id gen.OperationID, status int, body any) (response, error) {
	route := c.routes[id]
	if route == nil {
		return response{}, fmt.Errorf("the spec has no operation %q", id)
	}
	declared := route.Operation.Responses.Status(status)
	if declared == nil && status >= http.StatusBadRequest {
		declared = route.Operation.Responses.Default()
	}
	if declared == nil {
		return response{}, fmt.Errorf("status %d is not declared: use Raw to send it", status)
	}
	resp := response{status: status, header: http.Header{"Content-Type": {mediaType(declared.Value)}}}
	var err error
	if resp.body, err = encode(body); err != nil {
		return resp, err
	}
	return resp, openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: &http.Request{Method: route.Method}, Route: route,
		},
		Status: status, Header: resp.header, Body: io.NopCloser(bytes.NewReader(resp.body)), Options: c.options,
	})
}

// mediaType returns the media type of a response; each response of the spec has exactly one.
func mediaType(declared *openapi3.Response) string {
	for name := range declared.Content {
		return name
	}
	return ""
}

// schemaReason returns one line: the error of the validator prints the schema and the whole value.
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

// encode returns bytes and strings unchanged, and marshals any other value.
func encode(body any) ([]byte, error) {
	switch b := body.(type) {
	case []byte:
		return slices.Clone(b), nil
	case json.RawMessage:
		return slices.Clone(b), nil
	case string:
		return []byte(b), nil
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("marshal body: %w", err)
	}
	return data, nil
}

// canonical returns JSON in a form that is the same for equal values: without spaces, with sorted
// members, and with unchanged numbers.
func canonical(data []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("parse JSON (%q): %w", data, err)
	}
	return json.Marshal(value)
}
