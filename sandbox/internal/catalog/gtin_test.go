package catalog

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckDigit_MakesTheSumEndInZero(t *testing.T) {
	for _, row := range []struct{ digits, want, why string }{
		{"03600029145", "2", "the UPC of the textbooks"},
		{"400638133393", "1", "the EAN of the textbooks"},
		{"1540014128876", "3", "an ITF-14"},
		{"7351353", "7", "an EAN of eight digits"},
		{"00000000000", "0", "a sum that already ends in zero"},
	} {
		assert.Equal(t, row.want, checkDigit(row.digits), row.why)
	}
}

func TestParseGTIN_AcceptsEveryFormAndChecksTheDigit(t *testing.T) {
	for _, row := range []struct{ text, kind, why string }{
		{"036000291452", "UPC", "twelve digits"},
		{"4006381333931", "EAN-13", "thirteen"},
		{"0036000291452", "EAN-13", "a UPC with a zero before it is an EAN"},
		{"73513537", "EAN-8", "eight"},
		{"15400141288763", "ITF-14", "fourteen"},
	} {
		g, err := ParseGTIN(row.text)
		require.NoError(t, err, row.why)
		assert.Equal(t, GTIN{row.text, row.kind}, g, row.why)
	}
	for _, row := range []struct{ text, why string }{
		{"036000291453", "a wrong check digit"},
		{"4006381333913", "two swapped digits"},
		{"03600029145", "too short"},
		{"540014128876312", "too long"},
		{"", "empty"},
		{"03600029145X", "a letter"},
		{"0-36000-29145-2", "as it is printed"},
		{" 036000291452", "a space"},
		{"٠٣٦٠٠٠٢٩١٤٥٢", "digits of another script"},
	} {
		_, err := ParseGTIN(row.text)
		require.Error(t, err, row.why)
	}
}

func TestVariantByGTIN_FindsEveryFormOfANumber(t *testing.T) {
	c := load(t)
	v := byStyle(t, c, "DZ5485-612").Variants[14]
	upc, ean := v.GTINs[0].Identifier, v.GTINs[1].Identifier
	inCase := "3" + ean[:12]
	pallet := "9" + ean[:12]
	for _, row := range []struct {
		text  string
		found bool
		why   string
	}{
		{upc, true, "its UPC"},
		{ean, true, "its EAN"},
		{"0" + upc, true, "its UPC as an EAN"},
		{"00" + upc, true, "its UPC in fourteen digits"},
		{"0" + ean, true, "its EAN in fourteen digits"},
		{inCase + checkDigit(inCase), true, "a package of it"},
		{pallet + checkDigit(pallet), false, "a variable measure is no package of items"},
		{"036000291452", false, "the number of something else"},
	} {
		g, err := ParseGTIN(row.text)
		require.NoError(t, err, row.why)
		got, ok := c.VariantByGTIN(g)
		assert.Equal(t, row.found, ok, row.why)
		if ok {
			assert.Same(t, v, got, row.why)
		}
	}
}

func TestVariantByGTIN_FindsEveryVariant(t *testing.T) {
	c := load(t)
	for _, p := range c.Products() {
		for _, v := range p.Variants {
			for _, g := range v.GTINs {
				parsed, err := ParseGTIN(g.Identifier)
				require.NoError(t, err)
				require.Equal(t, g, parsed)
				found, ok := c.VariantByGTIN(g)
				require.True(t, ok)
				require.Same(t, v, found)
			}
		}
	}
}

func TestCatalog_AddsWhileItIsRead(t *testing.T) {
	c, proposal := load(t), proposed(nil)
	ids := []string{"3f1f5d0e-0f6e-4d53-9a35-0a7f3d4a8a11", "8f4d2c4e-9d57-4a87-8a34-6b2f5d6d1e21"}
	var readers sync.WaitGroup
	for _, id := range ids {
		readers.Go(func() {
			for {
				if p, ok := c.Product(id); ok {
					v, ok := c.Variant(p.Variants[0].ID)
					assert.True(t, ok, "a product comes with its variants")
					assert.Same(t, p, v.Product)
					return
				}
			}
		})
	}
	for _, id := range ids {
		p, err := proposal.Product(id)
		require.NoError(t, err)
		c.Add(p)
	}
	readers.Wait()
	_, ok := load(t).Product(ids[0])
	assert.False(t, ok, "other sandboxes do not have it")
	c.Reset()
	_, ok = c.Product(ids[0])
	assert.False(t, ok, "Reset removes it")
}
