package client_test

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/gen"
)

const messagesFile = "testdata/messages.golden"

var update = flag.Bool("update", false, "write "+messagesFile+" again")

// TestMessages_AreGolden compares the texts that users see from client, quota, recovery and token
// with the golden file, which has one line for each: its name and the text. All other tests assert
// types, fields and sentinels. Every exported error type and sentinel must have a line.
//
// Write the file again with: go test ./client -run TestMessages_AreGolden -update.
func TestMessages_AreGolden(t *testing.T) {
	m := &messages{T: t, seen: map[string]bool{}, covered: map[string]bool{}}
	for _, add := range []func(*messages){
		(*messages).addSentinels, (*messages).addErrorTypes, (*messages).addOptions, (*messages).addArguments,
		(*messages).addAttempts, (*messages).addCalls, (*messages).addResponses, (*messages).addTokens, (*messages).addQuotas, (*messages).addRecoveryErrors,
	} {
		m.inBubble(add)
	}
	m.addRecoveries()
	m.addSettlements()
	m.compare()
	for _, name := range exportedErrors(t) {
		assert.True(t, m.covered[name], "no line for %s: add one to messages_test.go", name)
	}
}

// messages are the lines of the golden file.
type messages struct {
	*testing.T
	lines   []string
	seen    map[string]bool // Names of lines.
	covered map[string]bool // Exported error types and sentinels that have a line.
}

// inBubble adds messages on simulated time, which begins with the year 2000.
func (m *messages) inBubble(add func(*messages)) {
	m.Helper()
	outer := m.T
	defer func() { m.T = outer }()
	synctest.Test(outer, func(t *testing.T) {
		m.T = t
		add(m)
	})
}

func (m *messages) addText(name, text string) {
	m.Helper()
	assert.NotContains(m, text, "\n", name)
	assert.NotContains(m, name, ": ")
	assert.False(m, m.seen[name], "two lines for %s", name)
	m.seen[name] = true
	m.lines = append(m.lines, name+": "+text)
}

// add adds the text of an error, which covers the types of the error and of its causes.
func (m *messages) add(name string, err error) {
	m.Helper()
	require.Error(m, err, name)
	m.addText(name, err.Error())
	m.cover(err)
}

func (m *messages) cover(err error) {
	m.covered[strings.TrimPrefix(fmt.Sprintf("%T", err), "*")] = true
	switch err := err.(type) { //nolint:errorlint // every error of the tree is visited
	case interface{ Unwrap() error }:
		if cause := err.Unwrap(); cause != nil {
			m.cover(cause)
		}
	case interface{ Unwrap() []error }:
		for _, cause := range err.Unwrap() {
			m.cover(cause)
		}
	}
}

func (m *messages) compare() {
	m.Helper()
	got := strings.Join(m.lines, "\n") + "\n"
	if *update {
		require.NoError(m, os.WriteFile(messagesFile, []byte(got), 0o644))
	}
	want, err := os.ReadFile(messagesFile)
	require.NoError(m, err)
	if got == string(want) {
		return
	}
	m.Errorf("the texts differ from %s: run the test with -update if that is intended", messagesFile)
	old := strings.Split(strings.TrimSuffix(string(want), "\n"), "\n")
	for _, line := range m.lines {
		if !slices.Contains(old, line) {
			m.Logf("new: %s", line)
		}
	}
	for _, line := range old {
		if !slices.Contains(m.lines, line) {
			m.Logf("old: %s", line)
		}
	}
}

// exportedErrors returns the names of the exported error types and sentinels of the packages.
func exportedErrors(t *testing.T) []string {
	t.Helper()
	var names []string
	for pkg, dir := range map[string]string{"client": ".", "quota": "quota", "recovery": "recovery", "token": "token"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, decl := range parsed.Decls {
				for _, name := range errorNames(decl) {
					if ast.IsExported(name) {
						names = append(names, pkg+"."+name)
					}
				}
			}
		}
	}
	require.Contains(t, names, "client.APIError")
	require.Contains(t, names, "client.ErrNotFound")
	return names
}

