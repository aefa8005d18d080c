package recovery_test

import (
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// pair is a batch of three listings of two variants.
func pair() []gen.CreateItem {
	return append(one("76", quantity(2)), gen.CreateItem{VariantID: size(1), Amount: "90", CurrencyCode: "EUR", Quantity: 1})
}

// undecided is CannotTell or an error: neither allows the batch to be sent again.
const undecided recovery.Kind = "undecided"

// TestRecover_NeverMissesABatchThatLanded tests that a batch that was created is never NotSeen,
// whatever the service echoes or hides, because a batch that is NotSeen is sent again.
func TestRecover_NeverMissesABatchThatLanded(t *testing.T) {
	const landed, cannotTell = recovery.Landed, recovery.CannotTell
	type object = map[string]any
	input := func(change func(in object)) func(*market, *recovery.Submission) {
		return func(m *market, _ *recovery.Submission) { m.edit = eachInput(change) }
	}
	batch := func(change func(b object)) func(*market, *recovery.Submission) {
		return func(m *market, _ *recovery.Submission) { m.edit = theBatch(change) }
	}
	listing := func(change func(l object) bool) func(*market, *recovery.Submission) {
		return func(m *market, _ *recovery.Submission) { m.edit = eachListing(change) }
	}
	page := func(change func(r *http.Request, p object)) func(*market, *recovery.Submission) {
		return func(m *market, _ *recovery.Submission) {
			m.edit = func(r *http.Request, body map[string]any) {
				if _, ok := body["listings"]; ok {
					change(r, body)
				}
			}
		}
	}
	respond := func(suffix string, status int, body string) func(*market, *recovery.Submission) {
		return func(m *market, _ *recovery.Submission) { m.respond = on(suffix, status, body) }
	}
	set := func(member string, value any) func(object) { return func(v object) { v[member] = value } }
	keep := func(change func(object)) func(object) bool { return func(v object) bool { change(v); return true } }
	cut := func(member, layout string) func(in object) {
		return func(in object) {
			if text, ok := in[member].(string); ok {
				at, _ := time.Parse(time.RFC3339, text)
				in[member] = at.Format(layout)
			}
		}
	}
	// changeEach changes each listing through the service.
	changeEach := func(change func(m *market, id string) error) func(*market, *recovery.Submission) {
		return func(m *market, _ *recovery.Submission) {
			pass(time.Second)
			for _, l := range m.listings() {
				require.NoError(m.t, change(m, l.ListingID))
			}
		}
	}

	for _, row := range []struct {
		why   string
		items []gen.CreateItem // None for pair.
		after func(m *market, a *recovery.Submission)
		want  recovery.Kind
	}{
		// The echo of items.
		{"as it was sent", nil, nil, landed},
		{"amounts with four digits after the point", nil, input(func(in object) {
			whole, _, _ := strings.Cut(in["amount"].(string), ".")
			in["amount"] = whole + ".0000"
		}), landed},
		{"amounts as numbers", nil, input(func(in object) { in["amount"] = json.Number(in["amount"].(string)) }), landed},
		{"amounts as words", nil, input(func(in object) { in["amount"] = "about " + in["amount"].(string) }), cannotTell},
		{"amounts with a currency sign", nil, input(func(in object) { in["amount"] = "$" + in["amount"].(string) }), cannotTell},
		{"no amounts", nil, input(set("amount", nil)), cannotTell},
		{"variants in capitals", nil, input(func(in object) { in["variantId"] = strings.ToUpper(in["variantId"].(string)) }), cannotTell},
		{"variants without hyphens", nil, input(func(in object) { in["variantId"] = strings.ReplaceAll(in["variantId"].(string), "-", "") }), cannotTell},
		{"no variants", nil, input(func(in object) { delete(in, "variantId") }), cannotTell},
		{"no defaults", one("76"), input(func(in object) { in["currencyCode"], in["active"] = nil, nil }), landed},
		{"currencies in small letters", nil, input(func(in object) { in["currencyCode"] = strings.ToLower(in["currencyCode"].(string)) }), cannotTell},
		{"no currencies", nil, input(set("currencyCode", nil)), cannotTell},
		{"the opposite flag", nil, input(set("active", false)), cannotTell},
		{"active as text", nil, input(set("active", "true")), landed},
		{"no expiry", nil, input(set("expiresAt", nil)), cannotTell},
		{"the default expiry", nil, input(set("expiresAt", "2002-09-26T00:00:00.000Z")), cannotTell},
		{"an expiry rounded to the second", nil, input(cut("expiresAt", time.RFC3339)), cannotTell},
		{"an expiry rounded to the day", nil, input(cut("expiresAt", time.DateOnly)), cannotTell},
		{"an expiry without a zone", nil, input(cut("expiresAt", "2006-01-02T15:04:05.000")), landed},
		{"members in another case", nil, input(func(in object) { in["AMOUNT"] = in["amount"]; delete(in, "amount") }), cannotTell},
		{"no input", nil, func(m *market, _ *recovery.Submission) { m.edit = eachItem(keep(set("listingInput", nil))) }, cannotTell},
		{"items cut to the first", nil, func(m *market, _ *recovery.Submission) {
			m.edit = func(_ *http.Request, body map[string]any) {
				if items, ok := body["items"].([]any); ok {
					body["items"] = items[:1]
				}
			}
		}, cannotTell},
		{"an item twice", nil, func(m *market, _ *recovery.Submission) {
			m.edit = func(_ *http.Request, body map[string]any) {
				if items, ok := body["items"].([]any); ok {
					body["items"] = append(items, items[0])
				}
			}
		}, cannotTell},
		{"no items", nil, respond("/items", 200, `{"items":[]}`), cannotTell},
		{"items that are null", nil, respond("/items", 200, `{"items":null}`), cannotTell},
		{"items that cannot be read", nil, respond("/items", 500, ``), cannotTell},

		// The batch.
		{"a batch that is not found", nil, func(m *market, _ *recovery.Submission) {
			m.respond = func(r *http.Request) (int, string) {
				if strings.Contains(r.URL.Path, "/batch/") {
					return 404, ""
				}
				return 0, ""
			}
		}, cannotTell},
		{"no time of creation", nil, batch(set("createdAt", nil)), cannotTell},
		{"a time of creation without a zone, hours behind", nil, batch(set("createdAt", "1999-12-31T16:00:00.000")), cannotTell},
		{"a time of creation that is a date", nil, batch(set("createdAt", "1999-12-31")), cannotTell},
		{"a time of creation long after", nil, batch(set("createdAt", "2000-01-02T00:00:00Z")), cannotTell},
		{"a total of kinds instead of listings", nil, batch(set("totalItems", 2)), cannotTell},
		{"a total of finished items", nil, batch(set("totalItems", 1)), cannotTell},
		{"a total as text", nil, batch(set("totalItems", "3")), landed},
		{"no total", nil, batch(set("totalItems", nil)), landed},

		// The listings.
		{"listings whose batch is null", nil, listing(keep(set("batch", nil))), cannotTell},
		{"listings whose batch is null and whose price was edited", nil, listing(keep(func(l object) { l["batch"], l["amount"], l["updatedAt"] = nil, "99", "2000-01-01T00:01:00Z" })), cannotTell},
		{"listings whose batch has no id", nil, listing(keep(set("batch", object{"taskId": "1"}))), cannotTell},
		{"listings whose batch is text", nil, listing(keep(set("batch", "5ee0"))), cannotTell},
		{"batch ids in capitals", nil, listing(keep(func(l object) {
			if b, ok := l["batch"].(object); ok {
				b["batchId"] = strings.ToUpper(b["batchId"].(string))
			}
		})), undecided},
		{"listings without a time", nil, listing(keep(set("createdAt", nil))), landed},
		{"listings whose time has no zone, hours behind", nil, listing(keep(set("createdAt", "1999-12-31 16:00:00"))), cannotTell},
		{"listings whose variant is missing", nil, listing(keep(set("variant", nil))), landed},
		{"listings without an id", nil, listing(keep(func(l object) { delete(l, "listingId") })), landed},
		{"listings of inventory that was not asked for", nil, listing(keep(set("inventoryType", "DIRECT"))), cannotTell},
		{"listings of an inventory type that cannot be asked for", nil, listing(keep(set("inventoryType", "FLEX"))), landed},
		{"entries that are text", nil, page(func(_ *http.Request, p object) { p["listings"] = []any{"98e2e748"} }), cannotTell},
		{"listings that were edited since", nil, changeEach(func(m *market, id string) error {
			_, err := m.c.Listings.Update(m.t.Context(), id, gen.UpdateListingRequest{Amount: "120", CurrencyCode: "USD"})
			return err
		}), landed},
		{"listings that were deleted since", nil, changeEach(func(m *market, id string) error {
			_, err := m.c.Listings.Delete(m.t.Context(), id)
			return err
		}), landed},
		{"listings that were sold since", nil, changeEach(func(m *market, id string) error {
			_, err := m.Buy(m.t.Context(), id)
			return err
		}), landed},
		{"listings that have expired since", one("76", func(i *gen.CreateItem) { i.ExpiresAt = gen.TimeOf(time.Now().Add(time.Minute)) }), func(m *market, _ *recovery.Submission) {
			pass(3 * time.Hour)
			p, err := m.c.Listings.ListPage(m.t.Context(), client.ListingFilter{})
			require.NoError(m.t, err)
			require.Empty(m.t, p.Listings, "they are hidden")
		}, landed},
		{"listings that are hidden unless their status is named", nil, page(func(r *http.Request, p object) {
			if !r.URL.Query().Has("listingStatuses") {
				p["listings"], p["count"] = []any{}, 0
			}
		}), landed},
		{"listings of a status that has no name here", nil, page(func(r *http.Request, p object) {
			if r.URL.Query().Has("listingStatuses") {
				p["listings"], p["count"] = []any{}, 0
			}
		}), landed},
		{"one listing, after nine minutes", nil, func(m *market, _ *recovery.Submission) {
			began := time.Now()
			m.edit = eachListing(func(object) bool { return time.Since(began) > 9*time.Minute })
		}, landed},
		{"shown in the first look only", nil, func(m *market, _ *recovery.Submission) {
			began := time.Now()
			m.edit = eachListing(func(object) bool { return time.Since(began) < time.Second })
			m.respond = func(r *http.Request) (int, string) {
				if strings.Contains(r.URL.Path, "/batch/") {
					return 404, ""
				}
				return 0, ""
			}
		}, cannotTell},
		{"a page that was cut", nil, page(func(_ *http.Request, p object) { p["listings"] = []any{} }), cannotTell},
		{"a throttling body under 200", nil, respond("/listings", 200, `{"statusCode":429,"message":"Too Many Requests"}`), undecided},
		{"listings that are null", nil, respond("/listings", 200, `{"count":0,"pageSize":100,"pageNumber":1,"hasNextPage":false,"listings":null}`), undecided},
		{"listings that are an object", nil, respond("/listings", 200, `{"count":0,"pageSize":100,"pageNumber":1,"hasNextPage":false,"listings":{}}`), undecided},
		{"an HTML page under 200", nil, respond("/listings", 200, `<html>busy</html>`), undecided},
		{"no listings at all", nil, respond("/listings", 503, ``), undecided},

		// Clocks.
		{"a service whose clock is behind", nil, func(m *market, _ *recovery.Submission) {
			m.date = -8 * time.Minute
			behind := set("createdAt", ago(8*time.Minute))
			m.edit = edits(eachListing(keep(behind)), theBatch(behind))
		}, cannotTell},
		{"a service whose clock is ahead", nil, func(m *market, _ *recovery.Submission) {
			m.date = 3 * time.Hour
			m.edit = edits(eachListing(keep(set("createdAt", ago(-3*time.Hour)))), theBatch(set("createdAt", ago(-3*time.Hour))))
		}, cannotTell},
		{"a submission of a clock that was ahead", nil, func(_ *market, a *recovery.Submission) { a.MadeAt = a.MadeAt.Add(8 * time.Minute) }, cannotTell},
	} {
		t.Run(row.why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				items := row.items
				if items == nil {
					items = pair()
				}
				for i := range items {
					if !items[i].ExpiresAt.IsZero() {
						items[i].ExpiresAt = gen.TimeOf(time.Now().Add(time.Minute)) // by the clock of the bubble
					}
				}
				submission := newSubmission(t, items)
				m.lose(lostResponse, submission)
				require.NotEmpty(t, m.listings(), "landed")
				if row.after != nil {
					row.after(m, &submission)
				}

				v, err := recovery.Recover(t.Context(), m.c, submission, recovery.Options{})

				require.NotEqual(t, recovery.NotSeen, v.Kind, v)
				if withQuirks == vagueOrigin {
					return
				}
				if row.want == undecided {
					assert.True(t, err != nil && v.Kind == "" || v.Kind == recovery.CannotTell, "%v, %v", v, err)
					return
				}
				require.NoError(t, err)
				require.Equal(t, row.want, v.Kind, v)
				assert.Equal(t, v.Kind == recovery.Landed, v.Batch != nil)
				assert.Equal(t, v.Kind == recovery.CannotTell, v.Reason != "")
				if v.Batch != nil {
					assert.Equal(t, m.listings()[0].Batch.BatchID, v.Batch.ID())
				}
			})
		})
	}
}

