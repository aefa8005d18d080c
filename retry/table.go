// Package retry says when a call is sent again, and when not: the retry table, the policy of its pauses, the
// budget of a client, the gate that a 429 closes, and how often something is polled until it is done. It sends
// nothing itself. Package client, whose documentation has the table as users read it, acts on it.
package retry

import "net/http"

// Outcome is what one attempt came to, as far as the retry table distinguishes.
type Outcome string

// The rows of the retry table.
const (
	NotSent      Outcome = "the request was not sent"
	NoAnswer     Outcome = "no answer after sending"
	Throttled    Outcome = "429"
	Transient    Outcome = "408 or 5xx"
	Redirect     Outcome = "3xx"
	Unauthorized Outcome = "401"
	Unreadable   Outcome = "success with a body that broke off"
	TooLarge     Outcome = "success with a body beyond the bound"
	Ended        Outcome = "the context ended"
	Refused      Outcome = "refused before sending" // by the client itself: for want of quota, or of a token
	Final        Outcome = "final"                  // every other answer
)

// Decide is the retry table: whether an attempt of this outcome may be repeated, and whether it leaves open
// what became of a write. How often is for [Tries] to bound: it ends a call that keeps being answered 429 or 401,
// which the table alone would repeat for ever.
func Decide(o Outcome, retrySafe, written bool) (retry, unknown bool) {
	switch o {
	case NotSent, Throttled, Unauthorized:
		return true, false // nothing was applied
	case NoAnswer, Transient, Unreadable:
		return retrySafe, !retrySafe
	case TooLarge, Redirect:
		return false, !retrySafe // it would be as large, or send us away, the next time
	case Ended:
		return false, written && !retrySafe
	default:
		return false, false
	}
}

// answered reports whether the service gave an answer that ends a call, so that it is not failing.
func (o Outcome) answered() bool {
	return o == Final || o == Unauthorized || o == Redirect || o == TooLarge
}

// MayPass reports whether the same request may be answered otherwise a little later, as whoever polls wants to know.
func (o Outcome) MayPass() bool { return o == Transient || o == Throttled }

// OfStatus names the row of the retry table that an HTTP status belongs to.
func OfStatus(status int) Outcome {
	switch {
	case status == http.StatusTooManyRequests:
		return Throttled
	case status == http.StatusUnauthorized:
		return Unauthorized
	case status == http.StatusNotImplemented || status == http.StatusHTTPVersionNotSupported:
		return Final // these two say that nothing was tried, and that nothing will change
	case status == http.StatusRequestTimeout || status >= 500: // gateways have codes of their own, such as 524
		return Transient
	case status < 200 || status/100 == 3:
		return Redirect // 101 points to another protocol
	default:
		return Final
	}
}
