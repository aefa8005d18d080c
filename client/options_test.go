package client_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/token"
)

// complete is what New wants at least, before the options given.
func complete(opts ...client.Option) []client.Option {
	return append([]client.Option{client.WithDefaults(
		client.WithBaseURL("https://api.example.com/v2"), client.WithAPIKey(secretKey), client.WithToken(secretToken),
	)}, opts...)
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
		{client.WithBaseURL("https://" + secretToken + "\x7f"), "base URL: not a valid URL", "control characters"},
		{client.WithBaseURL("https://me:eyJhbGciOiJSUzI1NiIs@api.example.com"), "base URL: must not contain credentials", "credentials"},
		{client.WithAPIKey(""), "API key: must not be empty", "empty"},
		{client.WithAPIKey(secretKey + "\n"), "API key: contains", "read from a file with its line end"},
		{client.WithAPIKey("schlüssel"), "API key: contains", "beyond ASCII"},
		{client.WithToken(""), "access token: must not be empty", "empty"},
		{client.WithToken("Bearer " + secretToken), "access token: contains", "the whole header"},
		{client.WithRetry(client.RetryPolicy{MaxAttempts: -1}), "retry policy: no field may be negative", "attempts"},
		{client.WithRetry(client.RetryPolicy{MinDelay: -1}), "retry policy: no field may be negative", "first pause"},
		{client.WithRetry(client.RetryPolicy{MaxDelay: -1}), "retry policy: no field may be negative", "longest pause"},
		{client.WithRetry(client.RetryPolicy{MaxRetryAfter: -1}), "retry policy: no field may be negative", "longest Retry-After"},
		{client.WithRetry(client.RetryPolicy{AttemptTimeout: -1}), "retry policy: no field may be negative", "attempt timeout"},
		{client.WithQuota(quota.Quota{RequestsPerSecond: -1}), "quota: no field may be negative", "requests"},
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
	_, err := client.New(complete(client.WithMaxBatchItems(0), client.WithAPIKey(" "), client.WithQuota(quota.Quota{ItemsPerDay: -1}))...)
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

func TestNew_RefusesNilByName(t *testing.T) {
	for _, tc := range []struct {
		option client.Option
		want   string
		why    string
	}{
		{nil, "option 2: must not be nil", "the option itself"},
		{client.WithDefaults(client.WithMaxBatchItems(1), nil), "default option 2: must not be nil", "an option in a group"},
		{client.WithTokenSource(nil), "token source: must not be nil", "a source"},
		{client.WithTokenSource((*turnstile)(nil)), "token source: must not be a nil *client_test.turnstile", "a nil pointer in an interface"},
		{client.WithTokenSource((*token.RefreshSource)(nil)), "token source: must not be a nil *token.RefreshSource", "one of this module"},
		{client.WithTokenSource(sourceFunc(nil)), "token source: must not be a nil client_test.sourceFunc", "a nil function in an interface"},
		{client.WithHTTPClient(nil), "HTTP client: must not be nil", "an HTTP client"},
		{client.WithHTTPClient(&http.Client{Transport: (*http.Transport)(nil)}), "HTTP client: the transport must not be a nil *http.Transport", "its transport"},
		{client.WithHTTPClient(&http.Client{Transport: transportFunc(nil)}), "HTTP client: the transport must not be a nil client_test.transportFunc", "its transport, a function"},
		{client.WithLogger(nil), "logger: must not be nil", "a logger"},
		{client.WithObserver(nil), "observer: must not be nil", "a callback"},
		{client.WithLimiter(nil), "limiter: must not be nil", "a limiter"},
		{client.WithLimiter((*meter)(nil)), "limiter: must not be a nil *client_test.meter", "a nil pointer in an interface"},
		{client.WithMiddleware(nil), "middleware 1: must not be nil", "a middleware"},
		{client.WithMiddleware(passOn, nil), "middleware 2: must not be nil", "the second one"},
		{client.WithMiddleware(func(client.Doer) client.Doer { return nil }), "middleware 1: returned a nil Doer", "what a middleware returns"},
		{client.WithMiddleware(passOn, func(client.Doer) client.Doer { return client.DoerFunc(nil) }), "middleware 2: returned a nil Doer", "a nil function in an interface"},
		{client.WithMiddleware(func(client.Doer) client.Doer { return (*http.Client)(nil) }), "middleware 1: returned a nil Doer", "a nil pointer in an interface"},
	} {
		c, err := client.New(complete(tc.option)...)
		assert.Nil(t, c, tc.why)
		require.ErrorContains(t, err, "client: "+tc.want, tc.why)
		assert.NotContains(t, err.Error(), "is missing", tc.why)
		assert.NotContains(t, err.Error(), "\n", "%s: one error only", tc.why)
	}
	_, err := client.New(complete(client.WithMiddleware(), client.WithHTTPClient(&http.Client{}))...)
	require.NoError(t, err, "nothing at all is not nil")
	c := clientAt(t, "https://api.example.com", client.WithTokenSource(nilIsFine(nil)))
	require.NotNil(t, c, "a nil map or slice may have a method that works")
}

// nilIsFine is a source whose zero value works.
type nilIsFine []string

func (s nilIsFine) Token() (*oauth2.Token, error) { return &oauth2.Token{AccessToken: "token"}, nil }

// passOn is a middleware that does nothing.
func passOn(next client.Doer) client.Doer { return next }

func TestNew_NamesOnlyTheTrueError(t *testing.T) {
	for _, tc := range []struct{ opts []client.Option }{
		{[]client.Option{client.WithBaseURL("ftp://x"), client.WithAPIKey("key"), client.WithToken("token")}},
		{[]client.Option{client.WithBaseURL("https://x"), client.WithAPIKey(""), client.WithToken("token")}},
		{[]client.Option{client.WithBaseURL("https://x"), client.WithAPIKey("key"), client.WithToken("a b")}},
		{[]client.Option{client.WithBaseURL("https://x"), client.WithAPIKey("key"), client.WithTokenSource(nil)}},
		{[]client.Option{client.WithDefaults(client.WithBaseURL("ftp://x")), client.WithAPIKey("key"), client.WithToken("token")}},
	} {
		_, err := client.New(tc.opts...)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "missing")
		assert.NotContains(t, err.Error(), "\n")
	}
}

