// Package consumer is what a user of the SDK has in a module of their own: an
// import of client and nothing else. Its test pins every package that this
// import compiles in, so that a dependency cannot reach users unnoticed.
//
// Its tests use the standard library alone, so that go.mod names what a user's
// go.mod would name.
package consumer

import (
	"fmt"

	"github.com/sellside-sdk/sellside-go/client"
)

// Connect returns a client for the service at baseURL, which ends in /v2 and is
// https or loopback. It does no I/O; the error says which setting is wrong.
func Connect(baseURL, apiKey, token string) (*client.Client, error) {
	c, err := client.New(
		client.WithBaseURL(baseURL),
		client.WithAPIKey(apiKey),
		client.WithToken(token),
	)
	if err != nil {
		return nil, fmt.Errorf("connect to the marketplace: %w", err)
	}
	return c, nil
}
