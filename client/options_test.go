package client_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/token"
)

// validOptions are the required options, which others may replace.
var validOptions = client.WithDefaults(
	client.WithBaseURL("https://api.example.com/v2"), client.WithAPIKey(secretKey), client.WithToken(secretToken),
)

func TestNew_RequiresURLKeyAndToken(t *testing.T) {
	url, key, accessToken := client.WithBaseURL("https://api.example.com/v2"), client.WithAPIKey("key"), client.WithToken("token")
	for _, opts := range [][]client.Option{{}, {key, accessToken}, {url, accessToken}, {url, key}} {
		c, err := client.New(opts...)
		assert.Nil(t, c)
		require.Error(t, err)
	}

	c, err := client.New(url, key, accessToken)
	require.NoError(t, err)
	assert.NotNil(t, c.Listings)
	assert.NotNil(t, c.Batches)
	assert.NotNil(t, c.Orders)
	assert.NotNil(t, c.Catalog)
}

// The texts of these errors are in the golden file.
func TestNew_RefusesInvalidOption(t *testing.T) {
	for _, tc := range []struct {
		option client.Option
		why    string
	}{
		{client.WithBaseURL(""), "empty URL"},
		{client.WithBaseURL("api.example.com/v2"), "no scheme"},
		{client.WithBaseURL("https:///v2"), "no host"},
		{client.WithBaseURL("https://api.example.com/v2?a=b"), "a query"},
		{client.WithBaseURL("https://" + secretToken + "\x7f"), "control characters"},
		{client.WithBaseURL("https://me:" + secretKey + "@api.example.com"), "credentials"},
		{client.WithBaseURL("http://api.example.com/v2"), "credentials in the clear"},
		{client.WithBaseURL("http://localhost.example.com"), "not a loopback address"},
		{client.WithBaseURL("ftp://127.0.0.1/v2"), "another scheme"},
		{client.WithAPIKey(""), "empty key"},
		{client.WithAPIKey(secretKey + "\n"), "a key with a line end"},
		{client.WithAPIKey("schlüssel"), "a key beyond ASCII"},
		{client.WithToken(""), "empty token"},
		{client.WithToken("Bearer " + secretToken), "the whole header"},
		{client.WithRetry(client.RetryPolicy{MaxAttempts: -1}), "negative attempts"},
		{client.WithRetry(client.RetryPolicy{MinDelay: -1}), "negative first pause"},
		{client.WithRetry(client.RetryPolicy{MaxDelay: -1}), "negative longest pause"},
		{client.WithRetry(client.RetryPolicy{MaxRetryAfter: -1}), "negative Retry-After"},
		{client.WithRetry(client.RetryPolicy{AttemptTimeout: -1}), "negative attempt timeout"},
		{client.WithQuota(quota.Quota{RequestsPerSecond: -1}), "negative quota"},
		{client.WithMaxBatchItems(0), "no items"},
		{client.WithMaxBatchItems(-1), "negative items"},
		{client.WithDefaults(client.WithMaxBatchItems(0)), "an invalid option in a group"},

		{nil, "a nil option"},
		{client.WithWaitOptions(nil), "a nil wait option"},
		{client.WithDefaults(client.WithMaxBatchItems(1), nil), "a nil option in a group"},
		{client.WithTokenSource(nil), "a nil source"},
		{client.WithTokenSource((*countingSource)(nil)), "a source that is a nil pointer"},
		{client.WithTokenSource((*token.RefreshSource)(nil)), "a nil source of package token"},
		{client.WithTokenSource(sourceFunc(nil)), "a source that is a nil function"},
		{client.WithHTTPClient(nil), "a nil HTTP client"},
		{client.WithHTTPClient(&http.Client{Transport: (*http.Transport)(nil)}), "a transport that is a nil pointer"},
		{client.WithHTTPClient(&http.Client{Transport: transportFunc(nil)}), "a transport that is a nil function"},
		{client.WithLogger(nil), "a nil logger"},
		{client.WithObserver(nil), "a nil observer"},
		{client.WithDump(nil), "a nil writer"},
		{client.WithDump((*shown)(nil)), "a writer that is a nil pointer"},
		{client.WithUserAgent(" "), "an empty product"},
		{client.WithUserAgent("repricer\x7f"), "a product that a header cannot carry"},
		{client.WithUserAgent(strings.Repeat("a", 257)), "a product that is too long"},
		{client.WithLimiter(nil), "a nil limiter"},
		{client.WithLimiter((*recordingLimiter)(nil)), "a limiter that is a nil pointer"},
		{client.WithMiddleware(passOn, nil), "a nil middleware"},
		{client.WithMiddleware(func(client.Doer) client.Doer { return nil }), "a middleware that returns nil"},
		{client.WithMiddleware(func(client.Doer) client.Doer { return client.DoerFunc(nil) }), "one that returns a nil function"},
		{client.WithMiddleware(func(client.Doer) client.Doer { return (*http.Client)(nil) }), "one that returns a nil pointer"},
	} {
		c, err := client.New(validOptions, tc.option)
		assert.Nil(t, c, tc.why)
		require.Error(t, err, tc.why)
		assertSecretFree(t, err, secretKey, secretToken)
	}
}

