// Package doctor finds out why a service cannot be used.
package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
)

// Status is the result of a check.
type Status string

// The statuses.
const (
	OK      Status = "OK"
	Warning Status = "WARNING" // It works, and may not for long.
	Failed  Status = "FAILED"
	Skipped Status = "SKIPPED" // An earlier check has failed, or there is nothing to check.
)

// Finding is what a check has found, and what to do about it.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	Found  string `json:"found"`
	Advice string `json:"advice,omitempty"`
}

// Doctor checks a service and the settings for it.
type Doctor struct {
	BaseURL string
	APIKey  string
	Token   string
	// NewClient returns a client with these settings. It is called only if all are set.
	NewClient func(...client.Option) (*client.Client, error)

	// Transport sends the request without credentials; http.DefaultTransport if nil.
	Transport http.RoundTripper
	// RootCAs verify the service; those of the system if nil.
	RootCAs *x509.CertPool
	// Lookup looks up a host; net.DefaultResolver if nil.
	Lookup func(ctx context.Context, host string) ([]string, error)
	// Timeout bounds each check; 10 seconds if zero.
	Timeout time.Duration

	left *string // What is known of the quota, after the check of the credentials.
}

// Run makes the checks, in an order in which the first failure is the cause of those that follow.
func (d Doctor) Run(ctx context.Context, report func(Finding) error) error {
	if d.Timeout <= 0 {
		d.Timeout = 10 * time.Second
	}
	d.left = new(string)
	isBroken := false
	for _, check := range []struct {
		name string
		run  func(context.Context) Finding
	}{
		{"versions", d.versions},
		{"settings", d.settings},
		{"dns", d.dns},
		{"tls", d.tls},
		{"clock", d.clock},
		{"token", d.token},
		{"credentials", d.credentials},
		{"quota", d.quota},
	} {
		found := Finding{Status: Skipped, Found: "an earlier check has failed"}
		if !isBroken || check.name == "token" {
			checkCtx, cancel := context.WithTimeout(ctx, d.Timeout)
			found = check.run(checkCtx)
			cancel()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		found.Check = check.name
		isBroken = isBroken || found.Status == Failed && check.name != "clock" && check.name != "token"
		if err := report(found); err != nil {
			return err
		}
	}
	return nil
}

// versions reports the versions of the program and of the API.
func (d Doctor) versions(context.Context) Finding {
	return Finding{Status: OK, Found: fmt.Sprintf("sellside %s, %s, %s/%s", client.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)}
}

// settings checks that the settings are complete and can be used.
func (d Doctor) settings(context.Context) Finding {
	var missing []string
	for name, value := range map[string]string{
		"SELLSIDE_BASE_URL": d.BaseURL, "SELLSIDE_API_KEY": d.APIKey, "SELLSIDE_TOKEN": d.Token,
	} {
		if value == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return Finding{
			Status: Failed, Found: strings.Join(sorted(missing), ", ") + " missing",
			Advice: "set what is missing: sellside sandbox prints the values of a service to practise on",
		}
	}
	if _, err := d.NewClient(); err != nil {
		return Finding{Status: Failed, Found: err.Error(), Advice: "correct the setting"}
	}
	return Finding{Status: OK, Found: d.BaseURL}
}

// dns looks up the host of the service.
func (d Doctor) dns(ctx context.Context) Finding {
	if d.isProxied() {
		return Finding{Status: Skipped, Found: "requests go through a proxy (HTTPS_PROXY), which looks up the host"}
	}
	host := d.url().Hostname()
	if net.ParseIP(host) != nil {
		return Finding{Status: Skipped, Found: host + " is an address"}
	}
	lookup := d.Lookup
	if lookup == nil {
		lookup = net.DefaultResolver.LookupHost
	}
	addresses, err := lookup(ctx, host)
	if err != nil {
		return Finding{
			Status: Failed, Found: err.Error(),
			Advice: "check the host of the base URL, the network and its DNS server; a VPN or a proxy may be needed",
		}
	}
	return Finding{Status: OK, Found: host + " is " + strings.Join(addresses, ", ")}
}

// url returns the base URL, which settings has checked.
func (d Doctor) url() *url.URL {
	u, err := url.Parse(d.BaseURL)
	if err != nil {
		return &url.URL{}
	}
	return u
}

// isProxied reports whether requests go through a proxy of the environment.
func (d Doctor) isProxied() bool {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: d.url()})
	return err == nil && proxy != nil
}

// tls connects to the service.
func (d Doctor) tls(ctx context.Context) Finding {
	if d.isProxied() {
		return Finding{Status: Skipped, Found: "requests go through a proxy (HTTPS_PROXY)"}
	}
	u := d.url()
	port := u.Port()
	if port == "" {
		port = map[bool]string{true: "443", false: "80"}[u.Scheme == "https"]
	}
	address := net.JoinHostPort(u.Hostname(), port)
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return Finding{
			Status: Failed, Found: err.Error(),
			Advice: "check the port of the base URL, the firewall, and that the service runs",
		}
	}
	defer func() { _ = conn.Close() }()
	if u.Scheme != "https" {
		return Finding{Status: OK, Found: "connected to " + address + " on this machine, without TLS"}
	}
	secure := tls.Client(conn, &tls.Config{ServerName: u.Hostname(), RootCAs: d.RootCAs, MinVersion: tls.VersionTLS12})
	if err := secure.HandshakeContext(ctx); err != nil {
		return Finding{Status: Failed, Found: err.Error(), Advice: certificateAdvice(err)}
	}
	state := secure.ConnectionState()
	ends := state.PeerCertificates[0].NotAfter
	found := Finding{
		Status: OK,
		Found:  fmt.Sprintf("%s, certificate until %s", tls.VersionName(state.Version), ends.UTC().Format(time.DateOnly)),
	}
	if time.Until(ends) < 7*24*time.Hour {
		found.Status, found.Advice = Warning, "the operator of the service has to renew the certificate"
	}
	return found
}

// certificateAdvice says what to do about a handshake that has failed.
func certificateAdvice(err error) string {
	_, isUnknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, isOtherHost := errors.AsType[x509.HostnameError](err)
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case isUnknown:
		return "no certificate authority of this machine vouches for the service: a proxy may intercept the connection; " +
			"install the authority's certificate only if you trust it"
	case isOtherHost:
		return "the certificate is of another host: check the base URL"
	case isInvalid && invalid.Reason == x509.Expired:
		return "check the clock of this machine; if it is right, the certificate of the service has expired"
	default:
		return "check that the base URL is one of a service with TLS, and that no proxy interferes"
	}
}
