package recovery

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/sellside-sdk/sellside-go/gen"
)

// The fields of terms.
const (
	variant = iota
	amount
	currency
	active
	expiry
)

// terms are what an item asks for, in a form in which equal ones are ==; "" is what is not said.
type terms [expiry + 1]string

// inputs is a multiset of terms.
type inputs map[terms]int

// inputs leaves out expiry times that are the default, 999 days after the day of creation: some
// echoes fill it in.
func (a Submission) inputs(items []gen.CreateItem) inputs {
	in := inputs{}
	for _, i := range items {
		t := terms{variant: i.VariantID, amount: canonical(i.Amount), currency: string(i.CurrencyCode)}
		if i.Active != nil {
			t[active] = strconv.FormatBool(*i.Active)
		}
		if !i.ExpiresAt.IsZero() && i.ExpiresAt.Sub(a.MadeAt.AddDate(0, 0, 999)).Abs() > 36*time.Hour {
			t[expiry] = i.ExpiresAt.UTC().Format("2006-01-02T15:04:05.000")
		}
		in[t] += int(i.Quantity)
	}
	return in
}

// echoed reads the inputs that the items of a batch echo.
func (a Submission) echoed(items []gen.CreateBatchItem) inputs {
	made := make([]gen.CreateItem, len(items))
	for n, i := range items {
		in := i.ListingInput
		made[n] = gen.CreateItem{VariantID: in.VariantID, Amount: in.Amount, CurrencyCode: gen.CurrencyCode(in.CurrencyCode), Active: in.Active, Quantity: 1}
		_ = made[n].ExpiresAt.UnmarshalText([]byte(in.ExpiresAt)) // what is no time says nothing
	}
	return a.inputs(made)
}

// asksFor reports whether a listing has an inventory type that was asked for, which items do not
// echo, or one that cannot be asked for.
func (a Submission) asksFor(l gen.Listing) bool {
	return l.InventoryType != gen.InventoryTypeStandard && l.InventoryType != gen.InventoryTypeDirect ||
		slices.ContainsFunc(a.Items, func(i gen.CreateItem) bool {
			return cmp.Or(i.InventoryType, gen.InventoryTypeStandard) == l.InventoryType
		})
}

// equal reports whether both are the same, with the defaults filled in.
func (in inputs) equal(other inputs) bool {
	full := func(t terms) terms {
		t[currency], t[active] = cmp.Or(t[currency], "USD"), cmp.Or(t[active], "true")
		return t
	}
	return maps.Equal(in.each(full), other.each(full))
}

// without returns the inputs without one of their fields.
func (in inputs) without(field int) inputs {
	return in.each(func(t terms) terms {
		t[field] = ""
		return t
	})
}

// rulesOut reports whether a batch that echoes these inputs cannot be one that was made from in,
// because a variant, an amount or a currency differs by value. Nothing else proves that: a batch
// that is wrongly ruled out is sent again. Unless the echo is whole, it may lack items or have too
// many.
func (in inputs) rulesOut(echo inputs, whole bool) bool {
	want, got := in.each(values), echo.each(values)
	if got.hasOther(want) || whole && want.hasOther(got) {
		return true
	}
	for field := range len(terms{}) {
		unsaid := func(t terms) bool { return t[field] == "" } // one item that does not say it may be any
		if slices.ContainsFunc(slices.AppendSeq(slices.Collect(maps.Keys(want)), maps.Keys(got)), unsaid) {
			want, got = want.without(field), got.without(field)
		}
	}
	return whole && !maps.Equal(want, got)
}

// hasOther reports whether one of the inputs fits none of the others.
func (in inputs) hasOther(others inputs) bool {
	for t := range in {
		fits := func(other terms) bool {
			return !differ(t[variant], other[variant]) && !differ(t[amount], other[amount]) && !differ(t[currency], other[currency])
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(others)), fits) {
			return true
		}
	}
	return false
}

// values reduces terms to what can prove a difference: ids and codes without case and punctuation,
// and amounts that are numbers.
func values(t terms) terms {
	return terms{variant: folded(t[variant]), amount: number(gen.Amount(t[amount])), currency: folded(t[currency])}
}

// differ reports whether both values are there and are different ones.
func differ(a, b string) bool { return a != "" && b != "" && a != b }

// folded writes an id in a form that does not depend on its case or on where its hyphens are.
func folded(id string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r)) // some letters have two small forms
	}, id)
}

// number writes equal amounts the same way; what is no number is "".
func number(a gen.Amount) string {
	d, err := a.Decimal()
	if err != nil {
		return ""
	}
	return d.Trim(0).String()
}

// canonical is number, but keeps the text of what is no number.
func canonical(a gen.Amount) string { return cmp.Or(number(a), string(a)) }

func (in inputs) each(change func(terms) terms) inputs {
	out := make(inputs, len(in))
	for t, n := range in {
		out[change(t)] += n
	}
	return out
}
