package client_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
)

// complete is what New wants at least, before the options given.
func complete(opts ...client.Option) []client.Option {
	return append([]client.Option{
		client.WithBaseURL("https://api.example.com/v2"), client.WithAPIKey(secretKey), client.WithToken(secretToken),
	}, opts...)
}

func TestNewWantsAddressKeyAndToken(t *testing.T) {
	c, err := client.New()
	assert.Nil(t, c)
	require.ErrorContains(t, err, "client: the base URL is missing: use WithBaseURL")
	assert.ErrorContains(t, err, "the API key is missing: use WithAPIKey")
	assert.ErrorContains(t, err, "the access token is missing: use WithToken or WithTokenSource")

	c, err = client.New(complete()...)
	require.NoError(t, err)
	assert.NotNil(t, c.Listings)
	assert.NotNil(t, c.Batches)
	assert.NotNil(t, c.Orders)
	assert.NotNil(t, c.Catalog)
}

func TestEveryOptionRefusesInItsName(t *testing.T) {
	for _, tc := range []struct {
		option client.Option
		want   string
		why    string
	}{
		{client.WithBaseURL(""), "base URL: want scheme, host and path", "empty"},
		{client.WithBaseURL("api.example.com/v2"), "base URL: want scheme, host and path", "no scheme"},
		{client.WithBaseURL("https:///v2"), "base URL: want scheme, host and path", "no host"},
		{client.WithBaseURL("https://:443/v2"), "base URL: want scheme, host and path", "a port is no host"},
		{client.WithBaseURL("https://api.example.com/v2?a=b"), "base URL: want scheme, host and path", "a query"},
		{client.WithBaseURL("https://api.example.com/v2?"), "base URL: want scheme, host and path", "an empty query"},
		{client.WithBaseURL("https://api.example.com/v2#a"), "base URL: want scheme, host and path", "a fragment"},
		{client.WithBaseURL("https://" + secretToken + "\x7f"), "base URL: it does not parse", "control characters"},
		{client.WithBaseURL("https://me:eyJhbGciOiJSUzI1NiIs@api.example.com"), "base URL: it must not hold credentials", "credentials"},
		{client.WithAPIKey(""), "API key: it is empty", "empty"},
		{client.WithAPIKey(secretKey + "\n"), "API key: it holds", "read from a file with its line end"},
		{client.WithAPIKey("schlüssel"), "API key: it holds", "beyond ASCII"},
		{client.WithToken(""), "access token: it is empty", "empty"},
		{client.WithToken("Bearer " + secretToken), "access token: it holds", "the whole header"},
		{client.WithTokenSource(nil), "the access token is missing", "nil"},
		{client.WithRetry(client.RetryPolicy{MaxAttempts: -1}), "retry policy: no field may be negative", "attempts"},
		{client.WithRetry(client.RetryPolicy{MinDelay: -1}), "retry policy: no field may be negative", "first pause"},
		{client.WithRetry(client.RetryPolicy{MaxDelay: -1}), "retry policy: no field may be negative", "longest pause"},
		{client.WithRetry(client.RetryPolicy{MaxRetryAfter: -1}), "retry policy: no field may be negative", "longest Retry-After"},
		{client.WithRetry(client.RetryPolicy{AttemptTimeout: -1}), "retry policy: no field may be negative", "attempt timeout"},
		{client.WithQuota(client.Quota{RequestsPerSecond: -1}), "quota: no field may be negative", "requests"},
		{client.WithMaxBatchItems(0), "max batch items: 0 is not 1 or more", "nothing"},
		{client.WithMaxBatchItems(-1), "max batch items: -1 is not 1 or more", "less"},
	} {
		c, err := client.New(complete(tc.option)...)
		assert.Nil(t, c, tc.why)
		require.ErrorContains(t, err, tc.want, tc.why)
		assertSecretFree(t, err, secretKey, secretToken, "eyJhbGciOiJSUzI1NiIs")
	}
}

func TestNewJoinsAllThatIsWrong(t *testing.T) {
	_, err := client.New(complete(client.WithMaxBatchItems(0), client.WithAPIKey(" "), client.WithQuota(client.Quota{ItemsPerDay: -1}))...)
	for _, part := range []string{"client: ", "max batch items", "API key", "quota"} {
		assert.ErrorContains(t, err, part)
	}
}

func TestCredentialsGoInTheClearOnlyToLoopback(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://api.example.com":       true,
		"HTTPS://api.example.com/v2/":   true,
		"http://127.0.0.1:8080/v2":      true,
		"http://127.8.9.10/v2":          true,
		"http://[::1]:8080/v2":          true,
		"http://localhost:8080":         true,
		"http://api.example.com/v2":     false,
		"http://127.0.0.1.example.com":  false,
		"http://localhost.example.com":  false,
		"http://10.0.0.1/v2":            false,
		"http://0.0.0.0/v2":             false,
		"http://[::ffff:10.0.0.1]/v2":   false,
		"ftp://127.0.0.1/v2":            false,
		"unix://127.0.0.1/v2":           false,
		"javascript://127.0.0.1/alert)": false,
	} {
		_, err := client.New(complete(client.WithBaseURL(address))...)
		if ok {
			assert.NoError(t, err, address)
			continue
		}
		assert.ErrorContains(t, err, "base URL", address)
	}
}

func TestNilOptionsAreTheDefaults(t *testing.T) {
	_, err := client.New(complete(client.WithLogger(nil), client.WithObserver(nil), client.WithMiddleware(), client.WithHTTPClient(nil), client.WithLimiter(nil))...)
	require.NoError(t, err)
}

func TestNewDoesNoIO(t *testing.T) {
	untouched := transportFunc(func(*http.Request) (*http.Response, error) {
		t.Error("New has sent a request")
		return nil, http.ErrNotSupported
	})
	source := &turnstile{}
	_, err := client.New(complete(client.WithHTTPClient(&http.Client{Transport: untouched}), client.WithTokenSource(source))...)
	require.NoError(t, err)
	assert.Zero(t, source.asked, "nor asked for a token")
}
