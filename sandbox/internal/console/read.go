package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/gateway"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/market"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// How many rows the page shows.
const (
	maxLevels   = 8 // on each side of the book
	maxListings = 5
	maxRows     = 8
	maxRequests = 12
	maxFaults   = 50
	maxIngested = 100 // products to choose from, besides those of every sandbox
)

// reader reads one view in one transaction.
type reader struct {
	*Console
	tx       *store.Tx
	now      time.Time
	accounts map[int64]string // names
}

func (c *Console) read(ctx context.Context, shown selection) (view, error) {
	r := reader{Console: c, now: c.Control.Clock.Now(), accounts: map[int64]string{}}
	for _, a := range c.Control.Gateway.Accounts.List() {
		r.accounts[a.Seq] = a.Name
	}
	v := view{
		Assets: assetURLs(), Now: clockText(r.now), NowExact: r.now.UTC().Format(time.RFC3339),
		Requests: r.requests(), Operations: gateway.Operations(), FaultKinds: gateway.FaultKinds(), HasRuns: c.Runs != nil,
	}
	for _, f := range firstOf(c.Control.Gateway.Faults.List(), maxFaults) {
		v.Faults = append(v.Faults, faultText(f))
	}
	err := c.Control.Store.View(ctx, func(tx *store.Tx) error {
		r.tx = tx
		return r.readRows(&v, shown)
	})
	if err != nil || c.Runs == nil {
		return v, err
	}
	v.Runs, err = c.Runs(ctx)
	v.Runs = firstOf(v.Runs, maxRows)
	return v, err
}

func firstOf[T any](all []T, n int) []T { return all[:min(len(all), n)] }

func (r *reader) readRows(v *view, shown selection) (err error) {
	if v.Market, err = r.market(shown); err != nil {
		return err
	}
	if v.ListingCounts, v.Listings, err = r.listings(); err != nil {
		return err
	}
	if v.Batches, err = r.batches(); err != nil {
		return err
	}
	if v.OrderCounts, v.Orders, err = r.orders(); err != nil {
		return err
	}
	failures, err := r.tx.Failures(maxFaults)
	for _, f := range failures {
		v.Faults = append(v.Faults, failureText(f))
	}
	return err
}

// choose returns the variant and the currency to show: of the selection, or of the newest listing.
func (r *reader) choose(shown selection) (*catalog.Variant, market.Currency, error) {
	currency, ok := market.Lookup(shown.currency)
	if !ok {
		currency, _ = market.Lookup(market.USD)
	}
	if v, ok := r.Catalog.Variant(shown.variant); ok {
		return v, currency, nil
	}
	for _, p := range r.products() {
		if shown.product != "" && strings.HasPrefix(p.ID, shown.product) {
			return p.Variants[len(p.Variants)/2], currency, nil
		}
	}
	newest, err := r.tx.NewestListings(1)
	if err != nil {
		return nil, currency, err
	}
	if len(newest) > 0 {
		if v, ok := r.Catalog.Variant(newest[0].VariantID); ok {
			listed, _ := market.Lookup(newest[0].Currency)
			return v, listed, nil
		}
	}
	first := r.Catalog.Products()[0]
	return first.Variants[len(first.Variants)/2], currency, nil
}

// shortID is how many characters of the id of a product the page has, to be small.
const shortID = 13

// products returns the products to choose from.
func (r *reader) products() []*catalog.Product {
	ingested := r.Catalog.Ingested()
	return slices.Concat(ingested[max(0, len(ingested)-maxIngested):], r.Catalog.Products())
}

func (r *reader) market(shown selection) (marketView, error) {
	chosen, currency, err := r.choose(shown)
	if err != nil {
		return marketView{}, err
	}
	p := chosen.Product
	m := marketView{
		Title: p.Title, Brand: p.Brand, StyleID: p.StyleID, ProductID: p.ID,
		VariantID: chosen.ID, Size: chosen.Size, Currency: currency.Code, Currencies: market.Codes(),
	}
	for _, o := range r.products() {
		m.Products = append(m.Products, option{o.ID[:shortID], o.Title, o == p})
	}
	for _, variant := range p.Variants {
		book, err := r.Handlers.Book(r.tx, variant, currency)
		if err != nil {
			return m, err
		}
		q := quoteOf(variant, book.Quote(), currency)
		if variant == chosen {
			q.Selected = true
			m.Quote = q
		}
		m.Quotes = append(m.Quotes, q)
	}
	m.Levels, err = r.levels(store.Crossing{VariantID: chosen.ID, Currency: currency.Code}, currency)
	return m, err
}

