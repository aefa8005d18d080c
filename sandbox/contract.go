package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/sellside-sdk/sellside-go/api"
)

// maxBody is how long a request may be. The longest one that makes sense, a
// batch of a hundred items, has about a fiftieth of it.
const maxBody = 1 << 20

// contract checks requests against api/openapi.yaml.
type contract struct {
	router     routers.Router
	operations []string // their ids, and the token endpoint
}

// theContract reads the document, once per process. It takes longer than all the
// rest of a start, which therefore does not wait for it: the first request does.
// The document is part of the program, and so it panics if that cannot be read.
var theContract = sync.OnceValue(func() *contract {
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	if err != nil {
		panic(fmt.Errorf("sandbox: read api/openapi.yaml: %w", err))
	}
	doc.Servers = openapi3.Servers{{URL: BasePath}} // whatever host it is served on
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		panic(fmt.Errorf("sandbox: route api/openapi.yaml: %w", err))
	}
	c := &contract{router: router, operations: []string{tokenOperation}}
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			c.operations = append(c.operations, operation.OperationID)
		}
	}
	return c
})

// validate lets only requests pass that the document allows, after identify has
// found their operation. Others are answered 404, 405, 413 or 400 with the
// parameter or the JSON pointer that is to blame.
func validate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		this := callOf(r.Context())
		switch {
		case errors.Is(this.err, routers.ErrMethodNotAllowed):
			w.Header().Set("Allow", strings.Join(theContract().allowed(r), ", "))
			writeError(w, http.StatusMethodNotAllowed, fmt.Sprintf("%s is not possible here", r.Method))
			return
		case this.err != nil:
			writeError(w, http.StatusNotFound, fmt.Sprintf("there is nothing under %.200q", r.URL.Path))
			return
		}
		err := openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
			Request: r, PathParams: this.params, Route: this.route,
			Options: &openapi3filter.Options{
				AuthenticationFunc:  openapi3filter.NoopAuthenticationFunc, // done already
				SkipSettingDefaults: true,                                  // handlers have to tell them from values
			},
		})
		var tooLong *http.MaxBytesError
		if err == nil {
			err = checkMembers(r, this.route.Operation)
		}
		switch {
		case errors.As(err, &tooLong):
			writeError(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is longer than %d bytes", tooLong.Limit))
		case err != nil:
			writeError(w, http.StatusBadRequest, blame(err))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// limitBody ends bodies that are too long.
func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil { // as a client makes it, which a transport within the process may pass on
			r.Body = http.NoBody
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
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
