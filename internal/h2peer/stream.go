package h2peer

import (
	"bytes"
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptest"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// maxFrame is the largest frame in bytes that a client accepts by default.
const maxFrame = 16 << 10

// stream is one exchange.
type stream struct {
	conn   *conn
	id     uint32
	cancel context.CancelFunc

	body  bytes.Buffer  // Of the request. The reader of the connection fills it and then closes whole.
	whole chan struct{} // Closed when the request has arrived.
}

// ended closes whole if the request has arrived.
func (s *stream) ended(yes bool) {
	if yes {
		close(s.whole)
	}
}

// run performs the exchange up to its ending.
func (s *stream) run(r *http.Request) {
	e := s.conn.peer.decide(r)
	var headers []hpack.HeaderField // Of the response.
	var body []byte
	for moment := Headers; moment <= Response; moment++ {
		switch moment {
		case Headers:
		case Body:
			select {
			case <-s.whole:
			case <-r.Context().Done():
				return
			}
		case Applied:
			headers, body = s.apply(r)
		case ResponseHeaders:
			s.conn.writeHeaders(s.id, false, headers...)
		case HalfResponse:
			s.writeBody(body[:len(body)/2])
		case Response:
			s.writeBody(body[len(body)/2:])
		}
		if moment == e.At {
			s.perform(e)
			if !e.continues() {
				return
			}
		}
	}
	s.endStream()
}

// apply passes the request to the target, even if the client has disconnected.
func (s *stream) apply(r *http.Request) ([]hpack.HeaderField, []byte) {
	rec := httptest.NewRecorder()
	r = r.WithContext(context.WithoutCancel(r.Context()))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(s.body.Bytes())), int64(s.body.Len())
	s.conn.peer.target.ServeHTTP(rec, r)
	return fields(rec.Code, rec.Header(), rec.Body.Len()), rec.Body.Bytes()
}

func (s *stream) writeBody(body []byte) {
	for len(body) > 0 {
		n := min(len(body), maxFrame)
		s.conn.write(func(f *http2.Framer) error { return f.WriteData(s.id, false, body[:n]) })
		body = body[n:]
	}
}

func (s *stream) endStream() {
	s.conn.write(func(f *http2.Framer) error { return f.WriteData(s.id, true, nil) })
}

// perform performs the action of an ending.
func (s *stream) perform(e Ending) {
	c := s.conn
	goAway := func(last uint32) {
		c.write(func(f *http2.Framer) error { return f.WriteGoAway(last, e.Code, nil) })
	}
	settings := func(streams uint32) {
		c.write(func(f *http2.Framer) error {
			return f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: streams})
		})
	}
	switch e.Do {
	case Continue, Stall:
	case ResetStream:
		c.write(func(f *http2.Framer) error { return f.WriteRSTStream(s.id, e.Code) })
	case GoAway:
		goAway(max(s.id, 1) - 1)
	case GoAwayClose:
		goAway(max(s.id, 1) - 1)
		c.close()
	case GoAwayAbove:
		goAway(math.MaxInt32)
	case GoAwayAboveClose:
		goAway(math.MaxInt32)
		c.close()
	case Close:
		c.close()
	case ResetConnection:
		reset(c.net.NetConn())
	case EndStream:
		s.endStream()
	case Dead:
		c.over.Store(true)
	case OverflowConnection:
		c.write(func(f *http2.Framer) error { return f.WriteWindowUpdate(0, math.MaxInt32) })
	case InvalidFrame:
		c.write(func(f *http2.Framer) error { return f.WriteRawFrame(http2.FrameData, 0, 0, []byte("{}")) })
	case InvalidHeaders:
		c.writeHeaders(s.id, false, hpack.HeaderField{Name: "content-type", Value: "application/json"})
	case InvalidCompression:
		c.write(func(f *http2.Framer) error {
			noHPACK := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: noHPACK, EndHeaders: true})
		})
	case Refuse:
		c.writeHeaders(s.id, true, hpack.HeaderField{Name: ":status", Value: "413"})
		c.write(func(f *http2.Framer) error { return f.WriteRSTStream(s.id, http2.ErrCodeNo) })
	case Inform:
		for _, status := range []string{"100", "103", "103"} {
			c.writeHeaders(s.id, false, hpack.HeaderField{Name: ":status", Value: status})
		}
	case LimitStreams:
		settings(1)
	case ForbidStreams:
		settings(0)
	case Trailers:
		c.writeHeaders(s.id, true, hpack.HeaderField{Name: "x-checksum", Value: "none"})
	}
}
