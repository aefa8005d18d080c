package recovery_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/recovery"
)

func TestTheListingsOfTheAttemptAreAskedFor(t *testing.T) {
	variants := func(n int) (items []gen.CreateItem, ids []string) {
		for i := range n {
			ids = append(ids, fmt.Sprintf("v%d", i))
			items = append(items, gen.CreateItem{VariantID: ids[i], Amount: "76", Quantity: 1})
		}
		return append(items, items...), ids // each twice
	}
	for _, row := range []struct {
		variants int
		all      bool
		why      string
	}{
		{1, false, "each variant once"},
		{100, false, "as many as a URL takes"},
		{101, true, "more would make a URL that is longer than servers take"},
	} {
		bubble(t, func(t *testing.T, s *service) {
			items, ids := variants(row.variants)
			if row.all {
				ids = nil
			}
			attempt := newAttempt(t, items)
			attempt.MadeAt = attempt.MadeAt.Add(-24 * time.Hour)
			s.recover(t, attempt, recovery.Options{Skew: time.Minute})
			from := attempt.MadeAt.Add(-24*time.Hour - time.Minute).Format(time.DateOnly)
			assert.Equal(t, []query{{ids, from, false}, {ids, from, true}}, s.asked, "%s, since the day before, expired ones too", row.why)
		})
	}
}

func TestWhichBatchesAreConsidered(t *testing.T) {
	type change func(l *shown, b *gen.Batch)
	ago := func(d time.Duration) gen.Time { return gen.TimeOf(time.Now().Add(-d)) }
	for _, row := range []struct {
		change change
		want   recovery.Kind
		why    string
	}{
		{func(*shown, *gen.Batch) {}, recovery.Landed, "one that a listing shows"},
		{func(l *shown, _ *gen.Batch) { l.expired = true }, recovery.Landed, "one that only an expired listing shows"},
		{func(l *shown, _ *gen.Batch) { l.CreatedAt = gen.Time{} }, recovery.Landed, "one whose listing does not say when it was made"},
		{func(l *shown, b *gen.Batch) { l.CreatedAt, b.CreatedAt = ago(5*time.Minute), ago(5*time.Minute) }, recovery.Landed, "one made before the attempt by a clock that may be apart"},
		{func(_ *shown, b *gen.Batch) { b.CreatedAt = ago(-time.Hour) }, recovery.Landed, "one made when the attempt could be sent, though by this clock that is to come"},
		{func(_ *shown, b *gen.Batch) { b.TotalItems = 0 }, recovery.Landed, "one that does not say how many items it has"},

		{func(l *shown, _ *gen.Batch) { l.Batch = nil }, recovery.NotSeen, "a listing that no batch made"},
		{func(l *shown, _ *gen.Batch) { l.Batch.BatchID = "" }, recovery.NotSeen, "a batch without a name"},
		{func(l *shown, _ *gen.Batch) { l.CreatedAt = ago(5*time.Minute + 1) }, recovery.NotSeen, "a listing that is older than the attempt"},
		{func(_ *shown, b *gen.Batch) { b.CreatedAt = ago(5*time.Minute + 1) }, recovery.NotSeen, "a batch that is older than the attempt"},
		{func(_ *shown, b *gen.Batch) { b.CreatedAt = ago(-time.Hour - time.Minute - 2*5*time.Minute - 1) }, recovery.NotSeen, "a batch that was made when the attempt was over"},
		{func(_ *shown, b *gen.Batch) { b.TotalItems = 2 }, recovery.NotSeen, "a batch of another size"},
		{func(l *shown, _ *gen.Batch) { l.Variant.VariantID = "v2" }, recovery.NotSeen, "a listing of a variant that was not asked for"},
		{func(l *shown, _ *gen.Batch) { l.from = time.Now().Add(time.Hour) }, recovery.NotSeen, "a batch that no listing shows"},

		{func(_ *shown, b *gen.Batch) { b.CreatedAt = gen.Time{} }, recovery.CannotTell, "a batch that does not say when it was made"},
	} {
		t.Run(row.why, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *service) {
				attempt := newAttempt(t, one("76"))
				b := s.batches[s.land(attempt.Items)]
				row.change(&s.listings[0], &b)
				s.batches["b1"] = b
				assert.Equal(t, row.want, s.recover(t, attempt, recovery.Options{Settle: time.Minute}).Kind)
			})
		})
	}
}

func TestAListingsInventoryMustHaveBeenAskedFor(t *testing.T) {
	const standard, direct, flex = gen.InventoryTypeStandard, gen.InventoryTypeDirect, gen.InventoryType("FLEX")
	for _, row := range []struct {
		asked []gen.InventoryType
		shown gen.InventoryType
		want  recovery.Kind
		why   string
	}{
		{[]gen.InventoryType{""}, standard, recovery.Landed, "standard is the default"},
		{[]gen.InventoryType{direct}, direct, recovery.Landed, "as asked for"},
		{[]gen.InventoryType{standard, direct}, direct, recovery.Landed, "one of several"},
		{[]gen.InventoryType{standard}, flex, recovery.Landed, "what cannot be asked for rules nothing out"},
		{[]gen.InventoryType{standard}, "", recovery.Landed, "nor does what is not said"},
		{[]gen.InventoryType{""}, direct, recovery.CannotTell, "the default is not direct"},
		{[]gen.InventoryType{direct}, standard, recovery.CannotTell, "nor the other way round"},
	} {
		bubble(t, func(t *testing.T, s *service) {
			var items []gen.CreateItem
			for _, inventory := range row.asked {
				items = append(items, one("76", func(i *gen.CreateItem) { i.InventoryType = inventory })...)
			}
			attempt := newAttempt(t, items)
			s.land(items)
			for i := range s.listings {
				s.listings[i].InventoryType = row.shown
			}
			v := s.recover(t, attempt, recovery.Options{Settle: time.Minute})
			assert.Equal(t, row.want, v.Kind, row.why)
			if row.want == recovery.CannotTell {
				assert.Contains(t, v.Reason, "another inventory type than was asked for", row.why)
			}
		})
	}
}

func TestAVariantThatIsNoIDDoesNotHideTheOthers(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		attempt := newAttempt(t, append(one("76"), gen.CreateItem{VariantID: "a slug", Amount: "80", Quantity: 1}))
		id := s.land(attempt.Items)
		s.listings = s.listings[:1] // the other item fails
		s.fails = func(what string) int {
			if what == "listings" && len(s.asked[len(s.asked)-1].variants) > 0 {
				return http.StatusBadRequest
			}
			return 0
		}
		v := s.recover(t, attempt, recovery.Options{})
		require.Equal(t, recovery.Landed, v.Kind)
		assert.Equal(t, id, v.Batch.ID())
		assert.Nil(t, s.asked[len(s.asked)-1].variants, "the list of all listings has it")
	})
}

func TestABatchIsReadNoOftenerThanNeeded(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		other, doubtful, known := s.land(one("80")), s.land(one("76")), s.land(one("76"))
		larger := s.land(append(one("76"), one("76")...))
		s.items[doubtful] = nil
		s.recover(t, newAttempt(t, one("76")), recovery.Options{Known: []string{known}})
		read := map[string]int{}
		for _, call := range s.calls {
			read[call]++
		}
		assert.Equal(t, map[string]int{
			"listings": 2 * len(s.looks), "batch " + other: 1, "items " + other: 1, "batch " + larger: 1,
			"batch " + doubtful: len(s.looks), "items " + doubtful: len(s.looks),
		}, read, "once if it is ruled out, in each look while it is not, and never if it is known")
	})
}
