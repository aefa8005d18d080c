// Package consumer imports client from another module, as users do. Its test pins every package that
// this import compiles in, so that no dependency reaches users unnoticed.
//
// The tests use the standard library only, so that go.mod is that of a user.
package consumer

import (
	"fmt"

	"github.com/sellside-sdk/sellside-go/client"
)

// Connect returns a client for the service at baseURL, which ends in /v2 and is https or loopback. It
// does no I/O. The error names every setting that is wrong.
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