// TestRecover_SeesThatABatchDidNotLand tests which other things on the service allow NotSeen.
func TestRecover_SeesThatABatchDidNotLand(t *testing.T) {
	const notSeen, cannotTell = recovery.NotSeen, recovery.CannotTell
	single := func(m *market, amount gen.Amount) string {
		o, err := m.c.Listings.Create(m.t.Context(), gen.CreateListingRequest{VariantID: size(0), Amount: amount})
		require.NoError(m.t, err)
		return o.ListingID()
	}
	for _, row := range []struct {
		why    string
		before func(m *market) (known []string)
		want   recovery.Kind
		reason string
	}{
		{"there is nothing", func(*market) []string { return nil }, notSeen, ""},
		{"another batch of these items is known", func(m *market) []string { return []string{m.create(pair())} }, notSeen, ""},
		{"another batch has another amount", func(m *market) []string { m.create(one("76.01", quantity(3))); return nil }, notSeen, ""},
		{"another batch has another currency", func(m *market) []string {
			m.create(append(one("76", quantity(2)), gen.CreateItem{VariantID: size(1), Amount: "90", CurrencyCode: "GBP", Quantity: 1}))
			return nil
		}, notSeen, ""},
		{"another batch has another variant", func(m *market) []string {
			m.create(append(one("76", quantity(2)), gen.CreateItem{VariantID: size(2), Amount: "90", CurrencyCode: "EUR", Quantity: 1}))
			return nil
		}, notSeen, ""},
		{"another batch of these items is from the day before", func(m *market) []string { m.create(pair()); pass(20 * time.Hour); return nil }, notSeen, ""},
		{"another batch was sold, deleted and edited", func(m *market) []string {
			m.create(one("80", quantity(3)))
			all := m.listings()
			_, err := m.Buy(m.t.Context(), all[0].ListingID)
			require.NoError(m.t, err)
			_, err = m.c.Listings.Delete(m.t.Context(), all[1].ListingID)
			require.NoError(m.t, err)
			_, err = m.c.Listings.Update(m.t.Context(), all[2].ListingID, gen.UpdateListingRequest{Amount: "76", CurrencyCode: "USD"})
			require.NoError(m.t, err)
			return nil
		}, notSeen, ""},
		{"there are pages of other listings", func(m *market) []string { m.create(one("80", quantity(120))); return nil }, notSeen, ""},
		{"a single listing has another amount", func(m *market) []string { single(m, "80"); return nil }, notSeen, ""},
		{"the service is down for a while", func(m *market) []string {
			began := time.Now()
			m.respond = func(*http.Request) (int, string) {
				if time.Since(began) < 5*time.Minute {
					return 503, ""
				}
				return 0, ""
			}
			return nil
		}, notSeen, ""},
		{"the clock of the service is four minutes behind", func(m *market) []string { m.date = -4 * time.Minute; return nil }, notSeen, ""},
		{"the service does not date its responses", func(m *market) []string { m.undated = true; return nil }, notSeen, ""},

		{"an unknown batch differs in its expiry only", func(m *market) []string { m.create(newSubmission(m.t, pair()).Items); return nil }, cannotTell, "expiry"},
		{"an unknown batch differs in its total only", func(m *market) []string { m.create(one("76")); return nil }, cannotTell, "1 items instead of 3"},
		{"a single listing has the amount of an item", func(m *market) []string { single(m, "76.00"); return nil }, cannotTell, "fits an item"},
		{"a single listing was updated since it was made", func(m *market) []string {
			id := single(m, "80")
			pass(time.Second)
			_, err := m.c.Listings.Update(m.t.Context(), id, gen.UpdateListingRequest{Amount: "85", CurrencyCode: "USD"})
			require.NoError(m.t, err)
			return nil
		}, cannotTell, "updated"},
		{"the clock of the service is six minutes behind", func(m *market) []string { m.date = -6 * time.Minute; return nil }, cannotTell, "clock"},
	} {
		t.Run(row.why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				known := row.before(m)
				submission := newSubmission(t, pair())
				m.lose(lostRequest, submission)
				began := time.Now()

				v := m.recover(submission, recovery.Options{Known: known})

				assert.Equal(t, row.want, v.Kind, v)
				assert.Equal(t, 10*time.Minute, time.Since(began), "after the settle time")
				assert.Contains(t, v.Reason, row.reason)
				assert.Equal(t, row.want == notSeen, v.Reason == "")
			})
		})
	}
}

