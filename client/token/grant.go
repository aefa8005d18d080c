package token

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/internal/guard"
)

// maxAnswer bounds an answer.
const maxAnswer = 64 << 10

// grant is the token endpoint's answer. A member of the wrong kind stays empty and costs no rotated token.
type grant struct {
	AccessToken  string          `json:"access_token"`
	RefreshToken string          `json:"refresh_token"`
	ExpiresIn    json.RawMessage `json:"expires_in"`
	Error        string          `json:"error"`
}

// refresh gets an access token. Whatever is wrong with an answer of success, its refresh token is kept first.
func (s *RefreshSource) refresh() (*oauth2.Token, error) {
	if err := s.rotate(s.config().RefreshToken); err != nil {
		return nil, err
	}
	select {
	case <-s.closing:
		return nil, errClosed
	default:
	}
	asked := time.Now().Round(0) // by the wall clock, which goes on while a machine sleeps
	g, err := s.post()
	if err != nil {
		return nil, err
	}
	if err := s.rotate(g.RefreshToken); err != nil {
		return nil, err
	}
	if guard.Header(g.AccessToken) != nil {
		return nil, errors.New("the token endpoint gave no token that a header can carry")
	}
	token := &oauth2.Token{AccessToken: g.AccessToken, Expiry: jwtExpiry(g.AccessToken)}
	if in := wholeSeconds(g.ExpiresIn); in > 0 {
		token.Expiry = asked.Add(time.Duration(min(in, 366*24*3600)) * time.Second)
	}
	return token, nil
}

// post sends the grant. [oauth2.Config] would leave out the audience, send the secrets on after a redirect, and
// quote the answer in its errors.
func (s *RefreshSource) post() (*grant, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	form := url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {s.config().RefreshToken}, "audience": {s.config().Audience},
		"client_id": {s.config().ClientID}, "client_secret": {s.config().ClientSecret},
	}
	maps.DeleteFunc(form, func(_ string, value []string) bool { return value[0] == "" })
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.config().TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, unanswered(err)
	}
	req.GetBody = nil // net/http would send it again by itself, and a refresh token that comes twice may be revoked
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.Close = true // one request in hours is not worth an idle connection
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, unanswered(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 { // 101: what follows is another protocol's, and no deadline ends the reading of it
		return nil, refusal(resp, "")
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if len(body) > maxAnswer {
		err = io.ErrShortBuffer
	}
	g := new(grant)
	broken := json.Unmarshal(body, g)
	_, odd := errors.AsType[*json.UnmarshalTypeError](broken)
	switch {
	case resp.StatusCode >= 300 || g.Error != "":
		return nil, refusal(resp, g.Error)
	case err != nil:
		return nil, unanswered(err)
	case broken != nil && !odd:
		return nil, fmt.Errorf("the token endpoint answered %d, but not in JSON", resp.StatusCode)
	}
	return g, nil
}

// refusal keeps the status, the pause that is asked for, and the code if it is one of RFC 6749, RFC 8707 or OpenID
// Connect, or another that many servers have. What is none of them is left out: any word may be a secret.
func refusal(resp *http.Response, code string) error {
	switch code {
	case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
		"access_denied", "server_error", "temporarily_unavailable", "invalid_target",
		"login_required", "consent_required", "interaction_required", "account_selection_required",
		"mfa_required", "slow_down", "too_many_requests", "unauthorized":
	default:
		code = ""
	}
	kept := &http.Response{StatusCode: resp.StatusCode, Status: http.StatusText(resp.StatusCode), Header: http.Header{}}
	if asked := retryAfter(resp.Header); asked > 0 {
		kept.Header.Set("Retry-After", strconv.FormatInt(int64(asked/time.Second), 10))
	}
	return &oauth2.RetrieveError{Response: kept, ErrorCode: code}
}

// longestAsked bounds the pause that a token endpoint can ask for.
const longestAsked = 24 * time.Hour

// retryAfter reads the Retry-After header, in seconds or as a date by the response's own clock, and rounds it up to
// seconds; zero when it is missing, past or neither.
func retryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(max(0, min(seconds, int64(longestAsked/time.Second)))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, (min(at.Sub(now), longestAsked) + time.Second - 1).Truncate(time.Second))
}

// pauseAsked returns how long the token endpoint asked to wait when it refused.
func pauseAsked(err error) time.Duration {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || refused.Response == nil {
		return 0
	}
	return retryAfter(refused.Response.Header)
}

// unanswered says why there is no answer. net/http quotes what it cannot read, so that only errors of the network
// and of the deadline keep their text.
func unanswered(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	_, network := errors.AsType[net.Error](err)
	if _, certificate := errors.AsType[*tls.CertificateVerificationError](err); network || certificate {
		return fmt.Errorf("the token endpoint did not answer: %w", err)
	}
	return errors.New("the token endpoint's answer broke off, is too large or is not HTTP")
}
