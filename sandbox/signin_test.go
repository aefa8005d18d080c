package sandbox_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

const verifier = "a-verifier-of-at-least-43-characters-as-rfc-7636-asks"

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// signIn is one sign-in of a user with a browser.
type signIn struct {
	m       *market
	target  string // Path and query of the request for consent.
	page    *httptest.ResponseRecorder
	cookies []*http.Cookie
}

// signIn opens the page. Values of changed replace parameters; empty ones remove them.
func (m *market) signIn(changed url.Values) *signIn {
	m.t.Helper()
	query := url.Values{
		"response_type": {"code"}, "client_id": {sandbox.DefaultClientID}, "redirect_uri": {sandbox.DefaultRedirectURL},
		"state": {"s t"}, "scope": {"openid offline_access"}, "audience": {"gateway.example.com"},
		"code_challenge": {challenge()}, "code_challenge_method": {"S256"},
	}
	maps.Copy(query, changed)
	for name := range query {
		if query.Get(name) == "" {
			query.Del(name)
		}
	}
	s := &signIn{m: m, target: sandbox.AuthorizePath + "?" + query.Encode()}
	s.page = s.browse(http.MethodGet, "", nil)
	s.cookies = s.page.Result().Cookies()
	return s
}

func (s *signIn) browse(method, form string, headers map[string]string) *httptest.ResponseRecorder {
	s.m.t.Helper()
	r := httptest.NewRequestWithContext(s.m.t.Context(), method, s.target, strings.NewReader(form))
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	for _, c := range s.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	s.m.ServeHTTP(w, r)
	return w
}

var hiddenField = regexp.MustCompile(`name="protection" value="([^"]*)"`)

// form returns the fields that the page sends when the user allows it.
func (s *signIn) form() url.Values {
	s.m.t.Helper()
	require.Equal(s.m.t, http.StatusOK, s.page.Code, s.page.Body)
	found := hiddenField.FindStringSubmatch(s.page.Body.String())
	require.Len(s.m.t, found, 2)
	return url.Values{"protection": {html.UnescapeString(found[1])}, "account": {sandbox.FirstAccount}, "decision": {"allow"}}
}

// redirected returns the query with which a response sends the browser back.
func redirected(tb testing.TB, w *httptest.ResponseRecorder) url.Values {
	tb.Helper()
	require.Equal(tb, http.StatusSeeOther, w.Code, w.Body)
	to, err := url.Parse(w.Header().Get("Location"))
	require.NoError(tb, err)
	assert.Equal(tb, sandbox.DefaultRedirectURL, to.Scheme+"://"+to.Host+to.Path)
	return to.Query()
}

// code allows it and returns the code.
func (s *signIn) code() string {
	s.m.t.Helper()
	query := redirected(s.m.t, s.browse(http.MethodPost, s.form().Encode(), map[string]string{"Sec-Fetch-Site": "same-origin"}))
	assert.Equal(s.m.t, "s t", query.Get("state"))
	require.NotEmpty(s.m.t, query.Get("code"))
	return query.Get("code")
}

// exchangeForm is the form of a client that has got a code.
func exchangeForm(code string) url.Values {
	return url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {sandbox.DefaultRedirectURL},
		"code_verifier": {verifier}, "client_id": {sandbox.DefaultClientID}, "client_secret": {sandbox.DefaultClientSecret},
	}
}

func (s *signIn) exchange() map[string]any {
	s.m.t.Helper()
	w, body := s.m.post(exchangeForm(s.code()).Encode())
	require.Equal(s.m.t, http.StatusOK, w.Code, "%v", body)
	return body
}

func TestSignIn_ReturnsTokensOfTheAccount(t *testing.T) {
	m := open(t)
	body := m.signIn(url.Values{}).exchange()
	assert.Equal(t, http.StatusOK, m.with(body["access_token"]).status)
	assert.Equal(t, "openid offline_access", body["scope"])
	assert.Equal(t, sandbox.FirstAccount, claimsOf(t, body["id_token"].(string)).Sub)

	refreshed := m.refresh(body["refresh_token"].(string))
	assert.Equal(t, http.StatusOK, m.with(refreshed["access_token"]).status)
	assert.NotContains(t, refreshed, "refresh_token", "the old one stays valid")
	assert.NotContains(t, m.signIn(url.Values{"scope": {"openid"}}).exchange(), "refresh_token", "not asked for")
}

