package resolve_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/resolve"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestTheExactStyleIDIsFoundAndNotTheFirstHit(t *testing.T) {
	c := &catalog{
		pages:    map[string][][]gen.Product{"DZ-1": {products("DZ-2", "DZ-10"), products("DZ-3", "DZ-1"), products("DZ-4")}},
		variants: map[string][]gen.Variant{"p-DZ-1": sizes("9", "10")},
	}
	f := file(t, "DZ-1,10,")
	require.NoError(t, resolve.Variants(t.Context(), c, f, nothing))
	require.Empty(t, f.Mistakes())
	assert.Equal(t, "v1-10", f.Valid()[0].VariantID)
	assert.Equal(t, 2, c.searches["DZ-1"], "pages after the one that has it are not read")
}

func TestEachProductIsLookedUpOnce(t *testing.T) {
	c := &catalog{
		pages:    map[string][][]gen.Product{"DZ-1": {products("DZ-1")}, "DZ-2": {products("DZ-2")}},
		variants: map[string][]gen.Variant{"p-DZ-1": sizes("9", "10"), "p-DZ-2": sizes("9")},
	}
	var told []string
	f := file(t, "DZ-1,9,", "DZ-1,10,", "DZ-2,9,", "DZ-1,9,", "DZ-1,11,")
	require.NoError(t, resolve.Variants(t.Context(), c, f, func(done, of int) { told = append(told, fmt.Sprint(done, "/", of)) }))
	assert.Equal(t, map[string]int{"DZ-1": 1, "DZ-2": 1}, c.searches)
	assert.Equal(t, map[string]int{"p-DZ-1": 1, "p-DZ-2": 1}, c.variantsOf)
	assert.Equal(t, []string{"1/2", "2/2"}, told)
}

func TestARowWithAVariantIDIsNotLookedUp(t *testing.T) {
	c := &catalog{}
	f := file(t, "DZ-1,9,8f4d2c4e", ",,98e2e748")
	require.NoError(t, resolve.Variants(t.Context(), c, f, nothing))
	require.Empty(t, f.Mistakes())
	assert.Equal(t, "8f4d2c4e", f.Valid()[0].VariantID)
	assert.Empty(t, c.searches)
}

func TestRowsThatCannotBeResolvedAreMistakes(t *testing.T) {
	twice := products("DZ-7", "DZ-7")
	c := &catalog{
		pages: map[string][][]gen.Product{
			"DZ-1": {products("DZ-1")}, "DZ-12": {products("AB-77", "DZ-21")}, "DZ-99": {products("AB-1234", "XY-1234")},
			"DZ-7": {twice}, "DZ-8": {products("DZ-8")}, "DZ-9": {products("DZ-9")}, "PS5": {products("PS5")},
		},
		variants: map[string][]gen.Variant{
			"p-DZ-1": sizes("9", "10"), "p-DZ-8": sizes("9", "9"), "p-PS5": sizes(""),
		},
	}
	for _, row := range []struct{ row, mistake, why string }{
		{"DZ-1,9,", "", "all is well"},
		{"PS5,one size,", "", "a product without sizes has one"},
		{"DZ-1,11,", `size "11": Title of DZ-1 (DZ-1) has no such size, it has 9, 10`, "the sizes there are help"},
		{"DZ-12,9,", `style_id "DZ-12" is not in the catalog: did you mean DZ-21?`, "swapped digits are one edit"},
		{"DZ-99,9,", `style_id "DZ-99" is not in the catalog: the search finds only others, such as AB-1234`, "nothing close"},
		{"NONE,9,", `style_id "NONE" is not in the catalog, and the search finds nothing like it`, "no hits"},
		{"DZ-7,9,", `style_id "DZ-7" is ambiguous: "Title of DZ-7" and "Title of DZ-7" all have it, give the variant_id`, "two products"},
		{"DZ-8,9,", `size "9" is ambiguous: Title of DZ-8 (DZ-8) has it 2 times, give the variant_id`, "two variants"},
		{"DZ-9,9,", `style_id "DZ-9" cannot be looked up: : 404 the product is gone`, "ids go stale"},
	} {
		f := file(t, row.row)
		require.NoError(t, resolve.Variants(t.Context(), c, f, nothing))
		if row.mistake == "" {
			assert.Empty(t, f.Mistakes(), row.why)
			continue
		}
		require.Len(t, f.Mistakes(), 1, row.why)
		assert.Equal(t, "line 2: "+row.mistake, f.Mistakes()[0].String(), row.why)
	}
}

func TestRowsWithOtherMistakesAreLookedUpToo(t *testing.T) {
	f, err := inventory.Parse(strings.NewReader("style_id,size,price,currency,quantity\nNONE,9,$1,USD,1\nNONE,,1,USD,1\n"))
	require.NoError(t, err)
	require.NoError(t, resolve.Variants(t.Context(), &catalog{}, f, nothing))
	assert.Len(t, f.Mistakes(), 4, "a price and a style id, a size and a style id")
}

func TestAFailedLookUpEndsItAll(t *testing.T) {
	c := &catalog{err: &client.APIError{StatusCode: http.StatusUnauthorized, Message: "who are you?"}}
	err := resolve.Variants(t.Context(), c, file(t, "DZ-1,9,", "DZ-2,9,", "DZ-3,9,"), nothing)
	require.ErrorIs(t, err, client.ErrUnauthorized)
	require.ErrorContains(t, err, `look up style_id "DZ-`)
}

func TestLookUpsAreBoundedAndEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &catalog{hold: make(chan struct{})}
		var rows []string
		for i := range 100 {
			rows = append(rows, fmt.Sprintf("DZ-%d,9,", i))
		}
		f := file(t, rows...)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- resolve.Variants(ctx, c, f, nothing) }()
		synctest.Wait()
		assert.Equal(t, 8, c.now)
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		assert.Len(t, c.searches, 8, "no other search was begun")
	})
}
