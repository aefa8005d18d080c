package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/profile"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/gen"
)

// connection is the URL of the service and the credentials of the seller.
type connection struct {
	baseURL, apiKey, token string
	profile                string // Its name; "" if the credentials are not of a profile.
	quota                  string // public, none, or "" for none on this machine and else public.

	source oauth2.TokenSource
	close  func() error // Of the source; nil if there is nothing to close.
}

const connectionHelp = `The service and the credentials come from the environment, which is safer for secrets
than flags (flags can be seen in the process list):

  SELLSIDE_BASE_URL   such as https://api.example.com/v2
  SELLSIDE_API_KEY    the API key
  SELLSIDE_TOKEN      the access token
  SELLSIDE_PROFILE    the profile of sellside login to use without an access token

Unless the service runs on this machine, no more than 1 request a second and 500
listings in 5 minutes are sent; --quota public keeps to that on this machine too.`

func (c *connection) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.baseURL, "base-url", "", "address of the service with its version (default $SELLSIDE_BASE_URL)")
	cmd.Flags().StringVar(&c.apiKey, "api-key", "", "API key (default $SELLSIDE_API_KEY)")
	cmd.Flags().StringVar(&c.token, "token", "", "access token (default $SELLSIDE_TOKEN)")
	cmd.Flags().StringVar(&c.profile, "profile", "", "profile of sellside login (default $SELLSIDE_PROFILE, or the current one)")
	cmd.Flags().StringVar(&c.quota, "quota", "", "quota to keep to: public, as of live services, or none (default public, or none for a service on this machine)")
}

// complete takes settings without a flag from the environment or, if there is no access token, from
// a profile, and reports all that are missing.
func (c *connection) complete(getenv func(string) string) error {
	if c.token = cmp.Or(c.token, getenv("SELLSIDE_TOKEN")); c.token == "" {
		found, err := c.useProfile(getenv)
		if err != nil || found {
			return err
		}
	}
	c.profile = ""
	var errs []error
	for _, setting := range []struct {
		value              *string
		what, flag, envVar string
	}{
		{&c.baseURL, "base URL", "--base-url", "SELLSIDE_BASE_URL"},
		{&c.apiKey, "API key", "--api-key", "SELLSIDE_API_KEY"},
		{&c.token, "access token", "--token", "SELLSIDE_TOKEN, sign in with sellside login"},
	} {
		if *setting.value = cmp.Or(*setting.value, getenv(setting.envVar)); *setting.value == "" {
			errs = append(errs, invalidf("the %s is missing: set %s, or use %s",
				setting.what, setting.envVar, setting.flag))
		}
	}
	return errors.Join(errs...)
}

// useProfile takes the connection from a profile. It returns false if none is named and there is no
// current one.
func (c *connection) useProfile(getenv func(string) string) (found bool, err error) {
	store, err := profiles(getenv, io.Discard)
	if err != nil {
		return false, nil //nolint:nilerr // no directory for profiles, so none
	}
	named := cmp.Or(c.profile, getenv("SELLSIDE_PROFILE"))
	p, err := store.Get(named)
	switch {
	case errors.Is(err, profile.ErrNoProfile) && named == "":
		return false, nil
	case errors.Is(err, profile.ErrNoProfile):
		return false, invalidError{err}
	case err != nil:
		return false, err
	}
	source, err := store.TokenSource(p)
	if err != nil {
		return false, err
	}
	if c.apiKey = cmp.Or(c.apiKey, getenv("SELLSIDE_API_KEY")); c.apiKey == "" {
		if c.apiKey, err = store.Secret(p.Name, profile.APIKey); err != nil {
			return false, err
		}
	}
	c.profile, c.baseURL = p.Name, cmp.Or(c.baseURL, p.BaseURL)
	c.source, c.close = source, source.Close
	return true, nil
}

// end ends the token source, which waits until a token that was rotated is saved.
func (c *connection) end() error {
	if c.close == nil {
		return nil
	}
	return c.close()
}