// errorNames returns the type that a declaration gives a method Error, or the variables that it
// declares whose names begin with Err.
func errorNames(decl ast.Decl) (names []string) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Name.Name != "Error" || decl.Recv == nil {
			return nil
		}
		receiver := decl.Recv.List[0].Type
		if pointer, ok := receiver.(*ast.StarExpr); ok {
			receiver = pointer.X
		}
		if name, ok := receiver.(*ast.Ident); ok {
			names = append(names, name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if !ok || decl.Tok != gotoken.VAR {
				continue
			}
			for _, name := range value.Names {
				if strings.HasPrefix(name.Name, "Err") {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

func (m *messages) addSentinels() {
	for _, s := range []struct {
		name string
		err  error
	}{
		{"client.ErrBadRequest", client.ErrBadRequest},
		{"client.ErrUnauthorized", client.ErrUnauthorized},
		{"client.ErrForbidden", client.ErrForbidden},
		{"client.ErrNotFound", client.ErrNotFound},
		{"client.ErrConflict", client.ErrConflict},
		{"client.ErrRateLimited", client.ErrRateLimited},
		{"client.ErrServer", client.ErrServer},
		{"client.ErrOutcomeUnknown", client.ErrOutcomeUnknown},
		{"client.ErrInvalidArgument", client.ErrInvalidArgument},
		{"client.ErrTooManyItems", client.ErrTooManyItems},
		{"client.ErrPagingStuck", client.ErrPagingStuck},
		{"client.ErrBodyTooLarge", client.ErrBodyTooLarge},
		{"client.ErrAttemptTimeout", client.ErrAttemptTimeout},
		{"client.ErrClosed", client.ErrClosed},
		{"client.ErrTooLate", client.ErrTooLate},
		{"token.ErrExpired", token.ErrExpired},
		{"token.ErrRefused", token.ErrRefused},
		{"token.ErrReauthRequired", token.ErrReauthRequired},
	} {
		m.add(s.name, s.err)
		m.covered[s.name] = true
	}
}

// addErrorTypes adds each form of the errors that callers can make themselves.
func (m *messages) addErrorTypes() {
	read := client.CallInfo{Operation: gen.OpGetListing, Attempts: 1}
	unsent := client.CallInfo{Operation: gen.OpGetListing}
	unknown := client.CallInfo{Operation: gen.OpCreateListing, Attempts: 1, OutcomeUnknown: true}
	cut := io.ErrUnexpectedEOF

	m.add("APIError", &client.APIError{CallInfo: read, StatusCode: 404, Message: "no such listing"})
	m.add("APIError with everything", &client.APIError{
		CallInfo: unknown, StatusCode: 503, Message: "busy", RequestID: "7f3a", RetryAfter: 90 * time.Second,
	})
	m.add("TransportError", &client.TransportError{CallInfo: read, Err: cut})
	m.add("TransportError not sent", &client.TransportError{CallInfo: unsent, Err: context.Canceled})
	m.add("TransportError of unknown outcome", &client.TransportError{CallInfo: unknown, Err: cut})
	m.add("DecodeError", &client.DecodeError{CallInfo: read, StatusCode: 200, Err: cut})
	m.add("DecodeError of unknown outcome",
		&client.DecodeError{CallInfo: unknown, StatusCode: 200, Err: cut})
	m.add("ArgumentError",
		&client.ArgumentError{Operation: gen.OpGetListing, Field: "listingId", Problem: "the problem"})
	m.add("SendCheckError", &client.SendCheckError{Operation: gen.OpCreateListing, Err: client.ErrTooLate})
	m.add("ThrottledError", &client.ThrottledError{Until: time.Date(2026, 11, 2, 9, 15, 0, 0, time.UTC)})

	batch := &gen.Batch{Status: gen.BatchStatusInProgress, TotalItems: 9, ItemStatuses: gen.Counts{"completed": 2, "failed": 1}}
	operation := &gen.ListingOperation{OperationStatus: gen.OperationStatusPending}
	m.add("WaitError of a batch",
		&client.WaitError{What: "batch", ID: "b1", Batch: batch, Err: context.DeadlineExceeded})
	m.add("WaitError of an unread batch",
		&client.WaitError{What: "batch", ID: "b1", Batch: &gen.Batch{}, Err: context.Canceled})
	m.add("WaitError of an operation",
		&client.WaitError{What: "operation", ID: "o1", Operation: operation, Err: context.Canceled})
	m.add("WaitError of an unread operation",
		&client.WaitError{What: "operation", ID: "o1", Operation: &gen.ListingOperation{}, Err: context.Canceled})

	failed := gen.ListingOperation{ListingID: "l1", OperationID: "o1", OperationType: gen.OperationTypeUpdate, Error: "The price is out of range."}
	m.add("OperationError", &client.OperationError{Operation: failed})
	failed.Error = ""
	m.add("OperationError without a reason", &client.OperationError{Operation: failed})

	item := client.BatchFailure{ItemID: "i1", Status: gen.BatchItemStatusFailed, Reason: "The variant is unknown."}
	m.add("BatchError", &client.BatchError{BatchID: "b1", Total: 2, Failed: []client.BatchFailure{item}})
	m.add("BatchError without a reason",
		&client.BatchError{BatchID: "b1", Total: 2, Failed: []client.BatchFailure{{ItemID: "i1"}}})
	m.add("BatchError with everything", &client.BatchError{
		BatchID: "b1", Total: 9, Failed: []client.BatchFailure{item}, Missing: 2, Problem: "the problem", Err: cut,
		Unknown: []client.BatchFailure{{ItemID: "i2", Problem: "the problem of the item"}},
	})
	m.add("BatchError of unknown items", &client.BatchError{
		BatchID: "b1", Total: 2, Unknown: []client.BatchFailure{{ItemID: "i2", Problem: "the problem of the item"}},
	})
}

// addOptions adds what New reports of its options.
func (m *messages) addOptions() {
	complete := client.WithDefaults(
		client.WithBaseURL("https://api.example.com/v2"), client.WithAPIKey("key"), client.WithToken("token"),
	)
	_, err := client.New()
	m.add("New without options", err)
	_, err = client.New(client.WithBaseURL("ftp://api.example.com"), client.WithAPIKey(""), client.WithToken("a b"))
	m.add("New with invalid options", err)
	static, source := client.WithToken("token"), client.WithTokenSource(&countingSource{})
	limiter := client.WithLimiter(quota.NewLimiter(quota.Public))
	for _, tc := range []struct {
		name string
		opts []client.Option
	}{
		{"New with a nil option", []client.Option{nil}},
		{"New with a nil default option", []client.Option{client.WithDefaults(nil)}},
		{"New with two nil default options", []client.Option{client.WithDefaults(nil, nil)}},
		{"WithBaseURL that is no URL", []client.Option{client.WithBaseURL("https://[api")}},
		{"WithBaseURL with credentials", []client.Option{client.WithBaseURL("https://me:you@api.example.com")}},
		{"WithBaseURL with a query", []client.Option{client.WithBaseURL("https://api.example.com/v2?a=b")}},
		{"WithBaseURL in the clear", []client.Option{client.WithBaseURL("http://api.example.com/v2")}},
		{"WithAPIKey empty", []client.Option{client.WithAPIKey("")}},
		{"WithAPIKey with a line end", []client.Option{client.WithAPIKey("key\n")}},
		{"WithToken empty", []client.Option{client.WithToken("")}},
		{"WithToken with a space", []client.Option{client.WithToken("Bearer token")}},
		{"WithTokenSource nil", []client.Option{client.WithTokenSource(nil)}},
		{"WithTokenSource of a nil pointer", []client.Option{client.WithTokenSource((*countingSource)(nil))}},
		{"WithHTTPClient nil", []client.Option{client.WithHTTPClient(nil)}},
		{"WithHTTPClient with a nil transport", []client.Option{client.WithHTTPClient(&http.Client{Transport: (*http.Transport)(nil)})}},
		{"WithLogger nil", []client.Option{client.WithLogger(nil)}},
		{"WithObserver nil", []client.Option{client.WithObserver(nil)}},
		{"WithLimiter nil", []client.Option{client.WithLimiter(nil)}},
		{"WithLimiter of a nil pointer", []client.Option{client.WithLimiter((*recordingLimiter)(nil))}},
		{"WithMiddleware nil", []client.Option{client.WithMiddleware(passOn, nil)}},
		{"WithMiddleware that returns nil", []client.Option{client.WithMiddleware(func(client.Doer) client.Doer { return nil })}},
		{"WithRetry negative", []client.Option{client.WithRetry(client.RetryPolicy{MaxAttempts: -1})}},
		{"WithQuota negative", []client.Option{client.WithQuota(quota.Quota{ItemsPerDay: -1})}},
		{"WithMaxBatchItems zero", []client.Option{client.WithMaxBatchItems(0)}},
		{"WithToken and WithTokenSource", []client.Option{static, source}},
		{"WithQuota and WithLimiter", []client.Option{client.WithQuota(quota.Public), limiter}},
	} {
		_, err := client.New(append([]client.Option{complete}, tc.opts...)...)
		m.add(tc.name, err)
	}
}

// addArguments adds what methods report of their arguments, before any I/O.
func (m *messages) addArguments() {
	ctx := m.Context()
	c := newCannedClient(m.T, nil)
	get := func(id string) error { return failure(c.Listings.Get(ctx, id)) }
	list := func(filter client.ListingFilter) error { return failure(c.Listings.ListPage(ctx, filter)) }
	create := func(amount gen.Amount) error {
		return failure(c.Listings.Create(ctx, gen.CreateListingRequest{VariantID: "v1", Amount: amount}))
	}
	batch := func(items ...gen.CreateItem) error { return failure(c.Batches.Create(ctx, items)) }
	change := func(items ...gen.UpdateItem) error { return failure(c.Batches.Update(ctx, items)) }
	ingest := func(products ...gen.IngestionProduct) error { return failure(c.Catalog.Ingest(ctx, products)) }
	item := gen.CreateItem{VariantID: "v1", Amount: "162", Quantity: 1}
	product := gen.IngestionProduct{Brand: "Jordan", Category: gen.IngestionCategorySneakers, ProductTitle: "Jordan 1"}
	generated := c.Raw()
	raw := func(resp *http.Response, err error) error {
		if resp != nil {
			_ = resp.Body.Close()
		}
		return err
	}
	moved := newCannedClient(m.T, nil, client.WithMiddleware(func(next client.Doer) client.Doer {
		return client.DoerFunc(func(r *http.Request) (*http.Response, error) {
			r.URL.Path = "/v2/selling/listings"
			return next.Do(r)
		})
	}))
	elsewhere := newCannedClient(m.T, nil)
	elsewhere.Raw().Server = "https://elsewhere.invalid/v2/"
	counted := newCannedClient(m.T, nil, client.WithLimiter(&recordingLimiter{}))

	for _, tc := range []struct {
		name string
		err  error
	}{
		{"an empty id", get("")},
		{"an id of two dots", get("..")},
		{"an id with a line end", get("a\nb")},
		{"an order number that is a list", failure(c.Orders.Get(ctx, "active"))},
		{"a page number below 1", list(client.ListingFilter{PageNumber: -1})},
		{"a page that is too large", list(client.ListingFilter{PageSize: 101})},
		{"a filter with a comma", list(client.ListingFilter{ProductIDs: []string{"a,b"}})},
		{"a search without words", failure(c.Catalog.SearchPage(ctx, client.ProductQuery{}))},
		{"several arguments", list(client.ListingFilter{PageSize: -1, Statuses: []gen.ListingStatus{""}})},
		{"an amount that is missing", create("")},
		{"an amount that is no number", create("$162")},
		{"an amount in scientific notation", create("1e3")},
		{"an amount of zero", create("0.00")},
		{"an update without changes", failure(c.Listings.Update(ctx, "l1", gen.UpdateListingRequest{}))},
		{"an update without a currency", failure(c.Listings.Update(ctx, "l1", gen.UpdateListingRequest{Amount: "162"}))},
		{"a batch item without a currency", change(gen.UpdateItem{ListingID: "l1", Amount: "162"})},
		{"a batch without items", batch()},
		{"a batch of too many items", batch(slices.Repeat([]gen.CreateItem{item}, 101)...)},
		{"a quantity of zero", batch(gen.CreateItem{VariantID: "v1", Amount: "162"})},
		{"a quantity that is too large", batch(item, gen.CreateItem{VariantID: "v1", Amount: "162", Quantity: math.MaxInt32})},
		{"a batch item without changes", change(gen.UpdateItem{ListingID: "l1"})},
		{"a listing twice in a batch", change(gen.UpdateItem{ListingID: "l1", Active: new(true)}, gen.UpdateItem{ListingID: "L1", Active: new(true)})},
		{"an ingestion without products", ingest()},
		{"a product without a title", ingest(gen.IngestionProduct{Brand: "Jordan"})},
		{"a product without a price", ingest(product)},
		{"a nil wait option", failure(c.Batches.ResumeCreate("b1").Wait(ctx, nil))},
		{"a nil progress function", failure(c.Batches.ResumeCreate("b1").Wait(ctx, client.WithProgress(nil)))},
		{"a path of no operation", raw(generated.GetListing(ctx, ".."))},
		{"a path of another operation", failure(moved.Listings.Get(ctx, "l1"))},
		{"another host", failure(elsewhere.Listings.Get(ctx, "l1"))},
		{
			"a body that is read once",
			raw(generated.CreateListingWithBody(ctx, "application/json", io.MultiReader(strings.NewReader(`{}`)))),
		},
		{
			"a batch of unknown size",
			raw(counted.Raw().DeleteListingsBatch(ctx, gen.DeleteListingsBatchRequest{})),
		},
	} {
		require.ErrorIs(m, tc.err, client.ErrInvalidArgument, tc.name)
		m.add(tc.name, tc.err)
	}
}

// addAttempts adds errors that say how often a request was sent, and whether to send a write again.
func (m *messages) addAttempts() {
	read := client.CallInfo{Operation: "GetListing", Method: "GET", Attempts: 3}
	write := client.CallInfo{Operation: "CreateListing", Method: "POST", Attempts: 3}
	unsent, unknown := write, write
	unsent.Attempts, unknown.OutcomeUnknown = 0, true
	for _, tc := range []struct {
		name string
		err  error
	}{
		{"a read without a response, after retries", &client.TransportError{CallInfo: read, Err: io.ErrUnexpectedEOF}},
		{"a write that was not sent, after retries", &client.TransportError{CallInfo: write, Err: syscall.ECONNREFUSED}},
		{"a write that was not tried", &client.TransportError{CallInfo: unsent, Err: context.Canceled}},
		{"a write without a response, after retries", &client.TransportError{CallInfo: unknown, Err: io.ErrUnexpectedEOF}},
		{"a status, after retries", &client.APIError{CallInfo: read, StatusCode: 503, Message: "busy", RequestID: "7f3a"}},
		{"a broken body, after retries", &client.DecodeError{CallInfo: read, StatusCode: 200, Err: io.ErrUnexpectedEOF}},
	} {
		m.add(tc.name, tc.err)
	}
}

// addCalls adds failures of calls that do not depend on the body of a response.
func (m *messages) addCalls() {
	ctx := m.Context()
	respondWith := func(status int, header http.Header) func(*http.Request) canned {
		return func(*http.Request) canned {
			return canned{status: status, header: header, body: `{"message":"no"}`}
		}
	}
	read := func(c *client.Client) error { return readCall.do(ctx, c) }
	write := func(c *client.Client) error { return writeCall.do(ctx, c) }

	m.add("a redirect to another host",
		read(newCannedClient(m.T, respondWith(302, http.Header{"Location": {"https://elsewhere.invalid/"}}))))
	m.add("a status without a message",
		read(newCannedClient(m.T, func(*http.Request) canned { return canned{status: 403} })))
	closed := newCannedClient(m.T, nil)
	require.NoError(m, closed.Close())
	m.add("a closed client", read(closed))

	canceled, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	m.add("a context that ends before the retry", readCall.do(canceled, newCannedClient(m.T, respondWith(503, nil),
		client.WithRetry(client.RetryPolicy{}), client.WithLimiter(&blockingLimiter{Limiter: quota.NewLimiter(quota.Unlimited)}))))
	m.add("a token that is missing for the retry",
		write(newCannedClient(m.T, respondWith(429, nil), tokenOnceIn(2, errors.New("the disk is full")))))

	throttled := newCannedClient(m.T, respondWith(429, http.Header{"Retry-After": {"600"}}))
	require.Error(m, read(throttled))
	m.add("a call in a cooldown", read(throttled))

	m.add("a limiter without a place",
		read(newCannedClient(m.T, nil, client.WithLimiter(placeless{Limiter: quota.NewLimiter(quota.Unlimited)}))))
	m.add("a middleware without a response",
		write(newCannedClient(m.T, nil, client.WithMiddleware(noResponse(false)))))
	hangs := transportFunc(func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() })
	m.add("an attempt timeout",
		read(newCannedClient(m.T, nil, oneAttempt, client.WithHTTPClient(&http.Client{Transport: hangs}))))
	repeated := transportFunc(func(r *http.Request) (*http.Response, error) { // as net/http does by itself
		trace := httptrace.ContextClientTrace(r.Context())
		trace.GotConn(httptrace.GotConnInfo{})
		trace.GetConn("")
		return nil, r.Context().Err()
	})
	m.add("a request that net/http repeats",
		write(newCannedClient(m.T, nil, client.WithHTTPClient(&http.Client{Transport: repeated}))))
	m.add("a document that is idle", m.readIdleDocument())
}

func (m *messages) readIdleDocument() error {
	c := newCannedClient(m.T, nil, client.WithHTTPClient(&http.Client{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
		body := io.MultiReader(strings.NewReader("%PDF"), &slowBody{r.Context(), time.Minute})
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body), Request: r}, nil
	})}))
	document, err := c.Orders.DownloadShippingDocument(m.Context(), orderID, "label")
	require.NoError(m, err)
	defer document.Close()
	_, err = io.ReadAll(document)
	return err
}

