package recovery_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
)

// offer creates n listings at 76 and returns their ids.
func (m *market) offer(n gen.Int) (ids []string) {
	m.t.Helper()
	m.create(one("76", quantity(n)))
	for _, l := range m.listings() {
		ids = append(ids, l.ListingID)
	}
	require.Len(m.t, ids, int(n))
	pass(time.Minute)
	return ids
}

// during makes a write that is lost in the given way, and returns the moment before it.
func (m *market) during(how loss, write func(ctx context.Context) error) time.Time {
	m.t.Helper()
	sentAt := time.Now()
	m.writes = how
	err := write(m.t.Context())
	m.writes = noLoss
	if how == noLoss {
		require.NoError(m.t, err)
	} else {
		require.ErrorIs(m.t, err, client.ErrOutcomeUnknown)
	}
	require.NoError(m.t, m.Work(m.t.Context()))
	return sentAt
}

func (m *market) update(items []gen.UpdateItem) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := m.c.Batches.Update(ctx, items)
		return err
	}
}

// eachOperation changes the operations of lists.
func eachOperation(change func(o map[string]any)) func(*http.Request, map[string]any) {
	return eachOf("operations", func(o map[string]any) bool {
		change(o)
		return true
	})
}

func kindsOf(verdicts []recovery.Verdict) (kinds []recovery.Kind) {
	for _, v := range verdicts {
		kinds = append(kinds, v.Kind)
	}
	return kinds
}

func TestSettleUpdate_DecidesEachListing(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		ids := m.offer(4)
		_, err := m.c.Listings.Delete(t.Context(), ids[3])
		require.NoError(t, err)
		require.NoError(t, m.Work(t.Context()))
		pass(time.Hour)
		items := []gen.UpdateItem{
			{ListingID: ids[0], Amount: "80", CurrencyCode: "USD"},
			{ListingID: ids[1], Amount: "81.50", CurrencyCode: "USD"},
			{ListingID: ids[2], Amount: "82", CurrencyCode: "USD", ExpiresAt: gen.TimeOf(february)},
			{ListingID: ids[3], Amount: "83", CurrencyCode: "USD"},
		}
		sentAt := m.during(lostResponse, m.update(items))
		posts := m.posts

		verdicts, err := recovery.SettleUpdate(t.Context(), m.c, items, sentAt, recovery.Options{})

		require.NoError(t, err)
		assert.Equal(t, posts, m.posts, "it only reads")
		assert.Equal(t, []recovery.Kind{recovery.Landed, recovery.Landed, recovery.Landed, recovery.NotSeen}, kindsOf(verdicts), "an item that fails at once leaves no operation")
		for i, v := range verdicts[:3] {
			assert.Equal(t, ids[i], v.ListingID)
			assert.Equal(t, items[i].Amount.String(), strings.TrimSuffix(v.Operation.Snapshot().Changes.Additions.AskData.Amount.String(), ".00"), "its operation")
			_, err := v.Operation.Wait(t.Context())
			require.NoError(t, err)
		}
	})
}

func TestSettleUpdate_SeesThatNothingWasUpdated(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		ids := m.offer(3)
		m.during(noLoss, m.update([]gen.UpdateItem{{ListingID: ids[0], Amount: "90", CurrencyCode: "USD"}}))
		items := []gen.UpdateItem{{ListingID: ids[0], Amount: "80", CurrencyCode: "USD"}, {ListingID: ids[1], Amount: "81", CurrencyCode: "USD"}, {ListingID: ids[2], Amount: "82", CurrencyCode: "USD"}}
		sentAt := m.during(lostRequest, m.update(items))
		began := time.Now()
		m.reads = nil

		verdicts, err := recovery.SettleUpdate(t.Context(), m.c, items, sentAt, recovery.Options{})

		require.NoError(t, err)
		assert.Equal(t, []recovery.Kind{recovery.NotSeen, recovery.NotSeen, recovery.NotSeen}, kindsOf(verdicts))
		assert.Equal(t, 10*time.Minute, time.Since(began), "after the settle time")
		assert.Len(t, m.reads, 3*10, "a request for each listing and look, ten looks, as documented")
	})
}

func TestSettleUpdate_ReadsListingsUntilTheyLanded(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		ids := m.offer(5)
		var items []gen.UpdateItem
		for _, id := range ids {
			items = append(items, gen.UpdateItem{ListingID: id, Amount: "80", CurrencyCode: "USD"})
		}
		sentAt := m.during(lostResponse, m.update(items))
		m.reads = nil
		verdicts, err := recovery.SettleUpdate(t.Context(), m.c, items, sentAt, recovery.Options{})
		require.NoError(t, err)
		assert.NotContains(t, kindsOf(verdicts), recovery.NotSeen)
		assert.Len(t, m.reads, len(ids), "what was applied costs a request a listing")
	})
}

