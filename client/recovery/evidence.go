package recovery

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/internal/tap"
)

// evidence is what is known about a write, and what responses contain in addition to the models. It
// is for one goroutine.
type evidence struct {
	c     *client.Client
	known map[string]bool
	since time.Time // When the write was made, less the skew.
	skew  time.Duration

	early    string // Why the time of the write cannot be trusted; "" if it can.
	clocks   string // Why the clock of the service cannot be trusted; "" if it can.
	zoneless bool   // A createdAt came without a zone, so that no time rules anything out.
	pages    []page // Of the list that is being read.

	body *bytes.Buffer // Of the last response; the client reads all of it before it returns.
}

// page is what one page of a list says about the list.
type page struct {
	hasArray bool
	count    int // Of all matches; zero if the page does not say.
}

func newEvidence(c *client.Client, madeAt time.Time, opts Options) evidence {
	e := evidence{c: c, known: map[string]bool{}, since: madeAt.Add(-opts.Skew), skew: opts.Skew}
	for _, id := range opts.Known {
		e.known[id] = true
	}
	if madeAt.After(time.Now()) {
		e.early = "the write is dated later than the clock of this machine"
	}
	return e
}

// observe returns a context under which the responses to the client are recorded.
func (e *evidence) observe(ctx context.Context) context.Context { return tap.With(ctx, e.record) }

func (e *evidence) record(resp *http.Response) {
	e.decode()
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		if skew := time.Since(date).Abs(); skew-time.Second > e.skew { // the header has whole seconds
			e.clocks = fmt.Sprintf("the clock of the service differs by %s from this one, by its Date header",
				skew.Round(time.Second))
		}
	}
	e.body = &bytes.Buffer{}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(resp.Body, e.body), resp.Body}
}

// decode decodes the last response. The client refuses what is no JSON object.
func (e *evidence) decode() {
	if e.body == nil {
		return
	}
	decoder := json.NewDecoder(e.body)
	e.body = nil
	decoder.UseNumber()
	var response map[string]any
	if decoder.Decode(&response) != nil {
		return
	}
	e.findZoneless(response)
	p := page{}
	p.count, _ = strconv.Atoi(fmt.Sprint(member(response, "count")))
	_, ofOperations := member(response, "operations").([]any)
	_, ofListings := member(response, "listings").([]any)
	p.hasArray = ofOperations || ofListings
	e.pages = append(e.pages, p)
}

// findZoneless looks for a createdAt without a zone. The models take such a time for UTC.
func (e *evidence) findZoneless(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			if text, ok := v.(string); ok && text != "" && strings.EqualFold(name, "createdAt") {
				_, err := time.Parse(time.RFC3339, text)
				e.zoneless = e.zoneless || err != nil
			}
			e.findZoneless(v)
		}
	case []any:
		for _, v := range value {
			e.findZoneless(v)
		}
	}
}

// begin forgets the pages of the previous list.
func (e *evidence) begin() {
	e.decode()
	e.pages = nil
}

// gap returns why a list that yielded n entries may be incomplete; "" if it is complete.
func (e *evidence) gap(n int) string {
	e.decode()
	for _, p := range e.pages {
		if !p.hasArray {
			return "a page came without its entries"
		}
	}
	if len(e.pages) > 0 && n < e.pages[0].count {
		return fmt.Sprintf("a list counts %d entries and shows %d", e.pages[0].count, n)
	}
	return ""
}

// member returns a member of an object regardless of the case of its name, as package gen does; nil
// if there is none.
func member(object any, name string) any {
	members, _ := object.(map[string]any)
	if v, ok := members[name]; ok {
		return v
	}
	for n, v := range members {
		if strings.EqualFold(n, name) {
			return v
		}
	}
	return nil
}
