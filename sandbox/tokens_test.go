package sandbox_test

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// post sends a form to the token endpoint.
func (m *market) post(form string) (*httptest.ResponseRecorder, map[string]any) {
	m.t.Helper()
	r := httptest.NewRequestWithContext(m.t.Context(), http.MethodPost, sandbox.TokenPath, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	var body map[string]any
	require.NoError(m.t, json.Unmarshal(w.Body.Bytes(), &body))
	assert.Equal(m.t, "no-store", w.Header().Get("Cache-Control"))
	assert.Equal(m.t, "application/json", w.Header().Get("Content-Type"))
	return w, body
}

func (m *market) refresh(refreshToken string) map[string]any {
	m.t.Helper()
	w, body := m.post(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refreshToken}, "client_id": {"c"}}.Encode())
	require.Equal(m.t, http.StatusOK, w.Code, "%v", body)
	return body
}

// with makes a read of the first account with an access token.
func (m *market) with(accessToken any) response {
	m.t.Helper()
	r := m.request(http.MethodGet, "/selling/listings", nil)
	r.Header.Set("Authorization", "Bearer "+accessToken.(string))
	return m.send(r)
}

// claimsOf reads the payload of a JWT.
func claimsOf(tb testing.TB, token string) (claims struct {
	Sub string
	Exp int64
},
) {
	tb.Helper()
	parts := strings.Split(token, ".")
	require.Len(tb, parts, 3, "no JWT: %s", token)
	for i, into := range []any{&struct{ Alg, Typ string }{}, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		require.NoError(tb, err)
		require.NoError(tb, json.Unmarshal(text, into))
	}
	return claims
}

func TestTokens_AreJWTs(t *testing.T) {
	m := open(t, func(o *sandbox.Options) { o.Accounts = []sandbox.Account{{Name: "chosen", Token: "opaque"}} })
	m.add("added")
	never := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
	for _, a := range m.Accounts() {
		if a.Name == "chosen" {
			assert.Equal(t, "opaque", a.Token, "a chosen token stays as it is")
			continue
		}
		claims := claimsOf(t, a.Token)
		assert.Equal(t, a.Name, claims.Sub)
		assert.Equal(t, claims.Exp, never, a.Name)
	}
	issued := claimsOf(t, m.refresh(m.RefreshToken())["access_token"].(string))
	assert.Equal(t, sandbox.FirstAccount, issued.Sub)
	assert.Equal(t, issued.Exp, noon.Add(12*time.Hour).Unix())
	require.NoError(t, m.Advance(t.Context(), math.MaxInt64))
	assert.Equal(t, http.StatusOK, m.with(m.Token()).status, "no clock reaches the year 9999")
}