// addResponses adds what is reported of bodies under status 200.
func (m *messages) addResponses() {
	ctx := m.Context()
	for _, tc := range []struct {
		name, body string
		call       func(*client.Client) error
	}{
		{"a response that is empty", ``, func(c *client.Client) error { return readCall.do(ctx, c) }},
		{"a response that is no JSON", `<html>`, func(c *client.Client) error { return readCall.do(ctx, c) }},
		{"a response of another kind", `[]`, func(c *client.Client) error { return readCall.do(ctx, c) }},
		{"a response that is too deep", `{"payout":` + strings.Repeat("[", 20_000), func(c *client.Client) error { return readCall.do(ctx, c) }},
		{"a response of too many elements", `{"listings":[` + strings.Repeat(`{},`, 50_000) + `{}]}`, func(c *client.Client) error {
			return failure(c.Listings.ListPage(ctx, client.ListingFilter{}))
		}},
		{"a response that is too large", strings.Repeat(" ", 16<<20+1), func(c *client.Client) error { return readCall.do(ctx, c) }},
		{"a response without its id", `{}`, func(c *client.Client) error { return writeCall.do(ctx, c) }},
		{"a response about another object", `{"listingId":"other"}`, func(c *client.Client) error { return readCall.do(ctx, c) }},
		{"a response without a known member", `{"a":1}`, func(c *client.Client) error {
			return failure(c.Catalog.GetMarketData(ctx, "p1", "v1", ""))
		}},
		{"a page without its array", `{"hasNextPage":false}`, func(c *client.Client) error {
			return failure(c.Listings.ListPage(ctx, client.ListingFilter{}))
		}},
		{"a page whose end is unclear", `{"listings":[],"hasNextPage":"no"}`, func(c *client.Client) error {
			return failure(c.Listings.ListPage(ctx, client.ListingFilter{}))
		}},
		{"a page without its cursor", `{"operations":[{}]}`, func(c *client.Client) error {
			return failure(c.Listings.ListOperationsPage(ctx, "l1", "", 0))
		}},
		{"a list that is stuck", `{"listings":[{"listingId":"l1"}],"hasNextPage":true}`, func(c *client.Client) error {
			_, errs := collect(pagedLists()[0].list(ctx, c))
			return errors.Join(errs...)
		}},
		{"a document that is no PDF", `<html>`, func(c *client.Client) error {
			return failure(c.Orders.DownloadShippingDocument(ctx, "1-1", "label"))
		}},
	} {
		m.add(tc.name,
			tc.call(newCannedClient(m.T, func(*http.Request) canned { return canned{status: 200, body: tc.body} })))
	}

	one, two := item("i1", done, created("l1")), item("i2", done, created("l2"))
	for _, e := range []batchEnding{
		{how: "create", why: "items that are missing"},
		{how: "create", items: []string{one, item("i2", `"QUEUED"`, created("l2"))}, why: "an item that is not completed"},
		{how: "create", items: []string{one, item("i2", done, "")}, why: "an item without a listing"},
		{how: "create", items: []string{one, item("i2", done, created("l1"))}, why: "two items with one listing"},
		{how: "delete", items: []string{item("i1", done, asL1), item("i2", done, asL2+`,"result":{"listingId":"l1"}`)}, why: "a result of another listing"},
		{how: "delete", items: []string{item("i1", done, asL1), item("i2", done, `,"listingInput":{"id":"l9"}`)}, why: "a listing that was not submitted"},
		{how: "create", items: []string{one, two, item("i3", done, created("l3"))}, why: "too many items"},
		{how: "create", total: "3", items: []string{one, two}, why: "another total"},
		{how: "create", counts: `{"completed":1}`, items: []string{one, two}, why: "other counts"},
		{how: "resumed create", total: "0", items: []string{one}, why: "an unknown total"},
	} {
		_, _, _, err := e.wait(m.T)
		m.add("a batch with "+e.why, err)
	}
}

