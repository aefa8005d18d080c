// Package oauth is how a user signs in to the sandbox in a browser: the page that asks for consent,
// the codes that it issues, the grants that they are exchanged for, and the keys of the tokens.
package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Claims are the content of a token. They are all that is known of an access token, so that tokens
// survive a restart.
type Claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"` // The name of the account.
	Audience string `json:"aud,omitempty"`
	Client   string `json:"azp,omitempty"`
	Scope    string `json:"scope,omitempty"`
	Grant    string `json:"sid,omitempty"` // The grant of a sign-in; a revoked one ends its tokens.
	Nonce    string `json:"nonce,omitempty"`
	IssuedAt int64  `json:"iat"`           // Seconds since 1970.
	Expires  int64  `json:"exp"`           // Seconds since 1970.
	ID       string `json:"jti,omitempty"` // Distinguishes tokens of the same second.
}

// ErrNotSigned reports that a token was not signed with a key.
var ErrNotSigned = errors.New("token was not signed by this sandbox")

// ExpiredError reports that a token has expired.
type ExpiredError struct{ At time.Time }

func (e *ExpiredError) Error() string {
	return "access token expired at " + e.At.UTC().Format(time.RFC3339)
}

// Key signs and verifies tokens with ES256: JWTs that others can verify with its public half.
type Key struct {
	private *ecdsa.PrivateKey
	header  string // Of every token: a token must not choose how it is verified.
	set     []byte
}

// NewKey returns the key of a seed of 32 bytes. Equal seeds have equal keys.
func NewKey(seed []byte) (*Key, error) {
	private, err := privateKey(seed)
	if err != nil {
		return nil, fmt.Errorf("key of tokens: %w", err)
	}
	point, err := private.PublicKey.Bytes()
	if err != nil {
		return nil, fmt.Errorf("key of tokens: %w", err)
	}
	type webKey struct {
		Type  string `json:"kty"`
		Curve string `json:"crv"`
		X     string `json:"x"`
		Y     string `json:"y"`
		Alg   string `json:"alg"`
		Use   string `json:"use"`
		ID    string `json:"kid"`
	}
	sum := sha256.Sum256(point)
	id := encode(sum[:12])
	x, y := point[1:33], point[33:] // behind the byte that marks an uncompressed point
	set, err := json.Marshal(map[string][]webKey{
		"keys": {{"EC", "P-256", encode(x), encode(y), "ES256", "sig", id}},
	})
	if err != nil {
		return nil, fmt.Errorf("key of tokens: %w", err)
	}
	header := encode(fmt.Appendf(nil, `{"alg":"ES256","typ":"JWT","kid":"%s"}`, id))
	return &Key{private, header, append(set, '\n')}, nil
}

// privateKey hashes the seed until the result is a valid key, which all but one in 2^32 are.
func privateKey(seed []byte) (key *ecdsa.PrivateKey, err error) {
	for range 8 {
		sum := sha256.Sum256(seed)
		if key, err = ecdsa.ParseRawPrivateKey(elliptic.P256(), sum[:]); err == nil {
			return key, nil
		}
		seed = sum[:]
	}
	return nil, err
}

// Set returns the public half as a JSON Web Key Set.
func (k *Key) Set() []byte { return k.set }

// Sign returns a signed token. Equal claims have equal tokens.
func (k *Key) Sign(c Claims) (string, error) {
	payload, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	text := k.header + "." + encode(payload)
	sum := sha256.Sum256([]byte(text))
	signature, err := k.sign(sum[:])
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return text + "." + encode(signature), nil
}

// Verify returns the claims of a token, ErrNotSigned or an *ExpiredError.
func (k *Key) Verify(token string, now time.Time) (c Claims, err error) {
	end := strings.LastIndexByte(token, '.')
	payload, ok := strings.CutPrefix(token[:max(end, 0)], k.header+".")
	if !ok {
		return c, ErrNotSigned
	}
	signature, err := base64.RawURLEncoding.Strict().DecodeString(token[end+1:])
	if err != nil || !k.verify(token[:end], signature) {
		return c, ErrNotSigned
	}
	text, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil || json.Unmarshal(text, &c) != nil {
		return c, ErrNotSigned
	}
	if expires := time.Unix(c.Expires, 0); !now.Before(expires) {
		return c, &ExpiredError{expires}
	}
	return c, nil
}

// sign returns both numbers of a signature, as JWTs have them. Without a source of randomness the
// signature is that of RFC 6979, which depends on the key and the sum only.
func (k *Key) sign(sum []byte) ([]byte, error) {
	der, err := k.private.Sign(nil, sum, crypto.SHA256)
	if err != nil {
		return nil, err
	}
	var numbers struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &numbers); err != nil {
		return nil, err
	}
	out := make([]byte, 2*scalarSize)
	numbers.R.FillBytes(out[:scalarSize])
	numbers.S.FillBytes(out[scalarSize:])
	return out, nil
}

const scalarSize = 32 // Bytes of each of the two numbers of a signature.

func (k *Key) verify(text string, signature []byte) bool {
	if len(signature) != 2*scalarSize {
		return false
	}
	sum := sha256.Sum256([]byte(text))
	r, s := new(big.Int).SetBytes(signature[:scalarSize]), new(big.Int).SetBytes(signature[scalarSize:])
	return ecdsa.Verify(&k.private.PublicKey, sum[:], r, s)
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
