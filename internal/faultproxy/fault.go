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

// Kind is a way in which an exchange goes wrong; the package documentation has the table.
type Kind int

// The kinds of faults.
const (
	None Kind = iota
	Latency
	LostAnswer
	ResetAfterHeaders
	CutMidBody
	Stall
	Reset
)

// String returns the name of the constant.
func (k Kind) String() string {
	return [...]string{"None", "Latency", "LostAnswer", "ResetAfterHeaders", "CutMidBody", "Stall", "Reset"}[k]
}

// Delivered reports whether the target sees the request.
func (k Kind) Delivered() bool { return k != Reset }

// Fault is what happens to one request. The zero Fault is none.
type Fault struct {
	Kind  Kind
	Delay time.Duration // Of Latency.
}

// strike lets the fault happen to a request for target. An error means that nobody is left to answer.
func (f Fault) strike(w http.ResponseWriter, r *http.Request, target http.Handler) error {
	switch f.Kind {
	case None:
		target.ServeHTTP(w, r)
		return nil
	case Reset:
		return breakOff(w, nil, true)
	}
	rec := httptest.NewRecorder()
	target.ServeHTTP(rec, r.WithContext(context.WithoutCancel(r.Context()))) // what was delivered is done, whoever leaves
	body, answer := rec.Body.Bytes(), rec.Result()
	switch f.Kind {
	case Latency:
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
			return r.Context().Err()
		}
		maps.Copy(w.Header(), answer.Header)
		w.WriteHeader(answer.StatusCode)
		_, err := w.Write(body)
		return err
	case LostAnswer:
		return breakOff(w, nil, true)
	case Stall:
		<-r.Context().Done()
		return r.Context().Err()
	case ResetAfterHeaders, CutMidBody:
		// One byte at least, so that an answer that ends with its headers is not whole.
		answer.ContentLength = max(1, int64(len(body)))
		head, err := httputil.DumpResponse(answer, false)
		if err != nil {
			return err
		}
		if f.Kind == ResetAfterHeaders {
			return breakOff(w, head, true)
		}
		return breakOff(w, bytes.Join([][]byte{head, body[:len(body)/2]}, nil), false)
	default:
		return fmt.Errorf("fault proxy: kind %d is no fault", f.Kind)
	}
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
