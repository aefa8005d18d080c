package client_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
)

// overtaken is a context during whose wait another goroutine finds out, between any two steps, how it has ended: as
// soon as it is looked at and armed.
type overtaken struct {
	context.Context //nolint:containedctx // it is one
	armed           *bool
	other           func()
}

func (c overtaken) Err() error {
	if *c.armed {
		c.other()
	}
	return c.Context.Err()
}

func TestAWaitWhosePollFailsHasEndedIfAnotherSawTheEnd(t *testing.T) {
	for kind, open := range map[string]func(*client.Client) (wait, poll func(context.Context) error){
		"batch": func(c *client.Client) (wait, poll func(context.Context) error) {
			b := c.Batches.ResumeCreate(batchID)
			return func(ctx context.Context) error { return failure(b.Wait(ctx)) }, func(ctx context.Context) error { return failure(b.Poll(ctx)) }
		},
		"operation": func(c *client.Client) (wait, poll func(context.Context) error) {
			o := c.Listings.Operation(listingID, operationID)
			return func(ctx context.Context) error { return failure(o.Wait(ctx)) }, func(ctx context.Context) error { return failure(o.Poll(ctx)) }
		},
	} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				armed := false
				done := waitables()[map[string]int{"batch": 0, "operation": 1}[kind]].done
				service := &polling{start: time.Now(), answer: func(poll int) pollAnswer {
					if armed = poll == 1; armed {
						return pollAnswer{status: 404}
					}
					return pollAnswer{status: 200, body: done}
				}}
				wait, poll := open(service.client(t))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				require.NoError(t, wait(overtaken{ctx, &armed, func() {
					turn, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					armed = poll(turn) != nil // while the one who waits polls itself, it is not this one's turn
				}}))
				require.Len(t, service.times, 2)
			})
		})
	}
}
