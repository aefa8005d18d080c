package client

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/sellside-sdk/sellside-go/internal/guard"
)

// dumpedBody is how many bytes of a body a dump has.
const dumpedBody = 4 << 10

// WithDump writes every attempt and its response to w, for debugging: the request line, the headers
// and the first 4 KiB of the bodies. A number joins a response (<) to its request (>). Credentials are
// replaced wherever they occur, and so are the values of all headers whose name suggests a secret;
// ids, amounts and addresses are not, so a dump is confidential. Requests for access tokens are not
// part of it.
//
// One Write is made for each request and each response, never two at the same time. Errors of w are
// ignored.
func WithDump(w io.Writer) Option {
	return func(c *config) error {
		if guard.Nil(w) {
			return isNil("dump")
		}
		c.dump = w
		return nil
	}
}

// dumper is the stage that writes what is sent and received.
type dumper struct {
	redact func(text, token string) string

	mu    sync.Mutex
	w     io.Writer
	count int
}

func (d *dumper) dump(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		c, start := callOf(req), time.Now()
		n := d.write(c, ">", 0, fmt.Sprintf("%s %s", req.Method, req.URL), req.Header, requestText(req))
		resp, err := next.Do(req)
		took := time.Since(start).Round(time.Millisecond)
		if err != nil {
			d.write(c, "<", n, fmt.Sprintf("%s: %s (%s)", c.op.ID, oneLine(err), took), nil, nil)
			return resp, err
		}
		first := fmt.Sprintf("%s %s (%s)", resp.Proto, cmp.Or(resp.Status, fmt.Sprint(resp.StatusCode)), took)
		body := []byte("(a document)")
		if buffered, ok := resp.Body.(*bufferedBody); ok {
			body = buffered.data
		}
		d.write(c, "<", n, first, resp.Header, body)
		return resp, err
	})
}

// requestText returns the body of a request, which can be read more than once.
func requestText(req *http.Request) []byte {
	if req.GetBody == nil {
		return nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil
	}
	defer func() { _ = body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(body, maxErrorBody))
	return text
}

// write writes one entry with a number, or the next one if it is zero, and returns the number.
func (d *dumper) write(c *call, arrow string, n int, first string, header http.Header, body []byte) int {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(header)) {
		value := strings.Join(header[name], ", ")
		if isSecretName(name) {
			value = guard.Redacted
		}
		fmt.Fprintf(&text, "  %s: %s\n", name, value)
	}
	if len(body) > 0 {
		if bytes.IndexByte(body, 0) >= 0 {
			fmt.Fprintf(&text, "\n  (%d bytes that are not text)\n", len(body))
		} else {
			shown := string(excerpt(d.redact, c, body))
			if more := len(shown) - dumpedBody; more > 0 {
				shown = shown[:dumpedBody] + "..."
			}
			fmt.Fprintf(&text, "\n  %s\n", shown)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if n == 0 {
		d.count++
		n = d.count
	}
	entry := fmt.Sprintf("%s %d %s\n%s", arrow, n, d.redact(first, c.token), d.redact(text.String(), c.token))
	_, _ = io.WriteString(d.w, strings.Map(printable, entry))
	return n
}

// isSecretName reports whether the value of a header may be a secret.
func isSecretName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"auth", "cookie", "key", "passw", "secret", "session", "signature", "token"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// printable replaces what could control a terminal.
func printable(r rune) rune {
	if r == '\n' || r == '\t' || unicode.IsPrint(r) {
		return r
	}
	return unicode.ReplacementChar
}