func TestSignIn_SurvivesARestart(t *testing.T) {
	file := tempFile(t)
	m := open(t, inFile(file))
	body := m.signIn(url.Values{}).exchange()
	require.NoError(t, m.Close())
	m = open(t, inFile(file))
	assert.Equal(t, http.StatusOK, m.with(body["access_token"]).status)
	m.refresh(body["refresh_token"].(string))
}

func TestSignIn_RotatesItsRefreshToken(t *testing.T) {
	m := open(t, func(o *sandbox.Options) { o.RotateRefreshTokens = true })
	first := m.signIn(url.Values{}).exchange()["refresh_token"].(string)
	second := m.refresh(first)["refresh_token"].(string)
	w, body := m.post(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {first}}.Encode())
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Equal(t, "invalid_grant", body["error"])
	m.refresh(second)
}

// Nothing is sent to a redirect URL that is not registered; other refusals are.
func TestSignIn_RefusesRequests(t *testing.T) {
	m := open(t)
	for why, changed := range map[string]url.Values{
		"another client":                {"client_id": {"other"}},
		"no client":                     {"client_id": {""}},
		"no redirect URL":               {"redirect_uri": {""}},
		"another host":                  {"redirect_uri": {"http://attacker.example/callback"}},
		"another port":                  {"redirect_uri": {"http://127.0.0.1:8766/callback"}},
		"another path":                  {"redirect_uri": {sandbox.DefaultRedirectURL + "/../x"}},
		"a query behind it":             {"redirect_uri": {sandbox.DefaultRedirectURL + "?x=1"}},
		"a user before it":              {"redirect_uri": {"http://127.0.0.1:8765@attacker.example/callback"}},
		"two redirect URLs":             {"redirect_uri": {sandbox.DefaultRedirectURL, "http://attacker.example/"}},
		"the same parameter once more":  {"state": {"a", "b"}},
		"the registered one in capital": {"redirect_uri": {strings.ToUpper(sandbox.DefaultRedirectURL)}},
	} {
		page := m.signIn(changed).page
		assert.Equal(t, http.StatusBadRequest, page.Code, why)
		assert.Empty(t, page.Header().Get("Location"), why)
		assert.NotContains(t, page.Body.String(), "<form", why)
	}
	for why, row := range map[string]struct {
		changed url.Values
		code    string
	}{
		"no PKCE":             {url.Values{"code_challenge": {""}}, "invalid_request"},
		"PKCE without S256":   {url.Values{"code_challenge_method": {"plain"}}, "invalid_request"},
		"the default method":  {url.Values{"code_challenge_method": {""}}, "invalid_request"},
		"a short challenge":   {url.Values{"code_challenge": {"x"}}, "invalid_request"},
		"the implicit flow":   {url.Values{"response_type": {"token"}}, "unsupported_response_type"},
		"no type of response": {url.Values{"response_type": {""}}, "unsupported_response_type"},
	} {
		query := redirected(t, m.signIn(row.changed).page)
		assert.Equal(t, row.code, query.Get("error"), why)
		assert.Equal(t, "s t", query.Get("state"), why)
		assert.NotContains(t, query, "code", why)
	}
}

func TestSignIn_AcceptsAnyLoopbackPortIfTheServiceDoes(t *testing.T) {
	m := open(t, func(o *sandbox.Options) { o.SignIn.AnyLoopbackPort = true })
	for target, status := range map[string]int{
		"http://127.0.0.1:49152/callback":       http.StatusOK,
		"http://127.0.0.1:49152/other":          http.StatusBadRequest,
		"http://127.0.0.2:49152/callback":       http.StatusBadRequest,
		"http://attacker.example:8765/callback": http.StatusBadRequest,
		"https://127.0.0.1:49152/callback":      http.StatusBadRequest,
	} {
		assert.Equal(t, status, m.signIn(url.Values{"redirect_uri": {target}}).page.Code, target)
	}
}