func quoteOf(v *catalog.Variant, q market.Quote, c market.Currency) quoteRow {
	text := func(minor int64) string {
		if minor == 0 {
			return ""
		}
		return market.FormatAmount(minor, c)
	}
	return quoteRow{
		VariantID: v.ID, Size: v.Size, Ask: text(q.LowestAsk), Bid: text(q.HighestBid),
		SellFaster: text(q.SellFaster), EarnMore: text(q.EarnMore),
	}
}

// levels returns the ladder: the best asks, the highest first, and below them the best bids.
func (r *reader) levels(x store.Crossing, c market.Currency) ([]levelRow, error) {
	book, err := r.Control.Selling.Book(r.tx, x)
	if err != nil {
		return nil, err
	}
	asks, err := r.tx.AskLevels(x, r.now, maxLevels)
	if err != nil {
		return nil, err
	}
	bids, err := r.tx.BidLevels(x, maxLevels)
	if err != nil {
		return nil, err
	}
	ladder := slices.Concat(
		sideOf(true, book.Asks, asks, c, cmp.Compare[int64]),
		sideOf(false, book.Bids, bids, c, func(a, b int64) int { return cmp.Compare(b, a) }),
	)
	most := 1
	for _, l := range ladder {
		most = max(most, l.Depth)
	}
	for i := range ladder {
		ladder[i].Width = max(2, 100*ladder[i].Depth/most)
	}
	return ladder, nil
}

// sideOf joins the amounts of a book with the levels that were made. Better amounts come first.
func sideOf(ask bool, book []int64, made []store.Level, c market.Currency, better func(a, b int64) int) []levelRow {
	sizes := map[int64]levelRow{}
	var amounts []int64
	add := func(amount int64, n, listed int) {
		l, known := sizes[amount]
		if !known {
			amounts = append(amounts, amount)
		}
		sizes[amount] = levelRow{Ask: ask, Price: market.FormatAmount(amount, c), N: l.N + n, Listed: l.Listed + listed}
	}
	for _, amount := range book {
		add(amount, 1, 0)
	}
	for _, l := range made {
		add(l.Amount, l.N, l.N)
	}
	slices.SortFunc(amounts, better)
	var rows []levelRow
	for i, amount := range firstOf(amounts, maxLevels) {
		l := sizes[amount]
		l.Best = i == 0
		l.Depth = l.N
		if i > 0 {
			l.Depth += rows[i-1].Depth
		}
		rows = append(rows, l)
	}
	if ask {
		slices.Reverse(rows)
	}
	return rows
}

