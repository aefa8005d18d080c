// Package guard checks settings that could leak credentials or break a request, and redacts
// credentials in text. Its errors never quote the value that they refuse.
package guard

import (
	"errors"
	"net"
	"net/url"
	"reflect"
	"strings"
)

// Endpoint parses a URL to which credentials are sent. It accepts https, and http to a loopback
// address, with a host and without credentials, query or fragment.
func Endpoint(rawURL string) (*url.URL, error) {
	u, err := url.Parse(rawURL)
	switch {
	case err != nil:
		return nil, errors.New("not a valid URL") // the parser's error quotes it
	case u.User != nil:
		return nil, errors.New("must not contain credentials")
	case u.Hostname() == "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("want scheme, host and path only, such as https://api.example.com/v2")
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return nil, errors.New(u.Scheme + "://" + u.Host +
			" would send credentials in the clear: use https, or http to a loopback address")
	}
	return u, nil
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Header checks that a header can carry value: visible ASCII, and not empty.
func Header(value string) error {
	if value == "" {
		return errors.New("must not be empty")
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("contains spaces, line ends or other characters that a header cannot carry")
	}
	return nil
}

// Nil reports whether calling v would panic: v is nil, or an interface around a nil pointer or a
// nil function. Only reflection finds the latter.
func Nil(v any) bool {
	switch value := reflect.ValueOf(v); value.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func:
		return value.IsNil()
	default:
		return false
	}
}
