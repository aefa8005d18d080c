package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/token"
)

var sentinels = map[string]error{
	"ErrBadRequest": client.ErrBadRequest, "ErrUnauthorized": client.ErrUnauthorized, "ErrForbidden": client.ErrForbidden,
	"ErrNotFound": client.ErrNotFound, "ErrConflict": client.ErrConflict, "ErrRateLimited": client.ErrRateLimited,
	"ErrServer": client.ErrServer, "ErrOutcomeUnknown": client.ErrOutcomeUnknown,
	"ErrInvalidArgument": client.ErrInvalidArgument, "ErrTooManyItems": client.ErrTooManyItems,
}

func TestStatusesHaveTheirSentinels(t *testing.T) {
	for status, want := range map[int]string{
		302: "", 400: "ErrBadRequest", 401: "ErrUnauthorized", 402: "", 403: "ErrForbidden", 404: "ErrNotFound", 408: "",
		409: "ErrConflict", 410: "", 413: "", 415: "", 422: "", 429: "ErrRateLimited", 499: "",
		500: "ErrServer", 501: "ErrServer", 502: "ErrServer", 503: "ErrServer", 524: "ErrServer",
	} {
		err := fmt.Errorf("reprice: %w", &client.APIError{StatusCode: status})
		for name, sentinel := range sentinels {
			assert.Equal(t, name == want, errors.Is(err, sentinel), "%d and %s", status, name)
		}
	}
}

func TestUnknownOutcomesAreMarkedInFieldTextAndTree(t *testing.T) {
	for _, unknown := range []bool{true, false} {
		info := client.CallInfo{Operation: "CreateListing", OutcomeUnknown: unknown}
		for _, err := range []error{
			&client.APIError{CallInfo: info, StatusCode: 503},
			&client.TransportError{CallInfo: info, Err: io.ErrUnexpectedEOF},
			&client.DecodeError{CallInfo: info, StatusCode: 200, Err: io.ErrUnexpectedEOF},
		} {
			assert.Equal(t, unknown, errors.Is(err, client.ErrOutcomeUnknown), "%T", err)
			if unknown {
				assert.ErrorContains(t, err, "the outcome of the write is unknown: read before you send it again")
			} else {
				assert.NotContains(t, err.Error(), "outcome", "%T", err)
			}
		}
	}
}

func TestErrorsReadAsSentences(t *testing.T) {
	info, unsent := client.CallInfo{Operation: "GetListing", Attempts: 1}, client.CallInfo{Operation: "GetListing"}
	for want, err := range map[string]error{
		"GetListing: 404 no such listing": &client.APIError{CallInfo: info, StatusCode: 404, Message: "no such listing"},
		"GetListing: 429 slow down (request 7f3a) (retry after 1m30s)": &client.APIError{
			CallInfo: info, StatusCode: 429, Message: "slow down", RequestID: "7f3a", RetryAfter: 90 * time.Second,
		},
		"GetListing: no answer: context canceled":    &client.TransportError{CallInfo: info, Err: context.Canceled},
		"GetListing: not sent: context canceled":     &client.TransportError{CallInfo: unsent, Err: context.Canceled},
		"GetListing: read the response (200): a cut": &client.DecodeError{CallInfo: info, StatusCode: 200, Err: errors.New("a cut")},
		"GetListing: listingID: it is empty":         &client.ArgumentError{Operation: "GetListing", Field: "listingID", Problem: "it is empty"},
		"get an access token: expired":               &token.Error{Err: errors.New("expired")},
	} {
		assert.EqualError(t, err, want)
	}
}

func TestErrorsUnwrapToTheirCause(t *testing.T) {
	for _, err := range []error{
		&client.TransportError{Err: context.Canceled}, &client.DecodeError{Err: context.Canceled},
		&token.Error{Err: context.Canceled}, &client.WaitError{Err: context.Canceled},
	} {
		assert.ErrorIs(t, err, context.Canceled, "%T", err)
	}
}

func TestAnArgumentErrorIsTooManyItemsOnlyForBatches(t *testing.T) {
	err := &client.ArgumentError{Operation: "GetListing", Field: "listingID", Problem: "it is empty"}
	assert.ErrorIs(t, err, client.ErrInvalidArgument)
	assert.NotErrorIs(t, err, client.ErrTooManyItems)
	assert.False(t, err.Is(nil), "no kind is no match")
}
