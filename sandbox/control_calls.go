package sandbox

import (
	"net/http"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

func (s *Sandbox) controlSeed(r *http.Request) (any, error) {
	body, err := read[struct {
		Seed uint64 `json:"seed"`
	}](r)
	if err != nil {
		return nil, err
	}
	return nil, s.Reseed(r.Context(), body.Seed)
}

func (s *Sandbox) controlTime() any {
	return map[string]wire.Time{"now": {Time: s.Now()}}
}

func (s *Sandbox) controlAdvance(r *http.Request) (any, error) {
	body, err := read[struct {
		Advance period `json:"advance"`
	}](r)
	if err != nil {
		return nil, err
	}
	if err := s.Advance(r.Context(), time.Duration(body.Advance)); err != nil {
		return nil, err
	}
	return s.controlTime(), nil
}

func (s *Sandbox) controlBid(r *http.Request) (any, error) {
	body, err := read[struct {
		VariantID    string `json:"variantId"`
		CurrencyCode string `json:"currencyCode"`
		Amount       string `json:"amount"`
	}](r)
	if err != nil {
		return nil, err
	}
	number, err := s.Bid(r.Context(), body.VariantID, body.CurrencyCode, body.Amount)
	return orderAnswer{number}, err
}

func (s *Sandbox) controlBuy(r *http.Request) (any, error) {
	body, err := read[struct {
		ListingID string `json:"listingId"`
	}](r)
	if err != nil {
		return nil, err
	}
	number, err := s.Buy(r.Context(), body.ListingID)
	return orderAnswer{number}, err
}

func (s *Sandbox) controlMove(r *http.Request) (any, error) {
	body, err := read[struct {
		Status string `json:"status"`
	}](r)
	if err != nil {
		return nil, err
	}
	return nil, s.MoveOrder(r.Context(), r.PathValue("orderNumber"), body.Status)
}

func (s *Sandbox) controlFail(r *http.Request) (any, error) {
	body, err := read[faultBody](r)
	if err != nil {
		return nil, err
	}
	return nil, s.Fail(body.fault())
}

func (s *Sandbox) controlFaults(*http.Request) (any, error) {
	waiting := []faultBody{}
	for _, f := range s.Faults() {
		waiting = append(waiting, bodyOf(f))
	}
	return map[string][]faultBody{"faults": waiting}, nil
}

func (s *Sandbox) controlAccount(r *http.Request) (any, error) {
	body, err := read[struct {
		Name string `json:"name"`
	}](r)
	if err != nil {
		return nil, err
	}
	return s.AddAccount(r.Context(), body.Name)
}