func TestSignIn_CodeIsForItsClientOnly(t *testing.T) {
	for why, row := range map[string]struct {
		change func(url.Values)
		code   string
		status int
	}{
		"another verifier":     {func(f url.Values) { f.Set("code_verifier", strings.ToUpper(verifier)) }, "invalid_grant", 400},
		"the challenge itself": {func(f url.Values) { f.Set("code_verifier", challenge()) }, "invalid_grant", 400},
		"another redirect URL": {func(f url.Values) { f.Set("redirect_uri", "http://127.0.0.1:8766/callback") }, "invalid_grant", 400},
		"another code":         {func(f url.Values) { f.Set("code", "guessed") }, "invalid_grant", 400},
		"no verifier":          {func(f url.Values) { f.Del("code_verifier") }, "invalid_request", 400},
		"another client":       {func(f url.Values) { f.Set("client_id", "other") }, "invalid_client", 401},
		"another secret":       {func(f url.Values) { f.Set("client_secret", "guessed") }, "invalid_client", 401},
		"no secret":            {func(f url.Values) { f.Del("client_secret") }, "invalid_client", 401},
	} {
		m := open(t)
		form := exchangeForm(m.signIn(url.Values{}).code())
		row.change(form)
		w, body := m.post(form.Encode())
		assert.Equal(t, row.status, w.Code, why)
		assert.Equal(t, row.code, body["error"], why)
	}
}

func TestSignIn_CodeLastsAMinute(t *testing.T) {
	m := open(t)
	inTime, late := m.signIn(url.Values{}).code(), m.signIn(url.Values{}).code()
	require.NoError(t, m.Advance(t.Context(), time.Minute-time.Second))
	w, _ := m.post(exchangeForm(inTime).Encode())
	assert.Equal(t, http.StatusOK, w.Code)
	require.NoError(t, m.Advance(t.Context(), time.Second))
	w, body := m.post(exchangeForm(late).Encode())
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Equal(t, "invalid_grant", body["error"])
}

func TestSignIn_SecondUseOfACodeRevokesItsTokens(t *testing.T) {
	m := open(t)
	s := m.signIn(url.Values{})
	code := s.code()
	_, tokens := m.post(exchangeForm(code).Encode())
	require.Equal(t, http.StatusOK, m.with(tokens["access_token"]).status)

	w, body := m.post(exchangeForm(code).Encode())
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Equal(t, "invalid_grant", body["error"])
	m.with(tokens["access_token"]).refused(http.StatusUnauthorized, "Authorization header", "its sign-in was revoked")
	w, body = m.post(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens["refresh_token"].(string)}}.Encode())
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Equal(t, "invalid_grant", body["error"])

	assert.Equal(t, http.StatusOK, m.with(m.signIn(url.Values{}).exchange()["access_token"]).status, "another sign-in works")
}

func TestSignIn_RefusesFormsOfOtherPages(t *testing.T) {
	m := open(t)
	stranger := m.signIn(url.Values{})
	for why, attack := range map[string]func(s *signIn, form url.Values) map[string]string{
		"without the field of the page": func(_ *signIn, form url.Values) map[string]string {
			form.Del("protection")
			return nil
		},
		"with the field of another browser": func(_ *signIn, form url.Values) map[string]string {
			form.Set("protection", stranger.form().Get("protection"))
			return nil
		},
		"without the cookie, as from another site": func(s *signIn, _ url.Values) map[string]string {
			s.cookies = nil
			return nil
		},
		"from another site, as the browser says": func(*signIn, url.Values) map[string]string {
			return map[string]string{"Sec-Fetch-Site": "cross-site"}
		},
		"from another port, as an old browser says": func(*signIn, url.Values) map[string]string {
			return map[string]string{"Origin": "http://example.com:9999"}
		},
		"for another request than the page shows": func(s *signIn, _ url.Values) map[string]string {
			s.target = strings.Replace(s.target, "gateway.example.com", "other.example.com", 1)
			return nil
		},
	} {
		s := m.signIn(url.Values{})
		form := s.form()
		headers := attack(s, form)
		w := s.browse(http.MethodPost, form.Encode(), headers)
		assert.Equal(t, http.StatusForbidden, w.Code, why)
		assert.Empty(t, w.Header().Get("Location"), why)
	}
}