func (m *messages) addTokens() {
	config := refreshConfig
	for _, tc := range []struct {
		name   string
		change func(*token.RefreshConfig)
	}{
		{"a token URL in the clear", func(c *token.RefreshConfig) { c.TokenURL = "http://auth.example.com" }},
		{"a token source without an ID", func(c *token.RefreshConfig) { c.ClientID = "" }},
		{"a token source with a nil transport", func(c *token.RefreshConfig) {
			c.HTTPClient = &http.Client{Transport: (*http.Transport)(nil)}
		}},
	} {
		wrong := config
		tc.change(&wrong)
		_, err := token.NewRefreshSource(wrong)
		m.add(tc.name, err)
	}
	jwt := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"exp":946684799}`)) + ".e30"
	_, err := token.Static(jwt).Token()
	m.add("a static token that has expired", err)
	m.add("a token error", &token.Error{Err: errors.New("the cause")})
	m.add("a token error with a time", &token.Error{
		Err: errors.New("the cause"), RetryAt: time.Date(2026, 11, 2, 9, 15, 0, 0, time.UTC),
	})
	m.add("a token error without a response",
		&token.Error{Err: &oauth2.RetrieveError{ErrorCode: "invalid_grant"}})
	m.add("a token error in other words", &token.Error{Err: &oauth2.RetrieveError{
		Response: &http.Response{StatusCode: http.StatusBadRequest}, ErrorCode: "Your token is gone.",
	}})
	_, err = new(token.RefreshSource).Token()
	m.add("a zero token source", err)

	ended := sourceFunc(func() (*oauth2.Token, error) { runtime.Goexit(); return nil, nil })
	m.add("a token source that ends its goroutine",
		readCall.do(m.Context(), newCannedClient(m.T, nil, client.WithTokenSource(ended))))
	panics := sourceFunc(func() (*oauth2.Token, error) { panic("secret") })
	m.add("a token source that panics",
		readCall.do(m.Context(), newCannedClient(m.T, nil, client.WithTokenSource(panics))))
	crashes := sourceFunc(func() (*oauth2.Token, error) { return []*oauth2.Token{}[len(m.lines)*0], nil })
	m.add("a token source that crashes",
		readCall.do(m.Context(), newCannedClient(m.T, nil, client.WithTokenSource(crashes))))
	broken := sourceFunc(func() (*oauth2.Token, error) { return &oauth2.Token{AccessToken: "two\nlines"}, nil })
	m.add("a token source without a token",
		readCall.do(m.Context(), newCannedClient(m.T, nil, client.WithTokenSource(broken))))

	for _, tc := range []struct {
		name    string
		respond http.HandlerFunc
	}{
		{"a token endpoint that refuses the token", tokenResponse(400, `{"error":"invalid_grant"}`)},
		{"a token endpoint that refuses the client", tokenResponse(401, `{"error":"invalid_client"}`)},
		{"a token endpoint that fails", tokenResponse(503, ``)},
		{"a token endpoint without JSON", tokenResponse(200, `<html>`)},
		{"a token endpoint without a token", tokenResponse(200, `{}`)},
		{"a token endpoint that sends too much", tokenResponse(200, strings.Repeat(" ", 65<<10))},
	} {
		m.add(tc.name, m.refresh(config, &tokenEndpoint{responses: []http.HandlerFunc{tc.respond}}))
	}
	m.add("a token endpoint that is not reached", m.refresh(config, transportFunc(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	})))
	rotating := &tokenEndpoint{responses: []http.HandlerFunc{grant("access-2", `"refresh_token":"refresh-2"`)}}
	config.OnRotate = func(context.Context, string) error { return errors.New("the disk is full") }
	m.add("a rotated token that is not saved", m.refresh(config, rotating))
	config.OnRotate = func(context.Context, string) error { <-time.After(time.Hour); return nil }
	m.add("a rotated token whose saving hangs", m.refresh(config, rotating))
	source := newRefreshSource(m.T, config, rotating)
	_, err = source.Token()
	require.Error(m, err)
	err = source.Close()
	require.Error(m, err)
	nextTry := regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]+Z`) // which is random
	m.addText("a token source that is closed with an unsaved token",
		nextTry.ReplaceAllString(err.Error(), "TIME"))
	config.OnRotate = nil
	source = newRefreshSource(m.T, config, &tokenEndpoint{responses: []http.HandlerFunc{tokenResponse(503, ``)}})
	require.NoError(m, source.Close())
	_, err = source.Token()
	m.add("a closed token source", err)
	<-time.After(2 * time.Hour) // until OnRotate returns
}

