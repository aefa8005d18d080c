package control

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/gateway"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/market"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// keyHeader is the header that carries the control key.
const keyHeader = "x-sandbox-key"

// endpoint is one request of the control API.
type endpoint struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Does   string `json:"does"`
	Body   string `json:"body,omitempty"` // an example
	// run returns the body of the response, which is 204 No Content without one.
	run func(r *http.Request) (body any, err error)
}

// created is the body of a response of status 201.
type created struct{ body any }

// endpoints returns the whole control API, the index of it first.
func (c *Control) endpoints() []endpoint {
	list := []endpoint{
		{"POST", "/reset", "empty the sandbox, but for accounts and the seed", "", func(r *http.Request) (any, error) {
			return nil, c.Reset(r.Context())
		}},
		{"POST", "/seed", "change the seed of prices and ids", `{"seed":7}`, c.postSeed},
		{"GET", "/clock", "read the clock", "", c.getClock},
		{"POST", "/clock", "advance the clock and do the work that falls due", `{"advance":"36h"}`, c.postClock},
		{"POST", "/work", "do the work that is due, if it is manual", "", func(r *http.Request) (any, error) {
			return nil, c.Work(r.Context())
		}},
		{
			"POST", "/bids", "bid for a variant; without an orderNumber there is a reason",
			`{"variantId":"7cc805a8-e5cf-5ed3-bdee-b00bf511b7ef","currencyCode":"USD","amount":"250"}`, c.postBid,
		},
		{"GET", "/bids", "list the open bids", "", c.getBids},
		{"DELETE", "/bids/{id}", "withdraw an open bid", "", c.deleteBid},
		{
			"POST", "/books", "replace the order book of a variant",
			`{"variantId":"7cc805a8-e5cf-5ed3-bdee-b00bf511b7ef","currencyCode":"USD","asks":["300"],"bids":["250","240"],"flexAsk":"310"}`,
			c.postBook,
		},
		{
			"POST", "/products", "add a product to the catalog",
			`{"title":"Test Runner","brand":"Acme","styleId":"AC-0001","sizes":["9","10"],"retailPrice":"120"}`, c.postProduct,
		},
		{
			"POST", "/listings", "make listings in a status",
			`{"count":3,"variantId":"7cc805a8-e5cf-5ed3-bdee-b00bf511b7ef","amount":"2000","inventoryType":"FLEX","listingStatus":"INACTIVE"}`,
			c.postListings,
		},
		{
			"POST", "/listings/{listingId}/operations", "record an operation of the system on a listing",
			`{"operationType":"TPS_CHECK","error":""}`, c.postOperation,
		},
		{
			"POST", "/orders", "make a listing with an order in a status",
			`{"variantId":"7cc805a8-e5cf-5ed3-bdee-b00bf511b7ef","amount":"2000","status":"SHIPPED"}`, c.postOrder,
		},
		{
			"POST", "/failures", "make operations and items that are accepted fail, or stuck",
			`{"operation":"DELETE","times":1,"error":"not today"}`, c.postFailure,
		},
		{"POST", "/purchases", "buy a listing at its price", `{"listingId":"98e2e748-8000-45bf-a624-5531d6a68318"}`, c.postPurchase},
		{"POST", "/orders/{orderNumber}/status", "move an order", `{"status":"SHIPPED"}`, c.postOrderStatus},
		{
			"POST", "/faults", "inject a fault; kinds are status, lost, delay, cut-json, html and wrong-type",
			`{"operation":"CreateListing","times":2,"kind":"status","status":503,"retryAfter":"2s","delay":"50ms","applied":true,"body":"busy"}`,
			c.postFault,
		},
		{"GET", "/faults", "list the faults that wait", "", c.getFaults},
		{"DELETE", "/faults", "remove the faults that wait", "", func(*http.Request) (any, error) {
			c.Gateway.Faults.Clear()
			return nil, nil
		}},
		{"GET", "/counters", "count requests by operation and status; 0 is no response", "", func(*http.Request) (any, error) {
			return c.Gateway.Counters.Snapshot(), nil
		}},
		{"GET", "/accounts", "list accounts with their credentials", "", c.getAccounts},
		{"POST", "/accounts", "add an account", `{"name":"second"}`, c.postAccount},
	}
	if c.ConsoleCode != nil {
		list = append(list, endpoint{
			"POST", "/consoles", "make a path that opens the console in one browser, once and within five minutes", "",
			func(*http.Request) (any, error) {
				return created{map[string]string{"path": "/?code=" + c.ConsoleCode()}}, nil
			},
		})
	}
	for i := range list {
		list[i].Path = c.Path + list[i].Path
	}
	index := endpoint{Method: "GET", Path: c.Path, Does: "list these requests"}
	index.run = func(*http.Request) (any, error) {
		return map[string][]endpoint{"controls": append([]endpoint{index}, list...)}, nil
	}
	return append([]endpoint{index}, list...)
}

