package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// hostileCase is an answer that the service should never give, and what the client makes of it.
type hostileCase struct {
	name   string
	rule   string // What the case proves.
	call   hostileCall
	answer http.HandlerFunc
	result string                       // As resultOf writes it.
	check  func(*testing.T, any, error) // What else holds; nil for nothing.
	policy client.RetryPolicy           // patience, unless something of it is set.
}

// hostileCall is a typed call, with its value.
type hostileCall func(context.Context, *client.Client) (any, error)

func getListing(ctx context.Context, c *client.Client) (any, error) {
	return c.Listings.Get(ctx, listingID)
}

func getOperation(ctx context.Context, c *client.Client) (any, error) {
	return c.Listings.GetOperation(ctx, listingID, operationID)
}

func getOrder(ctx context.Context, c *client.Client) (any, error) { return c.Orders.Get(ctx, orderID) }

func pollBatch(ctx context.Context, c *client.Client) (any, error) {
	return c.Batches.ResumeCreate(batchID).Poll(ctx)
}

func getMarketData(ctx context.Context, c *client.Client) (any, error) {
	return c.Catalog.GetMarketData(ctx, productID, variantID, "")
}

func listListings(ctx context.Context, c *client.Client) (any, error) {
	return c.Listings.ListPage(ctx, client.ListingFilter{})
}

func createListing(ctx context.Context, c *client.Client) (any, error) {
	return c.Listings.Create(ctx, gen.CreateListingRequest{VariantID: variantID, Amount: "162"})
}

// TestHostile is the corpus of hostile answers. With -v it prints the table: case, rule, result.
func TestHostile(t *testing.T) {
	var table []string
	for _, test := range slices.Concat(hostileBodies(), hostileMembers(), hostileErrors(), hostileStreams(t), hostileRedirects(t), hostilePages()) {
		t.Run(test.name, func(t *testing.T) { assertHostile(t, test) })
		table = append(table, fmt.Sprintf("%-46s | %-76s | %s", test.name, test.rule, test.result))
	}
	t.Logf("%-46s | %-76s | %s", "case", "rule", "result")
	for _, line := range table {
		t.Log(line)
	}
}

func assertHostile(t *testing.T, test hostileCase) {
	t.Helper()
	var requests, oddities atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		test.answer(w, r)
	}))
	defer srv.Close()
	if test.policy == (client.RetryPolicy{}) {
		test.policy = patience(30 * time.Second)
	}
	c, done := wireClient(t, srv.URL, test.policy, client.WithObserver(func(e client.Event) {
		if e.Kind == client.EventDecodeWarning {
			oddities.Add(1)
		}
	}))
	defer done()

	value, err := test.call(t.Context(), c)

	assert.Equal(t, test.result, resultOf(err, int(requests.Load()), int(oddities.Load())), "%v", err)
	if err != nil {
		assert.Less(t, len(err.Error()), 700, "no answer fills an error")
		assert.NotContains(t, err.Error(), "\n", "an error is one line")
	}
	if test.check != nil {
		test.check(t, value, err)
	}
}

// resultOf says what came of a call: how it ended, with how many warnings, after how many requests.
func resultOf(err error, requests, oddities int) string {
	var parts []string
	answered, _ := errors.AsType[*client.APIError](err)
	switch {
	case err == nil && oddities > 0:
		parts = append(parts, fmt.Sprintf("read, with %d warnings", oddities))
	case err == nil:
		parts = append(parts, "read")
	case answered != nil:
		parts = append(parts, fmt.Sprintf("APIError %d", answered.StatusCode))
	case isA[*client.DecodeError](err):
		parts = append(parts, "DecodeError")
	case isA[*client.TransportError](err):
		parts = append(parts, "TransportError")
	case errors.Is(err, client.ErrPagingStuck):
		parts = append(parts, "ErrPagingStuck")
	default:
		parts = append(parts, fmt.Sprintf("%T", err))
	}
	if errors.Is(err, client.ErrBodyTooLarge) {
		parts = append(parts, "ErrBodyTooLarge")
	}
	if errors.Is(err, client.ErrOutcomeUnknown) {
		parts = append(parts, "ErrOutcomeUnknown")
	}
	return fmt.Sprintf("%s; sent %d", strings.Join(parts, ", "), requests)
}

// hostileBody answers with a file of the corpus, as what its name says it is.
func hostileBody(status int, name string) http.HandlerFunc {
	types := map[string]string{".json": "application/json", ".html": "text/html; charset=utf-8"}
	return hostileBodyAs(status, name, types[filepath.Ext(name)])
}

func hostileBodyAs(status int, name, contentType string) http.HandlerFunc {
	load := sync.OnceValues(func() ([]byte, error) { return os.ReadFile(filepath.Join("testdata", "hostile", name)) })
	return func(w http.ResponseWriter, _ *http.Request) {
		data, err := load()
		if err != nil {
			panic(err) // the server reports it, and the call fails
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write(data)
	}
}

func TestEveryFileOfTheHostileCorpusIsUsed(t *testing.T) {
	files, err := filepath.Glob("testdata/hostile/*")
	require.NoError(t, err)
	sources, err := filepath.Glob("hostile*_test.go")
	require.NoError(t, err)
	var code strings.Builder
	for _, name := range sources {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		code.Write(text)
	}
	for _, file := range files {
		assert.Contains(t, code.String(), `"`+filepath.Base(file)+`"`)
	}
}