// refresh returns the error of the first refresh, without the random time of the next one.
func (m *messages) refresh(config token.RefreshConfig, endpoint http.RoundTripper) error {
	m.Helper()
	source := newRefreshSource(m.T, config, endpoint)
	defer func() { _ = source.Close() }()
	_, err := source.Token()
	failed, ok := errors.AsType[*token.Error](err)
	require.True(m, ok, "%v", err)
	return &token.Error{Err: failed.Err}
}

func (m *messages) addQuotas() {
	m.add("a call that is larger than the quota",
		&quota.Error{Limit: 500, Per: 5 * time.Minute, Unit: "items"})
	m.add("a call beyond the quota",
		&quota.Error{Limit: 1, Per: 24 * time.Hour, Unit: "requests", Wait: time.Hour})
}

// settlement is what a service shows of a write of unknown outcome to listing l1: a create batch b1
// or operation o1. Unless something is changed, the write landed.
type settlement struct {
	name    string
	replace []string       // Pairs of texts, in all bodies.
	status  map[string]int // By the end of the path; 200 by default.
	refuse  string         // A parameter of the query that is refused with 400.
	date    string         // The Date header.
	known   string
	ahead   time.Duration // How far the clock is ahead by which the write was sent.
}

func (s settlement) client(t *testing.T) *client.Client {
	t.Helper()
	bodies := map[string]string{
		"/listings": `{"count":1,"hasNextPage":false,"listings":[{"listingId":"l1","status":"ACTIVE","amount":"76","currencyCode":"USD",
			"inventoryType":"STANDARD","variant":{"variantId":"v1"},"batch":{"batchId":"b1"},"createdAt":"NOW","updatedAt":"NOW"}]}`,
		"/b1": `{"batchId":"b1","status":"COMPLETED","completedAt":"NOW","createdAt":"NOW","totalItems":1}`,
		"/items": `{"items":[{"itemId":"i1","status":"COMPLETED","listingInput":{"variantId":"v1","amount":"76","currencyCode":"USD",
			"active":true,"expiresAt":"2002-01-01T00:00:00.000Z"},"result":{"listingId":"l1"}}]}`,
		"/operations": `{"nextCursor":null,"operations":[{"listingId":"l1","operationId":"o1","operationType":"UPDATE","operationStatus":"SUCCEEDED",
			"operationInitiatedBy":"USER","operationInitiatedVia":"PUBLIC-API","createdAt":"NOW","changes":{"additions":{"amount":"76"}}}]}`,
	}
	change := strings.NewReplacer(append(slices.Clone(s.replace), "NOW", "2000-01-01T00:00:01Z")...)
	return newCannedClient(t, func(r *http.Request) canned {
		end := "/" + r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		status := s.status[end]
		if s.refuse != "" && r.URL.Query().Has(s.refuse) {
			status = http.StatusBadRequest
		}
		if status == 0 {
			status = http.StatusOK
		}
		body := bodies[end]
		if end == "/b2" {
			body = strings.ReplaceAll(bodies["/b1"], "b1", "b2")
		}
		header := http.Header{"Date": {s.date}}
		return canned{status: status, header: header, body: change.Replace(body)}
	}, oneAttempt)
}

