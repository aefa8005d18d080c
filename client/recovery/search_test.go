package recovery_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
)

// lists returns the queries of the lists of listings that were read.
func (m *market) lists() (queries []url.Values) {
	for _, read := range m.reads {
		u, err := url.Parse(read)
		require.NoError(m.t, err)
		if strings.HasSuffix(u.Path, "/listings") {
			queries = append(queries, u.Query())
		}
	}
	return queries
}

func TestRecover_ListsTheVariantsOfTheSubmission(t *testing.T) {
	for _, row := range []struct {
		variants int
		all      bool
		why      string
	}{
		{1, false, "each variant once"},
		{100, false, "as many as a URL takes"},
		{101, true, "more would make a URL that is longer than servers take"},
	} {
		inMarket(t, func(t *testing.T, m *market) {
			var items []gen.CreateItem
			var ids []string
			for i := range row.variants {
				ids = append(ids, size(i))
				items = append(items, one("76", func(item *gen.CreateItem) { item.VariantID = ids[i] })...)
			}
			submission := newSubmission(t, append(items, items...)) // each twice
			submission.MadeAt = submission.MadeAt.Add(-24 * time.Hour)
			m.recover(submission, recovery.Options{Skew: time.Minute})

			const statuses = "ACTIVE,INACTIVE,MATCHED,COMPLETED,CANCELED,DELETED"
			var asked []string
			for _, q := range m.lists() {
				assert.Equal(t, "1999-12-29", q.Get("fromDate"), "since the day before")
				if row.all {
					assert.Empty(t, q.Get("variantIds"), row.why)
				} else {
					assert.Equal(t, strings.Join(ids, ","), q.Get("variantIds"), row.why)
				}
				asked = append(asked, q.Get("isExpired")+":"+q.Get("listingStatuses"))
			}
			assert.Equal(t, []string{":", ":" + statuses, "true:", "true:" + statuses}, asked, "every status by name, those that have no name here, and expired ones")
		})
	}
}

func TestRecover_ListsWithTheFiltersThatAServiceAccepts(t *testing.T) {
	for why, row := range map[string]struct {
		refuses func(q url.Values) bool
		want    recovery.Kind
		lists   int // Of the first look.
	}{
		"it takes one status":          {func(q url.Values) bool { return strings.Contains(q.Get("listingStatuses"), ",") }, recovery.NotSeen, 2 + 1 + 12},
		"it lacks one of the statuses": {func(q url.Values) bool { return strings.Contains(q.Get("listingStatuses"), "CANCELED") }, recovery.NotSeen, 2 + 1 + 12},
		"it takes no status":           {func(q url.Values) bool { return q.Has("listingStatuses") }, recovery.CannotTell, 2 + 1 + 12},
		"a variant is no valid id":     {func(q url.Values) bool { return q.Has("variantIds") }, recovery.NotSeen, 1 + 4},
		"both":                         {func(q url.Values) bool { return q.Has("variantIds") || strings.Contains(q.Get("listingStatuses"), ",") }, recovery.NotSeen, 1 + 2 + 1 + 12},
		"it takes one status a list, and no ids": {func(q url.Values) bool {
			return q.Has("variantIds") || strings.Count(q.Get("listingStatuses"), ",") > 0
		}, recovery.NotSeen, 1 + 2 + 1 + 12},
	} {
		t.Run(why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				m.respond = func(r *http.Request) (int, string) {
					if row.refuses(r.URL.Query()) {
						return http.StatusBadRequest, ""
					}
					return 0, ""
				}
				submission := newSubmission(t, one("76"))
				submission.MadeAt = submission.MadeAt.Add(-24 * time.Hour)

				assert.Equal(t, row.want, m.recover(submission, recovery.Options{}).Kind)
				assert.Len(t, m.lists(), row.lists)
			})
		})
	}
}

func TestRecover_FindsABatchThoughAnItemIsRefused(t *testing.T) {
	for why, variant := range map[string]string{
		"the service refuses the variant":             "a-size",
		"the client refuses it":                       "10,5",
		"the variant is an id that the service lacks": "00000000-0000-4000-8000-000000000000",
	} {
		t.Run(why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				submission := newSubmission(t, append(one("76"), gen.CreateItem{VariantID: variant, Amount: "80", Quantity: 1}))
				m.lose(lostResponse, submission)
				assert.Equal(t, recovery.Landed, m.recover(submission, recovery.Options{}).Kind)
			})
		})
	}
}

