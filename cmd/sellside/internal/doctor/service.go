package doctor

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/token"
)

const (
	// maxSkew is the difference between clocks that package recovery assumes at most.
	maxSkew = 5 * time.Minute
	// smallSkew is a difference that is no reason for a warning.
	smallSkew = 30 * time.Second
	// shortLife is the rest of the life of a token that a long run may outlast.
	shortLife = 10 * time.Minute
)

// clock compares the clock of this machine with the Date header of a response. The request has no
// credentials.
func (d Doctor) clock(ctx context.Context) Finding {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.BaseURL, nil)
	if err != nil {
		return Finding{Status: Failed, Found: err.Error(), Advice: "correct the base URL"}
	}
	transport := d.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	before := time.Now()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return Finding{Status: Failed, Found: err.Error(), Advice: "check the network, and that the service runs"}
	}
	defer resp.Body.Close()
	roundTrip := time.Since(before)
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return Finding{Status: Skipped, Found: "the response has no valid Date"}
	}
	// The header has whole seconds, and was written at some time of the round trip.
	skew := before.Add(roundTrip / 2).Sub(date.Add(time.Second / 2))
	uncertain := roundTrip/2 + time.Second/2
	found := Finding{Status: OK, Found: fmt.Sprintf("agrees with the service within %s", (skew.Abs() + uncertain).Round(time.Second))}
	if skew.Abs()-uncertain <= smallSkew {
		return found
	}
	direction := "ahead of"
	if skew < 0 {
		direction = "behind"
	}
	found.Status = Warning
	found.Found = fmt.Sprintf("%s %s the service", skew.Abs().Round(time.Second), direction)
	found.Advice = "synchronise the clock of this machine"
	if skew.Abs() > maxSkew {
		found.Status = Failed
		found.Advice += ": tokens expire at the wrong time, and lost responses cannot be settled"
	}
	return found
}

// token reads how long the access token is valid, if it is a JWT.
func (d Doctor) token(context.Context) Finding {
	expires, ok := expiryOf(d.Token)
	left := time.Until(expires).Round(time.Second)
	switch {
	case d.Token == "":
		return Finding{Status: Skipped, Found: "there is none"}
	case !ok:
		return Finding{Status: Skipped, Found: "the access token does not show when it expires"}
	case left <= 0:
		return Finding{
			Status: Failed, Found: fmt.Sprintf("the access token expired at %s", expires.UTC().Format(time.RFC3339)),
			Advice: "set a new SELLSIDE_TOKEN",
		}
	case left < shortLife:
		return Finding{Status: Warning, Found: fmt.Sprintf("the access token expires in %s", left), Advice: "set a new SELLSIDE_TOKEN before a long run"}
	default:
		return Finding{Status: OK, Found: fmt.Sprintf("the access token is valid until %s", expires.UTC().Format(time.RFC3339))}
	}
}

// expiryOf returns the exp of a JWT.
func expiryOf(jwt string) (time.Time, bool) {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return time.Time{}, false
	}
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return time.Time{}, false
	}
	var claims struct {
		Exp json.Number `json:"exp"`
	}
	if json.Unmarshal(text, &claims) != nil {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(claims.Exp.String(), 10, 64)
	return time.Unix(seconds, 0), err == nil
}

// credentials sends one request with the credentials.
func (d Doctor) credentials(ctx context.Context) Finding {
	var header http.Header
	see := func(next client.Doer) client.Doer {
		return client.DoerFunc(func(req *http.Request) (*http.Response, error) {
			resp, err := next.Do(req)
			if resp != nil {
				header = resp.Header
			}
			return resp, err
		})
	}
	sdk, err := d.NewClient(client.WithMiddleware(see), client.WithRetry(client.RetryPolicy{MaxAttempts: 1}))
	if err != nil {
		return Finding{Status: Failed, Found: err.Error(), Advice: "correct the setting"}
	}
	_, err = sdk.Listings.ListPage(ctx, client.ListingFilter{PageSize: 1})
	if err != nil {
		return Finding{Status: Failed, Found: err.Error(), Advice: credentialsAdvice(err)}
	}
	if *d.left = quotaOf(header); *d.left == "" {
		*d.left = "the service does not say how much is left"
		if windows, err := sdk.RemainingQuota(ctx); err == nil && len(windows) > 0 {
			*d.left += "; all programs of the account share " + windowsOf(windows)
		}
	}
	return Finding{Status: OK, Found: "the service accepts them"}
}

// windowsOf returns the limits that the client keeps to.
func windowsOf(windows []quota.WindowState) string {
	parts := make([]string, len(windows))
	for i, w := range windows {
		parts[i] = fmt.Sprintf("%s: %d", w.Window, w.Limit)
	}
	return strings.Join(parts, ", ")
}

// quota reports what the service says of the quota. Only the service knows what other programs of
// the account have used.
func (d Doctor) quota(context.Context) Finding { return Finding{Status: OK, Found: *d.left} }

// quotaOf returns the headers of a response about rate limits.
func quotaOf(header http.Header) string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(header)) {
		lower := strings.ToLower(name)
		if strings.HasPrefix(lower, "ratelimit") || strings.HasPrefix(lower, "x-ratelimit") {
			found = append(found, lower+": "+header.Get(name))
		}
	}
	return strings.Join(found, ", ")
}

// credentialsAdvice says what to do about a request with credentials that has failed.
func credentialsAdvice(err error) string {
	_, isOther := errors.AsType[*client.DecodeError](err)
	switch {
	case errors.Is(err, token.ErrExpired), errors.Is(err, client.ErrUnauthorized):
		return "set a valid SELLSIDE_API_KEY and SELLSIDE_TOKEN; an access token is valid for some hours only"
	case errors.Is(err, client.ErrForbidden):
		return "ask the service whether the account may use the API; a filter against bots may refuse this network too"
	case errors.Is(err, client.ErrRateLimited):
		return "the quota of the account is used up: stop the other programs of the account, and wait"
	case errors.Is(err, client.ErrNotFound), isOther:
		return "check the base URL and its version, such as https://api.example.com/v2"
	case errors.Is(err, client.ErrServer):
		return "the service has a problem: try again later"
	default:
		return "check the network, and try again"
	}
}

func sorted(texts []string) []string {
	slices.Sort(texts)
	return texts
}
