package sandbox

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// server answers the operations of the document, a file per resource. Requests
// are valid and authenticated when they get here.
type server struct {
	store   *store.Store
	selling *selling.Service
	catalog *catalog.Catalog
	quotas  *quotas
	seed    uint64
	now     func() time.Time
	log     *slog.Logger
}

var _ wire.StrictServerInterface = (*server)(nil)

// routes returns the generated handler of all operations.
func (s *server) routes() http.Handler {
	strict := wire.NewStrictHandlerWithOptions(s, []wire.StrictMiddlewareFunc{withOrigin}, wire.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  invalidRequest,
		ResponseErrorHandlerFunc: s.fail,
	})
	return wire.HandlerWithOptions(strict, wire.StdHTTPServerOptions{
		BaseURL:          BasePath,
		BaseRouter:       http.NewServeMux(),
		ErrorHandlerFunc: invalidRequest,
	})
}

// invalidRequest answers what the document allows and the models do not.
func invalidRequest(w http.ResponseWriter, _ *http.Request, err error) {
	writeError(w, http.StatusBadRequest, err.Error())
}

// fail answers the error of a handler. A caller who has gone away is nobody's
// failure.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	abortIfGone(r)
	if refused, ok := errors.AsType[*tooManyError](err); ok {
		refused.answer(w)
		return
	}
	a := answerTo(err)
	if a.status == http.StatusInternalServerError {
		s.log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	writeError(w, a.status, a.message)
}
