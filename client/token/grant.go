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

const (
	grantTimeout  = 30 * time.Second // of a request to the token endpoint
	maxResponse   = 64 << 10         // bytes of its response
	maxRetryAfter = 24 * time.Hour   // the longest pause that it can ask for
)

// grant is the response of the token endpoint. A member of the wrong type stays empty: the others
// are still used, so that a rotated refresh token is not lost.
type grant struct {
	AccessToken  string          `json:"access_token"`
	RefreshToken string          `json:"refresh_token"`
	ExpiresIn    json.RawMessage `json:"expires_in"`
	Error        string          `json:"error"`
}

// getToken requests an access token. It saves a rotated refresh token first, even if the rest of
// the response is invalid.
func (s *RefreshSource) getToken() (*oauth2.Token, error) {
	saved, unlock, err := s.openStore()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if saved != nil {
		return saved, nil
	}
	if err := s.rotate(s.config().RefreshToken); err != nil {
		return nil, err
	}
	select {
	case <-s.closing:
		return nil, errClosed
	default:
	}
	sent := time.Now().Round(0) // without monotonic time, which stops while a machine sleeps
	g, err := s.post()
	if err != nil {
		return nil, err
	}
	if err := s.rotate(g.RefreshToken); err != nil {
		return nil, err
	}
	if guard.Header(g.AccessToken) != nil {
		return nil, errors.New("the token endpoint returned no token that a header can carry")
	}
	token := &oauth2.Token{AccessToken: g.AccessToken, Expiry: jwtExpiry(g.AccessToken)}
	if seconds := wholeSeconds(g.ExpiresIn); seconds > 0 {
		token.Expiry = sent.Add(time.Duration(min(seconds, 366*24*3600)) * time.Second)
	}
	s.share(token)
	return token, nil
}

// post sends the grant request. [oauth2.Config] cannot be used: it would omit the audience, send
// the secrets on after a redirect, and quote the response in its errors.
func (s *RefreshSource) post() (*grant, error) {
	ctx, cancel := context.WithTimeout(context.Background(), grantTimeout)
	defer cancel()
	config := s.config()
	form := url.Values{
		"grant_type":    {"refresh_token"},
		"refresh_token": {config.RefreshToken},
		"audience":      {config.Audience},
		"client_id":     {config.ClientID},
		"client_secret": {config.ClientSecret},
	}
	maps.DeleteFunc(form, func(_ string, value []string) bool { return value[0] == "" })
	body := strings.NewReader(form.Encode())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, config.TokenURL, body)
	if err != nil {
		return nil, noResponse(err)
	}
	// net/http must not repeat the request: a refresh token that is sent twice may be revoked.
	req.GetBody = nil
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.Close = true // the next request is hours away
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, noResponse(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return readGrant(resp)
}

func readGrant(resp *http.Response) (*grant, error) {
	if resp.StatusCode < 200 { // 101: no deadline would end the reading of another protocol
		return nil, refused(resp, "")
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if len(body) > maxResponse {
		err = io.ErrShortBuffer
	}
	g := new(grant)
	invalid := json.Unmarshal(body, g)
	_, wrongType := errors.AsType[*json.UnmarshalTypeError](invalid)
	switch {
	case resp.StatusCode >= 300 || g.Error != "":
		return nil, refused(resp, g.Error)
	case err != nil:
		return nil, noResponse(err)
	case invalid != nil && !wrongType:
		return nil, fmt.Errorf("the token endpoint responded %d, but not in JSON", resp.StatusCode)
	}
	return g, nil
}

// refused returns an error with the status, the Retry-After and the code of a response. It drops
// codes that are not of RFC 6749, RFC 8707 or OpenID Connect, or otherwise common: any word may be
// a secret.
func refused(resp *http.Response, code string) error {
	switch code {
	case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
		"unsupported_grant_type", "invalid_scope", "access_denied", "server_error",
		"temporarily_unavailable", "invalid_target", "login_required", "consent_required",
		"interaction_required", "account_selection_required", "mfa_required", "slow_down",
		"too_many_requests", "unauthorized":
	default:
		code = ""
	}
	safe := &http.Response{
		StatusCode: resp.StatusCode,
		Status:     http.StatusText(resp.StatusCode),
		Header:     http.Header{},
	}
	if pause := retryAfter(resp.Header); pause > 0 {
		safe.Header.Set("Retry-After", strconv.FormatInt(int64(pause/time.Second), 10))
	}
	return &oauth2.RetrieveError{Response: safe, ErrorCode: code}
}

// retryAfter returns the Retry-After header, rounded up to seconds; zero if the header is missing,
// invalid or past. It accepts seconds, or a date, which it compares with the Date of the response.
func retryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(max(0, min(seconds, int64(maxRetryAfter/time.Second)))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, (min(at.Sub(now), maxRetryAfter) + time.Second - 1).Truncate(time.Second))
}

// requestedPause returns the Retry-After of a refused grant, zero if there is none.
func requestedPause(err error) time.Duration {
	failed, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || failed.Response == nil {
		return 0
	}
	return retryAfter(failed.Response.Header)
}

// noResponse returns the error of a request without a valid response. It keeps the text of network
// errors and timeouts only, because net/http quotes what it cannot parse.
func noResponse(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	_, network := errors.AsType[net.Error](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	if network || certificate {
		return fmt.Errorf("the token endpoint did not respond: %w", err)
	}
	return errors.New("the response of the token endpoint is cut off, is too large or is not HTTP")
}
