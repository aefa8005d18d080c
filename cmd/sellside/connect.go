package main

import (
	"cmp"
	"errors"
	"net"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// connection is the URL of the service and the credentials of the seller.
type connection struct {
	baseURL, apiKey, token string
}

const connectionHelp = `The service and the credentials come from the environment, which is safer for secrets
than flags (flags can be seen in the process list):

  SELLSIDE_BASE_URL   such as https://api.example.com/v2
  SELLSIDE_API_KEY    the API key
  SELLSIDE_TOKEN      the access token

Unless the service runs on this machine, no more than 1 request a second and 500
listings in 5 minutes are sent.`

func (c *connection) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.baseURL, "base-url", "", "address of the service with its version (default $SELLSIDE_BASE_URL)")
	cmd.Flags().StringVar(&c.apiKey, "api-key", "", "API key (default $SELLSIDE_API_KEY)")
	cmd.Flags().StringVar(&c.token, "token", "", "access token (default $SELLSIDE_TOKEN)")
}

// complete takes settings without a flag from the environment, and reports all that are missing.
func (c *connection) complete(getenv func(string) string) error {
	var errs []error
	for _, setting := range []struct {
		value              *string
		what, flag, envVar string
	}{
		{&c.baseURL, "base URL", "--base-url", "SELLSIDE_BASE_URL"},
		{&c.apiKey, "API key", "--api-key", "SELLSIDE_API_KEY"},
		{&c.token, "access token", "--token", "SELLSIDE_TOKEN"},
	} {
		if *setting.value = cmp.Or(*setting.value, getenv(setting.envVar)); *setting.value == "" {
			errs = append(errs, invalidf("the %s is missing: set %s, or use %s",
				setting.what, setting.envVar, setting.flag))
		}
	}
	return errors.Join(errs...)
}

// client returns a client. It keeps to the public quota and the default poll intervals unless the
// service runs on this machine.
func (c *connection) client() (*client.Client, error) {
	opts := []client.Option{
		client.WithBaseURL(c.baseURL), client.WithAPIKey(c.apiKey), client.WithToken(c.token),
	}
	if c.isLocal() {
		opts = append(opts, client.WithQuota(quota.Unlimited),
			client.WithWaitOptions(client.WithPollInterval(50*time.Millisecond, time.Second)))
	}
	sdk, err := client.New(opts...)
	if err != nil {
		return nil, invalidError{err}
	}
	return sdk, nil
}

func (c *connection) isLocal() bool {
	u, err := url.Parse(c.baseURL)
	return err == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
}
