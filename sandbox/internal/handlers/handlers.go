// Package handlers serves the operations of api/openapi.yaml, a file per resource. Requests are
// valid, authenticated and within their quota when they get here; see package gateway.
package handlers

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/limits"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// Config is what Handlers work with. Every member is required.
type Config struct {
	Store   *store.Store
	Selling *selling.Service
	Catalog *catalog.Catalog
	// Items limits how many batch items an account may submit.
	Items *limits.Limits
	// BasePath is the path that operations are served under, for the links of responses.
	BasePath string
	Now      func() time.Time
	Logger   *slog.Logger
}

// Handlers implements the generated server interface. It is safe for concurrent use, except for a
// change of the seed of its Selling, during which no request may run.
type Handlers struct {
	store    *store.Store
	selling  *selling.Service
	catalog  *catalog.Catalog
	items    *limits.Limits
	basePath string
	now      func() time.Time
	log      *slog.Logger
}

var _ wire.StrictServerInterface = (*Handlers)(nil)

// New returns the handlers of all operations.
func New(c Config) *Handlers {
	return &Handlers{
		store: c.Store, selling: c.Selling, catalog: c.Catalog, items: c.Items, basePath: c.BasePath,
		now: c.Now, log: c.Logger,
	}
}

// Routes maps "METHOD /path", with the path as the document writes it and without the base path, to
// the handler of that operation. Path parameters are read with [http.Request.PathValue].
type Routes map[string]http.HandlerFunc

// HandleFunc adds a route, for the generated code.
func (r Routes) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	r[pattern] = handler
}

// ServeHTTP responds 404: routes are chosen by the gateway.
func (Routes) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

// Routes returns the handlers of all operations.
func (h *Handlers) Routes() Routes {
	strict := wire.NewStrictHandlerWithOptions(h, []wire.StrictMiddlewareFunc{h.withBaseURL, declaredStatus}, wire.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  invalidRequest,
		ResponseErrorHandlerFunc: h.Fail,
	})
	routes := Routes{}
	wire.HandlerWithOptions(strict, wire.StdHTTPServerOptions{BaseRouter: routes, ErrorHandlerFunc: invalidRequest})
	return routes
}

// invalidRequest refuses what the document allows and the models do not.
func invalidRequest(w http.ResponseWriter, _ *http.Request, err error) {
	wire.Invalidf("%s", err.Error()).Write(w)
}

// Fail responds with an error. An error that is neither a [wire.Error] nor a [selling.Error] is a
// failure of the sandbox: it is logged, and the response is a 500 that does not repeat it. If the
// client is gone, Fail aborts the request as net/http does, without a response.
func (h *Handlers) Fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	e, ok := Refusal(err)
	if !ok {
		h.log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		e = wire.InternalError()
	}
	e.Write(w)
}

// Refusal returns the response to a request that is refused, and false if the sandbox failed. What
// is not possible in the present state is a 400, since no operation declares a 409.
func Refusal(err error) (*wire.Error, bool) {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e, true
	}
	mistake, ok := errors.AsType[*selling.Error](err)
	if !ok {
		return nil, false
	}
	e := wire.Invalidf("%s", mistake.Text)
	if mistake.Field != "" {
		e.Message = "/" + mistake.Field + ": " + mistake.Text
	}
	if errors.Is(mistake, selling.ErrNotFound) {
		e.Status = http.StatusNotFound
	}
	return e, true
}

// unknownIsNotFound are the operations that respond 404 to the id of nothing: those that declare
// it, and those of batches and orders, for which it is published. All others respond 400.
var unknownIsNotFound = map[string]bool{
	"GetListing": true, "ActivateListing": true, "DeactivateListing": true, "GetListingOperation": true,
	"GetProduct": true, "ListVariants": true, "GetVariant": true, "GetVariantByGTIN": true,

	"GetCreateListingsBatch": true, "ListCreateListingsBatchItems": true,
	"GetUpdateListingsBatch": true, "ListUpdateListingsBatchItems": true,
	"GetDeleteListingsBatch": true, "ListDeleteListingsBatchItems": true,
	"GetOrder": true, "GetShippingDocuments": true, "GetShippingDocument": true,
}

// declaredStatus turns the 404 of an operation that has none into a 400.
func declaredStatus(next wire.StrictHandlerFunc, operation string) wire.StrictHandlerFunc {
	if unknownIsNotFound[operation] {
		return next
	}
	return func(ctx context.Context, w http.ResponseWriter, r *http.Request, request any) (any, error) {
		response, err := next(ctx, w, r, request)
		if e, ok := Refusal(err); ok && e.Status == http.StatusNotFound {
			e.Status = http.StatusBadRequest
			return nil, e
		}
		return response, err
	}
}

type accountKey struct{}

// WithAccount returns a context for the requests of an account.
func WithAccount(ctx context.Context, account int64) context.Context {
	return context.WithValue(ctx, accountKey{}, account)
}

// accountOf returns the account of a request. It is 0, which owns nothing, outside of requests.
func accountOf(ctx context.Context) int64 {
	account, _ := ctx.Value(accountKey{}).(int64)
	return account
}

type baseURLKey struct{}

// withBaseURL keeps the base URL that a request was sent to, for the links of its response.
func (h *Handlers) withBaseURL(next wire.StrictHandlerFunc, _ string) wire.StrictHandlerFunc {
	return func(ctx context.Context, w http.ResponseWriter, r *http.Request, request any) (any, error) {
		base := url.URL{Path: h.basePath} // without a host, as HTTP/1.0 allows, links are relative
		if r.Host != "" {
			base.Scheme, base.Host = "http", r.Host
			if r.TLS != nil {
				base.Scheme = "https"
			}
		}
		return next(context.WithValue(ctx, baseURLKey{}, base.String()), w, r, request)
	}
}

// baseURLOf returns the base URL of the current request, such as http://127.0.0.1:8080/v2.
func baseURLOf(ctx context.Context) string {
	base, _ := ctx.Value(baseURLKey{}).(string)
	return base
}
