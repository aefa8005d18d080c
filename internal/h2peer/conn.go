package h2peer

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// conn is one connection.
type conn struct {
	peer    *Peer
	net     *tls.Conn
	over    atomic.Bool // Nothing more is written, and incoming frames are discarded.
	streams sync.WaitGroup

	mu      sync.Mutex // For writing; it guards the rest.
	framer  *http2.Framer
	block   bytes.Buffer
	encoder *hpack.Encoder // Writes to block.
}

func (p *Peer) serve(nc *tls.Conn) {
	c := &conn{peer: p, net: nc, framer: http2.NewFramer(nc, nc)}
	c.framer.AllowIllegalWrites = true
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.encoder = hpack.NewEncoder(&c.block)
	if !p.register(c) {
		return
	}
	defer p.unregister(c)
	defer c.streams.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.read(ctx)
	if c.over.Load() {
		_, _ = io.Copy(io.Discard, nc)
	}
}

// close ends the connection in order. It leaves the other direction open until the client closes
// it: if a socket is closed with unread bytes, the other end loses the bytes that are under way.
func (c *conn) close() {
	c.over.Store(true)
	_ = c.net.CloseWrite()
	if tcp, ok := c.net.NetConn().(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
}

// write writes frames unless the connection is over. It ignores errors, which the reader gets too.
func (c *conn) write(frames func(*http2.Framer) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over.Load() {
		_ = frames(c.framer)
	}
}

// writeHeaders writes a HEADERS frame.
func (c *conn) writeHeaders(id uint32, endStream bool, fields ...hpack.HeaderField) {
	c.write(func(f *http2.Framer) error {
		c.block.Reset()
		for _, field := range fields {
			if err := c.encoder.WriteField(field); err != nil {
				return err
			}
		}
		return f.WriteHeaders(http2.HeadersFrameParam{
			StreamID: id, BlockFragment: c.block.Bytes(), EndHeaders: true, EndStream: endStream,
		})
	})
}

// read reads frames until the connection ends or is over.
func (c *conn) read(ctx context.Context) {
	if _, err := io.ReadFull(c.net, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	c.write(func(f *http2.Framer) error { return f.WriteSettings(c.peer.settings...) })
	open := map[uint32]*stream{}
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil || c.over.Load() {
			return
		}
		s := open[frame.Header().StreamID]
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			if s != nil {
				continue // trailers
			}
			streamContext, cancel := context.WithCancel(ctx)
			s = &stream{conn: c, id: frame.StreamID, whole: make(chan struct{}), cancel: cancel}
			open[s.id] = s
			c.peer.requests.Add(1)
			r := request(frame).WithContext(streamContext)
			c.streams.Go(func() {
				defer cancel()
				s.run(r)
			})
			s.ended(frame.StreamEnded())
		case *http2.DataFrame:
			if s == nil {
				continue
			}
			s.body.Write(frame.Data())
			if n := frame.Length; n > 0 {
				c.write(func(f *http2.Framer) error { return f.WriteWindowUpdate(0, n) })
				c.write(func(f *http2.Framer) error { return f.WriteWindowUpdate(s.id, n) })
			}
			s.ended(frame.StreamEnded())
		case *http2.RSTStreamFrame:
			if s != nil {
				s.cancel()
			}
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				c.write((*http2.Framer).WriteSettingsAck)
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				c.write(func(f *http2.Framer) error { return f.WritePing(true, frame.Data) })
			}
		}
	}
}

// request returns the request of a HEADERS frame.
func request(frame *http2.MetaHeadersFrame) *http.Request {
	r := &http.Request{
		Method: frame.PseudoValue("method"), Host: frame.PseudoValue("authority"),
		RequestURI: frame.PseudoValue("path"), Proto: "HTTP/2.0", ProtoMajor: 2,
		Header: http.Header{}, Body: http.NoBody, ContentLength: -1,
	}
	r.URL, _ = url.ParseRequestURI(r.RequestURI)
	if r.URL == nil {
		r.URL = &url.URL{}
	}
	for _, field := range frame.RegularFields() {
		r.Header.Add(field.Name, field.Value)
	}
	return r
}

// fields returns the headers of a response.
func fields(status int, header http.Header, length int) []hpack.HeaderField {
	all := []hpack.HeaderField{{Name: ":status", Value: strconv.Itoa(status)}}
	for name, values := range header {
		for _, value := range values {
			if name != "Content-Length" {
				all = append(all, hpack.HeaderField{Name: strings.ToLower(name), Value: value})
			}
		}
	}
	return append(all, hpack.HeaderField{Name: "content-length", Value: strconv.Itoa(length)})
}
