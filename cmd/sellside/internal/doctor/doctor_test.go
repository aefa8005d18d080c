package doctor_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/doctor"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// jwt returns a token that expires after a time.
func jwt(life time.Duration) string {
	claims := fmt.Sprintf(`{"exp":%d}`, time.Now().Add(life).Unix())
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

// check returns the status of each check, and the finding of the one that is not OK.
func check(t *testing.T, d doctor.Doctor) map[string]doctor.Finding {
	t.Helper()
	d.NewClient = func(opts ...client.Option) (*client.Client, error) {
		return client.New(append([]client.Option{
			client.WithBaseURL(d.BaseURL), client.WithAPIKey(d.APIKey), client.WithToken(d.Token), client.WithQuota(quota.Unlimited),
		}, opts...)...)
	}
	found := map[string]doctor.Finding{}
	require.NoError(t, d.Run(t.Context(), func(f doctor.Finding) error {
		found[f.Check] = f
		if f.Status == doctor.Failed || f.Status == doctor.Warning {
			assert.NotEmpty(t, f.Advice, f.Check)
		}
		for _, secret := range []string{d.APIKey, d.Token} {
			if secret != "" {
				assert.NotContains(t, f.Found+f.Advice, secret)
			}
		}
		return nil
	}))
	return found
}

func healthy(t *testing.T) (doctor.Doctor, *sandboxtest.Market) {
	t.Helper()
	m := sandboxtest.New(t)
	return doctor.Doctor{BaseURL: m.URL, APIKey: m.APIKey(), Token: m.Token()}, m
}

func TestDoctor_FindsNothingWrong(t *testing.T) {
	d, m := healthy(t)
	for name, found := range check(t, d) {
		want := doctor.OK
		if name == "dns" { // the base URL has an address
			want = doctor.Skipped
		}
		assert.Equal(t, want, found.Status, "%s: %s", name, found.Found)
	}
	assert.Equal(t, 1, m.Counters().Of("ListListings"), "one request of the quota")
}

func TestDoctor_FindsWhatIsWrong(t *testing.T) {
	for _, row := range []struct {
		why    string
		change func(d *doctor.Doctor, m *sandboxtest.Market)
		check  string
		status doctor.Status
		says   string
	}{
		{"no settings", func(d *doctor.Doctor, _ *sandboxtest.Market) { d.BaseURL, d.APIKey, d.Token = "", "", "" }, "settings", doctor.Failed, "SELLSIDE_API_KEY, SELLSIDE_BASE_URL, SELLSIDE_TOKEN"},
		{"an invalid URL", func(d *doctor.Doctor, _ *sandboxtest.Market) { d.BaseURL = "http://api.example.com/v2" }, "settings", doctor.Failed, "https"},
		{"an unknown host", func(d *doctor.Doctor, _ *sandboxtest.Market) {
			d.BaseURL = "https://api.example.com/v2"
			d.Lookup = func(context.Context, string) ([]string, error) { return nil, errors.New("no such host") }
		}, "dns", doctor.Failed, "no such host"},
		{"nothing is listening", func(d *doctor.Doctor, _ *sandboxtest.Market) { d.BaseURL = "http://127.0.0.1:1/v2" }, "tls", doctor.Failed, "refused"},
		{"no TLS", func(d *doctor.Doctor, _ *sandboxtest.Market) {
			d.BaseURL = strings.Replace(d.BaseURL, "http:", "https:", 1)
		}, "tls", doctor.Failed, ""},
		{"a clock that is behind", func(d *doctor.Doctor, _ *sandboxtest.Market) { d.Transport = dated(time.Now().Add(time.Hour)) }, "clock", doctor.Failed, "behind"},
		{"a clock that is ahead", func(d *doctor.Doctor, _ *sandboxtest.Market) { d.Transport = dated(time.Now().Add(-time.Hour)) }, "clock", doctor.Failed, "ahead of"},
		{"a clock that is a minute ahead", func(d *doctor.Doctor, _ *sandboxtest.Market) { d.Transport = dated(time.Now().Add(-time.Minute)) }, "clock", doctor.Warning, "ahead of"},
		{"no date", func(d *doctor.Doctor, _ *sandboxtest.Market) { d.Transport = dated(time.Time{}) }, "clock", doctor.Skipped, ""},
		{"an expired token", func(d *doctor.Doctor, _ *sandboxtest.Market) { d.Token = jwt(-time.Hour) }, "token", doctor.Failed, "expired"},
		{"a token that expires soon", func(d *doctor.Doctor, _ *sandboxtest.Market) { d.Token = jwt(time.Minute) }, "token", doctor.Warning, "expires in"},
		{"an opaque token", func(d *doctor.Doctor, _ *sandboxtest.Market) { d.Token = "opaque-token" }, "token", doctor.Skipped, ""},
		{"other credentials", func(d *doctor.Doctor, _ *sandboxtest.Market) { d.APIKey = "another-api-key" }, "credentials", doctor.Failed, "401"},
		{"another version", func(d *doctor.Doctor, _ *sandboxtest.Market) {
			d.BaseURL = strings.TrimSuffix(d.BaseURL, "/v2") + "/v3"
		}, "credentials", doctor.Failed, "404"},
		{"a used quota", func(_ *doctor.Doctor, m *sandboxtest.Market) {
			_ = m.Fail(sandbox.Fault{Operation: "ListListings", Kind: sandbox.FaultStatus, Status: http.StatusTooManyRequests})
		}, "credentials", doctor.Failed, "429"},
		{"a page of a gateway", func(_ *doctor.Doctor, m *sandboxtest.Market) {
			_ = m.Fail(sandbox.Fault{Operation: "ListListings", Kind: sandbox.FaultHTML})
		}, "credentials", doctor.Failed, ""},
	} {
		t.Run(row.why, func(t *testing.T) {
			d, m := healthy(t)
			row.change(&d, m)
			found := check(t, d)
			assert.Equal(t, row.status, found[row.check].Status, found[row.check].Found)
			assert.Contains(t, found[row.check].Found, row.says)
		})
	}
}

// dated is a transport whose responses have a date.
type dated time.Time

// RoundTrip implements [http.RoundTripper].
func (d dated) RoundTrip(*http.Request) (*http.Response, error) {
	header := http.Header{}
	if at := time.Time(d); !at.IsZero() {
		header.Set("Date", at.UTC().Format(http.TimeFormat))
	}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: http.NoBody}, nil
}

