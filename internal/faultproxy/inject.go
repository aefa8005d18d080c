package faultproxy

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"
)

// inject answers as the fault says; got is what the target answered, if it was asked.
func (p *Proxy) inject(w http.ResponseWriter, r *http.Request, f Fault, got *recorder) error {
	switch f.Kind {
	case Answer, Replaced:
		return refuse(w, f)
	case Stall:
		return p.wait(r.Context(), 0)
	case Latency:
		if f.Delay > 0 {
			if err := p.wait(r.Context(), f.Delay); err != nil {
				return err
			}
		}
		return got.replay(w)
	case Reset, LostAnswer:
		return breakOff(w, nil, true)
	case ResetAfterHeaders:
		return breakOff(w, got.head(), true)
	case CutMidBody:
		return breakOff(w, append(got.head(), got.body.Bytes()[:got.body.Len()/2]...), false)
	default:
		return fmt.Errorf("fault proxy: %s is no fault", f.Kind)
	}
}

func refuse(w http.ResponseWriter, f Fault) error {
	maps.Copy(w.Header(), f.Header)
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	w.WriteHeader(f.Status)
	_, err := w.Write([]byte(f.Body))
	return err
}

// breakOff sends the beginning of an answer and ends the connection: by a reset, which is what a crashed or
// overloaded peer causes, or in order, as a gateway does that lost its backend.
func breakOff(w http.ResponseWriter, beginning []byte, reset bool) error {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		if err := tcp.SetLinger(0); err != nil {
			return err
		}
	}
	_, err = conn.Write(beginning)
	return err
}

// recorder keeps what the target answers.
type recorder struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements [http.ResponseWriter].
func (r *recorder) WriteHeader(status int) {
	if !r.wrote && status >= http.StatusOK {
		r.status, r.wrote, r.header = status, true, r.header.Clone()
	}
}

// Write implements [http.ResponseWriter].
func (r *recorder) Write(data []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(data)
}

// replay sends all of it.
func (r *recorder) replay(w http.ResponseWriter) error {
	maps.Copy(w.Header(), r.header)
	w.WriteHeader(r.status)
	_, err := w.Write(r.body.Bytes())
	return err
}

// head is the status line and the headers as they go over the wire. They promise at least one byte of a body,
// so that an answer that ends with them is not whole.
func (r *recorder) head() []byte {
	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/1.1 %d %s\r\n", r.status, http.StatusText(r.status))
	header := r.header.Clone()
	header.Del("Transfer-Encoding")
	header.Set("Content-Length", strconv.Itoa(max(1, r.body.Len())))
	_ = header.Write(&head) // a buffer takes everything
	head.WriteString("\r\n")
	return head.Bytes()
}
