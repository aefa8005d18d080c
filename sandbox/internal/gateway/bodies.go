package gateway

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// maxBody is the most bytes that the body of a request may have. The longest body that makes sense,
// a batch of a hundred items, has about a fiftieth of it.
const maxBody = 1 << 20

// drainTimeout is how long the rest of a body that is too long is read. It is shorter than
// shutdownTimeout.
const drainTimeout = 5 * time.Second

// readBody reads the whole body of a request into memory, so that later stages neither wait for the
// client nor respond while it still sends: net/http notices that a client is gone only after the
// whole request was read, and closes connections with unread bodies. It refuses a body that is too
// long with 413.
func readBody(r *http.Request) *wire.Error {
	tooLong := &wire.Error{
		Status:  http.StatusRequestEntityTooLarge,
		Message: fmt.Sprintf("body: must have %d bytes at most", maxBody),
	}
	if r.ContentLength > maxBody {
		return tooLong
	}
	var text []byte
	if r.Body != nil { // clients may leave it nil, and in-process transports pass that on
		var err error
		if text, err = io.ReadAll(io.LimitReader(r.Body, maxBody+1)); err != nil {
			return wire.Invalidf("body: ended early, or took too long to send")
		}
	}
	if len(text) > maxBody {
		return tooLong
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	return nil
}

// refuseRest responds to a request whose body was not read to its end. On HTTP/1 it discards the
// rest for a while, since closing a connection with unread data resets it, and a client that sends
// everything before it reads would lose the response. The streams of HTTP/2 are closed one by one,
// and the client reads while it sends.
func refuseRest(w http.ResponseWriter, r *http.Request, refused *wire.Error) {
	if r.ProtoMajor != 1 {
		refused.Write(w)
		return
	}
	connection := http.NewResponseController(w)
	_ = connection.EnableFullDuplex() // respond before the rest is read; unknown in the process
	w.Header().Set("Connection", "close")
	refused.Write(w)
	_ = connection.Flush() // it fails only in the process, or if the client is gone
	if r.Header.Get("Expect") != "" {
		return // the client was not told to send anything
	}
	if connection.SetReadDeadline(time.Now().Add(drainTimeout)) == nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
}
