package client

import (
	"errors"
	"fmt"
	"os"

	"github.com/sellside-sdk/sellside-go/client/token"
)

// The variables of [FromEnv].
const (
	envBaseURL      = "SELLSIDE_BASE_URL"
	envAPIKey       = "SELLSIDE_API_KEY" //nolint:gosec // the name of a variable, not a credential
	envToken        = "SELLSIDE_TOKEN"
	envRefreshToken = "SELLSIDE_REFRESH_TOKEN"
	envTokenURL     = "SELLSIDE_TOKEN_URL" //nolint:gosec // as above
	envClientID     = "SELLSIDE_CLIENT_ID"
	envClientSecret = "SELLSIDE_CLIENT_SECRET"
	envAudience     = "SELLSIDE_AUDIENCE"
)

// FromEnv returns a client whose service and credentials are in environment variables, the same as
// those of the command line:
//
//	SELLSIDE_BASE_URL       as of WithBaseURL
//	SELLSIDE_API_KEY        as of WithAPIKey
//	SELLSIDE_TOKEN          as of WithToken, or else:
//	SELLSIDE_REFRESH_TOKEN  as of token.RefreshConfig, like the four below
//	SELLSIDE_TOKEN_URL
//	SELLSIDE_CLIENT_ID
//	SELLSIDE_CLIENT_SECRET  may be missing
//	SELLSIDE_AUDIENCE       may be missing
//
// The options are applied afterwards, and may set what the environment does not, or replace it. The
// error joins all problems as that of [New] does, and names each variable that is missing, invalid
// or contradicts another: an access token and a refresh token cannot both be set.
//
// As of every client, the quota is [quota.Public] unless an option sets another, also for a sandbox
// on this machine: one request a second.
//
// A token source that FromEnv makes of a refresh token is closed by [Client.Close], which then waits
// for a running refresh and returns its error. It cannot save a rotated refresh token: if the service
// rotates them, use [token.NewRefreshSource] with a store, or the sign-in of the command line with
// package profile, which also reads profiles; FromEnv does not.
func FromEnv(opts ...Option) (*Client, error) {
	return New(append([]Option{fromEnv}, opts...)...)
}

// fromEnv is the option that sets what the environment has. Later options may replace it. What is
// wrong with the environment is an error of [New] only if no later option sets it.
func fromEnv(c *config) error {
	c.environment = map[string]error{}
	use := func(setting string, err error) {
		c.given[setting] = ""
		if err != nil {
			delete(c.given, setting)
			c.environment[setting] = err
		}
	}
	use(settingBaseURL, optionFromEnv(c, envBaseURL, WithBaseURL))
	use(settingAPIKey, optionFromEnv(c, envAPIKey, WithAPIKey))
	use(settingToken, tokenFromEnv(c))
	return nil
}

// optionFromEnv applies an option with the value of a variable.
func optionFromEnv(c *config, name string, option func(string) Option) error {
	value := os.Getenv(name)
	if value == "" {
		return fmt.Errorf("%s is missing: set it", name)
	}
	if err := option(value)(c); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// tokenFromEnv sets the access token, or the source of access tokens.
func tokenFromEnv(c *config) error {
	hasToken, hasRefresh := os.Getenv(envToken) != "", os.Getenv(envRefreshToken) != ""
	switch {
	case hasToken && hasRefresh:
		return fmt.Errorf("%s and %s are both set: use one of them", envToken, envRefreshToken)
	case hasToken:
		return optionFromEnv(c, envToken, WithToken)
	case !hasRefresh:
		return fmt.Errorf("%s is missing: set it, or %s, %s and %s", envToken, envRefreshToken, envTokenURL, envClientID)
	}
	var missing []error
	for _, name := range []string{envTokenURL, envClientID} {
		if os.Getenv(name) == "" {
			missing = append(missing, fmt.Errorf("%s is missing: %s needs it", name, envRefreshToken))
		}
	}
	if len(missing) > 0 {
		return errors.Join(missing...)
	}
	source, err := token.NewRefreshSource(token.RefreshConfig{
		TokenURL: os.Getenv(envTokenURL), ClientID: os.Getenv(envClientID), ClientSecret: os.Getenv(envClientSecret),
		Audience: os.Getenv(envAudience), RefreshToken: os.Getenv(envRefreshToken),
	})
	if err != nil {
		return fmt.Errorf("%s, %s: %w", envRefreshToken, envTokenURL, err)
	}
	c.tokens, c.ownTokens = source, source
	return nil
}