func TestNew_RefusesConflicts(t *testing.T) {
	static, source := client.WithToken("token-1"), client.WithTokenSource(&turnstile{})
	limiter := client.WithLimiter(quota.NewLimiter(quota.Public))
	base := []client.Option{client.WithBaseURL("https://api.example.com"), client.WithAPIKey("key")}
	for _, tc := range []struct {
		opts []client.Option
		want string // empty if they are taken
		why  string
	}{
		{[]client.Option{static, source}, "WithToken and WithTokenSource both set the access token: use one of them", "two ways"},
		{[]client.Option{source, static}, "WithTokenSource and WithToken both set the access token: use one of them", "in the other order"},
		{[]client.Option{client.WithToken(""), source}, "both set the access token", "though the first is no token"},
		{[]client.Option{static, client.WithDefaults(source)}, "both set the access token", "a default replaces nothing"},
		{[]client.Option{client.WithDefaults(static, source)}, "both set the access token", "nor do defaults each other"},
		{[]client.Option{client.WithDefaults(static), source, static}, "both set the access token", "a default is replaced once"},
		{[]client.Option{static, static}, "", "the later of one option counts"},
		{[]client.Option{client.WithDefaults(static), source}, "", "a default is replaced"},
		{[]client.Option{client.WithDefaults(static), client.WithDefaults(source)}, "", "by another default too"},
		{[]client.Option{client.WithDefaults(client.WithDefaults(static), source)}, "", "also within a group"},
		{[]client.Option{static, client.WithQuota(quota.Public), limiter}, "WithQuota and WithLimiter both set the quota: use one of them", "a limiter has its own quota"},
		{[]client.Option{static, limiter, client.WithQuota(quota.Unlimited)}, "WithLimiter and WithQuota both set the quota", "in the other order, and of any quota"},
		{[]client.Option{static, client.WithDefaults(client.WithQuota(quota.Unlimited)), limiter}, "", "a default quota is replaced"},
	} {
		_, err := client.New(append(base, tc.opts...)...)
		if tc.want == "" {
			assert.NoError(t, err, tc.why)
			continue
		}
		assert.ErrorContains(t, err, tc.want, tc.why)
	}
}

func TestWithDefaults_JoinsAllThatIsWrong(t *testing.T) {
	_, err := client.New(complete(client.WithDefaults(client.WithMaxBatchItems(0), client.WithAPIKey("")))...)
	require.ErrorContains(t, err, "max batch items")
	assert.ErrorContains(t, err, "API key")
}

func TestWithDefaults_LaterOptionsCount(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(aRead.op).RespondExample().Times(2)
	require.NoError(t, aRead.do(t.Context(), srv.Client(client.WithDefaults(client.WithToken("group")))))
	require.NoError(t, aRead.do(t.Context(), srv.Client(client.WithDefaults(client.WithToken("group")), client.WithTokenSource(&turnstile{}))))
	for i, want := range []string{"Bearer group", "Bearer token-1"} {
		assert.Equal(t, want, srv.Requests(aRead.op)[i].Header.Get("Authorization"))
	}
}

func TestWait_RefusesNilByName(t *testing.T) {
	for want, opt := range map[string]client.WaitOption{"options[0]": nil, "WithProgress": client.WithProgress(nil)} {
		c := clienttest.New(t, clienttest.InProcess()).Client() // which fails the test if a request comes
		for _, err := range []error{
			failure(c.Batches.ResumeCreate(batchID).Wait(t.Context(), opt)),
			failure(c.Listings.Operation(listingID, operationID).Wait(t.Context(), opt)),
		} {
			var refused *client.ArgumentError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, want, refused.Field)
		}
	}
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
