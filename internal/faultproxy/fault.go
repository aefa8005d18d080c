package faultproxy

import (
	"fmt"
	"net/http"
	"strconv"
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
	Answer
	Replaced
)

// kinds is how many there are.
const kinds = int(Replaced) + 1

// String returns the name of the constant.
func (k Kind) String() string {
	names := [kinds]string{"None", "Latency", "LostAnswer", "ResetAfterHeaders", "CutMidBody", "Stall", "Reset", "Answer", "Replaced"}
	if k < 0 || int(k) >= kinds {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return names[k]
}

// Delivered reports whether the target sees the request.
func (k Kind) Delivered() bool { return k != Reset && k != Answer }

// Fault is what happens to one request. The zero Fault is none.
type Fault struct {
	Kind       Kind
	Status     int           // Of Answer and Replaced, 200 to 999.
	RetryAfter string        // Of Answer and Replaced: the header as it is sent; none if empty.
	Header     http.Header   // Of Answer and Replaced: further headers.
	Body       string        // Of Answer and Replaced.
	Delay      time.Duration // Of Latency.
}

// Status is the fault of an answer that the target has nothing to do with, as a gateway or a bot filter gives.
func Status(status int, retryAfter string) Fault {
	return Fault{Kind: Answer, Status: status, RetryAfter: retryAfter, Body: fmt.Sprintf(`{"statusCode":%d,"message":"from the fault proxy"}`, status)}
}

// Replace is the fault of the same answer to a request that the target has done, as a gateway gives that stops
// waiting for its backend. The caller cannot tell the two apart.
func Replace(status int, retryAfter string) Fault {
	f := Status(status, retryAfter)
	f.Kind = Replaced
	return f
}

// Slow is the fault of an answer that comes d later.
func Slow(d time.Duration) Fault { return Fault{Kind: Latency, Delay: d} }

// String names the fault, for logs and test names.
func (f Fault) String() string {
	switch f.Kind {
	case Answer, Replaced:
		text := strconv.Itoa(f.Status)
		if f.RetryAfter != "" {
			text += " with Retry-After " + f.RetryAfter
		}
		if f.Kind == Replaced {
			text += " in place of the answer"
		}
		return text
	case Latency:
		return fmt.Sprintf("%s of %s", f.Kind, f.Delay)
	default:
		return f.Kind.String()
	}
}
