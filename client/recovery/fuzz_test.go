package recovery_test

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
)

// The ways in which a service can show what it made, as bits.
const (
	zerosAfterThePoint = 1 << iota
	noDefaults
	defaultExpiry
	wholeSecondsOnly
	noExpiry
	nothingEchoed
	otherCase
	noZone
	noBatchInListings
	noTimes
	halfOfTheItems
	noTotal

	asItIs = 0
)

// FuzzSubmission takes any bytes for a saved submission. What can be read survives being saved again; it
// is recovered without a panic and in bounded time; and a batch that was made from it is never
// called not seen, however the service shows it, because what is not seen is sent again.
func FuzzSubmission(f *testing.F) {
	for _, seed := range []string{
		`{"id":"A","madeAt":"2000-01-01T00:00:00.001Z","items":[{"variantId":"v1","amount":"76","quantity":1}]}`,
		`{"id":"A","madeAt":"2000-01-01T00:00:00Z","items":[{"variantId":"v1","amount":76.0000,"quantity":"2","active":false,"currencyCode":"EUR","inventoryType":"DIRECT","expiresAt":"2001-02-03T04:05:06.007Z"},{"variantId":"","amount":null,"quantity":1}]}`,
		`{"id":"A","madeAt":"1999-12-31T23:59:59.999999999-23:59","items":[{"variantId":"v1","amount":"12345678901234567890.10","quantity":3,"expiresAt":"2000-02-01 00:00:00"}]}`,
		`{"id":"A","madeAt":"1999-12-31T23:00:00Z","items":[{"variantId":"v1","amount":"76","currencyCode":"EUR","quantity":2},{"variantId":"v2","amount":"80.50","quantity":1,"active":true}]}`,
		`{"madeAt":"9999-12-31T23:59:59Z","items":[{"amount":"1e-5","quantity":1,"expiresAt":"9999-12-31T23:59:59.999999999Z"}]}`,
		`{"madeAt":"0000-01-01T00:00:00Z","items":[{"amount":"about 7","quantity":-9223372036854775808,"active":null,"expiresAt":"0000-01-01"}]}`,
		`{"id":"A","madeAt":"2000-01-01T00:16:00Z","items":[{"variantId":"v1","amount":"76","quantity":1}]}`, // by a clock that is ahead
		`{"id":"\ud800","items":[]}`, `{"items":null}`, `{"items":[null,{}]}`, `{}`, `null`, `[]`, `{"madeAt":"soon"}`,
	} {
		for _, how := range []uint16{asItIs, zerosAfterThePoint | noDefaults, defaultExpiry | wholeSecondsOnly, noExpiry | otherCase, nothingEchoed, noBatchInListings, noZone, noTimes, halfOfTheItems | noTotal} {
			f.Add([]byte(seed), how)
		}
	}
	f.Fuzz(func(t *testing.T, saved []byte, how uint16) {
		var submission recovery.Submission
		if json.Unmarshal(saved, &submission) != nil {
			return
		}
		again, err := json.Marshal(submission)
		require.NoError(t, err)
		var restored recovery.Submission
		require.NoError(t, json.Unmarshal(again, &restored))
		require.True(t, submission.MadeAt.Equal(restored.MadeAt))
		submission.MadeAt = restored.MadeAt // the same instant, but +00:00 is another place than Z
		require.Equal(t, submission, restored)

		synctest.Test(t, func(t *testing.T) {
			s := &canned{}
			lands := canLand(submission)
			if lands {
				s.land(submission, how)
			}
			began := time.Now()

			v, err := recovery.Recover(t.Context(), s.client(t), restored, recovery.Options{})

			if restored.ID == "" || restored.MadeAt.IsZero() || len(restored.Items) == 0 {
				require.ErrorIs(t, err, client.ErrInvalidArgument, "New does not make this")
				return
			}
			require.NoError(t, err)
			require.LessOrEqual(t, time.Since(began), 10*time.Minute)
			switch {
			case !lands && restored.MadeAt.After(began):
				require.Equal(t, recovery.CannotTell, v.Kind, v)
			case !lands:
				require.Equal(t, recovery.NotSeen, v.Kind, v)
			case how == asItIs:
				require.Equal(t, recovery.Landed, v.Kind, v)
			default:
				require.NotEqual(t, recovery.NotSeen, v.Kind, "%s: %v", again, s.items)
			}
		})
	})
}