func TestSettleDelete_DecidesEachListing(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		ids := m.offer(3)
		_, err := m.Buy(t.Context(), ids[1])
		require.NoError(t, err)
		gone := "00000000-0000-4000-8000-000000000000"
		all := append(slices.Clone(ids), gone)
		sentAt := m.during(lostResponse, func(ctx context.Context) error {
			_, err := m.c.Batches.Delete(ctx, all)
			return err
		})

		verdicts, err := recovery.SettleDelete(t.Context(), m.c, all, sentAt, recovery.Options{})

		require.NoError(t, err)
		assert.Equal(t, []recovery.Kind{recovery.Landed, recovery.NotSeen, recovery.Landed, recovery.CannotTell}, kindsOf(verdicts),
			"a sold listing is not deleted, and one that is not found is doubtful")
		assert.NotEmpty(t, verdicts[3].Reason)
	})
}

func TestSettleOperation_SettlesEveryWriteToAListing(t *testing.T) {
	writes := map[gen.OperationType]func(ctx context.Context, m *market, id string) error{
		gen.OperationTypeUpdate: func(ctx context.Context, m *market, id string) error {
			_, err := m.c.Listings.Update(ctx, id, gen.UpdateListingRequest{Amount: "80", CurrencyCode: "USD"})
			return err
		},
		gen.OperationTypeDeactivate: func(ctx context.Context, m *market, id string) error {
			_, err := m.c.Listings.Deactivate(ctx, id)
			return err
		},
		gen.OperationTypeDelete: func(ctx context.Context, m *market, id string) error {
			_, err := m.c.Listings.Delete(ctx, id)
			return err
		},
		gen.OperationTypeActivate: func(ctx context.Context, m *market, id string) error {
			_, err := m.c.Listings.Activate(ctx, id, gen.ActivateListingRequest{Amount: "80", CurrencyCode: "USD"})
			return err
		},
	}
	for kind, write := range writes {
		for how, want := range map[loss]recovery.Kind{lostResponse: recovery.Landed, lostRequest: recovery.NotSeen} {
			t.Run(string(kind)+", "+string(how), func(t *testing.T) {
				inMarket(t, func(t *testing.T, m *market) {
					id := m.offer(1)[0]
					item := gen.UpdateItem{ListingID: id}
					switch kind {
					case gen.OperationTypeUpdate:
						item.Amount, item.CurrencyCode = "80.00", "USD"
					case gen.OperationTypeActivate:
						item.Amount = "80"
						m.during(noLoss, func(ctx context.Context) error { return writes[gen.OperationTypeDeactivate](ctx, m, id) })
					}
					sentAt := m.during(how, func(ctx context.Context) error { return write(ctx, m, id) })

					v, err := recovery.SettleOperation(t.Context(), m.c, kind, item, sentAt, recovery.Options{})

					require.NoError(t, err)
					assert.Equal(t, want, v.Kind, v)
					assert.Equal(t, id, v.ListingID)
					if want == recovery.Landed {
						assert.Equal(t, kind, v.Operation.Snapshot().OperationType)
					}
				})
			})
		}
	}
}

