package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/sellside-sdk/sellside-go/client"
)

// mostFailures is how often in a row a step may fail. One in five requests goes wrong, so that a step which
// fails ten times does not meet bad luck, but something that lasts.
const mostFailures = 10

var errStuck = errors.New("it fails again and again")

// persist repeats a step until it succeeds. Its error says which step was stuck: one that was refused for good,
// failed too often, or was under way when ctx ended.
func persist(ctx context.Context, what string, step func() error) error {
	for failures := 1; ; failures++ {
		err := step()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil || !mayPass(err):
			return fmt.Errorf("%s: %w", what, err)
		case failures == mostFailures:
			return fmt.Errorf("%s: %w, %d times in a row: %w", what, errStuck, failures, err)
		}
	}
}

// mayPass reports whether the network may have caused a failure. All else is an answer of the sandbox, or of the
// client itself, that is the same the next time.
func mayPass(err error) bool {
	if errors.Is(err, errStuck) || errors.Is(err, client.ErrInvalidArgument) {
		return false
	}
	if _, failed := errors.AsType[*client.BatchError](err); failed {
		return false
	}
	answered, ok := errors.AsType[*client.APIError](err)
	return !ok || answered.StatusCode >= http.StatusInternalServerError || answered.StatusCode == http.StatusTooManyRequests
}
