package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// ControlPath is where the control API is, beside BasePath: what the methods of
// Sandbox do, for programs that do not have it in their process. Every request
// carries the control key in the header x-sandbox-key; bodies are JSON; a GET of
// ControlPath lists what there is. Nothing of it counts, costs quota or fails.
const ControlPath = "/_sandbox"

const controlHeader = "x-sandbox-key"

// ControlKey returns what x-sandbox-key has to say to the control API.
func (s *Sandbox) ControlKey() string { return s.options.ControlKey }

// control answers the control API.
func (s *Sandbox) control() http.Handler {
	mux := http.NewServeMux()
	methods := map[string][]string{} // by path
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, fmt.Sprintf("there is no %s %.200q; GET %s lists what there is", r.Method, r.URL.Path, ControlPath))
	})
	for _, one := range controls() {
		methods[one.Path] = append(methods[one.Path], one.Method)
		mux.HandleFunc(one.Method+" "+one.Path, func(w http.ResponseWriter, r *http.Request) {
			// An advance by a year may take longer than answers do. Where there is no
			// connection there is no deadline to move.
			connection := http.NewResponseController(w)
			_ = connection.SetWriteDeadline(time.Time{})
			answer, err := one.run(s, r)
			_ = connection.SetWriteDeadline(time.Now().Add(writeWait))
			s.answerControl(w, r, answer, err)
		})
	}
	for path, allowed := range methods {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			writeError(w, http.StatusMethodNotAllowed, fmt.Sprintf("%s is not possible here; GET %s lists what is", r.Method, ControlPath))
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !same(r.Header.Get(controlHeader), s.options.ControlKey) {
			writeError(w, http.StatusUnauthorized, "the "+controlHeader+" header is missing or wrong; it should be the control key of the sandbox")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (s *Sandbox) answerControl(w http.ResponseWriter, r *http.Request, answer any, err error) {
	switch {
	case errors.Is(err, ErrAccountExists):
		writeError(w, http.StatusConflict, err.Error())
	case err != nil:
		s.server.fail(w, r, err)
	case answer == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		status := http.StatusOK
		if _, ok := answer.(Account); ok {
			status = http.StatusCreated
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		// The caller may be gone; there is nobody else to tell.
		_ = json.NewEncoder(w).Encode(answer)
	}
}

// read reads a body that has these members and no others.
func read[T any](r *http.Request) (body T, err error) {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		return body, badRequest("body: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return body, badRequest("body: something follows the JSON")
	}
	return body, nil
}

// period is a duration as text, such as "36h" or "1.5s".
type period time.Duration

// MarshalText implements [encoding.TextMarshaler].
func (p period) MarshalText() ([]byte, error) { return []byte(time.Duration(p).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *period) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*p = period(d)
	return err
}

// faultBody is a Fault on the wire.
type faultBody struct {
	Operation  string    `json:"operation,omitempty"`
	Times      int       `json:"times,omitempty"`
	Kind       FaultKind `json:"kind"`
	Applied    bool      `json:"applied,omitempty"`
	Delay      period    `json:"delay,omitzero"`
	Status     int       `json:"status,omitempty"`
	RetryAfter period    `json:"retryAfter,omitzero"`
	Body       string    `json:"body,omitempty"`
}

func (b faultBody) fault() Fault {
	return Fault{b.Operation, b.Times, b.Kind, b.Applied, time.Duration(b.Delay), b.Status, time.Duration(b.RetryAfter), b.Body}
}

func bodyOf(f Fault) faultBody {
	return faultBody{f.Operation, f.Times, f.Kind, f.Applied, period(f.Delay), f.Status, period(f.RetryAfter), f.Body}
}