// text returns the text of a verdict without the time since which it was looked for.
func text(v recovery.Verdict) string {
	v.Since = time.Date(2026, 11, 2, 9, 15, 0, 0, time.UTC)
	return v.String()
}

func submissionOf(madeAt time.Time) recovery.Submission {
	expiry := gen.TimeOf(time.Date(2002, 1, 1, 0, 0, 0, 0, time.UTC))
	item := gen.CreateItem{VariantID: "v1", Amount: "76", Quantity: 1, ExpiresAt: expiry}
	return recovery.Submission{ID: "s1", MadeAt: madeAt, Items: []gen.CreateItem{item}}
}

func (m *messages) addRecoveries() {
	const batchOfListing, firstListing, firstItem = `"batch":{"batchId":"b1"}`, `"listings":[`, `"items":[`
	for _, s := range []settlement{
		{name: "a batch that landed"},
		{name: "a batch that is not seen", known: "b1"},
		{name: "a batch made in the future", known: "b1", ahead: 365 * 24 * time.Hour},
		{name: "a batch and another clock", known: "b1", date: "Mon, 01 Jan 2001 00:00:00 GMT"},
		{name: "a batch and statuses that are refused", known: "b1", refuse: "listingStatuses"},
		{name: "a batch and a count of more listings", known: "b1", replace: []string{`"count":1`, `"count":2`}},
		{name: "a batch and a listing without a batch", replace: []string{batchOfListing, `"batch":null`}},
		{name: "a batch and a listing that was updated", replace: []string{
			batchOfListing, `"batch":null`, `"amount":"76"`, `"amount":"99"`, `"updatedAt":"NOW"`, `"updatedAt":"2001-01-01T00:00:00Z"`,
		}},
		{name: "a batch that cannot be read", status: map[string]int{"/b1": 404}},
		{name: "a batch whose items cannot be read", status: map[string]int{"/items": 404}},
		{name: "a batch of another size", replace: []string{`"totalItems":1`, `"totalItems":2`}},
		{name: "a batch with fewer items", replace: []string{firstItem, `"items":[],"none":[`}},
		{name: "a batch with more items", replace: []string{firstItem, `"items":[{},`}},
		{name: "a batch with other expiry times", replace: []string{`"2002-01-01`, `"2003-01-01`}},
		{name: "a batch with another echo", replace: []string{`"active":true`, `"active":false`}},
		{name: "a batch with another inventory type", replace: []string{`"STANDARD"`, `"DIRECT"`}},
		{name: "a batch with times without a zone", replace: []string{`"createdAt":"NOW"`, `"createdAt":"2000-01-01T00:00:01"`}},
		{name: "a batch without a time", replace: []string{`"createdAt":"NOW"`, `"createdAt":null`}},
		{name: "a batch made later", replace: []string{`"createdAt":"NOW"`, `"createdAt":"2001-01-01T00:00:00Z"`}},
		{name: "a batch that is known in another case", known: "B1"},
		{name: "two batches that match", replace: []string{firstListing, `"listings":[{"listingId":"l2","inventoryType":"STANDARD","batch":{"batchId":"b2"}},`}},
	} {
		m.inBubble(func(m *messages) {
			submission := submissionOf(time.Now().Add(s.ahead))
			verdict, err := recovery.Recover(m.Context(), s.client(m.T), submission,
				recovery.Options{Known: []string{s.known}})
			require.NoError(m, err, s.name)
			m.addText("Verdict on "+s.name, text(verdict))
		})
	}
	m.addText("Verdict of nothing", recovery.Verdict{}.String())
}

