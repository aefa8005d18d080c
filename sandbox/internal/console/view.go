package console

import (
	"net/url"
	"time"
)

// view is what the page shows. Its texts are data: the templates escape them.
type view struct {
	Assets  map[string]string
	Refused string // why there is no page
	Notice  notice

	Now, NowExact string

	Market marketView

	ListingCounts []countRow
	Listings      []listingRow
	Batches       []batchRow
	OrderCounts   []countRow
	Orders        []orderRow
	Requests      []requestRow

	Faults     []string
	Operations []string // that faults can be for
	FaultKinds []string

	HasRuns bool
	Runs    []Run
}

// parts returns the ids of the elements that change. They are also the names of their templates.
func (v view) parts() []string {
	all := []string{"clock", "market", "listings", "batches", "orders", "requests", "faults"}
	if v.HasRuns {
		all = append(all, "runs")
	}
	return all
}

// Events returns the URL of the stream for what the page shows.
func (v view) Events() string {
	return Assets + "/events?" + url.Values{"variant": {v.Market.VariantID}, "currency": {v.Market.Currency}}.Encode()
}

// marketView is the market of one product, with the book of one of its variants in a currency.
type marketView struct {
	Products   []option
	Title      string
	Brand      string
	StyleID    string
	ProductID  string
	VariantID  string
	Size       string
	Currency   string
	Currencies []string
	Quotes     []quoteRow // of all variants
	Quote      quoteRow   // of the chosen one
	Levels     []levelRow
}

type option struct {
	ID, Text string
	Selected bool
}

// quoteRow is a variant with the figures of its market data, which are empty if there are none.
type quoteRow struct {
	VariantID, Size                string
	Ask, Bid, SellFaster, EarnMore string
	Selected                       bool
}

// levelRow is one price of the ladder.
type levelRow struct {
	Ask    bool // otherwise a bid
	Price  string
	N      int
	Listed int // how many of N are listings or bids that were made, and not of the generated book
	Depth  int // N of this and all better prices
	Width  int // of Depth, a percentage
	Best   bool
}

type countRow struct {
	Name string
	N    int
}

type listingRow struct {
	ID, Title, Size, Price, InventoryType, Status, Account string
	Expired                                                bool
}

type batchRow struct {
	ID, Kind, Status    string
	Total, Done, Failed int
	Error               string
}

type orderRow struct {
	Number, Title, Size, Price, Status string
	Next                               string   // what happens by itself, and when
	Step, Steps                        int      // on the way to the payout; Steps is 0 if it does not lead there
	Targets                            []string // statuses that it can be moved to
}

type requestRow struct {
	At, Method, Path, Operation, Account, Status, Took string
	Failed                                             bool
}

func clockText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }
