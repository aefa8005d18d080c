package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/internal/guard"
)

// Option configures a [Client]. [New] checks and applies options in order; if an option is given
// twice, the later one counts. Two different options for the same setting, such as [WithToken] and
// [WithTokenSource], are an error. So is a nil argument: leave the option out instead.
type Option func(*config) error

// Settings that are required, or that more than one option can set.
const (
	settingBaseURL = "the base URL"
	settingAPIKey  = "the API key"
	settingToken   = "the access token"
	settingQuota   = "the quota"
)

// choose records which option sets a setting, and refuses a different second one.
func (c *config) choose(setting, option string) error {
	if other := c.given[setting]; other != "" && other != option {
		return fmt.Errorf("%s and %s both set %s: use one of them", other, option, setting)
	}
	c.given[setting] = option
	return nil
}

// isNil returns the error of an option with a nil argument.
func isNil(option string) error {
	return fmt.Errorf("%s: must not be nil: leave the option out", option)
}

// WithDefaults groups options that later ones may replace, even if both together would be an error:
// a [WithTokenSource] that follows replaces a WithToken in the group. It is for functions that
// create clients with their own settings and accept options from their callers.
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
		return joinErrors(errs...)
	}
}

// WithBaseURL sets the URL of the service including its version, such as
// https://api.example.com/v2. It must be https, or http to a loopback address, because every
// request carries credentials.
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

// WithToken sets a fixed access token; [WithTokenSource] is for programs that outlive it. If the
// token is a JWT whose exp has passed, calls fail with a [token.Error] that Is [token.ErrExpired],
// before any I/O.
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

// WithTokenSource sets the source of access tokens. The client calls it before every attempt, so it
// should cache its token ([oauth2.ReuseTokenSource] does), and it must be safe for concurrent use.
// After a 401 the client calls it once more, if an attempt is left, and repeats the request if the
// token is a new one; otherwise the 401 is returned with the reason.
//
// If the source has the methods TokenContext and Invalidate of [token.RefreshSource], the client
// uses them. A source without TokenContext is called by one goroutine at a time, and concurrent
// calls share its result; a call returns when its ctx ends, however long the source takes.
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

// WithHTTPClient sets the HTTP client that sends requests. It is copied, and its CheckRedirect is
// not used: writes follow no redirects, reads only those to the same scheme, host and port.
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

// WithLogger sets the logger. Calls and waits are logged at level debug, retries and decode
// warnings at level warn. Nothing is logged by default. Credentials are never logged.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error {
		if logger == nil {
			return isNil("logger")
		}
		c.logger = logger
		return nil
	}
}

// WithObserver sets a function that receives every event with the context of its call, which may have
// the span that a trace continues. It is called from the goroutine of the call, or from a timer's
// goroutine while the call waits for the quota. It must return quickly and be safe for concurrent
// use.
func WithObserver(observe func(context.Context, Event)) Option {
	return func(c *config) error {
		if observe == nil {
			return isNil("observer")
		}
		c.hook = observe
		return nil
	}
}

// WithMiddleware adds wrappers around the stages of a call, the first one outermost. A middleware
// sees a call once, however often it is retried, and before credentials are added; the context of its
// request is that of the call, and [OperationFromContext] returns its operation. It may set its own
// User-Agent. [New] refuses a middleware that returns a nil Doer. If the Doer returns neither a
// response nor an error, the call fails with a [TransportError], which Is [ErrOutcomeUnknown] for a
// write.
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

// WithUserAgent puts a product before that of this module in the User-Agent header, such as
// repricer/1.2: visible ASCII, in up to 256 characters.
func WithUserAgent(product string) Option {
	return func(c *config) error {
		words := strings.Fields(product)
		if len(words) == 0 || len(product) > 256 {
			return errors.New("user agent: want 1 to 256 characters, such as repricer/1.2")
		}
		for _, word := range words {
			if err := guard.Header(word); err != nil {
				return fmt.Errorf("user agent: %w", err)
			}
		}
		c.userAgent = strings.Join(words, " ")
		return nil
	}
}

// WithRetry sets the retry policy. Zero fields keep their defaults.
func WithRetry(policy RetryPolicy) Option {
	return func(c *config) error {
		c.retry = policy
		return policy.check()
	}
}

// WithQuota sets the client's rate limits. The default, also of each zero field, is [quota.Public];
// [quota.Unlimited] turns the limits off. A window's places are available once per window plus one
// round trip; package quota explains why. A quota belongs to an account: clients of one account
// share it with [WithLimiter].
func WithQuota(q quota.Quota) Option {
	return func(c *config) error {
		if err := c.choose(settingQuota, "WithQuota"); err != nil {
			return err
		}
		c.limiter = quota.NewLimiter(q.Or(quota.Public))
		return q.Check()
	}
}

// WithLimiter sets the limiter of the client. Clients that are given the same limiter share its
// quota, as clients of one account should; nothing is shared otherwise. Using WithQuota too is an
// error, because a limiter has its own quota.
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

// WithMaxBatchItems sets how many items a create batch may have, 100 by default (assumed: the
// service documents no limit). Update and delete batches have at most 100.
func WithMaxBatchItems(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("max batch items: %d is not 1 or more: use a positive number", n)
		}
		c.maxBatchItems = n
		return nil
	}
}

// WithWaitOptions sets options of every wait of the client, such as [WithPollInterval]. The options
// of a single wait are applied after them.
func WithWaitOptions(opts ...WaitOption) Option {
	return func(c *config) error {
		if _, err := newWaiting(nil, opts); err != nil {
			return fmt.Errorf("wait options: %w", err)
		}
		c.waitOptions = slices.Clone(opts)
		return nil
	}
}
