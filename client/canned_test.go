package client_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// canned is an answer that every request gets.
type canned struct {
	status int
	header http.Header
	body   []byte
}

// cannedClient returns a client without a socket, for tests of many thousands of calls. It is patient for a
// moment only, so that no answer can hold it up.
func cannedClient(t *testing.T, answer func(*http.Request) canned, opts ...client.Option) *client.Client {
	t.Helper()
	transport := transportFunc(func(r *http.Request) (*http.Response, error) {
		if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteHeaders != nil {
			trace.WroteHeaders()
		}
		a := answer(r)
		if a.header == nil {
			a.header = http.Header{}
		}
		return &http.Response{
			StatusCode: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: -1,
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		}, nil
	})
	c, err := client.New(append([]client.Option{client.WithDefaults(
		client.WithBaseURL("https://"+cannedHost+"/v2"), client.WithAPIKey(clienttest.APIKey), client.WithToken(clienttest.Token),
		client.WithQuota(quota.Unlimited), client.WithHTTPClient(&http.Client{Transport: transport}),
		client.WithRetry(client.RetryPolicy{MaxAttempts: 2, MinDelay: 1, MaxDelay: 1, MaxRetryAfter: time.Millisecond}),
	)}, opts...)...)
	require.NoError(t, err)
	return c
}

const cannedHost = "canned.invalid"

func mustMarshal(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}
