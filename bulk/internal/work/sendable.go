package work

import (
	"context"

	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
	"github.com/sellside-sdk/sellside-go/client"
)

// sendable returns a context whose calls are not sent once the submission is too old, or a newer
// worker has taken the account.
func (e *Engine) sendable(ctx context.Context, s ledger.Submission) context.Context {
	ctx = client.WithNotAfter(ctx, s.NotAfter)
	return client.WithSendCheck(ctx, func() error {
		return e.DB.CheckFence(context.WithoutCancel(ctx), e.Ledger.Account(), s.Fence)
	})
}