// canLand reports whether a client would send the submission, and whether it is small enough for a
// test.
func canLand(submission recovery.Submission) bool {
	total := gen.Int(0)
	for _, i := range submission.Items {
		if d, err := i.Amount.Decimal(); err != nil || !d.IsPos() || i.VariantID == "" || i.Quantity < 1 || i.Quantity > 100 {
			return false
		}
		total += i.Quantity
	}
	return submission.ID != "" && !submission.MadeAt.IsZero() && total > 0 && total <= 200
}

// canned is a service with at most one batch, of any variants and amounts: a sandbox takes only
// those it knows.
type canned struct {
	listings []gen.Listing
	batch    gen.Batch
	items    []gen.CreateBatchItem
	zone     *strings.Replacer
}

func (s *canned) client(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New(
		client.WithBaseURL("https://service.invalid/v2"), client.WithHTTPClient(&http.Client{Transport: s}), client.WithAPIKey("key"),
		client.WithToken("token"), client.WithQuota(quota.Unlimited), client.WithRetry(client.RetryPolicy{MaxAttempts: 1}),
	)
	require.NoError(t, err)
	return c
}

// RoundTrip implements [http.RoundTripper].
func (s *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	var body any = gen.ListingPage{Listings: append([]gen.Listing{}, s.listings...), Count: gen.Int(len(s.listings)), PageNumber: 1, PageSize: 200}
	switch {
	case strings.HasSuffix(r.URL.Path, "/items"):
		body = gen.CreateBatchItemList{Items: s.items}
	case strings.Contains(r.URL.Path, "/batch/"):
		body = s.batch
	}
	text, err := json.Marshal(body)
	if s.zone != nil {
		text = []byte(s.zone.Replace(string(text)))
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(text))), Request: r}, err
}

// land makes the batch when the submission was made, and shows it in the given ways.
func (s *canned) land(submission recovery.Submission, how uint16) {
	at := gen.TimeOf(submission.MadeAt)
	if how&noTimes != 0 {
		at = gen.Time{}
	}
	for _, item := range submission.Items {
		for range item.Quantity {
			l := gen.Listing{Batch: &gen.ListingBatch{BatchID: "b1"}, CreatedAt: at, UpdatedAt: at, InventoryType: cmp.Or(item.InventoryType, gen.InventoryTypeStandard)}
			l.Variant.VariantID, l.Amount, l.CurrencyCode = item.VariantID, item.Amount, item.CurrencyCode
			if how&noBatchInListings != 0 {
				l.Batch = nil
			}
			s.listings = append(s.listings, l)
			s.items = append(s.items, gen.CreateBatchItem{ListingInput: echo(submission, item, how)})
		}
	}
	s.batch = gen.Batch{BatchID: "b1", CreatedAt: at, TotalItems: gen.Int(len(s.items))}
	if how&noTotal != 0 {
		s.batch.TotalItems = 0
	}
	if how&halfOfTheItems != 0 {
		s.items = s.items[:len(s.items)/2]
	}
	if how&noZone != 0 && !at.IsZero() {
		text, _ := at.MarshalText()
		s.zone = strings.NewReplacer(string(text), strings.TrimSuffix(string(text), "Z"))
	}
}

// echo is an item as the service says that it took it.
func echo(submission recovery.Submission, item gen.CreateItem, how uint16) gen.CreateBatchItemInput {
	in := gen.CreateBatchItemInput{
		VariantID: item.VariantID, Amount: item.Amount, CurrencyCode: cmp.Or(string(item.CurrencyCode), "USD"), Active: cmp.Or(item.Active, new(true)),
	}
	if text, err := item.ExpiresAt.MarshalText(); err == nil {
		in.ExpiresAt = string(text)
	}
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
		in.ExpiresAt = submission.MadeAt.AddDate(0, 0, 999).UTC().Truncate(24 * time.Hour).Format(time.RFC3339)
	}
	if how&wholeSecondsOnly != 0 {
		in.ExpiresAt, _, _ = strings.Cut(in.ExpiresAt, ".")
	}
	if how&noExpiry != 0 {
		in.ExpiresAt = ""
	}
	if how&otherCase != 0 {
		in.VariantID, in.CurrencyCode = strings.ToUpper(in.VariantID), strings.ToLower(in.CurrencyCode)
	}
	if how&nothingEchoed != 0 {
		return gen.CreateBatchItemInput{}
	}
	return in
}