// countsOf counts the statuses of a machine in the order of its table, and then the expired ones.
func countsOf(m *state.Machine, counts []store.StatusCount) []countRow {
	var rows []countRow
	for _, s := range m.States() {
		row := countRow{Name: s.Name}
		for _, c := range counts {
			if c.Status == s.Name && !c.Expired {
				row.N += c.N
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (r *reader) listings() ([]countRow, []listingRow, error) {
	counts, err := r.tx.CountListings()
	if err != nil {
		return nil, nil, err
	}
	names := countsOf(state.Listing, counts)
	expired := countRow{Name: "expired"}
	for _, c := range counts {
		if c.Expired {
			expired.N += c.N
		}
	}
	newest, err := r.tx.NewestListings(maxListings)
	var rows []listingRow
	for _, l := range newest {
		title, size := r.names(l.VariantID)
		rows = append(rows, listingRow{
			ID: l.ID, Title: title, Size: size, Price: price(l.Amount, l.Currency), InventoryType: l.InventoryType,
			Status: l.Status, Account: r.accounts[l.Account], Expired: l.Expired,
		})
	}
	return append(names, expired), rows, err
}

// names returns the title of the product of a variant, and its size.
func (r *reader) names(variantID string) (title, size string) {
	if v, ok := r.Catalog.Variant(variantID); ok {
		return v.Product.Title, v.Size
	}
	return variantID, ""
}

func price(minor int64, code string) string {
	c, _ := market.Lookup(code)
	return market.FormatAmount(minor, c) + " " + code
}

func (r *reader) batches() ([]batchRow, error) {
	recent, err := r.tx.RecentBatches(maxRows)
	if err != nil {
		return nil, err
	}
	var rows []batchRow
	for _, b := range recent {
		row := batchRow{
			ID: b.ID, Kind: b.Kind, Status: b.Status, Total: b.TotalItems,
			Done: b.Items.Completed + b.Items.Failed, Failed: b.Items.Failed,
		}
		if row.Failed > 0 {
			if row.Error, err = r.tx.ItemError(b); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (r *reader) orders() ([]countRow, []orderRow, error) {
	counts, err := r.tx.CountOrders()
	if err != nil {
		return nil, nil, err
	}
	recent, err := r.tx.RecentOrders(state.Order.Names(true), maxRows)
	var rows []orderRow
	for _, o := range recent {
		title, size := r.names(o.VariantID)
		row := orderRow{
			Number: o.Number, Title: title, Size: size, Price: price(o.Amount, o.Currency), Status: o.Status,
			Targets: state.Order.Targets(o.Status),
		}
		row.Step, row.Steps = progress(o.Status)
		if next, ok := state.Order.Automatic(o.Status); ok && !o.DueAt.IsZero() {
			row.Next = next.To + " at " + clockText(o.DueAt)
		}
		rows = append(rows, row)
	}
	return countsOf(state.Order, counts), rows, err
}

// progress returns how far an order is on its way to the payout. Both are 0 if it does not get there.
func progress(status string) (step, steps int) {
	steps = len(state.Order.Path(state.OrderCreated, state.PayoutCompleted))
	if status == state.PayoutCompleted || status == state.OrderCompleted {
		return steps, steps
	}
	left := len(state.Order.Path(status, state.PayoutCompleted))
	if left == 0 {
		return 0, 0
	}
	return max(0, steps-left), steps
}

func (r *reader) requests() []requestRow {
	var rows []requestRow
	for _, q := range firstOf(r.Control.Gateway.Recent.List(), maxRequests) {
		row := requestRow{
			At: q.At.UTC().Format("15:04:05"), Method: q.Method, Path: q.Path, Operation: q.Operation, Account: q.Account,
			Status: strconv.Itoa(q.Status), Took: tookText(q.Duration), Failed: q.Status == 0 || q.Status >= 400,
		}
		if q.Status == 0 {
			row.Status = "no response"
		}
		rows = append(rows, row)
	}
	return rows
}

func tookText(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	return d.Round(100 * time.Millisecond).String()
}

func faultText(f gateway.Fault) string {
	text := forCalls(f.Operation, "call", f.Times) + f.Kind
	switch {
	case f.Status != 0:
		text += " " + strconv.Itoa(f.Status)
	case f.Delay != 0:
		text += " of " + f.Delay.String()
	}
	if f.Applied {
		text += ", after the call was handled"
	}
	if f.ID != "" {
		text += fmt.Sprintf(", id %.100q", f.ID)
	}
	if f.Contains != "" {
		text += fmt.Sprintf(", body with %.100q", f.Contains)
	}
	if f.Body != "" {
		text += fmt.Sprintf(", response %.100q", f.Body)
	}
	return text
}

func failureText(f store.Failure) string {
	text := forCalls(f.Operation, "accepted item or operation", f.Times)
	if f.Error == "" {
		text += "gets stuck"
	} else {
		text += fmt.Sprintf("fails with %.100q", f.Error)
	}
	if f.Target != "" {
		text += ", id " + f.Target
	}
	return text
}

// forCalls returns what a fault is for.
func forCalls(operation, what string, times int) string {
	text := cmp.Or(operation, "any operation") + ", next "
	if times > 1 {
		return text + fmt.Sprintf("%d %ss: ", times, what)
	}
	return text + what + ": "
}