// TestSettle_NeverMissesAnOperationThatLanded tests that an operation that was started is never
// NotSeen, whatever the service shows of it.
func TestSettle_NeverMissesAnOperationThatLanded(t *testing.T) {
	const landed, cannotTell = recovery.Landed, recovery.CannotTell
	type object = map[string]any
	edit := func(change func(o object)) func(*market) {
		return func(m *market) { m.edit = eachOperation(change) }
	}
	terms := func(o object) object { return o["changes"].(object)["additions"].(object)["askData"].(object) }
	set := func(member string, value any) func(*market) { return edit(func(o object) { o[member] = value }) }
	respond := func(status int, body string) func(*market) {
		return func(m *market) { m.respond = on("/operations", status, body) }
	}
	for _, row := range []struct {
		why  string
		hide func(m *market)
		want recovery.Kind
	}{
		{"as it is", func(*market) {}, landed},
		{"an amount with four digits after the point", edit(func(o object) { terms(o)["amount"] = "80.0000" }), landed},
		{"an amount as a number", edit(func(o object) { terms(o)["amount"] = 80 }), landed},
		{"terms directly in the additions", edit(func(o object) {
			o["changes"] = object{"additions": object{"amount": "80", "currencyCode": "USD", "expiresAt": february}}
		}), landed},
		{"terms in an ask in the updates", edit(func(o object) {
			o["changes"] = object{"updates": object{"ask": object{"amount": "80", "currency": "USD", "askExpiresAt": february}}}
		}), landed},
		{"an unknown status", set("operationStatus", "HELD"), landed},
		{"no changes", set("changes", nil), cannotTell},
		{"additions that are a list", edit(func(o object) { o["changes"] = object{"additions": []any{}} }), cannotTell},
		{"changes that hold nothing", edit(func(o object) { o["changes"] = object{"additions": object{}, "updates": object{}} }), cannotTell},
		{"no amount", edit(func(o object) { terms(o)["amount"] = nil }), cannotTell},
		{"an amount as words", edit(func(o object) { terms(o)["amount"] = "about 80" }), cannotTell},
		{"two amounts", edit(func(o object) { o["changes"].(object)["updates"] = object{"amount": "76"} }), cannotTell},
		{"no currency", edit(func(o object) { delete(terms(o), "currency") }), cannotTell},
		{"an expiry rounded to the second", edit(func(o object) { terms(o)["expiresAt"] = "2000-02-01T00:00:00Z" }), cannotTell},
		{"no type", set("operationType", nil), cannotTell},
		{"an unknown type", set("operationType", "REPRICE"), cannotTell},
		{"a type in small letters", set("operationType", "update"), cannotTell},
		{"no id", set("operationId", nil), cannotTell},
		{"no time", set("createdAt", nil), cannotTell},
		{"a time without a zone, hours behind", set("createdAt", "1999-12-31T16:01:00"), cannotTell},
		{"no initiator", set("operationInitiatedBy", nil), cannotTell},
		{"an unknown initiator", set("operationInitiatedBy", "API_USER"), cannotTell},
		{"the service as its initiator", edit(func(o object) { o["operationInitiatedBy"], o["operationInitiatedVia"] = "SYSTEM", "INTERNAL-SYSTEM" }), cannotTell},
		{"no channel", set("operationInitiatedVia", nil), cannotTell},
		{"a channel in another spelling", set("operationInitiatedVia", "PUBLIC_API"), cannotTell},
		{"a throttling body under 200", respond(200, `{"message":"Too Many Requests"}`), undecided},
		{"operations that are null", respond(200, `{"nextCursor":null,"operations":null}`), undecided},
		{"operations that cannot be read", respond(503, ``), cannotTell},
		{"a listing that is not found", respond(404, ``), cannotTell},
		{"shown in the first look only", func(m *market) {
			began := time.Now()
			m.edit = eachOf("operations", func(o object) bool {
				delete(o, "changes")
				return time.Since(began) < time.Second
			})
		}, cannotTell},
		{"after nine minutes", func(m *market) {
			began := time.Now()
			m.edit = eachOf("operations", func(object) bool { return time.Since(began) > 9*time.Minute })
		}, landed},
		{"a service whose clock is behind", func(m *market) {
			m.date = -8 * time.Minute
			behind := ago(8 * time.Minute)
			m.edit = eachOperation(func(o object) { o["createdAt"] = behind })
		}, cannotTell},
	} {
		t.Run(row.why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				item := gen.UpdateItem{ListingID: m.offer(1)[0], Amount: "80", CurrencyCode: "USD", ExpiresAt: gen.TimeOf(february)}
				sentAt := m.during(lostResponse, m.update([]gen.UpdateItem{item}))
				row.hide(m)

				v, err := recovery.SettleOperation(t.Context(), m.c, gen.OperationTypeUpdate, item, sentAt, recovery.Options{})

				require.NotEqual(t, recovery.NotSeen, v.Kind, v)
				if row.want == undecided {
					assert.True(t, err != nil && v.Kind == "" || v.Kind == cannotTell, "%v, %v", v, err)
					return
				}
				require.NoError(t, err)
				require.Equal(t, row.want, v.Kind, v)
				assert.Equal(t, v.Kind == cannotTell, v.Reason != "")
			})
		})
	}
}