// Handler returns the handler of the control API.
func (c *Control) Handler() http.Handler {
	mux := http.NewServeMux()
	methods := map[string][]string{} // by path
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		respondError(w, http.StatusNotFound, "path (%.200q): not found: GET %s lists the control API", r.URL.Path, c.Path)
	})
	for _, e := range c.endpoints() {
		methods[e.Path] = append(methods[e.Path], e.Method)
		mux.HandleFunc(e.Method+" "+e.Path, func(w http.ResponseWriter, r *http.Request) {
			// Advancing the clock by a year may take longer than the write timeout. Where there is no
			// connection there is no deadline to move.
			connection := http.NewResponseController(w)
			_ = connection.SetWriteDeadline(time.Time{})
			ctx, cancel := gateway.UntilStopped(r.Context())
			defer cancel()
			r = r.WithContext(ctx)
			body, err := e.run(r)
			_ = connection.SetWriteDeadline(time.Now().Add(gateway.WriteTimeout))
			if err != nil {
				c.Handlers.Fail(w, r, err)
				return
			}
			respond(w, body)
		})
	}
	for path, allowed := range methods {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			respondError(w, http.StatusMethodNotAllowed, "method (%.20s): not allowed: GET %s lists the control API", r.Method, c.Path)
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get(keyHeader)
		if subtle.ConstantTimeCompare([]byte(key), []byte(c.Key)) != 1 {
			respondError(w, http.StatusUnauthorized, "%s header: missing or wrong: send the control key", keyHeader)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func respondError(w http.ResponseWriter, status int, format string, args ...any) {
	(&wire.Error{Status: status, Message: fmt.Sprintf(format, args...)}).Write(w)
}

func respond(w http.ResponseWriter, body any) {
	status := http.StatusOK
	if made, ok := body.(created); ok {
		status, body = http.StatusCreated, made.body
	}
	if body == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // it fails only if the client is gone
}

// read reads a body with the members of T and no others.
func read[T any](r *http.Request) (body T, err error) {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		return body, wire.Invalidf("body: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return body, wire.Invalidf("body: must be one JSON value")
	}
	return body, nil
}

func (c *Control) postSeed(r *http.Request) (any, error) {
	body, err := read[struct {
		Seed uint64 `json:"seed"`
	}](r)
	if err != nil {
		return nil, err
	}
	return nil, c.Reseed(r.Context(), body.Seed)
}

func (c *Control) getClock(*http.Request) (any, error) {
	return map[string]wire.Time{"now": {Time: c.Clock.Now()}}, nil
}

func (c *Control) postClock(r *http.Request) (any, error) {
	body, err := read[struct {
		Advance duration `json:"advance"`
	}](r)
	if err != nil {
		return nil, err
	}
	if err := c.Advance(r.Context(), time.Duration(body.Advance)); err != nil {
		return nil, err
	}
	return c.getClock(r)
}

// bid is a bid of a buyer. If it made no order, there is a reason.
type bid struct {
	ID           int64     `json:"id"`
	VariantID    string    `json:"variantId"`
	CurrencyCode string    `json:"currencyCode"`
	Amount       string    `json:"amount"`
	OrderNumber  string    `json:"orderNumber"`
	Reason       string    `json:"reason"`
	CreatedAt    wire.Time `json:"createdAt"`
}

func showBid(b store.Bid, reason string) bid {
	currency, _ := market.Lookup(b.Currency)
	return bid{
		b.Seq, b.VariantID, b.Currency, market.FormatAmount(b.Amount, currency), b.OrderNumber, reason,
		wire.Time{Time: b.CreatedAt},
	}
}

func (c *Control) getBids(r *http.Request) (any, error) {
	open, err := c.Selling.OpenBids(r.Context())
	bids := []bid{}
	for _, b := range open {
		bids = append(bids, showBid(b.Bid, b.Reason))
	}
	return map[string][]bid{"bids": bids}, err
}

func (c *Control) deleteBid(r *http.Request) (any, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, wire.NoSuch("open bid", r.PathValue("id"))
	}
	return nil, c.Selling.WithdrawBid(r.Context(), id)
}

func (c *Control) postBook(r *http.Request) (any, error) {
	body, err := read[struct {
		VariantID    string   `json:"variantId"`
		CurrencyCode string   `json:"currencyCode"`
		Asks         []string `json:"asks"`
		Bids         []string `json:"bids"`
		FlexAsk      string   `json:"flexAsk"`
	}](r)
	if err != nil {
		return nil, err
	}
	return nil, c.Selling.SetBook(r.Context(), body.VariantID, body.CurrencyCode, body.Asks, body.Bids, body.FlexAsk)
}

func (c *Control) postProduct(r *http.Request) (any, error) {
	body, err := read[Product](r)
	if err != nil {
		return nil, err
	}
	p, err := c.AddProduct(r.Context(), body)
	if err != nil {
		return nil, err
	}
	type variant struct {
		VariantID string `json:"variantId"`
		Size      string `json:"size"`
	}
	var variants []variant
	for _, v := range p.Variants {
		variants = append(variants, variant{v.ID, v.Size})
	}
	return created{map[string]any{"productId": p.ID, "variants": variants}}, nil
}

func (c *Control) postListings(r *http.Request) (any, error) {
	body, err := read[struct {
		Listing
		Count int `json:"count"`
	}](r)
	if err != nil {
		return nil, err
	}
	ids, err := c.AddListings(r.Context(), body.Count, body.Listing)
	return created{map[string][]string{"listingIds": ids}}, err
}

func (c *Control) postOrder(r *http.Request) (any, error) {
	body, err := read[struct {
		Listing
		OrderStatus string `json:"status"`
	}](r)
	if err != nil {
		return nil, err
	}
	number, err := c.AddOrder(r.Context(), body.Listing, body.OrderStatus)
	return created{map[string]string{"orderNumber": number}}, err
}

func (c *Control) postOperation(r *http.Request) (any, error) {
	body, err := read[struct {
		OperationType string `json:"operationType"`
		Error         string `json:"error"`
	}](r)
	if err != nil {
		return nil, err
	}
	op, err := c.Selling.AddOperation(r.Context(), r.PathValue("listingId"), body.OperationType, body.Error)
	return created{map[string]string{"operationId": op.ID}}, err
}

func (c *Control) postFailure(r *http.Request) (any, error) {
	body, err := read[Failure](r)
	if err != nil {
		return nil, err
	}
	return nil, c.FailWork(r.Context(), body)
}

func (c *Control) postBid(r *http.Request) (any, error) {
	body, err := read[struct {
		VariantID    string `json:"variantId"`
		CurrencyCode string `json:"currencyCode"`
		Amount       string `json:"amount"`
	}](r)
	if err != nil {
		return nil, err
	}
	b, reason, err := c.Selling.Bid(r.Context(), body.VariantID, body.CurrencyCode, body.Amount)
	return showBid(b, reason), err
}

func (c *Control) postPurchase(r *http.Request) (any, error) {
	body, err := read[struct {
		ListingID string `json:"listingId"`
	}](r)
	if err != nil {
		return nil, err
	}
	order, err := c.Selling.Buy(r.Context(), body.ListingID)
	return map[string]string{"orderNumber": order.Number}, err
}

func (c *Control) postOrderStatus(r *http.Request) (any, error) {
	body, err := read[struct {
		Status string `json:"status"`
	}](r)
	if err != nil {
		return nil, err
	}
	return nil, c.Selling.MoveOrder(r.Context(), r.PathValue("orderNumber"), body.Status)
}

// fault is a gateway.Fault with its durations as text.
type fault struct {
	gateway.Fault
	Delay      duration `json:"delay,omitzero"`
	RetryAfter duration `json:"retryAfter,omitzero"`
}

func (c *Control) postFault(r *http.Request) (any, error) {
	body, err := read[fault](r)
	if err != nil {
		return nil, err
	}
	f := body.Fault
	f.Delay, f.RetryAfter = time.Duration(body.Delay), time.Duration(body.RetryAfter)
	return nil, c.Gateway.Faults.Add(f)
}

func (c *Control) getFaults(*http.Request) (any, error) {
	waiting := []fault{}
	for _, f := range c.Gateway.Faults.List() {
		waiting = append(waiting, fault{f, duration(f.Delay), duration(f.RetryAfter)})
	}
	return map[string][]fault{"faults": waiting}, nil
}

// account is an account with its credentials.
type account struct {
	Name         string `json:"name"`
	APIKey       string `json:"apiKey"`
	Token        string `json:"token"`
	RefreshToken string `json:"refreshToken"`
}

func showAccount(a store.Account) account {
	return account{a.Name, a.APIKey, a.Token, a.RefreshToken}
}

func (c *Control) getAccounts(*http.Request) (any, error) {
	all := []account{}
	for _, a := range c.Gateway.Accounts.List() {
		all = append(all, showAccount(a))
	}
	return map[string][]account{"accounts": all}, nil
}

func (c *Control) postAccount(r *http.Request) (any, error) {
	body, err := read[struct {
		Name string `json:"name"`
	}](r)
	if err != nil {
		return nil, err
	}
	a, added, err := c.Gateway.Accounts.Add(r.Context(), body.Name)
	if err == nil && !added {
		err = &wire.Error{Status: http.StatusConflict, Message: fmt.Sprintf("account (%.80q): exists", body.Name)}
	}
	return created{showAccount(a)}, err
}

// duration is a duration as text, such as "36h" or "1.5s".
type duration time.Duration

// MarshalText implements [encoding.TextMarshaler].
func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = duration(parsed)
	return err
}
