package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/oauth"
)

func newKey(t *testing.T, seed string) *oauth.Key {
	t.Helper()
	key, err := oauth.NewKey([]byte(seed))
	require.NoError(t, err)
	return key
}

func TestKey_VerifiesWhatItSigned(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	key := newKey(t, "seed")
	token, err := key.Sign(oauth.Claims{Subject: "first", Expires: now.Unix() + 1})
	require.NoError(t, err)
	c, err := key.Verify(token, now)
	require.NoError(t, err)
	assert.Equal(t, oauth.Claims{Subject: "first", Expires: now.Unix() + 1}, c)

	_, err = key.Verify(token, now.Add(time.Second))
	var expired *oauth.ExpiredError
	require.ErrorAs(t, err, &expired)
	assert.Equal(t, now.Add(time.Second), expired.At)

	parts := strings.Split(token, ".")
	encode := base64.RawURLEncoding.EncodeToString
	none := encode([]byte(`{"alg":"none","typ":"JWT"}`))
	hmac := encode([]byte(`{"alg":"HS256","typ":"JWT"}`))
	other, err := newKey(t, "another seed").Sign(c)
	require.NoError(t, err)
	for why, forged := range map[string]string{
		"empty":                              "",
		"no token":                           "sandbox-access-token",
		"too few parts":                      parts[0] + "." + parts[1],
		"no signature":                       parts[0] + "." + parts[1] + ".",
		"the algorithm none":                 none + "." + parts[1] + ".",
		"the public key as a secret of HMAC": hmac + "." + parts[1] + "." + parts[2],
		"another payload":                    parts[0] + "." + encode([]byte(`{"sub":"first","exp":9999999999}`)) + "." + parts[2],
		"another key":                        other,
		"a signature of zeros":               parts[0] + "." + parts[1] + "." + encode(make([]byte, 64)),
		"a signature that is cut":            token[:len(token)-4],
		"a suffix":                           token + "A",
		"another base64 of the signature":    token[:len(token)-1] + string(token[len(token)-1]+1),
	} {
		_, err := key.Verify(forged, now)
		require.ErrorIs(t, err, oauth.ErrNotSigned, why)
	}
}

func TestKey_IsTheSameForASeed(t *testing.T) {
	claims := oauth.Claims{Subject: "first", Expires: 1}
	first, err := newKey(t, "seed").Sign(claims)
	require.NoError(t, err)
	second, err := newKey(t, "seed").Sign(claims)
	require.NoError(t, err)
	assert.Equal(t, first, second)
	assert.Equal(t, newKey(t, "seed").Set(), newKey(t, "seed").Set())
}

// A verifier of tokens has nothing but the key set.
func TestKey_IsVerifiedWithTheKeySet(t *testing.T) {
	key := newKey(t, "seed")
	token, err := key.Sign(oauth.Claims{Subject: "first", Expires: 1})
	require.NoError(t, err)
	var set struct {
		Keys []struct{ Kty, Crv, X, Y, Alg, Use, Kid string }
	}
	require.NoError(t, json.Unmarshal(key.Set(), &set))
	require.Len(t, set.Keys, 1)
	k := set.Keys[0]
	assert.Equal(t, []string{"EC", "P-256", "ES256", "sig"}, []string{k.Kty, k.Crv, k.Alg, k.Use})

	decode := func(text string) []byte {
		data, err := base64.RawURLEncoding.DecodeString(text)
		require.NoError(t, err)
		return data
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, decode(k.X)...), decode(k.Y)...))
	require.NoError(t, err)
	parts := strings.Split(token, ".")
	var header struct{ Alg, Kid string }
	require.NoError(t, json.Unmarshal(decode(parts[0]), &header))
	assert.Equal(t, k.Kid, header.Kid)
	sum, signature := sha256.Sum256([]byte(parts[0]+"."+parts[1])), decode(parts[2])
	assert.True(t, ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])))
}