// accessToken returns the access token of the connection.
func (c *connection) accessToken(ctx context.Context) (*oauth2.Token, error) {
	if source, ok := c.source.(*token.RefreshSource); ok {
		return source.TokenContext(ctx)
	}
	return token.Static(c.token).Token()
}

// limits returns the quota to keep to.
func (c *connection) limits() (quota.Quota, error) {
	switch {
	case c.quota == "public", c.quota == "" && !c.isLocal():
		return quota.Public, nil
	case c.quota == "none", c.quota == "":
		return quota.Unlimited, nil
	default:
		return quota.Quota{}, invalidf("--quota (%q): use public or none", c.quota)
	}
}

// options returns the options of a client of the service.
func (c *connection) options() []client.Option {
	opts := []client.Option{client.WithBaseURL(c.baseURL), client.WithAPIKey(c.apiKey)}
	if c.source != nil {
		return append(opts, client.WithTokenSource(c.source))
	}
	return append(opts, client.WithToken(c.token))
}

// client returns a client that keeps to the quota. It polls a service on this machine more often
// than others, if it has no quota.
func (c *connection) client(opts ...client.Option) (*client.Client, error) {
	limits, err := c.limits()
	if err != nil {
		return nil, err
	}
	opts = slices.Concat(c.options(), []client.Option{client.WithQuota(limits)}, opts)
	if c.isLocal() && limits == quota.Unlimited {
		opts = append(opts, client.WithWaitOptions(client.WithPollInterval(50*time.Millisecond, time.Second)))
	}
	sdk, err := client.New(opts...)
	if err != nil {
		return nil, invalidError{err}
	}
	return sdk, nil
}

// explain returns an error that names the reason if a failure is one of the connection, and err
// otherwise. An invalid base URL is invalid input.
func (c *connection) explain(err error) error {
	unsent, _ := errors.AsType[*client.TransportError](err)
	unread, isOther := errors.AsType[*client.DecodeError](err)
	failed, _ := errors.AsType[*client.APIError](err)
	const noService = "no service at the base URL (%s): give it with its version, such as https://api.example.com/v2: %w"
	switch {
	case unsent != nil && isUnreachable(unsent):
		return fmt.Errorf("cannot reach the service (%s): check the base URL and the network: %w", c.baseURL, unsent.Err)
	case errors.Is(err, token.ErrReauthRequired):
		return fmt.Errorf("profile %s is signed out: sign in with sellside login --profile %s: %w", c.profile, c.profile, err)
	case errors.Is(err, token.ErrExpired):
		return fmt.Errorf("the access token has expired: set a new one: %w", err)
	case errors.Is(err, client.ErrUnauthorized), errors.Is(err, client.ErrForbidden):
		return fmt.Errorf("the service refuses the credentials: check the API key and the access token: %w", failed)
	case errors.Is(err, client.ErrNotFound) && (isList(failed.Operation) || c.lacksVersion()):
		return invalidf(noService, c.baseURL, failed)
	case isOther && c.lacksVersion():
		return invalidf(noService, c.baseURL, unread)
	default:
		return err
	}
}

// isUnreachable reports whether a request was not sent because the host is not known, refuses
// connections, or does not prove its identity.
func isUnreachable(err error) bool {
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return failed.Op == "dial" && !failed.Timeout()
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	return untrusted || plain
}

// isList reports whether an operation reads a list, which a service always has.
func isList(op gen.OperationID) bool { return op == gen.OpSearchProducts || op == gen.OpListListings }

// lacksVersion reports whether the base URL does not end with a version such as v2.
func (c *connection) lacksVersion() bool {
	last := path.Base(strings.TrimRight(c.baseURL, "/"))
	digits, ok := strings.CutPrefix(last, "v")
	return !ok || digits == "" || strings.Trim(digits, "0123456789") != ""
}

func (c *connection) isLocal() bool {
	u, err := url.Parse(c.baseURL)
	return err == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
}
