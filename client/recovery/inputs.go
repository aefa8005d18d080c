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

// terms are what an item asks for. Equal terms are ==. A field that is not given is "".
type terms [expiry + 1]string

// inputs is a multiset of terms.
type inputs map[terms]int

// termsOf returns the terms of an item. An expiry that is the default, 999 days after the day of
// creation, is left out, because some services echo it and some do not.
func (s Submission) termsOf(i gen.CreateItem) terms {
	t := terms{variant: i.VariantID, amount: canonical(i.Amount), currency: string(i.CurrencyCode)}
	if i.Active != nil {
		t[active] = strconv.FormatBool(*i.Active)
	}
	if !i.ExpiresAt.IsZero() && i.ExpiresAt.Sub(s.MadeAt.AddDate(0, 0, 999)).Abs() > 36*time.Hour {
		t[expiry] = instant(i.ExpiresAt)
	}
	return t
}

// echoOf returns the terms that an item of a batch echoes.
func (s Submission) echoOf(i gen.CreateBatchItem) terms {
	in := i.ListingInput
	item := gen.CreateItem{
		VariantID: in.VariantID, Amount: in.Amount, CurrencyCode: gen.CurrencyCode(in.CurrencyCode), Active: in.Active,
	}
	_ = item.ExpiresAt.UnmarshalText([]byte(in.ExpiresAt)) // anything but a time is as if not given
	return s.termsOf(item)
}

// inputs returns what the submission asks for.
func (s Submission) inputs() inputs {
	in := inputs{}
	for _, i := range s.Items {
		in[s.termsOf(i)] += int(i.Quantity)
	}
	return in
}

// echoes returns what the items of a batch echo.
func (s Submission) echoes(items []gen.CreateBatchItem) inputs {
	in := inputs{}
	for _, i := range items {
		in[s.echoOf(i)]++
	}
	return in
}

// requests reports whether a listing has an inventory type that was asked for, which items do not
// echo, or one that cannot be asked for.
func (s Submission) requests(l gen.Listing) bool {
	return l.InventoryType != gen.InventoryTypeStandard && l.InventoryType != gen.InventoryTypeDirect ||
		slices.ContainsFunc(s.Items, func(i gen.CreateItem) bool {
			return cmp.Or(i.InventoryType, gen.InventoryTypeStandard) == l.InventoryType
		})
}

// Match assigns the items of the batch of a submission, as [client.Batch.Wait] returns them, to the
// items that they were created from. matched[i] are the results of s.Items[i]: Quantity of them, or
// fewer if the batch lists fewer. Match does no I/O.
//
// A service promises no order and returns no id of ours, so the assignment is by what the results
// echo, amounts by value. Equal items are interchangeable. A result that echoes its input exactly
// is assigned first, then one that leaves out some fields, then one whose flag or expiry differs. A
// result without a variant or an amount, or with those of no item, is assigned to none.
func (s Submission) Match(results []gen.CreateBatchItem) (matched [][]gen.CreateBatchItem) {
	m := matching{}
	var owners []int // The item of each wanted listing.
	for i, item := range s.Items {
		for range min(max(int(item.Quantity), 0), len(results)) {
			m.wanted = append(m.wanted, s.termsOf(item))
			owners = append(owners, i)
		}
	}
	for _, r := range results {
		m.got = append(m.got, s.echoOf(r))
	}
	matched = make([][]gen.CreateBatchItem, len(s.Items))
	for n, result := range m.assign() {
		if result != unassigned {
			matched[owners[n]] = append(matched[owners[n]], results[result])
		}
	}
	return matched
}

const unassigned = -1

// matching is a bipartite matching of wanted listings and results, grown along augmenting paths.
type matching struct {
	wanted, got []terms
	result      []int // Of each wanted listing, or unassigned.
}

// assign returns the index of the result of each wanted listing, or unassigned.
func (m *matching) assign() []int {
	m.result = slices.Repeat([]int{unassigned}, len(m.wanted))
	open := []int{}
	for r, t := range m.got {
		if v := t.values(); v[variant] != "" && v[amount] != "" {
			open = append(open, r)
		}
	}
	for _, level := range []struct {
		form func(terms) terms
		fits func(a, b terms) bool
	}{
		{terms.complete, func(a, b terms) bool { return a == b }},
		{func(t terms) terms { return t }, agree},
		{terms.values, agree},
	} {
		wanted, got := each(m.wanted, level.form), each(m.got, level.form)
		fits := func(n, r int) bool { return level.fits(wanted[n], got[r]) }
		open = slices.DeleteFunc(open, func(r int) bool { return m.place(r, fits, make([]bool, len(wanted))) })
	}
	return m.result
}

