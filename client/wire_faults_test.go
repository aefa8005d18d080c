package client_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
)

// wireRow is a row of the retry table as it happens on the wire, with how a call ends that meets it each time.
type wireRow struct {
	fault       faultproxy.Fault
	read, write wireEnd
	// streamed is how reading a document ends, where that differs from read: its body is the caller's to read.
	streamed *wireEnd
}

// wireEnd says whether the request is sent again, and what the last answer comes to.
type wireEnd struct {
	retried, unknown bool
	failure          func(error) bool
	retryAfter       time.Duration
}

// patience is the policy of the calls on the wire: one retry is enough to see whether there is one. A
// Retry-After of 7 s is beyond it, so that it is returned at once instead of being waited for.
func patience(attemptTimeout time.Duration) client.RetryPolicy {
	return client.RetryPolicy{MaxAttempts: 2, MinDelay: time.Millisecond, MaxDelay: time.Millisecond, MaxRetryAfter: time.Second, AttemptTimeout: attemptTimeout}
}

func wireRows() []wireRow {
	var (
		isAPI    = isA[*client.APIError]
		isSend   = isA[*client.SendError]
		isDecode = isA[*client.DecodeError]
		isRead   = func(err error) bool { return !isAPI(err) && !isSend(err) && !isDecode(err) }

		lost = wireEnd{unknown: true, failure: isSend}
		torn = wireEnd{unknown: true, failure: isDecode}
	)
	rows := []wireRow{
		{fault: faultproxy.Fault{Kind: faultproxy.Reset}, read: wireEnd{retried: true, failure: isSend}, write: lost},
		{fault: faultproxy.Fault{Kind: faultproxy.LostAnswer}, read: wireEnd{retried: true, failure: isSend}, write: lost},
		{fault: faultproxy.Fault{Kind: faultproxy.Stall}, read: wireEnd{retried: true, failure: isSend}, write: lost},
		{fault: faultproxy.Fault{Kind: faultproxy.ResetAfterHeaders}, read: wireEnd{retried: true, failure: isDecode}, write: torn, streamed: &wireEnd{failure: isRead}},
		{fault: faultproxy.Fault{Kind: faultproxy.CutMidBody}, read: wireEnd{retried: true, failure: isDecode}, write: torn, streamed: &wireEnd{failure: isRead}},
		{
			fault: faultproxy.Fault{Kind: faultproxy.Answer, Status: 302, Header: http.Header{"Location": {"http://elsewhere.invalid/v2/selling/listings"}}},
			read:  wireEnd{failure: isAPI}, write: wireEnd{unknown: true, failure: isAPI},
		},
	}
	for _, status := range []struct {
		code           int
		retryRead      bool
		retryWrite     bool
		unknownIfWrite bool
	}{
		{400, false, false, false}, // the service has said no
		{408, true, false, true},
		{429, true, true, false}, // it was refused, so a write may be sent again
		{500, true, false, true},
		{501, false, false, false}, // it says that nothing was tried
		{502, true, false, true},
		{503, true, false, true},
		{504, true, false, true},
		{524, true, false, true},
	} {
		for _, retryAfter := range []string{"", "0", "7"} {
			var asked time.Duration
			soon := retryAfter != "7"
			if !soon {
				asked = 7 * time.Second
			}
			rows = append(rows, wireRow{
				fault: faultproxy.Status(status.code, retryAfter),
				read:  wireEnd{retried: status.retryRead && soon, failure: isAPI, retryAfter: asked},
				write: wireEnd{retried: status.retryWrite && soon, unknown: status.unknownIfWrite, failure: isAPI, retryAfter: asked},
			})
		}
	}
	return rows
}

func TestEveryOperationKeepsTheRetryTableOnTheWire(t *testing.T) {
	for _, row := range wireRows() {
		t.Run(row.fault.String(), func(t *testing.T) {
			t.Parallel()
			meetFault(t, row)
		})
	}
}