// addRecoveryErrors adds the errors of package recovery.
func (m *messages) addRecoveryErrors() {
	ctx := m.Context()
	c := settlement{}.client(m.T)
	over, cancel := context.WithCancel(ctx)
	cancel()
	_, err := recovery.Recover(over, c, submissionOf(time.Now()), recovery.Options{})
	m.add("Recover whose context ends", err)
	_, err = recovery.Submit(ctx, c, submissionOf(time.Now().Add(-2*time.Hour)))
	m.add("Submit an hour late", err)
	_, err = recovery.Submit(ctx, c, recovery.Submission{})
	m.add("Submit of nothing", err)
	_, err = recovery.Submit(ctx, nil, submissionOf(time.Now()))
	m.add("Submit without a client", err)
	_, err = recovery.New([]gen.CreateItem{{VariantID: "v1", Amount: "1", Quantity: 1}}, nil)
	m.add("a submission with a nil option", err)

	refused := settlement{status: map[string]int{"/operations": 403}}.client(m.T)
	settle := func(c *client.Client, kind gen.OperationType, sentAt time.Time) error {
		_, err := recovery.SettleOperation(ctx, c, kind,
			gen.UpdateItem{ListingID: "l1", Amount: "76"}, sentAt, recovery.Options{})
		return err
	}
	m.add("SettleOperation that is refused", settle(refused, gen.OperationTypeUpdate, time.Now()))
	m.add("SettleOperation of another kind", settle(c, gen.OperationTypeCreate, time.Now()))
	m.add("SettleOperation without a client", settle(nil, gen.OperationTypeUpdate, time.Now()))
	m.add("SettleOperation without a time", settle(c, gen.OperationTypeUpdate, time.Time{}))
}