// place assigns a result to a wanted listing that it fits: to one without a result, or to one whose
// result can move to another.
func (m *matching) place(result int, fits func(wanted, result int) bool, visited []bool) bool {
	for n := range m.wanted {
		if m.result[n] == unassigned && fits(n, result) {
			m.result[n] = result
			return true
		}
	}
	for n := range m.wanted {
		if visited[n] || m.result[n] == unassigned || !fits(n, result) {
			continue
		}
		visited[n] = true
		if m.place(m.result[n], fits, visited) {
			m.result[n] = result
			return true
		}
	}
	return false
}

func each(all []terms, change func(terms) terms) []terms {
	changed := make([]terms, len(all))
	for i, t := range all {
		changed[i] = change(t)
	}
	return changed
}

// equal reports whether both are the same, with the defaults filled in.
func (in inputs) equal(other inputs) bool {
	return maps.Equal(in.each(terms.complete), other.each(terms.complete))
}

// without returns the inputs without one of their fields.
func (in inputs) without(field int) inputs {
	return in.each(func(t terms) terms {
		t[field] = ""
		return t
	})
}

// rulesOut reports whether a batch that echoes these inputs cannot have been created from in,
// because a variant, an amount or a currency has another value. Nothing else proves that. It errs
// on the side of false: a batch that is wrongly ruled out is sent again. If the echo is not whole,
// it may lack items or have too many.
func (in inputs) rulesOut(echo inputs, whole bool) bool {
	want, got := in.each(terms.values), echo.each(terms.values)
	if got.hasOther(want) || whole && want.hasOther(got) {
		return true
	}
	for field := range len(terms{}) {
		missing := func(t terms) bool { return t[field] == "" } // such an item may be any
		if slices.ContainsFunc(slices.AppendSeq(slices.Collect(maps.Keys(want)), maps.Keys(got)), missing) {
			want, got = want.without(field), got.without(field)
		}
	}
	return whole && !maps.Equal(want, got)
}

// hasOther reports whether one of the inputs agrees with none of the others.
func (in inputs) hasOther(others inputs) bool {
	for t := range in {
		agrees := func(other terms) bool { return agree(t, other) }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(others)), agrees) {
			return true
		}
	}
	return false
}

func (in inputs) each(change func(terms) terms) inputs {
	out := make(inputs, len(in))
	for t, n := range in {
		out[change(t)] += n
	}
	return out
}

// complete returns the terms with the defaults filled in.
func (t terms) complete() terms {
	t[currency], t[active] = cmp.Or(t[currency], string(gen.CurrencyCodeUSD)), cmp.Or(t[active], "true")
	return t
}

// values returns the fields that can prove a difference: ids and codes without case and
// punctuation, and amounts that are numbers.
func (t terms) values() terms {
	return terms{
		variant: folded(t[variant]), amount: number(gen.Amount(t[amount])), currency: folded(t[currency]),
	}
}

// agree reports whether no field is given in both with different values.
func agree(a, b terms) bool {
	for field := range a {
		if differ(a[field], b[field]) {
			return false
		}
	}
	return true
}

// differ reports whether both values are given and not the same.
func differ(a, b string) bool { return a != "" && b != "" && a != b }

// folded returns an id in a form that depends neither on its case nor on its hyphens.
func folded(id string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r)) // some letters have two lower case forms
	}, id)
}

// number returns the same text for equal amounts, and "" for an amount that is not a number.
func number(a gen.Amount) string {
	d, err := a.Decimal()
	if err != nil {
		return ""
	}
	return d.Trim(0).String()
}

// canonical is number, but returns the text of an amount that is not a number.
func canonical(a gen.Amount) string { return cmp.Or(number(a), string(a)) }

// instant returns a time with the precision that services keep, and "" for the zero time.
func instant(at gen.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000")
}