func TestSignIn_DeniesWithoutACode(t *testing.T) {
	m := open(t)
	for why, change := range map[string]func(url.Values){
		"denied":             func(f url.Values) { f.Set("decision", "deny") },
		"no decision":        func(f url.Values) { f.Del("decision") },
		"an unknown account": func(f url.Values) { f.Set("account", "other") },
	} {
		s := m.signIn(url.Values{})
		form := s.form()
		change(form)
		query := redirected(t, s.browse(http.MethodPost, form.Encode(), nil))
		assert.Equal(t, "access_denied", query.Get("error"), why)
		assert.NotContains(t, query, "code", why)
	}
}

func TestSignIn_PageCannotBeFramedOrInjected(t *testing.T) {
	m := open(t)
	m.add(`<script>alert(1)</script>`)
	page := m.signIn(url.Values{
		"audience": {`"><script>alert(2)</script>`}, "scope": {`openid <img src=x onerror=alert(3)>`},
	}).page
	assert.NotContains(t, page.Body.String(), "<script")
	assert.NotContains(t, page.Body.String(), "<img")
	policy := page.Header().Get("Content-Security-Policy")
	for _, directive := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self' http://127.0.0.1:8765"} {
		assert.Contains(t, policy, directive)
	}
	assert.NotContains(t, policy, "unsafe-inline")
	assert.Equal(t, "DENY", page.Header().Get("X-Frame-Options"))
	assert.Equal(t, "no-store", page.Header().Get("Cache-Control"))
	assert.Equal(t, "no-referrer", page.Header().Get("Referrer-Policy"))
	cookie := page.Result().Cookies()[0]
	assert.True(t, cookie.HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
}

func TestSignIn_ApprovesWithoutAPageForTests(t *testing.T) {
	m := open(t, func(o *sandbox.Options) {
		o.SignIn.Approve = true
		o.Accounts = []sandbox.Account{{Name: "second"}}
	})
	for hint, account := range map[string]string{"": sandbox.FirstAccount, "second": "second", "unknown": sandbox.FirstAccount} {
		query := redirected(t, m.signIn(url.Values{"login_hint": {hint}}).page)
		_, body := m.post(exchangeForm(query.Get("code")).Encode())
		assert.Equal(t, account, claimsOf(t, body["access_token"].(string)).Sub, hint)
	}
}

func TestSignIn_PublicClientProvesItselfByPKCE(t *testing.T) {
	m := open(t, func(o *sandbox.Options) { o.SignIn.Public = true })
	form := exchangeForm(m.signIn(url.Values{}).code())
	form.Del("client_secret")
	w, _ := m.post(form.Encode())
	assert.Equal(t, http.StatusOK, w.Code)
}

func TestSignIn_DescribesItself(t *testing.T) {
	m := open(t)
	get := func(path string) map[string]any {
		w := httptest.NewRecorder()
		m.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		require.Equal(t, http.StatusOK, w.Code, path)
		var body map[string]any
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
		return body
	}
	body := get(sandbox.DiscoveryPath)
	assert.Equal(t, "http://example.com/", body["issuer"])
	assert.Equal(t, "http://example.com"+sandbox.AuthorizePath, body["authorization_endpoint"])
	assert.Equal(t, "http://example.com"+sandbox.TokenPath, body["token_endpoint"])
	assert.Equal(t, "http://example.com"+sandbox.KeysPath, body["jwks_uri"])
	assert.Len(t, get(sandbox.KeysPath)["keys"], 1)
}

func TestSignIn_RefusesInvalidOptions(t *testing.T) {
	for why, in := range map[string]sandbox.SignIn{
		"a secret of a public client": {Public: true, ClientSecret: "x"},
		"a relative redirect URL":     {RedirectURLs: []string{"/callback"}},
		"a fragment":                  {RedirectURLs: []string{"http://127.0.0.1/#x"}},
		"credentials in a URL":        {RedirectURLs: []string{"http://user:password@127.0.0.1/"}},
	} {
		_, err := sandbox.New(sandbox.Options{SignIn: in})
		require.ErrorIs(t, err, sandbox.ErrInvalidOptions, why)
		assert.NotContains(t, err.Error(), "password", why)
	}
}
