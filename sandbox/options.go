package sandbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/limits"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// The default credentials. They are not secret.
const (
	DefaultAPIKey = "sandbox-api-key"
	// DefaultToken is a JWT that expires at the end of the year 9999, after every clock of a
	// sandbox.
	DefaultToken = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9" +
		".eyJpc3MiOiJzYW5kYm94Iiwic3ViIjoiZmlyc3QiLCJpYXQiOjAsImV4cCI6MjUzNDAyMzAwNzk5fQ" +
		".2C5_M3Aistj6OV1xTX2--5OPnAM_cNwb7v2SmHFywds"
	DefaultRefreshToken = "sandbox-refresh-token"
)

// The default durations of Options.
const (
	DefaultTokenLife = 12 * time.Hour
	DefaultDelay     = 100 * time.Millisecond
	DefaultOrderStep = time.Hour
	DefaultReview    = time.Minute
)

// ErrInvalidOptions reports that New refused the value of an option, before it opened the database.
var ErrInvalidOptions = errors.New("invalid options")

// Options configures a sandbox. The zero value has the defaults. New refuses credentials that no
// header can carry, since they begin or end with a space or have a control character.
type Options struct {
	// DB is the file of the database, which is created if it does not exist, for its owner only: it
	// has the credentials. One sandbox at a time has a file open; New refuses one that is in use,
	// in this process or another, and one that a newer program has written. SQLite keeps files with
	// the same name and -wal and -shm beside it; -lock stays. If empty or :memory:, the database is
	// in memory and belongs to this sandbox.
	DB string
	// APIKey is the API key of the first account; DefaultAPIKey if empty.
	APIKey string
	// Token is an access token of the first account that never expires, whatever it looks like;
	// DefaultToken if empty.
	Token string
	// RefreshToken is the refresh token of the first account; DefaultRefreshToken if empty.
	RefreshToken string
	// Accounts are more accounts, with unique names and credentials. Empty credentials are derived.
	// The database has the listings and orders of an account under its name.
	Accounts []Account
	// TokenLife is how long access tokens of the token endpoint are valid, by the clock of the
	// sandbox and in whole seconds; DefaultTokenLife if 0. They survive a restart on the same file,
	// unless the credentials of the first account change.
	TokenLife time.Duration
	// RotateRefreshTokens makes every grant return a new refresh token, which replaces the old one.
	RotateRefreshTokens bool
	// SignIn is the client that users sign in to at AuthorizePath.
	SignIn SignIn
	// ControlKey is the key of the control API; a random one if empty, see Sandbox.ControlKey.
	ControlKey string
	// Seed determines the prices of the order book and all ids, except for those of the catalog,
	// which never change.
	Seed uint64
	// Delay is how long an operation is PENDING, and a batch item first QUEUED and then
	// IN_PROGRESS. DefaultDelay if 0; none if negative.
	Delay time.Duration
	// OrderStep is how long an order stays in each state from the sale to the payout;
	// DefaultOrderStep if 0. If negative, orders are moved by MoveOrder only, also after a later
	// start with another value.
	OrderStep time.Duration
	// KeepTerms makes PATCH, activation and batch updates keep the currency and the expiry of the
	// listing if they leave them out. By default an amount without a currency is in US dollars, and
	// an ask without an expiry expires in 999 days, as on creation. That is what is published for
	// PATCH and activation, and assumed for batch updates; whether a live service does it is not
	// known, so that programs have to be right under both.
	KeepTerms bool
	// BookTrades makes the bids and asks of the order book trade, until it has none left. A listing
	// whose ask is at or below the highest bid of the book is then sold at that bid, and a bid of a
	// buyer takes the lowest ask, even one of the book.
	BookTrades bool
	// Review is how long an ingested product is In Review; DefaultReview if 0, no time if negative.
	Review time.Duration
	// Now is the clock; time.Now if nil. A clock that does not run by itself needs Manual.
	Now func() time.Time
	// Manual leaves the work to calls of Work, instead of a worker in the background.
	Manual bool
	// Quota is the quota of each account, in sliding windows; requests beyond it get a 429.
	// Requests without valid credentials do not count, and batch items count as listings once their
	// batch is accepted. A zero field sets no limit, so that the zero Quota and quota.Unlimited are
	// the same here; quota.Public is what live services publish.
	Quota quota.Quota
	// NoRetryAfter leaves the Retry-After header out of a 429, as live services may do. Otherwise
	// it has the seconds until there is room, rounded up.
	NoRetryAfter bool
	// AllowUnknownParameters lets query parameters pass that an operation does not have. Otherwise
	// they are refused with 400, so that a misspelt filter is not a filter that is ignored.
	AllowUnknownParameters bool
	// Quirks makes responses look like those of a live service, which a program has to survive and
	// which the document does not show: amounts with four decimal places, figures of payouts and
	// counts as strings, null or nothing for members that only inform, nothing for those that are
	// null, members and values that are not documented, an empty array for an empty object, and
	// errors in other shapes and languages. Ids and arrays are as they are, and so are the values
	// of amounts and statuses.
	Quirks bool
	// VagueOrigin makes the batch of listings null, and leaves the zone out of createdAt: it cannot
	// be told from a listing which batch made it, and when.
	VagueOrigin bool
	// Console serves a page for people at ConsolePath.
	Console bool
	// Runs returns runs of a bulk program for the console to show, the newest first. It is called
	// twice a second for each open page, so that it should read little. Nil shows none.
	Runs func(context.Context) ([]Run, error)
	// Logger gets a record for each request and for each failure of the sandbox, never with a
	// credential. Nothing is logged if it is nil.
	Logger *slog.Logger
}