func TestRecover_WaitsForASlowSandbox(t *testing.T) {
	for why, row := range map[string]struct {
		delay  time.Duration
		settle time.Duration
		want   recovery.Kind
	}{
		"its first listing shows within the settle time": {4 * time.Minute, 0, recovery.Landed},
		"what shows later than assumed is not seen":      {6 * time.Minute, 0, recovery.NotSeen},
		"a longer settle time sees it":                   {6 * time.Minute, 15 * time.Minute, recovery.Landed},
	} {
		t.Run(why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				submission := newSubmission(t, one("76", quantity(40)))
				m.lose(lostResponse, submission)

				v := m.recover(submission, recovery.Options{Settle: row.settle})

				require.Equal(t, row.want, v.Kind, v)
			}, func(o *sandbox.Options) { o.Delay = row.delay })
		})
	}
}

// empty is a service without listings, without the time that a sandbox takes to start.
type empty struct{}

// RoundTrip implements [http.RoundTripper].
func (empty) RoundTrip(r *http.Request) (*http.Response, error) {
	const page = `{"count":0,"pageNumber":1,"pageSize":100,"hasNextPage":false,"listings":[]}`
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(page)), Request: r}, nil
}

// FuzzSubmission reads any bytes as a saved submission. What can be read is the same after it is
// saved again, and is recovered without a panic and in bounded time.
func FuzzSubmission(f *testing.F) {
	for _, seed := range []string{
		`{"id":"A","madeAt":"2000-01-01T00:00:00.001Z","items":[{"variantId":"v1","amount":"76","quantity":1}]}`,
		`{"id":"A","madeAt":"2000-01-01T00:00:00Z","items":[{"variantId":"v1","amount":76.0000,"quantity":"2","active":false,"currencyCode":"EUR","inventoryType":"DIRECT","expiresAt":"2001-02-03T04:05:06.007Z"},{"variantId":"","amount":null,"quantity":1}]}`,
		`{"id":"A","madeAt":"1999-12-31T23:59:59.999999999-23:59","items":[{"variantId":"v1","amount":"12345678901234567890.10","quantity":3,"expiresAt":"2000-02-01 00:00:00"}]}`,
		`{"id":"A","madeAt":"9999-12-31T23:59:59Z","items":[{"amount":"1e-5","quantity":1,"expiresAt":"9999-12-31T23:59:59.999999999Z"}]}`,
		`{"id":"A","madeAt":"0000-01-01T00:00:00Z","items":[{"amount":"about 7","quantity":-9223372036854775808,"active":null,"expiresAt":"0000-01-01"}]}`,
		`{"id":"A","madeAt":"2000-01-01T00:16:00Z","items":[{"variantId":"v1","amount":"76","quantity":1}]}`, // by a clock that is ahead
		`{"id":"\ud800","items":[]}`, `{"items":null}`, `{"items":[null,{}]}`, `{}`, `null`, `[]`, `{"madeAt":"soon"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, saved []byte) {
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
		require.Len(t, restored.Match(nil), len(restored.Items))

		synctest.Test(t, func(t *testing.T) {
			c, err := client.New(
				client.WithBaseURL("https://service.invalid/v2"), client.WithHTTPClient(&http.Client{Transport: empty{}}), client.WithAPIKey("key"),
				client.WithToken("token"), client.WithQuota(quota.Unlimited), client.WithRetry(client.RetryPolicy{MaxAttempts: 1}),
			)
			require.NoError(t, err)
			began := time.Now()

			v, err := recovery.Recover(t.Context(), c, restored, recovery.Options{})

			require.LessOrEqual(t, time.Since(began), 10*time.Minute)
			switch {
			case restored.ID == "" || restored.MadeAt.IsZero() || len(restored.Items) == 0:
				require.ErrorIs(t, err, client.ErrInvalidArgument, "New does not make this")
			case restored.MadeAt.After(began):
				require.NoError(t, err)
				require.Equal(t, recovery.CannotTell, v.Kind, v)
			default:
				require.NoError(t, err)
				require.Equal(t, recovery.NotSeen, v.Kind, v)
			}
		})
	})
}

// TestRecover_NeverMissesABatchHoweverItIsShown combines ways in which services show what they
// made. None of them may make a batch that landed NotSeen, because that is sent again.
func TestRecover_NeverMissesABatchHoweverItIsShown(t *testing.T) {
	type object = map[string]any
	onText := func(name string, change func(text string) any) func(object) {
		return func(o object) {
			if text, ok := o[name].(string); ok {
				o[name] = change(text)
			}
		}
	}
	remove := func(name string) func(object) { return func(o object) { o[name] = nil } }
	listing := func(change func(object)) func(*http.Request, object) {
		return eachListing(func(l map[string]any) bool { change(l); return true })
	}
	both := func(change func(object)) func(*http.Request, object) {
		return edits(listing(change), theBatch(change))
	}
	ways := map[string]func(*http.Request, object){
		"zeros after the point": eachInput(onText("amount", func(text string) any {
			if strings.Contains(text, ".") {
				return text + "0"
			}
			return text + ".0000"
		})),
		"no default currency": eachInput(onText("currencyCode", func(text string) any {
			if text == "USD" {
				return nil
			}
			return text
		})),
		"no default flag": eachInput(func(in object) {
			if in["active"] == true {
				in["active"] = nil
			}
		}),
		"whole seconds": eachInput(onText("expiresAt", func(text string) any { text, _, _ = strings.Cut(text, "."); return text })),
		"no expiry":     eachInput(remove("expiresAt")),
		"no echo":       eachInput(func(in object) { clear(in) }),
		"another case": eachInput(func(in object) {
			onText("variantId", func(text string) any { return strings.ToUpper(text) })(in)
			onText("currencyCode", func(text string) any { return strings.ToLower(text) })(in)
		}),
		"no zone":           both(onText("createdAt", func(text string) any { return strings.TrimSuffix(text, "Z") })),
		"no times":          both(remove("createdAt")),
		"no batch":          listing(remove("batch")),
		"no total":          theBatch(remove("totalItems")),
		"half of the items": firstHalf,
	}
	names := slices.Sorted(maps.Keys(ways))
	for seed := range uint64(48) {
		inMarket(t, func(t *testing.T, m *market) {
			random := rand.New(rand.NewPCG(seed, 7))
			var opts []recovery.Option
			if seed%3 == 0 {
				opts = append(opts, recovery.WithoutMark())
			}
			submission := newSubmission(t, randomItems(random), opts...)
			m.lose(lostResponse, submission)
			var chosen []string
			for range 1 + random.IntN(4) {
				chosen = append(chosen, names[random.IntN(len(names))])
			}
			m.edit = func(r *http.Request, body map[string]any) {
				for _, name := range chosen {
					ways[name](r, body)
				}
			}

			v := m.recover(submission, recovery.Options{Settle: time.Minute})

			require.NotEqual(t, recovery.NotSeen, v.Kind, "%v: %v", submission.Items, chosen)
		})
	}
}

// firstHalf leaves out half of the items of a batch.
func firstHalf(_ *http.Request, body map[string]any) {
	if items, ok := body["items"].([]any); ok {
		body["items"] = items[:len(items)/2]
	}
}
