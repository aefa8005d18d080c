package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

func TestShop_RepricesAndSavesLabels(t *testing.T) {
	market := sandboxtest.New(t)
	var ids []string
	for i, v := range sandbox.Catalog()[0].Variants[:3] {
		listed, err := market.AddListings(t.Context(), 10, sandbox.Listing{VariantID: v.ID, Amount: "500"})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, listed...)
		book := sandbox.Book{Asks: []string{[]string{"171", "90", "500"}[i]}, Bids: []string{"50"}}
		if err := market.SetBook(t.Context(), v.ID, "USD", book); err != nil {
			t.Fatal(err)
		}
	}
	sold, err := market.Buy(t.Context(), ids[29])
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{floor: "100", dir: t.TempDir(), log: slog.New(slog.DiscardHandler), c: market.Client()}

	if err := s.reprice(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]gen.Amount{0: "170", 9: "170", 10: "100", 19: "100", 20: "500"} {
		listing, err := market.Client().Listings.Get(t.Context(), ids[i])
		if err != nil {
			t.Fatal(err)
		}
		if !listing.Amount.Equal(want) {
			t.Errorf("listing %d costs %s; want %s", i, listing.Amount, want)
		}
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s.log = slog.New(stopAt{slog.DiscardHandler, "labels", stop})
	if err := s.watch(ctx); ctx.Err() == nil {
		t.Fatal(err)
	}
	labels, err := filepath.Glob(filepath.Join(s.dir, sold+"-*.pdf"))
	if err != nil || len(labels) == 0 {
		t.Fatalf("labels %v, %v", labels, err)
	}
	if data, err := os.ReadFile(labels[0]); err != nil || !bytes.HasPrefix(data, []byte("%PDF-")) {
		t.Errorf("%s is no PDF: %v", labels[0], err)
	}
}

// TestShop_FollowsNothing scripts what the sandbox does not do.
func TestShop_FollowsNothing(t *testing.T) {
	srv := clienttest.New(t) // which fails the test if a listing is changed
	var listing gen.Listing
	if err := json.Unmarshal(clienttest.ExampleOf(gen.OpGetListing), &listing); err != nil {
		t.Fatal(err)
	}
	listing.Payout, listing.LastOperation = nil, nil // not in lists
	srv.Expect(gen.OpListListings).
		Respond(200, gen.ListingPage{Listings: []gen.Listing{listing}, Count: 1, PageNumber: 1, PageSize: 100})
	srv.Expect(gen.OpListProductMarketData).Respond(200, []gen.MarketData{})
	s := &shop{floor: "100", log: slog.New(slog.DiscardHandler), c: srv.Client()}
	if err := s.reprice(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestShop_Traces(t *testing.T) {
	market := sandboxtest.New(t)
	t.Setenv("SELLSIDE_BASE_URL", market.URL)
	t.Setenv("SELLSIDE_API_KEY", market.APIKey())
	t.Setenv("SELLSIDE_TOKEN", market.Token())
	ctx, stop := context.WithCancel(t.Context())
	if _, err := market.AddOrder(ctx, sandbox.Listing{VariantID: sandbox.Catalog()[0].Variants[0].ID, Amount: "99"}, "SHIPPED"); err != nil {
		t.Fatal(err)
	}
	s := &shop{floor: "100", dir: t.TempDir(), log: slog.New(stopAt{slog.DiscardHandler, "order", stop})}
	var traces strings.Builder
	if err := s.run(ctx, &traces, client.WithQuota(quota.Unlimited)); ctx.Err() == nil {
		t.Fatal(err)
	}
	if !strings.Contains(traces.String(), `"Name":"ListActiveOrders"`) {
		t.Errorf("the call has no span: %s", traces.String())
	}
}

// stopAt stops the watch at a message.
type stopAt struct {
	slog.Handler
	message string
	stop    func()
}

func (s stopAt) Enabled(context.Context, slog.Level) bool { return true }

func (s stopAt) Handle(_ context.Context, r slog.Record) error {
	if r.Message == s.message {
		s.stop()
	}
	return nil
}
