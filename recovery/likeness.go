package recovery

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// terms are an item's variant, amount, currency, active and expiry, in a form in which equal ones are ==; "" is
// what is not said.
type terms [5]string

// inputs is a multiset of terms.
type inputs map[terms]int

// inputs leaves out expiry times that are the default, 999 days after the day of creation: some echoes fill it in.
func (a Attempt) inputs(items []gen.CreateItem) inputs {
	in := inputs{}
	for _, i := range items {
		t := terms{i.VariantID, string(i.Amount), string(i.CurrencyCode)}
		if d, err := i.Amount.Decimal(); err == nil {
			t[1] = d.Trim(0).String()
		}
		if i.Active != nil {
			t[3] = strconv.FormatBool(*i.Active)
		}
		if !i.ExpiresAt.IsZero() && i.ExpiresAt.Sub(a.MadeAt.AddDate(0, 0, 999)).Abs() > 36*time.Hour {
			t[4] = i.ExpiresAt.UTC().Format("2006-01-02T15:04:05.000")
		}
		in[t] += int(i.Quantity)
	}
	return in
}

// echoed reads the inputs that the items of a batch echo.
func (a Attempt) echoed(items []gen.CreateBatchItem) inputs {
	made := make([]gen.CreateItem, len(items))
	for n, i := range items {
		in := i.ListingInput
		made[n] = gen.CreateItem{VariantID: in.VariantID, Amount: in.Amount, CurrencyCode: gen.CurrencyCode(in.CurrencyCode), Active: in.Active, Quantity: 1}
		_ = made[n].ExpiresAt.UnmarshalText([]byte(in.ExpiresAt)) // what is no time says nothing
	}
	return a.inputs(made)
}

// asksFor reports whether a listing has an inventory type that was asked for, which items do not echo, or one
// that cannot be asked for.
func (a Attempt) asksFor(l gen.Listing) bool {
	return l.InventoryType != gen.InventoryTypeStandard && l.InventoryType != gen.InventoryTypeDirect ||
		slices.ContainsFunc(a.Items, func(i gen.CreateItem) bool {
			return cmp.Or(i.InventoryType, gen.InventoryTypeStandard) == l.InventoryType
		})
}

// likeness is what a comparison comes to.
type likeness int

const (
	different likeness = iota
	unclear            // Equal as far as both sides say something.
	equal
)

// compare fills in the defaults. It calls inputs different only if what both sides say rules equality out: a
// batch that is wrongly ruled out is sent again.
func compare(a, b inputs) likeness {
	full := func(t terms) terms { return terms{t[0], t[1], cmp.Or(t[2], "USD"), cmp.Or(t[3], "true"), t[4]} }
	if maps.Equal(a.each(full), b.each(full)) {
		return equal
	}
	var unsaid [len(terms{})]bool
	for _, t := range slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b)) {
		for i := range t {
			unsaid[i] = unsaid[i] || t[i] == ""
		}
	}
	rough := func(t terms) terms {
		t[4], _, _ = strings.Cut(t[4], ".") // fractions of a second may have been cut
		for i := range t {
			if unsaid[i] {
				t[i] = ""
			}
		}
		return t
	}
	if maps.Equal(a.each(rough), b.each(rough)) {
		return unclear
	}
	return different
}

func (in inputs) each(change func(terms) terms) inputs {
	out := make(inputs, len(in))
	for t, n := range in {
		out[change(t)] += n
	}
	return out
}