func TestRecover_ConsidersBatches(t *testing.T) {
	type edit = func(*http.Request, map[string]any)
	made := func(of func(func(map[string]any)) edit, at func() any) edit {
		return of(func(v map[string]any) { v["createdAt"] = at() })
	}
	listing := func(change func(map[string]any)) edit {
		return eachListing(func(l map[string]any) bool { change(l); return true })
	}
	at := func(d time.Duration) func() any {
		when := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-d).Format(time.RFC3339Nano)
		return func() any { return when }
	}
	for _, row := range []struct {
		edit edit
		want recovery.Kind
		why  string
	}{
		{edits(), recovery.Landed, "one that a listing shows"},
		{made(listing, func() any { return nil }), recovery.Landed, "one whose listing has no createdAt"},
		{edits(made(listing, at(5*time.Minute)), made(theBatch, at(5*time.Minute))), recovery.Landed, "one made before the submission, within the skew"},
		{made(theBatch, at(-time.Hour)), recovery.Landed, "one made while the submission could be sent, in the future of this clock"},
		{theBatch(func(b map[string]any) { b["totalItems"] = nil }), recovery.Landed, "one without a total"},

		{made(listing, at(5*time.Minute+1)), recovery.NotSeen, "a listing that is older than the submission"},
		{made(theBatch, at(5*time.Minute+1)), recovery.NotSeen, "a batch that is older than the submission"},

		{listing(func(l map[string]any) { l["batch"] = nil }), recovery.CannotTell, "a listing that may have a batch"},
		{listing(func(l map[string]any) { l["batch"] = map[string]any{"batchId": ""} }), recovery.CannotTell, "a batch without an id"},
		{made(theBatch, at(-time.Hour-time.Minute-2*5*time.Minute-1)), recovery.CannotTell, "a batch made after the submission could be sent"},
		{theBatch(func(b map[string]any) { b["totalItems"] = 2 }), recovery.CannotTell, "a batch of another size"},
		{made(theBatch, func() any { return nil }), recovery.CannotTell, "a batch without a createdAt"},
		{made(theBatch, func() any { return "2000-01-01T00:00:00" }), recovery.CannotTell, "a batch whose createdAt has no zone"},
		{made(listing, func() any { return "1999-12-31T20:00:00" }), recovery.CannotTell, "a listing whose createdAt has no zone"},
	} {
		t.Run(row.why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				submission := newSubmission(t, one("76"))
				m.lose(lostResponse, submission)
				m.edit = row.edit
				assert.Equal(t, row.want, m.recover(submission, recovery.Options{Settle: time.Minute}).Kind)
			})
		})
	}
}

func TestRecover_ExplainsListingsWithoutABatch(t *testing.T) {
	for _, row := range []struct {
		edit func(l map[string]any)
		want recovery.Kind
		why  string
	}{
		{func(map[string]any) {}, recovery.NotSeen, "another amount, never updated"},
		{func(l map[string]any) { l["amount"], l["currencyCode"] = "76", "GBP" }, recovery.NotSeen, "another currency"},
		{func(l map[string]any) { l["variant"] = map[string]any{"variantId": size(1)} }, recovery.NotSeen, "another variant"},
		{func(l map[string]any) { l["createdAt"], l["updatedAt"] = ago(time.Hour), ago(0) }, recovery.NotSeen, "from before the submission"},

		{func(l map[string]any) { l["amount"] = "76.0000" }, recovery.CannotTell, "the amount of an item"},
		{func(l map[string]any) { l["amount"], l["currencyCode"] = "76", nil }, recovery.CannotTell, "no currency"},
		{func(l map[string]any) { l["amount"] = nil }, recovery.CannotTell, "no amount"},
		{func(l map[string]any) { l["updatedAt"] = ago(-time.Second) }, recovery.CannotTell, "updated since: it may have had another amount"},
		{func(l map[string]any) { l["updatedAt"] = nil }, recovery.CannotTell, "no updatedAt"},
		{func(l map[string]any) { l["createdAt"], l["updatedAt"] = nil, nil }, recovery.CannotTell, "no createdAt either"},
		{func(l map[string]any) { l["amount"], l["variant"] = "76", nil }, recovery.CannotTell, "no variant"},
		{func(l map[string]any) {
			l["amount"], l["variant"] = "76", map[string]any{"variantId": strings.ToUpper(size(0))}
		}, recovery.CannotTell, "a variant in another case"},
	} {
		t.Run(row.why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				submission := newSubmission(t, one("76", func(i *gen.CreateItem) { i.CurrencyCode = "EUR" }))
				_, err := m.c.Listings.Create(t.Context(), gen.CreateListingRequest{VariantID: size(0), Amount: "90", CurrencyCode: "EUR"})
				require.NoError(t, err)
				m.edit = eachListing(func(l map[string]any) bool {
					l["updatedAt"] = l["createdAt"]
					row.edit(l)
					return true
				})
				v := m.recover(submission, recovery.Options{Settle: time.Minute})
				assert.Equal(t, row.want, v.Kind, v)
				assert.Empty(t, v.Candidates, "no batch is known")
			})
		})
	}
}

