package sandbox

import "net/http"

// control is one request of the control API.
type control struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Does   string `json:"does"`
	Body   string `json:"body,omitempty"` // an example
	run    func(*Sandbox, *http.Request) (answer any, err error)
}

// orderAnswer says which order a buyer or bidder made, if any.
type orderAnswer struct {
	OrderNumber string `json:"orderNumber"`
}

// controls returns the whole control API. An answer of nil is 204 No Content, and
// one that is an Account, which was made, 201 Created.
func controls() []control {
	list := []control{
		{"POST", "/reset", "forget all but accounts and the seed", "", func(s *Sandbox, r *http.Request) (any, error) {
			return nil, s.Reset(r.Context())
		}},
		{"POST", "/seed", "make other prices and ids", `{"seed":7}`, (*Sandbox).controlSeed},
		{"GET", "/clock", "tell the time", "", func(s *Sandbox, _ *http.Request) (any, error) {
			return s.controlTime(), nil
		}},
		{"POST", "/clock", "move the clock on and do what falls due", `{"advance":"36h"}`, (*Sandbox).controlAdvance},
		{"POST", "/work", "do what is due, where the work is manual", "", func(s *Sandbox, r *http.Request) (any, error) {
			return nil, s.Work(r.Context())
		}},
		{
			"POST", "/bids", "bid for a variant; orderNumber is empty if nobody sells at that",
			`{"variantId":"7cc805a8-e5cf-5ed3-bdee-b00bf511b7ef","currencyCode":"USD","amount":"250"}`, (*Sandbox).controlBid,
		},
		{"POST", "/purchases", "buy a listing at its price", `{"listingId":"98e2e748-8000-45bf-a624-5531d6a68318"}`, (*Sandbox).controlBuy},
		{"POST", "/orders/{orderNumber}/status", "move an order on", `{"status":"SHIPPED"}`, (*Sandbox).controlMove},
		{
			"POST", "/faults", "fail the next calls of an operation; kinds are status, lost, delay, cut-json, html and wrong-type",
			`{"operation":"CreateListing","times":2,"kind":"status","status":503,"retryAfter":"2s","delay":"50ms","applied":true,"body":"busy"}`,
			(*Sandbox).controlFail,
		},
		{"GET", "/faults", "list the faults that have yet to happen", "", (*Sandbox).controlFaults},
		{"DELETE", "/faults", "forget these", "", func(s *Sandbox, _ *http.Request) (any, error) {
			s.ClearFaults()
			return nil, nil
		}},
		{"GET", "/counters", "count requests by operation and status; 0 is no answer", "", func(s *Sandbox, _ *http.Request) (any, error) {
			return s.Counters(), nil
		}},
		{"GET", "/accounts", "list accounts with their credentials", "", func(s *Sandbox, _ *http.Request) (any, error) {
			return map[string][]Account{"accounts": s.Accounts()}, nil
		}},
		{"POST", "/accounts", "make an account", `{"name":"second"}`, (*Sandbox).controlAccount},
	}
	for i := range list {
		list[i].Path = ControlPath + list[i].Path
	}
	index := control{Method: "GET", Path: ControlPath, Does: "list what there is"}
	index.run = func(*Sandbox, *http.Request) (any, error) {
		return map[string][]control{"controls": append([]control{index}, list...)}, nil
	}
	return append([]control{index}, list...)
}
