package pgstore

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrKey reports tokens that no key of [Keys] decrypts: the key is missing, or the tokens are not
// those of the account.
var ErrKey = errors.New("no key decrypts the tokens")

const (
	keySize = 32 // AES-256
	idSize  = 8
)

// Keys encrypt tokens. The zero value has none. Keys are safe for concurrent use.
type Keys struct{ all []key }

type key struct {
	id  [idSize]byte // Of the hash of the key.
	gcm cipher.AEAD  // It writes a random nonce in front of the text.
}

// ParseKeys parses keys of 32 bytes in standard base64, separated by commas. The first one encrypts;
// all decrypt. Its errors do not quote the text.
func ParseKeys(text string) (Keys, error) {
	var keys Keys
	for i, word := range strings.Split(text, ",") {
		secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(word))
		if err != nil || len(secret) != keySize {
			return Keys{}, fmt.Errorf("parse token keys (key %d): not 32 bytes in base64: make one with openssl rand -base64 32", i+1)
		}
		block, err := aes.NewCipher(secret)
		if err != nil {
			return Keys{}, fmt.Errorf("parse token keys (key %d): %w", i+1, err)
		}
		gcm, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return Keys{}, fmt.Errorf("parse token keys (key %d): %w", i+1, err)
		}
		hash := sha256.Sum256(secret)
		keys.all = append(keys.all, key{[idSize]byte(hash[:idSize]), gcm})
	}
	return keys, nil
}

// Format implements [fmt.Formatter], so that no verb prints the secrets.
func (Keys) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "pgstore.Keys") }

// seal encrypts a text for an account with the first key.
func (k Keys) seal(account string, text []byte) []byte {
	first := k.all[0]
	return first.gcm.Seal(bytes.Clone(first.id[:]), nil, text, []byte(account)) //nolint:gosec // this AEAD makes the nonce
}

// open decrypts what seal has encrypted. isFirst reports whether it was by the first key.
func (k Keys) open(account string, sealed []byte) (text []byte, isFirst bool, err error) {
	for i, key := range k.all {
		body, found := bytes.CutPrefix(sealed, key.id[:])
		if !found {
			continue
		}
		if text, err = key.gcm.Open(nil, nil, body, []byte(account)); err != nil {
			return nil, false, ErrKey // its error says no more
		}
		return text, i == 0, nil
	}
	return nil, false, ErrKey
}