// complete returns the options with defaults, or refuses them.
func (o Options) complete() (Options, error) {
	o.APIKey = cmp.Or(o.APIKey, DefaultAPIKey)
	o.Token = cmp.Or(o.Token, DefaultToken)
	o.RefreshToken = cmp.Or(o.RefreshToken, DefaultRefreshToken)
	o.SignIn = o.SignIn.complete()
	o.Delay = max(cmp.Or(o.Delay, DefaultDelay), 0)
	o.OrderStep = cmp.Or(o.OrderStep, DefaultOrderStep)
	o.Review = max(cmp.Or(o.Review, DefaultReview), 0)
	if err := o.checkCredentials(); err != nil {
		return o, err
	}
	if o.TokenLife = cmp.Or(o.TokenLife, DefaultTokenLife); o.TokenLife < time.Second {
		return o, fmt.Errorf("%w: TokenLife (%s): must be a second at least", ErrInvalidOptions, o.TokenLife)
	}
	if err := o.SignIn.check(); err != nil {
		return o, err
	}
	if o.ControlKey == "" {
		o.ControlKey = rand.Text()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := o.Quota.Check(); err != nil {
		return o, fmt.Errorf("%w: %w", ErrInvalidOptions, err)
	}
	o.Quota.ItemsWindow = cmp.Or(o.Quota.ItemsWindow, quota.Public.ItemsWindow)
	return o, nil
}

// accounts returns the rows of all accounts, the first one first.
func (o Options) accounts() []store.Account {
	first := Account{Name: FirstAccount, APIKey: o.APIKey, Token: o.Token, RefreshToken: o.RefreshToken}
	var rows []store.Account
	for _, a := range append([]Account{first}, o.Accounts...) {
		rows = append(rows, store.Account{Name: a.Name, APIKey: a.APIKey, Token: a.Token, RefreshToken: a.RefreshToken})
	}
	return rows
}

// limits returns the limits of requests and of batch items that the quota sets.
func (o Options) limits(now func() time.Time) (requests, items *limits.Limits) {
	const day = 24 * time.Hour
	q := o.Quota
	requests = limits.New(limits.Config{
		Unit: "requests", Now: now, NoRetryAfter: o.NoRetryAfter,
		Windows: []limits.Window{{Max: q.RequestsPerSecond, Per: time.Second}, {Max: q.RequestsPerDay, Per: day}},
	})
	items = limits.New(limits.Config{
		Unit: "items", Now: now, NoRetryAfter: o.NoRetryAfter,
		Windows: []limits.Window{{Max: q.ItemsPerWindow, Per: q.ItemsWindow}, {Max: q.ItemsPerDay, Per: day}},
	})
	return requests, items
}

// checkCredentials refuses credentials that no header can carry, by their name.
func (o Options) checkCredentials() error {
	credentials := map[string]string{"APIKey": o.APIKey, "Token": o.Token, "ControlKey": o.ControlKey}
	for _, a := range o.Accounts {
		credentials[fmt.Sprintf("APIKey of account %.80q", a.Name)] = a.APIKey
		credentials[fmt.Sprintf("Token of account %.80q", a.Name)] = a.Token
	}
	for _, name := range slices.Sorted(maps.Keys(credentials)) {
		value := credentials[name]
		if strings.TrimSpace(value) != value || strings.ContainsFunc(value, unicode.IsControl) {
			return fmt.Errorf("%w: %s: must not begin or end with a space, nor have a control character",
				ErrInvalidOptions, name)
		}
	}
	return nil
}

// Format implements [fmt.Formatter], so that no verb prints the secrets.
func (o Options) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "sandbox.Options of database %q and seed %d", o.DB, o.Seed)
}
