package main

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// listed returns a world in which everything is listed as the inventory says.
func listed(t *testing.T) *world {
	t.Helper()
	w, err := newWorld(t.Context(), 1, 60, t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.market.Close()) })
	for _, g := range w.groups {
		if g.stock > 0 {
			w.list(t, g, g.stock)
		}
	}
	return w
}

// list lists items of a group with its terms.
func (w *world) list(t *testing.T, g *group, n int) []string {
	t.Helper()
	l := sandbox.Listing{VariantID: g.variant, Amount: strconv.Itoa(g.price)}
	if !g.active {
		l.Status = string(gen.ListingStatusInactive)
	}
	ids, err := w.market.AddListings(t.Context(), n, l)
	require.NoError(t, err)
	return ids
}

// group returns the first group of a kind.
func (w *world) group(t *testing.T, is func(*group) bool) *group {
	t.Helper()
	for _, g := range w.groups {
		if is(g) {
			return g
		}
	}
	require.Fail(t, "no such group")
	return nil
}

func inStock(g *group) bool { return g.stock > 0 && g.active && !g.isRule }

func TestCheck_CountsWhatIsWrong(t *testing.T) {
	for _, row := range []struct {
		what  string
		spoil func(t *testing.T, w *world)
		want  outcome
	}{
		{"nothing", func(*testing.T, *world) {}, outcome{}},
		{"a sale was listed again", func(t *testing.T, w *world) {
			g := w.group(t, inStock)
			g.stock--
		}, outcome{duplicated: 1}},
		{"a restock was not listed", func(t *testing.T, w *world) { w.group(t, inStock).stock += 2 }, outcome{lost: 2}},
		{"one is lost and another one there twice", func(t *testing.T, w *world) {
			w.group(t, inStock).stock++
			w.list(t, w.group(t, func(g *group) bool { return g.stock == 0 }), 1)
		}, outcome{lost: 1, duplicated: 1}},
		{"another price", func(t *testing.T, w *world) {
			g := w.group(t, inStock)
			g.price++
		}, outcome{wrongTerms: 1}},
		{"a foreign listing was deleted", func(t *testing.T, w *world) {
			for id := range w.foreign {
				op, err := w.truth.Listings.Delete(t.Context(), id)
				require.NoError(t, err)
				_, err = op.Wait(t.Context(), client.WithPollInterval(time.Millisecond, time.Second))
				require.NoError(t, err)
				return
			}
		}, outcome{touchedForeign: 1}},
		{"a buyer buys what is not in stock", func(t *testing.T, w *world) {
			g := w.group(t, func(g *group) bool { return g.stock == 0 && g.active })
			id := w.list(t, g, 1)[0]
			require.NoError(t, w.buy(t.Context(), g, gen.Listing{ListingID: id, Status: gen.ListingStatusActive}))
		}, outcome{oversold: 1, duplicated: 1}},
	} {
		t.Run(row.what, func(t *testing.T) {
			w := listed(t)
			before, err := w.check(t.Context(), t.Logf)
			require.NoError(t, err)
			require.True(t, before.isRight(), before.String())

			row.spoil(t, w)

			o, err := w.check(t.Context(), t.Logf)
			require.NoError(t, err)
			o.live = 0
			// All listings of a group have other terms if the group has.
			o.wrongTerms = min(o.wrongTerms, 1)
			assert.Equal(t, row.want, o)
			assert.Equal(t, row.want == outcome{}, o.isRight())
		})
	}
}

// TestInventory_IsWhatIsInStock tests that rows state the stock, however they are edited, and that
// the command line can read them.
func TestInventory_IsWhatIsInStock(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	groups := newGroups(random, 500, func(i int) (id, style, size string) {
		return "00000000-0000-4000-8000-" + strconv.Itoa(100_000_000_000+i), "STYLE", strconv.Itoa(i)
	})
	for range 20 {
		asOf := time.Now()
		total, read := 0, 0
		for _, g := range groups {
			g.edit(random, asOf)
			total += g.stock
		}
		var file bytes.Buffer
		require.NoError(t, writeInventory(&file, groups))
		for row, err := range stock.NewReader(&file, stock.Options{}).Rows() {
			require.NoError(t, err)
			read += row.Quantity
		}
		assert.Equal(t, total, read)
	}
}

func TestCommand_RefusesInvalidFlags(t *testing.T) {
	for _, args := range [][]string{{"-rows", "0"}, {"-kills", "-1"}, {"-seeds", "0"}, {"-row", "1"}} {
		var out, failed bytes.Buffer
		assert.Equal(t, 2, command(t.Context(), args, &out, &failed), args)
		assert.NotEmpty(t, failed.String())
		assert.Empty(t, out.String())
	}
}
