// Package control does what a test may do to a running sandbox and what no seller can: reset it,
// advance its clock, buy and bid, move orders and inject faults. It serves the same over HTTP.
package control

import (
	"context"
	"errors"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/gateway"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/handlers"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/limits"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// Config is what a Control works with. Every member but ConsoleCode is required.
type Config struct {
	Store    *store.Store
	Selling  *selling.Service
	Handlers *handlers.Handlers
	Gateway  *gateway.Gateway
	Clock    *store.Clock
	Limits   []*limits.Limits // reset with the rest
	// Path is the prefix of the control API, and Key what its requests have to carry.
	Path, Key string
	// Manual leaves work that falls due to calls of Work.
	Manual bool
	// ConsoleCode returns a code that opens the console. It is nil if there is none.
	ConsoleCode func() string
}

// Control controls one sandbox. It is safe for concurrent use.
type Control struct {
	Config
}

// New returns the control of a sandbox.
func New(c Config) *Control { return &Control{c} }

// Work does all that is due by the clock, and returns when nothing more is due.
func (c *Control) Work(ctx context.Context) error {
	for {
		worked, _, err := c.Selling.Step(ctx)
		if worked == 0 { // what fails is left
			return err
		}
	}
}

// Advance moves the clock forward and, unless the work is manual, does what falls due.
func (c *Control) Advance(ctx context.Context, d time.Duration) error {
	err := c.Clock.Advance(ctx, d)
	if errors.Is(err, store.ErrClockOffset) {
		return wire.Invalidf("advance (%s): must not be negative, nor more than %s in all", d, store.MaxClockOffset)
	}
	if err != nil {
		return err
	}
	if c.Manual {
		return nil
	}
	defer c.Selling.Wake() // the next row falls due earlier than the worker expects
	return c.Work(ctx)
}

// Reset empties the sandbox, except for accounts and the seed. Requests that are being handled
// finish first.
func (c *Control) Reset(ctx context.Context) error {
	return c.Gateway.Exclusive(func() error {
		err := c.Clock.Reset(func() error { return c.Store.Update(ctx, (*store.Tx).Reset) })
		if err != nil {
			return err
		}
		c.Gateway.Reset()
		for _, l := range c.Limits {
			l.Clear()
		}
		// Without the ingested products. A reset that was committed is finished.
		return c.Selling.LoadCatalog(context.WithoutCancel(ctx))
	})
}

// Reseed changes the seed. Requests that are being handled finish first, since they read it.
func (c *Control) Reseed(ctx context.Context, seed uint64) error {
	return c.Gateway.Exclusive(func() error { return c.Selling.Reseed(ctx, seed) })
}
