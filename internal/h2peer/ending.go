package h2peer

import (
	"fmt"
	"slices"

	"golang.org/x/net/http2"
)

// Moment is the point of an exchange at which its action happens.
type Moment int

// The moments of an exchange, in order.
const (
	Headers         Moment = iota // The headers of the request have arrived, its body perhaps not.
	Body                          // The whole request has arrived; the target has not got it.
	Applied                       // The target has handled the request; no part of the response is sent.
	ResponseHeaders               // The headers of the response are sent.
	HalfResponse                  // Half of the body of the response is sent.
	Response                      // The whole response is sent, and the stream is open.
)

// String returns the name of the moment.
func (m Moment) String() string {
	return [...]string{"headers", "body", "applied", "response headers", "half response", "response"}[m]
}

// Action is an action on an exchange or on its connection.
type Action int

// The actions. Unless an action says otherwise, the stream stays open and nothing more is sent on
// it.
const (
	Continue           Action = iota // None: the response of the target is sent. It is the zero Action.
	ResetStream                      // RST_STREAM.
	GoAway                           // GOAWAY with a last-stream-id below the stream, as if the request was not handled.
	GoAwayClose                      // The same, and the connection is closed.
	GoAwayAbove                      // GOAWAY with a last-stream-id above the stream; the exchange continues.
	GoAwayAboveClose                 // The same, but the connection is closed.
	Close                            // The connection is closed in order.
	ResetConnection                  // The TCP connection is reset.
	EndStream                        // END_STREAM, before the end of the response.
	Stall                            // Nothing more is sent on this stream.
	Dead                             // Nothing more is sent on the connection, as if its packets were lost.
	OverflowConnection               // WINDOW_UPDATE beyond the limit of a connection.
	InvalidFrame                     // A DATA frame without a stream.
	InvalidHeaders                   // Response headers without a status.
	InvalidCompression               // Response headers that cannot be decompressed.
	Refuse                           // A response of 413 and RST_STREAM NO_ERROR, before the body is read.
	Inform                           // Several responses of 100 and 103; the exchange continues.
	LimitStreams                     // SETTINGS_MAX_CONCURRENT_STREAMS 1; the exchange continues.
	ForbidStreams                    // SETTINGS_MAX_CONCURRENT_STREAMS 0; the exchange continues.
	Trailers                         // Trailers end the stream.
)

// String returns the name of the action.
func (a Action) String() string {
	return [...]string{
		"continue", "RST_STREAM", "GOAWAY below", "GOAWAY below and close", "GOAWAY above",
		"GOAWAY above and close", "close", "reset connection", "END_STREAM", "stall", "dead connection",
		"overflow connection window", "invalid frame", "invalid headers", "invalid compression", "refuse",
		"inform", "limit streams", "forbid streams", "trailers",
	}[a]
}

// Ending is the end of an exchange: an action at a moment. The zero value is a complete exchange.
type Ending struct {
	At   Moment
	Do   Action
	Code http2.ErrCode // For RST_STREAM and GOAWAY; zero is NO_ERROR.
}

// String returns a name for tests.
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

// Delivered reports whether the target gets the request.
func (e Ending) Delivered() bool { return e.At >= Applied || e.Whole() }

// Whole reports whether the whole response of the target arrives.
func (e Ending) Whole() bool { return e.At == Response || e.continues() }

// Silent reports whether the client cannot detect that the exchange has ended.
func (e Ending) Silent() bool { return e.Do == Stall || e.Do == Dead }

// continues reports whether the exchange continues after the action.
func (e Ending) continues() bool {
	return slices.Contains([]Action{Continue, GoAwayAbove, Inform, LimitStreams, ForbidStreams}, e.Do)
}

// Endings returns all endings. WINDOW_UPDATE beyond the limit of a stream is not among them: it
// deadlocks the connection in net/http of Go 1.26, with all its calls, whatever their contexts.
func Endings() []Ending {
	endings := []Ending{{}}
	add := func(do Action, code http2.ErrCode, at ...Moment) {
		for _, moment := range at {
			endings = append(endings, Ending{moment, do, code})
		}
	}
	for _, code := range []http2.ErrCode{
		http2.ErrCodeNo, http2.ErrCodeProtocol, http2.ErrCodeInternal, http2.ErrCodeRefusedStream,
		http2.ErrCodeCancel, http2.ErrCodeEnhanceYourCalm, http2.ErrCodeHTTP11Required,
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
