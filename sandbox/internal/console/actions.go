package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/gateway"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/handlers"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/market"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// action does what a form asks for, and returns what was done.
type action func(ctx context.Context, form url.Values) (done string, err error)

// actions returns all actions by the name of their form.
func (c *Console) actions() map[string]action {
	return map[string]action{
		"bids": c.bid, "clock": c.advance, "orders": c.moveOrder, "faults": c.injectFault,
		"clear-faults": c.clearFaults, "reset": c.reset,
	}
}

// act returns the handler of an action. The script gets the result as text; without a script the
// page is shown again, with the result.
func (c *Console) act(do action) func(http.ResponseWriter, *http.Request, *session) {
	return func(w http.ResponseWriter, r *http.Request, s *session) {
		if err := r.ParseForm(); err != nil {
			http.Error(w, "The form cannot be read.", http.StatusBadRequest)
			return
		}
		// Moving the clock by a year may take longer than the write timeout.
		connection := http.NewResponseController(w)
		_ = connection.SetWriteDeadline(time.Time{})
		ctx, cancel := gateway.UntilStopped(r.Context())
		defer cancel()
		done, err := do(ctx, r.PostForm)
		_ = connection.SetWriteDeadline(time.Now().Add(gateway.WriteTimeout))
		status, n := http.StatusOK, notice{Text: done}
		if err != nil {
			refused, ok := handlers.Refusal(err)
			if !ok {
				c.fail(w, r, err)
				return
			}
			status, n = refused.Status, notice{Text: refused.Message, Bad: true}
		}
		if strings.Contains(r.Header.Get("Accept"), "text/html") {
			http.Redirect(w, r, Path+"?"+c.access.acted(s, n), http.StatusSeeOther)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, n.Text) // it fails only if the client is gone
	}
}

func (c *Console) bid(ctx context.Context, form url.Values) (string, error) {
	b, reason, err := c.Control.Selling.Bid(ctx, form.Get("variant"), form.Get("currency"), strings.TrimSpace(form.Get("amount")))
	if err != nil {
		return "", err
	}
	currency, _ := market.Lookup(b.Currency)
	text := fmt.Sprintf("Bid %s %s", market.FormatAmount(b.Amount, currency), b.Currency)
	if b.OrderNumber != "" {
		return text + " bought a listing: order " + b.OrderNumber + ".", nil
	}
	return text + " bought no listing: " + reason + ".", nil
}

func (c *Console) advance(ctx context.Context, form url.Values) (string, error) {
	d, err := time.ParseDuration(form.Get("advance"))
	if err != nil {
		return "", wire.Invalidf("advance (%.20q): must be a duration, such as 36h", form.Get("advance"))
	}
	if err := c.Control.Advance(ctx, d); err != nil {
		return "", err
	}
	return "The clock is at " + clockText(c.Control.Clock.Now()) + ".", nil
}

func (c *Console) moveOrder(ctx context.Context, form url.Values) (string, error) {
	number, status := form.Get("number"), form.Get("status")
	if err := c.Control.Selling.MoveOrder(ctx, number, status); err != nil {
		return "", err
	}
	return "Order " + number + " is " + status + ".", nil
}

func (c *Console) injectFault(_ context.Context, form url.Values) (string, error) {
	times, err := strconv.Atoi(form.Get("times"))
	status, statusErr := strconv.Atoi(form.Get("code"))
	delay, delayErr := time.ParseDuration(form.Get("delay"))
	if errors.Join(err, statusErr, delayErr) != nil || times < 1 || times > 1000 {
		return "", wire.Invalidf("times, status and delay: must be 1 to 1000, a number and a duration, such as 2s")
	}
	f := gateway.Fault{Operation: form.Get("operation"), Kind: form.Get("kind"), Times: times, Applied: form.Get("applied") != ""}
	switch f.Kind { // the form has all fields, and each kind some
	case "status":
		f.Status = status
	case "delay":
		f.Delay = delay
	}
	if err := c.Control.Gateway.Faults.Add(f); err != nil {
		return "", err
	}
	return "Armed: " + faultText(f) + ".", nil
}

func (c *Console) clearFaults(context.Context, url.Values) (string, error) {
	c.Control.Gateway.Faults.Clear()
	return "No fault is armed.", nil
}

func (c *Console) reset(ctx context.Context, form url.Values) (string, error) {
	if form.Get("sure") == "" {
		return "", wire.Invalidf("reset: tick the box first")
	}
	if err := c.Control.Reset(ctx); err != nil {
		return "", err
	}
	return "The sandbox is empty.", nil
}