func TestRecover_ComparesInventoryTypes(t *testing.T) {
	const standard, direct, flex = gen.InventoryTypeStandard, gen.InventoryTypeDirect, gen.InventoryType("FLEX")
	for _, row := range []struct {
		asked []gen.InventoryType
		shown gen.InventoryType
		want  recovery.Kind
		why   string
	}{
		{[]gen.InventoryType{""}, standard, recovery.Landed, "standard is the default"},
		{[]gen.InventoryType{direct}, direct, recovery.Landed, "the requested type"},
		{[]gen.InventoryType{standard, direct}, direct, recovery.Landed, "one of several"},
		{[]gen.InventoryType{standard}, flex, recovery.Landed, "a type that cannot be asked for rules nothing out"},
		{[]gen.InventoryType{standard}, "", recovery.Landed, "nor does a missing type"},
		{[]gen.InventoryType{""}, direct, recovery.CannotTell, "the default is not direct"},
		{[]gen.InventoryType{direct}, standard, recovery.CannotTell, "nor the other way round"},
	} {
		inMarket(t, func(t *testing.T, m *market) {
			var items []gen.CreateItem
			for _, inventory := range row.asked {
				items = append(items, one("76", func(i *gen.CreateItem) { i.InventoryType = inventory })...)
			}
			submission := newSubmission(t, items)
			m.lose(lostResponse, submission)
			m.edit = eachListing(func(l map[string]any) bool { l["inventoryType"] = row.shown; return true })
			assert.Equal(t, row.want, m.recover(submission, recovery.Options{Settle: time.Minute}).Kind, row.why)
		})
	}
}

func TestRecover_ReadsEachBatchAsOftenAsNeeded(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		other, doubtful, known := m.create(one("80")), m.create(one("76")), m.create(one("76"))
		old := m.create(one("76"))
		m.edit = func(r *http.Request, body map[string]any) {
			switch {
			case strings.HasSuffix(r.URL.Path, doubtful+"/items"):
				body["items"] = []any{}
			case strings.HasSuffix(r.URL.Path, old):
				body["createdAt"] = ago(time.Hour)
			}
		}

		m.recover(newSubmission(t, one("76")), recovery.Options{Known: []string{known}})

		looks := len(m.looks)
		for what, want := range map[string]int{
			"/" + other: 1, other + "/items": 1, "/" + doubtful: looks, doubtful + "/items": looks,
			"/" + old: 1, old + "/items": 0, "/" + known: 0, known + "/items": 0,
		} {
			read := len(slices.DeleteFunc(slices.Clone(m.reads), func(path string) bool { return !strings.HasSuffix(path, what) }))
			assert.Equal(t, want, read, "%s: once if it is ruled out, in each look if it is doubtful, never if it is known", what)
		}
	})
}

func TestRecover_ReadsEveryPage(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		submission := newSubmission(t, one("76"))
		m.lose(lostResponse, submission)
		pass(time.Second)
		for range 4 {
			m.create(one("80", quantity(75))) // newer, so on the pages before
		}
		require.Len(t, m.listings(), 301)
		assert.Equal(t, recovery.Landed, m.recover(submission, recovery.Options{}).Kind)
	})
}

func TestRecover_KeepsURLsShort(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		var items []gen.CreateItem
		for n := range 120 {
			items = append(items, gen.CreateItem{VariantID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", n), Amount: "76", Quantity: 1})
		}
		assert.Equal(t, recovery.NotSeen, m.recover(newSubmission(t, items), recovery.Options{Settle: time.Second}).Kind)
		for _, read := range m.reads {
			assert.Less(t, len(read), 4096, "servers bound the length of a URL")
		}
	})
}
