package console

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/gateway"
)

const (
	// maxStreams bounds the streams of events, and with them the load of the page.
	maxStreams = 16
	// interval is the time between two readings of the state, unless reading takes long.
	interval = 500 * time.Millisecond
	// load is the least number of times that a stream waits as long as it has worked.
	load = 10
	// heartbeat is how long a stream may be silent. Writing is how a client that is gone is noticed.
	heartbeat = 15 * time.Second
	// sendTimeout is how long a client may take to read an event.
	sendTimeout = 10 * time.Second
)

// part is an event: a part of the page that has changed, by the id of its element.
type part struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
}

// events streams the parts of the page that change, until the client disconnects, the server shuts
// down or the sandbox is closed. The state is read in intervals: it changes in transactions of many
// packages, and reading it takes less than following it.
func (c *Console) events(w http.ResponseWriter, r *http.Request, _ *session) {
	if !isSameOrigin(r) {
		http.Error(w, "request: sent by another page", http.StatusForbidden)
		return
	}
	select {
	case c.streams <- struct{}{}:
		defer func() { <-c.streams }()
	default:
		w.Header().Set("Retry-After", "10")
		http.Error(w, "The console is open too often: close other tabs.", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := gateway.UntilStopped(r.Context())
	defer cancel()
	w.Header().Set("Content-Type", "text/event-stream")
	s := stream{w: w, sent: map[string]string{}}
	if !s.send("retry: 1000\n\n") {
		return
	}
	shown := selectionOf(r.URL.Query())
	for {
		started := time.Now()
		v, err := c.read(ctx, shown)
		if err == nil {
			err = s.update(v)
		}
		if err != nil {
			if ctx.Err() == nil {
				c.Logger.ErrorContext(ctx, "stream of the console ended", "error", err)
			}
			return
		}
		timer := time.NewTimer(max(interval, load*time.Since(started)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// stream is one stream of events. It belongs to the goroutine of its request.
type stream struct {
	w      http.ResponseWriter
	sent   map[string]string // the HTML of each part, by its id
	sentAt time.Time
}

// update sends the parts that have changed.
func (s *stream) update(v view) error {
	for _, id := range v.parts() {
		text, err := execute(id, v)
		if err != nil {
			return err
		}
		if s.sent[id] == text {
			continue
		}
		s.sent[id] = text
		data, err := json.Marshal(part{id, text})
		if err != nil {
			return err
		}
		if !s.send("data: " + string(data) + "\n\n") {
			return http.ErrAbortHandler
		}
	}
	if time.Since(s.sentAt) >= heartbeat && !s.send(": still here\n\n") {
		return http.ErrAbortHandler
	}
	return nil
}

// send reports whether the client is connected.
func (s *stream) send(text string) bool {
	connection := http.NewResponseController(s.w)
	_ = connection.SetWriteDeadline(time.Now().Add(sendTimeout)) // without a connection there is no deadline
	if _, err := s.w.Write([]byte(text)); err != nil {
		return false
	}
	s.sentAt = time.Now()
	return connection.Flush() == nil
}
