package clienttest

import (
	"slices"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// Client returns a client of the server, with made-up credentials and without a quota. The options given come
// after these, so they win. Retries are on and pause for real: a test that counts calls turns them off with
// [client.WithRetry], a test of retries runs in a bubble with [InProcess].
func (s *Server) Client(opts ...client.Option) *client.Client {
	s.tb.Helper()
	c, err := client.New(slices.Concat([]client.Option{client.WithDefaults(
		client.WithBaseURL(s.baseURL),
		client.WithHTTPClient(s.HTTPClient()),
		client.WithAPIKey(APIKey),
		client.WithToken(Token),
		client.WithQuota(quota.Unlimited),
	)}, opts)...)
	if err != nil {
		s.tb.Fatalf("clienttest: %v", err)
	}
	return c
}