// The token that an account had before another one was chosen is not valid any more.
func TestTokens_OfAnAccountAreReplaced(t *testing.T) {
	file := tempFile(t)
	account := func(token string) func(*sandbox.Options) {
		return func(o *sandbox.Options) {
			o.DB, o.Accounts = file, []sandbox.Account{{Name: "second", APIKey: "key", Token: token}}
		}
	}
	m := open(t, account(""))
	before := m.Accounts()[1].Token
	require.NoError(t, m.Close())
	m = open(t, account("another"))
	for token, status := range map[string]int{before: http.StatusUnauthorized, "another": http.StatusOK} {
		r := m.request(http.MethodGet, "/selling/listings", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("x-api-key", "key")
		assert.Equal(t, status, m.send(r).status)
	}
}

func TestTokens_ExpireByTheClockOfTheSandbox(t *testing.T) {
	m := open(t)
	body := m.refresh(m.RefreshToken())
	assert.InDelta(t, 43200, body["expires_in"], 0)
	assert.Equal(t, "Bearer", body["token_type"])
	assert.NotContains(t, body, "refresh_token", "the old one stays valid")
	token := body["access_token"]

	require.NoError(t, m.Advance(t.Context(), 12*time.Hour-time.Second))
	assert.Equal(t, http.StatusOK, m.with(token).status)
	require.NoError(t, m.Advance(t.Context(), time.Second))
	m.with(token).refused(http.StatusUnauthorized, "Authorization header", "it expired")
	m.get("/selling/listings") // the token of the options never expires
	assert.Equal(t, http.StatusOK, m.with(m.refresh(m.RefreshToken())["access_token"]).status)
}

func TestTokens_LiveForNoLessThanTheySay(t *testing.T) {
	m := open(t, func(o *sandbox.Options) { o.TokenLife = time.Minute })
	m.pass(900 * time.Millisecond)
	token := m.refresh(m.RefreshToken())["access_token"]
	require.NoError(t, m.Advance(t.Context(), time.Minute-time.Millisecond))
	assert.Equal(t, http.StatusOK, m.with(token).status)
	require.NoError(t, m.Advance(t.Context(), time.Second))
	m.with(token).refused(http.StatusUnauthorized, "Authorization header", "it expired")
}

func TestTokens_AreUnique(t *testing.T) {
	m := open(t)
	token := m.refresh(m.RefreshToken())["access_token"]
	assert.NotEqual(t, token, m.refresh(m.RefreshToken())["access_token"], "of the same moment")
	require.NoError(t, m.Reset(t.Context()))
	assert.NotEqual(t, token, m.refresh(m.RefreshToken())["access_token"], "after a reset")
	assert.Equal(t, http.StatusOK, m.with(token).status, "a reset leaves them valid")
}

func TestTokens_HaveTheConfiguredLife(t *testing.T) {
	m := open(t, func(o *sandbox.Options) { o.TokenLife = time.Minute })
	body := m.refresh(m.RefreshToken())
	assert.InDelta(t, 60, body["expires_in"], 0)
	require.NoError(t, m.Advance(t.Context(), time.Minute))
	m.with(body["access_token"]).
		refused(http.StatusUnauthorized, "Authorization header", "it expired")
	_, err := sandbox.New(sandbox.Options{TokenLife: time.Millisecond})
	require.ErrorContains(t, err, "TokenLife")
}

func TestTokens_BelongToAnAccount(t *testing.T) {
	m := open(t)
	s := m.add("second")
	_, body := m.post("grant_type=refresh_token&audience=gateway.example.com&refresh_token=" + s.account.RefreshToken)
	token := body["access_token"].(string)
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	require.NoError(t, err)
	assert.JSONEq(t, `{"iss":"http://example.com/","sub":"second","aud":"gateway.example.com","iat":1793620800,"exp":1793664000,"jti":"1"}`, string(payload))
	m.with(token).
		refused(http.StatusUnauthorized, "x-api-key header", "the API key is of the first account")
	s.account.Token = token
	assert.Equal(t, http.StatusOK, s.call(http.MethodGet, "/selling/listings", nil).status)
	m.with(token+"x").refused(http.StatusUnauthorized, "Authorization header", "forged")
}

func TestTokens_SurviveARestart(t *testing.T) {
	file := tempFile(t)
	first := open(t, inFile(file))
	token := first.refresh(first.RefreshToken())["access_token"]
	require.NoError(t, first.Close())
	second := open(t, inFile(file), func(o *sandbox.Options) { o.Seed = 3 })
	assert.Equal(t, http.StatusOK, second.with(token).status)
	other := open(t, inFile(tempFile(t)), func(o *sandbox.Options) { o.Seed = 3 })
	other.with(token).
		refused(http.StatusUnauthorized, "Authorization header", "a token of another sandbox")
}

func TestTokens_RotationReplacesTheRefreshToken(t *testing.T) {
	file := tempFile(t)
	rotating := func(o *sandbox.Options) { o.RotateRefreshTokens = true }
	m := open(t, inFile(file), rotating)
	second := m.refresh(sandbox.DefaultRefreshToken)["refresh_token"].(string)
	third := m.refresh(second)["refresh_token"].(string)
	assert.Equal(t, third, m.RefreshToken())
	require.NoError(t, m.Close())

	m = open(t, inFile(file), rotating) // the options name the first one again
	for _, old := range []string{sandbox.DefaultRefreshToken, second} {
		w, body := m.post("grant_type=refresh_token&refresh_token=" + old)
		assert.Equal(t, http.StatusBadRequest, w.Code)
		assert.Equal(t, "invalid_grant", body["error"])
	}
	m.refresh(third)
	require.NoError(t, m.Close())

	m = open(t, inFile(file), func(o *sandbox.Options) { o.RefreshToken = "another" })
	m.refresh("another")
}

func TestTokens_EndpointFollowsRFC6749(t *testing.T) {
	m := open(t)
	for _, row := range []struct{ form, code, why string }{
		{"", "invalid_request", "an empty form"},
		{"refresh_token=x", "invalid_request", "no grant type"},
		{"grant_type=refresh_token", "invalid_request", "no refresh token"},
		{"grant_type=refresh_token&refresh_token=", "invalid_request", "an empty refresh token"},
		{"grant_type=refresh_token&refresh_token=a&refresh_token=b", "invalid_request", "two refresh tokens"},
		{"grant_type=%zz", "invalid_request", "not a form"},
		{"grant_type=refresh_token&refresh_token=unknown", "invalid_grant", "an unknown one"},
		{"grant_type=refresh_token&refresh_token=" + sandbox.DefaultToken, "invalid_grant", "an access token"},
		{"grant_type=authorization_code&code=x", "invalid_request", "a code without its redirect URL and verifier"},
		{"grant_type=password", "unsupported_grant_type", "another grant"},
	} {
		w, body := m.post(row.form)
		assert.Equal(t, http.StatusBadRequest, w.Code, row.why)
		assert.Equal(t, row.code, body["error"], row.why)
		assert.NotContains(t, w.Body.String(), "unknown", "the form is not repeated")
	}
	good := "grant_type=refresh_token&refresh_token=" + sandbox.DefaultRefreshToken
	for _, row := range []struct {
		method, target, contentType, body string
		status                            int
		why                               string
	}{
		{"GET", "?" + good, "", "", 405, "a secret in a URL"},
		{
			"POST", "?" + good, "application/x-www-form-urlencoded", "",
			400, "also in that of a POST",
		},
		{"POST", "", "application/json", `{"grant_type":"refresh_token"}`, 400, "not a form"},
		{
			"POST", "", "application/x-www-form-urlencoded; charset=utf-8", good,
			200, "a parameter of the content type",
		},
	} {
		r := httptest.NewRequestWithContext(t.Context(), row.method, sandbox.TokenPath+row.target, strings.NewReader(row.body))
		r.Header.Set("Content-Type", row.contentType)
		w := httptest.NewRecorder()
		m.ServeHTTP(w, r)
		assert.Equal(t, row.status, w.Code, row.why)
	}
}