func (m *messages) addSettlements() {
	item := gen.UpdateItem{ListingID: "l1", Amount: "76"}
	const firstOperation = `"operations":[`
	for _, s := range []settlement{
		{name: "a write that landed"},
		{name: "a write that is not seen", replace: []string{`"UPDATE"`, `"DELETE"`}},
		{name: "a write sent in the future", replace: []string{`"UPDATE"`, `"DELETE"`}, ahead: 365 * 24 * time.Hour},
		{name: "a write to a listing that cannot be read", status: map[string]int{"/operations": 404}},
		{name: "a write and an operation without an id", replace: []string{`"operationId":"o1"`, `"operationId":""`}},
		{name: "a write and an operation that another started", replace: []string{`"USER"`, `"SYSTEM"`, `"PUBLIC-API"`, `"INTERNAL-SYSTEM"`}},
		{name: "a write and an operation without a time", replace: []string{`"NOW"`, `null`}},
		{name: "a write and an operation without a zone", replace: []string{`"NOW"`, `"2000-01-01T12:00:00"`}},
		{name: "a write and an operation without its amount", replace: []string{`"amount":"76"`, `"amount":null`}},
		{name: "a write and an operation of an unknown type", replace: []string{`"UPDATE"`, `"UPDATE_V2"`}},
		{name: "a write and two operations", replace: []string{firstOperation, `"operations":[{"operationId":"o2","operationType":"UPDATE",
			"operationInitiatedBy":"USER","operationInitiatedVia":"PUBLIC-API","createdAt":"2000-01-01T00:00:01Z","changes":{"additions":{"amount":"76"}}},`}},
	} {
		m.inBubble(func(m *messages) {
			sentAt := time.Now().Add(s.ahead)
			verdict, err := recovery.SettleOperation(m.Context(), s.client(m.T),
				gen.OperationTypeUpdate, item, sentAt, recovery.Options{})
			require.NoError(m, err, s.name)
			m.addText("Verdict on "+s.name, text(verdict))
		})
	}
}
