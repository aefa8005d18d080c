package sandbox

import "context"

// firstAccount is the account of the credentials in Options.
const firstAccount int64 = 1

type accountKey struct{}

// withAccount says on whose behalf a request is answered.
func withAccount(ctx context.Context, account int64) context.Context {
	return context.WithValue(ctx, accountKey{}, account)
}

// accountOf returns the account a request has authenticated as. It is 0, which
// owns nothing, outside of requests.
func accountOf(ctx context.Context) int64 {
	account, _ := ctx.Value(accountKey{}).(int64)
	return account
}