func TestSettle_DistinguishesOtherOperations(t *testing.T) {
	const notSeen, cannotTell = recovery.NotSeen, recovery.CannotTell
	for _, row := range []struct {
		why   string
		other func(ctx context.Context, m *market, id string) error
		known bool
		want  recovery.Kind
	}{
		{"of another type", func(ctx context.Context, m *market, id string) error {
			_, err := m.c.Listings.Deactivate(ctx, id)
			return err
		}, false, notSeen},
		{"with another amount", func(ctx context.Context, m *market, id string) error {
			return m.update([]gen.UpdateItem{{ListingID: id, Amount: "81", CurrencyCode: "USD"}})(ctx)
		}, false, notSeen},
		{"with another currency", func(ctx context.Context, m *market, id string) error {
			return m.update([]gen.UpdateItem{{ListingID: id, Amount: "80", CurrencyCode: "GBP"}})(ctx)
		}, false, notSeen},
		{"that is known", func(ctx context.Context, m *market, id string) error {
			return m.update([]gen.UpdateItem{{ListingID: id, Amount: "80", CurrencyCode: "USD"}})(ctx)
		}, true, notSeen},
		{"that others started twice", func(ctx context.Context, m *market, id string) error {
			same := m.update([]gen.UpdateItem{{ListingID: id, Amount: "80", CurrencyCode: "USD"}})
			if err := same(ctx); err != nil {
				return err
			}
			return same(ctx)
		}, false, cannotTell},
	} {
		t.Run(row.why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				item := gen.UpdateItem{ListingID: m.offer(1)[0], Amount: "80", CurrencyCode: "USD"}
				sentAt := m.during(lostRequest, m.update([]gen.UpdateItem{item}))
				m.during(noLoss, func(ctx context.Context) error { return row.other(ctx, m, item.ListingID) })
				var options recovery.Options
				if row.known {
					for o, err := range m.c.Listings.ListOperations(t.Context(), item.ListingID) {
						require.NoError(t, err)
						options.Known = append(options.Known, o.OperationID)
					}
				}
				verdicts, err := recovery.SettleUpdate(t.Context(), m.c, []gen.UpdateItem{item}, sentAt, options)
				require.NoError(t, err)
				assert.Equal(t, row.want, verdicts[0].Kind, verdicts[0])
				if row.want == cannotTell {
					assert.Len(t, verdicts[0].Candidates, 2)
				}
			})
		})
	}
}

func TestSettle_ReturnsWhatIsDecidedWhenTheContextEnds(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		ids := m.offer(2)
		items := []gen.UpdateItem{{ListingID: ids[0], Amount: "80", CurrencyCode: "USD"}, {ListingID: ids[1], Amount: "80", CurrencyCode: "USD"}}
		sentAt := m.during(lostResponse, m.update(items[:1]))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()

		verdicts, err := recovery.SettleUpdate(ctx, m.c, items, sentAt, recovery.Options{})

		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, []recovery.Kind{recovery.Landed, ""}, kindsOf(verdicts), "no verdict")
	})
}

func TestSettle_GivesUpIfNothingCanBeRead(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		m.respond = on("/operations", http.StatusForbidden, "")
		began := time.Now()
		verdicts, err := recovery.SettleDelete(t.Context(), m.c, []string{"l1", "l2"}, began, recovery.Options{})
		require.ErrorIs(t, err, client.ErrForbidden)
		assert.Equal(t, []recovery.Kind{"", ""}, kindsOf(verdicts))
		assert.Zero(t, time.Since(began))
	})
}

func TestSettle_RefusesInvalidArguments(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		_, err := recovery.SettleDelete(t.Context(), m.c, []string{"l1"}, time.Time{}, recovery.Options{})
		require.ErrorIs(t, err, client.ErrInvalidArgument, "no time")
		_, err = recovery.SettleDelete(t.Context(), m.c, []string{""}, time.Now(), recovery.Options{})
		require.ErrorIs(t, err, client.ErrInvalidArgument, "no listing")
		_, err = recovery.SettleOperation(t.Context(), m.c, gen.OperationTypeCreate, gen.UpdateItem{ListingID: "l1"}, time.Now(), recovery.Options{})
		require.ErrorIs(t, err, client.ErrInvalidArgument, "a listing that was created has no id yet")
		assert.Empty(t, m.reads, "before any I/O")
	})
}

func TestSettle_CannotTellByAClockThatWasAhead(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		item := gen.UpdateItem{ListingID: m.offer(1)[0], Amount: "80", CurrencyCode: "USD"}
		sentAt := m.during(lostRequest, m.update([]gen.UpdateItem{item})).Add(time.Minute)
		v, err := recovery.SettleUpdate(t.Context(), m.c, []gen.UpdateItem{item}, sentAt, recovery.Options{})
		require.NoError(t, err)
		assert.Equal(t, recovery.CannotTell, v[0].Kind)
	})
}
