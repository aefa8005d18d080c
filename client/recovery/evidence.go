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

	"github.com/sellside-sdk/sellside-go/internal/tap"
)

// evidence is what the responses to reads say beside what the models keep. The zero value lacks the
// skew. It is for one goroutine.
type evidence struct {
	skew     time.Duration
	clocks   string // Why the clock of the service cannot be trusted; "" if it can.
	zoneless bool   // A createdAt came without a zone, so that no time rules anything out.
	pages    []page // Of the list that is read now.

	body *bytes.Buffer // Of the last response; the client reads all of it before it returns.
}

// page is what one page of a list says of the list.
type page struct {
	entries bool           // It holds its array.
	count   int            // Of all matches; zero if the page does not say.
	changes map[string]any // Of its operations, by their ids.
}

// under returns a context under which the client's responses are seen.
func (e *evidence) under(ctx context.Context) context.Context { return tap.With(ctx, e.see) }

func (e *evidence) see(resp *http.Response) {
	e.read()
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		if apart := time.Since(date).Abs(); apart-time.Second > e.skew { // the header has whole seconds
			e.clocks = fmt.Sprintf("the clock of the service is %s from the one of this machine, by its Date header", apart.Round(time.Second))
		}
	}
	e.body = &bytes.Buffer{}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(resp.Body, e.body), resp.Body}
}

// read takes in the last response. What is no JSON object is the client's to refuse.
func (e *evidence) read() {
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
	p := page{changes: map[string]any{}}
	p.count, _ = strconv.Atoi(fmt.Sprint(member(response, "count")))
	operations, ofOperations := member(response, "operations").([]any)
	_, ofListings := member(response, "listings").([]any)
	p.entries = ofOperations || ofListings
	for _, o := range operations {
		if id, ok := member(o, "operationId").(string); ok {
			p.changes[id] = member(o, "changes")
		}
	}
	e.pages = append(e.pages, p)
}

// findZoneless looks for a createdAt that is no instant. The models take a time without a zone for
// UTC.
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

// begin forgets the pages of the list before.
func (e *evidence) begin() {
	e.read()
	e.pages = nil
}

// hole returns why a list of which n entries were yielded may not show everything; "" if it does.
func (e *evidence) hole(n int) string {
	e.read()
	for _, p := range e.pages {
		if !p.entries {
			return "a page came without its entries"
		}
	}
	if len(e.pages) > 0 && n < e.pages[0].count {
		return fmt.Sprintf("a list counts %d entries and shows %d", e.pages[0].count, n)
	}
	return ""
}

// member returns a member of an object, whatever the case of its name, as package gen reads it; nil
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