func TestNew_TakesValidOption(t *testing.T) {
	for _, tc := range []struct {
		option client.Option
		why    string
	}{
		{client.WithBaseURL("HTTPS://api.example.com/v2/"), "any case of the scheme, and a slash at the end"},
		{client.WithBaseURL("http://127.8.9.10/v2"), "a loopback address"},
		{client.WithBaseURL("http://[::1]:8080/v2"), "a loopback address of IPv6"},
		{client.WithBaseURL("http://localhost:8080"), "a loopback host"},
		{client.WithMiddleware(), "no middleware"},
		{client.WithHTTPClient(&http.Client{}), "an HTTP client without a transport"},
		{client.WithTokenSource(nilSource(nil)), "a nil slice whose method works"},
	} {
		_, err := client.New(validOptions, tc.option)
		assert.NoError(t, err, tc.why)
	}
}

// nilSource is a source whose zero value works.
type nilSource []string

func (s nilSource) Token() (*oauth2.Token, error) { return &oauth2.Token{AccessToken: "token"}, nil }

func TestNew_RefusesConflicts(t *testing.T) {
	static, source := client.WithToken("token-1"), client.WithTokenSource(&countingSource{})
	limiter := client.WithLimiter(quota.NewLimiter(quota.Public))
	base := []client.Option{client.WithBaseURL("https://api.example.com"), client.WithAPIKey("key")}
	for _, tc := range []struct {
		opts []client.Option
		ok   bool
		why  string
	}{
		{[]client.Option{static, source}, false, "two options for the token"},
		{[]client.Option{source, static}, false, "in the other order"},
		{[]client.Option{static, client.WithDefaults(source)}, false, "a default replaces nothing"},
		{[]client.Option{client.WithDefaults(static, source)}, false, "nor another default of its group"},
		{[]client.Option{client.WithDefaults(static), source, static}, false, "a default is replaced once"},
		{[]client.Option{static, static}, true, "of one option the later counts"},
		{[]client.Option{client.WithDefaults(static), source}, true, "a default is replaced"},
		{[]client.Option{client.WithDefaults(static), client.WithDefaults(source)}, true, "by a later group"},
		{[]client.Option{client.WithDefaults(client.WithDefaults(static), source)}, true, "and within a group"},
		{[]client.Option{static, client.WithQuota(quota.Public), limiter}, false, "a limiter has its own quota"},
		{[]client.Option{static, limiter, client.WithQuota(quota.Unlimited)}, false, "in the other order"},
		{[]client.Option{static, client.WithDefaults(client.WithQuota(quota.Unlimited)), limiter}, true, "a default quota is replaced"},
	} {
		_, err := client.New(append(base, tc.opts...)...)
		assert.Equal(t, tc.ok, err == nil, "%s: %v", tc.why, err)
	}
}

func TestWithDefaults_IsReplacedByLaterOptions(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(readCall.op).RespondExample().Times(2)
	group := client.WithDefaults(client.WithToken("group"))
	require.NoError(t, readCall.do(t.Context(), srv.Client(group)))
	require.NoError(t,
		readCall.do(t.Context(), srv.Client(group, client.WithTokenSource(&countingSource{}))))
	for i, want := range []string{"Bearer group", "Bearer token-1"} {
		assert.Equal(t, want, srv.Requests(readCall.op)[i].Header.Get("Authorization"))
	}
}

func TestNew_DoesNoIO(t *testing.T) {
	untouched := transportFunc(func(*http.Request) (*http.Response, error) {
		t.Error("New has sent a request")
		return nil, http.ErrNotSupported
	})
	source := &countingSource{}
	_, err := client.New(validOptions, client.WithHTTPClient(&http.Client{Transport: untouched}),
		client.WithTokenSource(source))
	require.NoError(t, err)
	assert.Zero(t, source.asked, "no token was asked for")
}
