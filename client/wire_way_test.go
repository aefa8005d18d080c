package client_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// wireFault is a fault of the network, which the proxy makes, or an answer in place of the one that was due,
// which the sandbox makes.
type wireFault struct {
	network       faultproxy.Kind
	status        sandbox.Fault // Of the call's operation; none if its Kind is empty.
	header, value string        // Said beside the status: what gateways say and the sandbox never does.
}

// delivered reports whether the service sees the request.
func (f wireFault) delivered() bool {
	return f.network.Delivered() && (f.status.Kind == "" || f.status.Applied)
}

// String names the fault, for the names of tests.
func (f wireFault) String() string {
	if f.status.Kind == "" {
		return f.network.String()
	}
	text := strconv.Itoa(f.status.Status)
	if after := f.status.RetryAfter; after > 0 || f.header == "Retry-After" {
		text += " with Retry-After " + after.String()
	}
	if f.status.Applied {
		text += " in place of the answer"
	}
	return text
}

// wireWay is the way of a call's requests to the sandbox. The first ones meet the fault of the encounter.
type wireWay struct {
	encounter
	t      *testing.T
	market *wireMarket

	came, seen, accepted atomic.Int32 // To the proxy, to the service, and what that said yes to, be it heard or not.
}

// connect is what the proxy does to a request.
func (w *wireWay) connect(*http.Request) faultproxy.Fault {
	if int(w.came.Add(1)) > w.faults {
		return faultproxy.Fault{}
	}
	return faultproxy.Fault{Kind: w.fault.network}
}

// ServeHTTP implements [http.Handler]. The requests of a call come one after the other, so that the one that the
// proxy lets through is the last that came.
func (w *wireWay) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	var fault sandbox.Fault
	if int(w.came.Load()) <= w.faults && w.fault.status.Kind != "" {
		fault = w.fault.status
		fault.Operation = string(w.op.ID)
		if w.fault.header != "" {
			out.Header().Set(w.fault.header, w.fault.value)
		}
	}
	got := w.market.answer(w.t, r, fault)
	if fault.Kind == "" || fault.Applied {
		w.seen.Add(1)
	}
	if got.Code < http.StatusMultipleChoices || fault.Applied {
		w.accepted.Add(1)
	}
	maps.Copy(out.Header(), got.Header())
	out.WriteHeader(got.Code)
	_, _ = out.Write(got.Body.Bytes())
}

// answer is that of the sandbox to a request that meets a fault there, or none if its Kind is empty.
func (m *wireMarket) answer(t *testing.T, r *http.Request, f sandbox.Fault) *httptest.ResponseRecorder {
	t.Helper()
	got := httptest.NewRecorder()
	if f.Kind == "" {
		m.failing.RLock()
		defer m.failing.RUnlock()
		m.ServeHTTP(got, r)
		return got
	}
	m.failing.Lock()
	defer m.failing.Unlock()
	assert.NoError(t, m.Fail(f))
	m.ServeHTTP(got, r)
	assert.Empty(t, m.Faults(), "the request has met its fault")
	return got
}
