package sandbox

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sellside-sdk/sellside-go/quota"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/limits"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// The credentials of a sandbox that was given none. They are no secret.
const (
	DefaultAPIKey       = "sandbox-api-key"
	DefaultToken        = "sandbox-access-token"
	DefaultRefreshToken = "sandbox-refresh-token"
)

// DefaultTokenLife is the TokenLife of a sandbox that was given none.
const DefaultTokenLife = 12 * time.Hour

// DefaultDelay is the Delay of a sandbox that was given none.
const DefaultDelay = 100 * time.Millisecond

// DefaultOrderStep is the OrderStep of a sandbox that was given none.
const DefaultOrderStep = time.Hour

// DefaultReview is the Review of a sandbox that was given none.
const DefaultReview = time.Minute

// Options says how a sandbox works. The zero value is a good choice. Credentials
// that travel in a header are refused if none could carry them: with a control
// character, or a space at one of their ends.
type Options struct {
	// DB is the file the database is kept in; it is made if it does not exist.
	// Empty keeps it in memory, for this sandbox alone.
	DB string
	// APIKey is what x-api-key has to say; DefaultAPIKey if empty.
	APIKey string
	// Token is the access token of the Authorization header; DefaultToken if
	// empty. It never expires.
	Token string
	// RefreshToken is what the token endpoint, at TokenPath, takes for this
	// account; DefaultRefreshToken if empty.
	RefreshToken string
	// Accounts are more sellers, besides the one of the credentials above. Each
	// needs a name of its own; credentials that are left empty are made up, and
	// no two accounts can have the same. What an account has sold stays with its
	// name in the database.
	Accounts []Account
	// TokenLife is how long access tokens of the token endpoint are valid, by the
	// clock of the sandbox and in whole seconds; DefaultTokenLife if 0. A start on
	// the same file with other credentials of the first account ends them all.
	TokenLife time.Duration
	// RotateRefreshTokens makes the token endpoint give out a new refresh token
	// with every access token, after which the old one is no longer valid.
	RotateRefreshTokens bool
	// ControlKey is what x-sandbox-key has to say to the control API; a random one
	// if empty, see Sandbox.ControlKey.
	ControlKey string
	// Seed changes all prices of the order book and all ids the sandbox makes.
	// Ids of the catalog never change.
	Seed uint64
	// Delay is how long an operation stays PENDING, and a batch item first
	// QUEUED and then IN_PROGRESS. DefaultDelay if 0; negative means no delay.
	Delay time.Duration
	// OrderStep is how long an order stays in each state on its way from the sale
	// to the payout, which it goes by itself; DefaultOrderStep if 0. Negative
	// leaves orders where they are until they are moved on, also after a later
	// start with a step.
	OrderStep time.Duration
	// Review is how long an ingested product is In Review; DefaultReview if 0,
	// negative means no time.
	Review time.Duration
	// Now is the clock; time.Now if nil. A clock that does not run by itself
	// goes together with Manual.
	Now func() time.Time
	// Manual leaves the work to calls of Work; otherwise it is done in the
	// background.
	Manual bool
	// Quota is how much is answered in any span of its windows; more is answered
	// 429. Requests without valid credentials do not count, and batch items count
	// as listings once their batch is accepted. A zero field sets no limit.
	Quota quota.Quota
	// NoRetryAfter leaves the Retry-After header out of a 429, as live services
	// may do. Otherwise it is the number of seconds, rounded up, until there is
	// room.
	NoRetryAfter bool
	// Logger takes a line per request and the failures of the sandbox, and
	// never a credential. Nothing is logged if it is nil.
	Logger *slog.Logger
}

// complete returns them with the defaults where nothing was said, and refuses
// what makes no sense.
func (o Options) complete() (Options, error) {
	o.APIKey = cmp.Or(o.APIKey, DefaultAPIKey)
	o.Token = cmp.Or(o.Token, DefaultToken)
	o.RefreshToken = cmp.Or(o.RefreshToken, DefaultRefreshToken)
	o.Delay = max(cmp.Or(o.Delay, DefaultDelay), 0)
	o.OrderStep = cmp.Or(o.OrderStep, DefaultOrderStep)
	o.Review = max(cmp.Or(o.Review, DefaultReview), 0)
	if err := o.checkCredentials(); err != nil {
		return o, err
	}
	if o.TokenLife = cmp.Or(o.TokenLife, DefaultTokenLife); o.TokenLife < time.Second {
		return o, fmt.Errorf("options: a TokenLife of %s is less than a second", o.TokenLife)
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
		return o, err
	}
	o.Quota.ItemsWindow = cmp.Or(o.Quota.ItemsWindow, quota.Public.ItemsWindow)
	return o, nil
}

// accounts returns the accounts that were chosen, the first one first.
func (o Options) accounts() []store.Account {
	first := Account{Name: FirstAccount, APIKey: o.APIKey, Token: o.Token, RefreshToken: o.RefreshToken}
	var rows []store.Account
	for _, a := range append([]Account{first}, o.Accounts...) {
		rows = append(rows, store.Account{Name: a.Name, APIKey: a.APIKey, Token: a.Token, RefreshToken: a.RefreshToken})
	}
	return rows
}

// limits returns what holds accounts to the quota.
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

// checkCredentials refuses those that would never arrive, by their name.
func (o Options) checkCredentials() error {
	credentials := map[string]string{"APIKey": o.APIKey, "Token": o.Token, "ControlKey": o.ControlKey}
	for _, a := range o.Accounts {
		credentials[fmt.Sprintf("APIKey of account %.80q", a.Name)] = a.APIKey
		credentials[fmt.Sprintf("Token of account %.80q", a.Name)] = a.Token
	}
	for _, name := range slices.Sorted(maps.Keys(credentials)) {
		value := credentials[name]
		if strings.TrimSpace(value) != value || strings.ContainsFunc(value, unicode.IsControl) {
			return fmt.Errorf("options: no header can carry the %s: it has a control character, or a space at one of its ends", name)
		}
	}
	return nil
}

// Format implements [fmt.Formatter], so that no verb prints the secrets.
func (o Options) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "sandbox.Options of database %q and seed %d", o.DB, o.Seed)
}
