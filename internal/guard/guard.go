// Package guard refuses settings that would send credentials in the clear or break the headers they stand in. Its
// errors never repeat what they refuse.
package guard

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// Endpoint parses the address of something that is sent credentials: https, or http to a loopback address, with
// a host, and without credentials, query or fragment.
func Endpoint(rawURL string) (*url.URL, error) {
	u, err := url.Parse(rawURL)
	switch {
	case err != nil:
		return nil, errors.New("it does not parse as a URL") // the parser's error would quote it
	case u.User != nil:
		return nil, errors.New("it must not hold credentials")
	case u.Hostname() == "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("want scheme, host and path only, such as https://api.example.com/v2")
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return nil, errors.New(u.Scheme + "://" + u.Host + " would send credentials in the clear: use https, or http to a loopback address")
	}
	return u, nil
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Header refuses what cannot stand in a header.
func Header(value string) error {
	if value == "" {
		return errors.New("it is empty")
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("it holds spaces, line ends or other characters that a header cannot carry")
	}
	return nil
}
