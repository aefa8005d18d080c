package faultproxy

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"time"
)

// Kind is a kind of fault. The table in the package documentation describes each.
type Kind int

// The kinds of faults.
const (
	None Kind = iota
	Latency
	LostResponse
	ResetAfterHeaders
	CutMidBody
	Stall
	Reset
)

// String returns the name of the constant.
func (k Kind) String() string {
	return [...]string{"None", "Latency", "LostResponse", "ResetAfterHeaders", "CutMidBody", "Stall", "Reset"}[k]
}

// Delivered reports whether the target gets the request.
func (k Kind) Delivered() bool { return k != Reset }

// Fault is the fault of one request. The zero value is none.
type Fault struct {
	Kind  Kind
	Delay time.Duration // For Latency.
}

// inject passes a request to target with the fault. An error means that there is no connection for
// a response.
func (f Fault) inject(w http.ResponseWriter, r *http.Request, target http.Handler) error {
	switch f.Kind {
	case None:
		target.ServeHTTP(w, r)
		return nil
	case Reset:
		return breakOff(w, nil, true)
	}
	rec := httptest.NewRecorder()
	// A request that was delivered is handled even if the client disconnects.
	target.ServeHTTP(rec, r.WithContext(context.WithoutCancel(r.Context())))
	body, resp := rec.Body.Bytes(), rec.Result()
	switch f.Kind {
	case Latency:
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
			return r.Context().Err()
		}
		maps.Copy(w.Header(), resp.Header)
		w.WriteHeader(resp.StatusCode)
		_, err := w.Write(body)
		return err
	case LostResponse:
		return breakOff(w, nil, true)
	case Stall:
		<-r.Context().Done()
		return r.Context().Err()
	case ResetAfterHeaders, CutMidBody:
		// At least one byte, so that a response without a body is truncated too.
		resp.ContentLength = max(1, int64(len(body)))
		head, err := httputil.DumpResponse(resp, false)
		if err != nil {
			return err
		}
		if f.Kind == ResetAfterHeaders {
			return breakOff(w, head, true)
		}
		return breakOff(w, bytes.Join([][]byte{head, body[:len(body)/2]}, nil), false)
	default:
		return fmt.Errorf("inject fault: unknown kind (%d)", f.Kind)
	}
}

// breakOff sends the beginning of a response and ends the connection: by a reset, as a crashed or
// overloaded peer does, or in order, as a gateway does that lost its backend.
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
