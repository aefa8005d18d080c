package h2peer

import (
	"fmt"
	"slices"

	"golang.org/x/net/http2"
)

// Moment is how far an exchange gets before something happens to it.
type Moment int

// The moments of an exchange, in order.
const (
	Headers         Moment = iota // The request's headers have arrived; its body may not have.
	Body                          // The whole request has arrived; the target has not seen it.
	Applied                       // The target has handled the request; nothing of its response has been sent.
	ResponseHeaders               // The response's headers have been sent.
	HalfResponse                  // Half of the response's body has been sent.
	Response                      // All of it has been sent, but the stream is still open.
)

// String returns the name of the moment.
func (m Moment) String() string {
	return [...]string{"headers", "body", "applied", "response headers", "half response", "response"}[m]
}

// Action is what happens to an exchange, or to its connection.
type Action int

// The actions. The stream stays open, and nothing more is sent on it, where an action says nothing else.
const (
	Continue           Action = iota // Nothing: the target's response is sent. It is the zero Action.
	ResetStream                      // RST_STREAM.
	GoAway                           // GOAWAY with a last-stream-id below the stream's, as if it had not been handled.
	GoAwayClose                      // The same, and the connection is closed.
	GoAwayAbove                      // GOAWAY with a last-stream-id above the stream's; the exchange continues.
	GoAwayAboveClose                 // The same, but the connection is closed.
	Close                            // The connection is closed in order.
	ResetConnection                  // The TCP connection is reset.
	EndStream                        // END_STREAM, whatever is still missing.
	Stall                            // Nothing more is sent on this stream.
	Dead                             // The connection stays open, and nothing more comes from it, as if its packets were lost.
	OverflowConnection               // WINDOW_UPDATE beyond the limit of a connection.
	InvalidFrame                     // A DATA frame that belongs to no stream.
	InvalidHeaders                   // Response headers without a status.
	InvalidCompression               // Response headers that cannot be decompressed.
	Refuse                           // A response of 413, and RST_STREAM NO_ERROR, without reading on.
	Inform                           // Several responses of 100 and 103; the exchange continues.
	LimitStreams                     // SETTINGS_MAX_CONCURRENT_STREAMS 1; the exchange continues.
	ForbidStreams                    // SETTINGS_MAX_CONCURRENT_STREAMS 0; the exchange continues.
	Trailers                         // Trailers end the stream.
)

// String returns the name of the action.
func (a Action) String() string {
	return [...]string{
		"continue", "RST_STREAM", "GOAWAY below", "GOAWAY below and close", "GOAWAY above", "GOAWAY above and close", "close",
		"reset connection", "END_STREAM", "stall", "dead connection", "overflow connection window",
		"invalid frame", "invalid headers", "invalid compression", "refuse", "inform", "limit streams", "forbid streams", "trailers",
	}[a]
}

// Ending is how an exchange ends: an action at a moment. The zero Ending is an exchange that is whole.
type Ending struct {
	At   Moment
	Do   Action
	Code http2.ErrCode // Of RST_STREAM and GOAWAY; zero is NO_ERROR.
}

// String names the ending, for the names of tests.
func (e Ending) String() string {
	switch {
	case e.Do == Continue:
		return "whole"
	case e.Do == ResetStream || e.Code != http2.ErrCodeNo:
		return fmt.Sprintf("%s %s at %s", e.Do, e.Code, e.At)
	default:
		return fmt.Sprintf("%s at %s", e.Do, e.At)
	}
}

// Delivered reports whether the target sees the request.
func (e Ending) Delivered() bool { return e.At >= Applied || e.Whole() }

// Whole reports whether the body of the target's response arrives in full.
func (e Ending) Whole() bool { return e.At == Response || e.continues() }

// Silent reports whether the caller gets no sign that the exchange has ended.
func (e Ending) Silent() bool { return e.Do == Stall || e.Do == Dead }

// continues reports whether the exchange goes on after the action.
func (e Ending) continues() bool {
	return slices.Contains([]Action{Continue, GoAwayAbove, Inform, LimitStreams, ForbidStreams}, e.Do)
}

// Endings returns the ways in which an exchange can end, each once. WINDOW_UPDATE beyond the limit of a stream is not
// among them: net/http of Go 1.26 locks the connection up for ever when that comes, and every call with it, whatever
// their contexts.
func Endings() []Ending {
	endings := []Ending{{}}
	add := func(do Action, code http2.ErrCode, at ...Moment) {
		for _, moment := range at {
			endings = append(endings, Ending{moment, do, code})
		}
	}
	for _, code := range []http2.ErrCode{
		http2.ErrCodeNo, http2.ErrCodeProtocol, http2.ErrCodeInternal, http2.ErrCodeRefusedStream, http2.ErrCodeCancel,
		http2.ErrCodeEnhanceYourCalm, http2.ErrCodeHTTP11Required,
	} {
		add(ResetStream, code, Headers, Body, Applied)
	}
	add(ResetStream, http2.ErrCodeProtocol, ResponseHeaders, HalfResponse)
	add(ResetStream, http2.ErrCodeNo, ResponseHeaders, HalfResponse, Response)
	for _, code := range []http2.ErrCode{http2.ErrCodeNo, http2.ErrCodeEnhanceYourCalm} {
		add(GoAway, code, Headers, Body, Applied)
		add(GoAwayClose, code, Headers, Body, Applied)
	}
	add(GoAway, http2.ErrCodeNo, ResponseHeaders, HalfResponse)
	add(GoAwayClose, http2.ErrCodeNo, ResponseHeaders, HalfResponse, Response)
	add(GoAwayAbove, http2.ErrCodeNo, Headers, Body, Applied, ResponseHeaders)
	add(GoAwayAboveClose, http2.ErrCodeNo, Headers, Body, Applied, ResponseHeaders, HalfResponse)
	add(Close, 0, Headers, Body, Applied, ResponseHeaders, HalfResponse, Response)
	add(ResetConnection, 0, Headers, Body, Applied, ResponseHeaders, HalfResponse)
	add(EndStream, 0, Headers, Applied, ResponseHeaders, HalfResponse)
	add(Stall, 0, Headers, Body, Applied, ResponseHeaders, HalfResponse)
	add(Dead, 0, Headers, Body, Applied, ResponseHeaders, HalfResponse)
	add(OverflowConnection, 0, Headers, Applied)
	add(InvalidFrame, 0, Headers, Applied, HalfResponse)
	add(InvalidHeaders, 0, Headers, Applied)
	add(InvalidCompression, 0, Headers, Applied)
	add(Refuse, 0, Headers)
	add(Inform, 0, Headers, Applied)
	add(LimitStreams, 0, Headers)
	add(ForbidStreams, 0, Headers)
	add(Trailers, 0, Response)
	return endings
}