func TestDoctor_ChecksCertificates(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("RateLimit", "limit=25000, remaining=17")
		_, _ = w.Write([]byte(`{"count":0,"pageSize":1,"pageNumber":1,"hasNextPage":false,"listings":[]}`))
	}))
	t.Cleanup(srv.Close)
	srv.Config.ErrorLog = nil
	d := doctor.Doctor{BaseURL: srv.URL + "/v2", APIKey: "the-api-key", Token: "the-access-token"}
	found := check(t, d)
	assert.Equal(t, doctor.Failed, found["tls"].Status)
	assert.Contains(t, found["tls"].Advice, "certificate authority")
	assert.Equal(t, doctor.Skipped, found["credentials"].Status, "no credentials are sent to a host that is not known")

	d.RootCAs = srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	found = check(t, d)
	assert.Equal(t, doctor.OK, found["tls"].Status, found["tls"].Found)
	assert.Contains(t, found["tls"].Found, "TLS 1.3")
}

func TestDoctor_ShowsWhatTheServiceSaysOfTheQuota(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-Remaining", "17")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"count":0,"pageSize":1,"pageNumber":1,"hasNextPage":false,"listings":[]}`))
	}))
	t.Cleanup(srv.Close)
	found := check(t, doctor.Doctor{BaseURL: srv.URL + "/v2", APIKey: "the-api-key", Token: "the-access-token"})
	assert.Contains(t, found["quota"].Found, "x-ratelimit-remaining: 17")
}

func TestDoctor_StopsIfItCannotReportOrIsStopped(t *testing.T) {
	d, _ := healthy(t)
	closed := errors.New("closed")
	require.ErrorIs(t, d.Run(t.Context(), func(doctor.Finding) error { return closed }), closed)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.ErrorIs(t, d.Run(ctx, func(doctor.Finding) error { return nil }), context.Canceled)
}
