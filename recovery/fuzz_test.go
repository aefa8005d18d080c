package recovery_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/recovery"
)

// The ways in which a service can echo what it took, as bits.
const (
	zerosAfterThePoint = 1 << iota
	noDefaults
	defaultExpiry
	wholeSecondsOnly
	noExpiry
	nothingAtAll
)

// FuzzAttempt takes any bytes for a saved attempt. What can be read survives being saved again; it is recovered
// without a panic and in bounded time; and a batch that was made from it is never called not seen, however
// the service echoes it, because what is not seen is sent again.
func FuzzAttempt(f *testing.F) {
	for _, seed := range []string{
		`{"id":"A","madeAt":"2000-01-01T00:00:00.001Z","items":[{"variantId":"v1","amount":"76","quantity":1}]}`,
		`{"id":"A","madeAt":"2000-01-01T00:00:00Z","items":[{"variantId":"v1","amount":76.0000,"quantity":"2","active":false,"currencyCode":"EUR","inventoryType":"DIRECT","expiresAt":"2001-02-03T04:05:06.007Z"},{"variantId":"","amount":null,"quantity":1}]}`,
		`{"id":"A","madeAt":"1999-12-31T23:59:59.999999999-23:59","items":[{"variantId":"v1","amount":"12345678901234567890.10","quantity":3,"expiresAt":"2000-02-01 00:00:00"}]}`,
		`{"madeAt":"9999-12-31T23:59:59Z","items":[{"amount":"1e-5","quantity":1,"expiresAt":"9999-12-31T23:59:59.999999999Z"}]}`,
		`{"madeAt":"0000-01-01T00:00:00Z","items":[{"amount":"about 7","quantity":-9223372036854775808,"active":null,"expiresAt":"0000-01-01"}]}`,
		`{"id":"A","madeAt":"2000-01-01T00:16:00Z","items":[{"variantId":"v1","amount":"76","quantity":1}]}`, // by a clock that is ahead
		`{"id":"\ud800","items":[]}`, `{"items":null}`, `{"items":[null,{}]}`, `{}`, `null`, `[]`, `{"madeAt":"soon"}`,
	} {
		for _, how := range []uint8{0, zerosAfterThePoint | noDefaults, defaultExpiry | wholeSecondsOnly, noExpiry, nothingAtAll} {
			f.Add([]byte(seed), how)
		}
	}
	f.Fuzz(func(t *testing.T, saved []byte, how uint8) {
		var attempt recovery.Attempt
		if json.Unmarshal(saved, &attempt) != nil {
			return
		}
		again, err := json.Marshal(attempt)
		require.NoError(t, err)
		var restored recovery.Attempt
		require.NoError(t, json.Unmarshal(again, &restored))
		require.True(t, attempt.MadeAt.Equal(restored.MadeAt))
		attempt.MadeAt = restored.MadeAt // the same instant, but +00:00 is another place than Z
		require.Equal(t, attempt, restored)

		bubble(t, func(t *testing.T, s *service) {
			lands := canLand(attempt)
			if lands {
				s.land(attempt.Items)
				s.echoes(attempt, how)
			}
			if restored.ID == "" || restored.MadeAt.IsZero() || len(restored.Items) == 0 {
				_, err := recovery.Recover(t.Context(), s.c, restored, recovery.Options{})
				require.ErrorIs(t, err, client.ErrInvalidArgument, "New does not make this")
				return
			}
			began := time.Now()

			v := s.recover(t, restored, recovery.Options{})

			require.LessOrEqual(t, time.Since(began), 10*time.Minute)
			switch {
			case !lands:
				require.Equal(t, recovery.NotSeen, v.Kind, v)
			case how == 0:
				require.Equal(t, recovery.Landed, v.Kind, v)
				require.Equal(t, "b1", v.Batch.ID())
			default:
				require.NotEqual(t, recovery.NotSeen, v.Kind, "%s: %v", again, s.items["b1"])
			}
		})
	})
}

// canLand reports whether a client would send the attempt, and whether it is small enough for a test.
func canLand(attempt recovery.Attempt) bool {
	total := gen.Int(0)
	for _, i := range attempt.Items {
		if d, err := i.Amount.Decimal(); err != nil || !d.IsPos() || i.VariantID == "" || i.Quantity < 1 || i.Quantity > 100 {
			return false
		}
		total += i.Quantity
	}
	return !attempt.MadeAt.IsZero() && total > 0 && total <= 200
}

// echoes dates the batch to when the attempt was made, and has its items echoed in the given ways.
func (s *service) echoes(attempt recovery.Attempt, how uint8) {
	b := s.batches["b1"]
	b.CreatedAt = gen.TimeOf(attempt.MadeAt)
	s.batches["b1"] = b
	for i := range s.listings {
		s.listings[i].CreatedAt = b.CreatedAt
	}
	for i := range s.items["b1"] {
		in := &s.items["b1"][i].ListingInput
		if how&zerosAfterThePoint != 0 && !strings.ContainsAny(string(in.Amount), ".eE") {
			in.Amount += ".0000"
		}
		if how&noDefaults != 0 && in.CurrencyCode == "USD" {
			in.CurrencyCode = ""
		}
		if how&noDefaults != 0 && *in.Active {
			in.Active = nil
		}
		if how&defaultExpiry != 0 && in.ExpiresAt == "" {
			in.ExpiresAt = attempt.MadeAt.AddDate(0, 0, 999).UTC().Truncate(24 * time.Hour).Format(time.RFC3339)
		}
		if how&wholeSecondsOnly != 0 {
			in.ExpiresAt, _, _ = strings.Cut(in.ExpiresAt, ".")
		}
		if how&noExpiry != 0 {
			in.ExpiresAt = ""
		}
		if how&nothingAtAll != 0 {
			*in = gen.CreateBatchItemInput{}
		}
	}
}
