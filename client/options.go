package client

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"

	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/internal/guard"
)

// Option configures a [Client]. The options are checked and applied by [New], in their order: of one option that is
// given twice, the later counts. Two different options for the same setting, such as [WithToken] and [WithTokenSource],
// are an error, and so is nil in the place of what an option is to set: leave the option out instead.
type Option func(*config) error

// The settings that more than one option can set, or that are required.
const (
	settingBaseURL = "the base URL"
	settingAPIKey  = "the API key"
	settingToken   = "the access token"
	settingQuota   = "the quota"
)

// choose notes which option sets a setting, and refuses a second one.
func (c *config) choose(setting, option string) error {
	if other := c.given[setting]; other != "" && other != option {
		return fmt.Errorf("%s and %s both set %s: use one of them", other, option, setting)
	}
	c.given[setting] = option
	return nil
}

// isNil is the error of an option that was given nil.
func isNil(option string) error {
	return fmt.Errorf("%s: must not be nil: leave the option out", option)
}

// WithDefaults groups options that the ones after it may replace, also where both together would be an error: a
// [WithTokenSource] that follows replaces a WithToken in the group. It is for functions that make clients with
// settings of their own and take the options of their callers.
func WithDefaults(opts ...Option) Option {
	return func(c *config) error {
		before := maps.Clone(c.given)
		var errs []error
		for i, opt := range opts {
			if opt == nil {
				errs = append(errs, fmt.Errorf("default option %d: must not be nil", i+1))
				continue
			}
			errs = append(errs, opt(c))
		}
		for setting := range c.given {
			c.given[setting] = before[setting]
		}
		return errors.Join(errs...)
	}
}

// WithBaseURL sets the address of the service including its version, such as https://api.example.com/v2. It
// must be https, or http to a loopback address, because every request carries credentials.
func WithBaseURL(rawURL string) Option {
	return func(c *config) error {
		if err := c.choose(settingBaseURL, "WithBaseURL"); err != nil {
			return err
		}
		u, err := guard.Endpoint(strings.TrimRight(rawURL, "/"))
		if err != nil {
			return fmt.Errorf("base URL: %w", err)
		}
		c.baseURL = u
		return nil
	}
}

// WithAPIKey sets the value of the x-api-key header.
func WithAPIKey(key string) Option {
	return func(c *config) error {
		if err := c.choose(settingAPIKey, "WithAPIKey"); err != nil {
			return err
		}
		if err := guard.Header(key); err != nil {
			return fmt.Errorf("API key: %w", err)
		}
		c.apiKey = key
		return nil
	}
}

// WithToken sets an access token that stays the same until it expires; [WithTokenSource] is for programs
// that outlive one. If it is a JWT whose exp has passed, calls fail with a [TokenError] that Is
// [ErrTokenExpired] before any I/O.
func WithToken(accessToken string) Option {
	return func(c *config) error {
		if err := c.choose(settingToken, "WithToken"); err != nil {
			return err
		}
		if err := guard.Header(accessToken); err != nil {
			return fmt.Errorf("access token: %w", err)
		}
		c.tokens = token.Static(accessToken)
		return nil
	}
}

// WithTokenSource sets where access tokens come from. The source is asked before every attempt, so it should
// keep its token until it expires ([oauth2.ReuseTokenSource] does), and it must be safe for concurrent use.
// After a 401 it is asked once more, if there is an attempt left, and the request is repeated if the token is a new
// one; if there is none, the 401 comes with the reason. A source that has the methods TokenContext or Invalidate of
// [RefreshTokenSource] is used by them. One without TokenContext is asked by one goroutine at a time, and calls that
// come meanwhile get the same result: a call waits no longer than its ctx, however long the source takes.
func WithTokenSource(source oauth2.TokenSource) Option {
	return func(c *config) error {
		if err := c.choose(settingToken, "WithTokenSource"); err != nil {
			return err
		}
		if source == nil {
			return isNil("token source")
		}
		if guard.Nil(source) {
			return fmt.Errorf("token source: must not be a nil %T", source)
		}
		c.tokens = source
		return nil
	}
}

// WithHTTPClient sets the HTTP client to send with. It is copied, and the copy gets the client's own rule for
// redirects: writes follow none, reads only those to the same scheme, host and port.
func WithHTTPClient(hc *http.Client) Option {
	return func(c *config) error {
		if hc == nil {
			return isNil("HTTP client")
		}
		if hc.Transport != nil && guard.Nil(hc.Transport) {
			return fmt.Errorf("HTTP client: the transport must not be a nil %T", hc.Transport)
		}
		c.http = hc
		return nil
	}
}

// WithLogger sets where calls and waits (level debug), retries and oddities of answers (level warn) are logged.
// Nothing is logged by default, and no credentials are ever logged.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error {
		if logger == nil {
			return isNil("logger")
		}
		c.logger = logger
		return nil
	}
}

// WithObserver sets a function that gets every event, for metrics and traces. It is called from the goroutine of the
// call, or that of a timer while the call waits for the quota. It must be quick and safe for concurrent use.
func WithObserver(observe func(Event)) Option {
	return func(c *config) error {
		if observe == nil {
			return isNil("observer")
		}
		c.hook = observe
		return nil
	}
}

// WithMiddleware adds wrappers around the whole chain, the first one outermost. A middleware sees a call
// once, however often it is retried, and before credentials are added; it may set a User-Agent of its own. One that
// returns a nil Doer is an error of [New]; one whose Doer returns neither a response nor an error makes the call fail
// with a [TransportError], which Is [ErrOutcomeUnknown] for a write.
func WithMiddleware(middleware ...Middleware) Option {
	return func(c *config) error {
		for i, wrap := range middleware {
			if wrap == nil {
				return fmt.Errorf("middleware %d: must not be nil", len(c.middleware)+i+1)
			}
		}
		c.middleware = append(c.middleware, middleware...)
		return nil
	}
}

// WithRetry sets the retry policy. Fields left zero keep their defaults.
func WithRetry(policy RetryPolicy) Option {
	return func(c *config) error {
		c.retry = policy
		return policy.check()
	}
}

// WithQuota sets how fast the client may go; [quota.Public] is the default, also of each field that is left zero.
// [quota.Unlimited] turns the quota off. A window passes its places once in its length plus one round trip; package quota
// says why. The quota is an account's, so clients of one account share it by [WithLimiter].
func WithQuota(q quota.Quota) Option {
	return func(c *config) error {
		if err := c.choose(settingQuota, "WithQuota"); err != nil {
			return err
		}
		c.limiter = quota.NewLimiter(q.Or(quota.Public))
		return q.Check()
	}
}

// WithLimiter sets where requests get their places in the quota, instead of the limiter that [WithQuota] makes. Give
// several clients of one account the same limiter, and they share its quota; nothing is shared otherwise. WithQuota
// beside it is an error, because a limiter has its own quota.
func WithLimiter(limiter quota.Limiter) Option {
	return func(c *config) error {
		if err := c.choose(settingQuota, "WithLimiter"); err != nil {
			return err
		}
		if limiter == nil {
			return isNil("limiter")
		}
		if guard.Nil(limiter) {
			return fmt.Errorf("limiter: must not be a nil %T", limiter)
		}
		c.limiter = limiter
		return nil
	}
}

// WithMaxBatchItems sets how many items a create batch may have, 100 by default. The service does not
// document its limit. Update and delete batches stay at 100.
func WithMaxBatchItems(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("max batch items: %d is not 1 or more", n)
		}
		c.maxBatchItems = n
		return nil
	}
}
