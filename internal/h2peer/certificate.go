package h2peer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"sync"
	"time"
)

// TLS returns the configurations of a server on 127.0.0.1 with a certificate made for this process, and of a client that
// trusts it. Handshakes with it take a fraction of the time that those of httptest take. The caller may change both.
func TLS() (server, client *tls.Config) {
	certificate := certificate()
	roots := x509.NewCertPool()
	roots.AddCert(certificate.Leaf)
	curves := []tls.CurveID{tls.CurveP256}
	server = &tls.Config{Certificates: []tls.Certificate{certificate}, CurvePreferences: curves, MinVersion: tls.VersionTLS13}
	return server, &tls.Config{RootCAs: roots, CurvePreferences: curves, MinVersion: tls.VersionTLS13}
}

var certificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // the system has no randomness
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Unix(0, 0), NotAfter: time.Now().AddDate(1, 0, 0), // simulated time begins in the year 2000
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:        true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err) // the template is a constant
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
})
