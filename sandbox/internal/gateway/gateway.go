// Package gateway takes a request from the socket to its handler: it finds the operation, injects
// faults, checks the credentials, the quota and the contract, and counts and logs the response.
package gateway

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/handlers"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/limits"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/oauth"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// Names of endpoints that are not operations of the document. Only tokenOperation is counted and
// can fail.
const (
	tokenOperation   = "token"
	controlOperation = "control"
	signInOperation  = "sign-in"
	healthOperation  = "health"
	consoleOperation = "console"
)

// Paths are where the endpoints are.
type Paths struct {
	Base    string // the prefix of all operations
	Token   string
	Health  string
	Control string // the prefix of the control API
	Console string // the page for people
	Assets  string // the prefix of what the page needs
}

// Config is what a Gateway works with. Every member is required.
type Config struct {
	Store    *store.Store
	Handlers *handlers.Handlers
	Accounts *Accounts
	OAuth    *oauth.Server
	// Requests limits how many requests an account may make.
	Requests *limits.Limits
	Paths    Paths
	// TokenLife is how long access tokens of the token endpoint are valid.
	TokenLife time.Duration
	// RotateRefreshTokens makes every grant replace the refresh token.
	RotateRefreshTokens bool
	// AllowUnknownParameters ignores query parameters that operations do not have.
	AllowUnknownParameters bool
	Now                    func() time.Time
	Logger                 *slog.Logger
}

// Gateway serves all endpoints. It is safe for concurrent use.
type Gateway struct {
	Config
	Faults   Faults
	Counters Counters
	Recent   Recent

	routes       []route
	issuedTokens atomic.Uint64

	handling   sync.RWMutex // read-locked by handlers of operations until they respond
	generation atomic.Int64 // resets so far
}

// New returns a gateway without faults and with all counters at zero.
func New(c Config) *Gateway {
	return &Gateway{Config: c, routes: newRoutes(c.Paths.Base, c.Handlers.Routes())}
}

// call is what the stages of a request know of it. It belongs to the goroutine of its request.
type call struct {
	operation  string      // empty if the request belongs to none
	account    string      // name; empty until the credentials were checked
	route      *route      // to an operation of the document
	noRoute    *wire.Error // why there is none
	faulty     bool        // a fault may delay it
	generation int64       // before the fault
}

// stage handles a request that earlier stages have let through.
type stage func(http.ResponseWriter, *http.Request, *call)

// Handler returns the handler of all endpoints, with those of the control API and of the console,
// which may be nil. It cleans no path, as a [http.ServeMux] would: the service does not either.
func (g *Gateway) Handler(control, console http.Handler) http.Handler {
	return g.observed(func(w http.ResponseWriter, r *http.Request, c *call) {
		serve := g.choose(r, c, control, console)
		switch refused := readBody(r); {
		case refused == nil:
			serve(w, r, c)
		case refused.Status == http.StatusRequestEntityTooLarge:
			refuseRest(w, r, refused)
		default:
			refused.Write(w)
		}
	})
}

// choose returns the stage for the endpoint of a request.
func (g *Gateway) choose(r *http.Request, c *call, control, console http.Handler) stage {
	switch p := r.URL.Path; {
	case console != nil && (p == g.Paths.Console || strings.HasPrefix(p, g.Paths.Assets+"/")):
		c.operation = consoleOperation
		return func(w http.ResponseWriter, r *http.Request, _ *call) { console.ServeHTTP(w, r) }
	case p == g.Paths.Token:
		c.operation = tokenOperation
		return g.faulty(g.grant)
	case p == g.Paths.Health:
		c.operation = healthOperation
		return func(w http.ResponseWriter, r *http.Request, _ *call) { g.health(w, r) }
	case p == g.Paths.Control || strings.HasPrefix(p, g.Paths.Control+"/"):
		c.operation = controlOperation
		return func(w http.ResponseWriter, r *http.Request, _ *call) { control.ServeHTTP(w, r) }
	default:
		if page := g.OAuth.Handler(p); page != nil {
			c.operation = signInOperation
			return func(w http.ResponseWriter, r *http.Request, _ *call) { page.ServeHTTP(w, r) }
		}
		if c.route, c.noRoute = g.find(r); c.route != nil {
			c.operation = c.route.contract().Operation.OperationID
		}
		return g.faulty(g.handle)
	}
}

// handle takes a request for an operation from its credentials to its handler. What is wrong with
// its path comes after the credentials and the quota, as on the service.
func (g *Gateway) handle(w http.ResponseWriter, r *http.Request, c *call) {
	account, refused := g.Accounts.authenticate(r, g.Now(), g.OAuth.Revoked)
	if refused == nil {
		c.account = account.Name
		refused = g.Requests.Take(account.Seq, 1)
	}
	if refused == nil {
		refused = c.noRoute
	}
	if refused == nil {
		refused = g.checkContract(r, c.route)
	}
	if refused != nil {
		refused.Write(w)
		return
	}
	g.handling.RLock()
	unlock := sync.OnceFunc(g.handling.RUnlock)
	defer unlock()
	if c.faulty && c.generation != g.generation.Load() {
		panic(http.ErrAbortHandler) // a reset came while a fault delayed it
	}
	c.route.handler(&responding{w, unlock}, r.WithContext(handlers.WithAccount(r.Context(), account.Seq)))
}

// responding calls begin before anything is written, more than once. Handlers have read all that
// they respond by then, so that a client that reads slowly keeps no lock.
type responding struct {
	http.ResponseWriter
	begin func()
}

func (r *responding) WriteHeader(status int) {
	r.begin()
	r.ResponseWriter.WriteHeader(status)
}

func (r *responding) Write(p []byte) (int, error) {
	r.begin()
	return r.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] reach the connection.
func (r *responding) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Exclusive runs f while no handler of an operation runs. Responses may still be written.
func (g *Gateway) Exclusive(f func() error) error {
	g.handling.Lock()
	defer g.handling.Unlock()
	return f()
}

// Reset forgets all faults, counters and recent requests. Requests that a fault delays at this moment are aborted
// when they get to their handler. The caller is in [Gateway.Exclusive].
func (g *Gateway) Reset() {
	g.generation.Add(1)
	g.Faults.Clear()
	g.Counters.clear()
	g.Recent.clear()
}

// health responds 200 while the database can be written, and 503 if not.
func (g *Gateway) health(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		notAllowed(r, "GET, HEAD").Write(w)
		return
	}
	status, text := http.StatusOK, `{"status":"ok"}`+"\n"
	if err := g.Store.CheckWrite(r.Context()); err != nil {
		if r.Context().Err() != nil {
			panic(http.ErrAbortHandler) // the client is gone
		}
		g.Logger.ErrorContext(r.Context(), "health check failed", "error", err)
		status, text = http.StatusServiceUnavailable, `{"status":"unavailable"}`+"\n"
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // it fails only if the client is gone
}
