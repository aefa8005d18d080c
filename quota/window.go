package quota

import "context"

// Window names a window of a [Quota], after the field that sets its limit.
type Window string

// The windows of a quota.
const (
	RequestsPerSecond Window = "requests per second"
	RequestsPerDay    Window = "requests per day"
	ItemsPerWindow    Window = "items per window"
	ItemsPerDay       Window = "items per day"
)

type listenerKey struct{}

// Listen returns a context for [Limiter].Wait in which a limiter tells listen which window it held the call back
// for: once, from the goroutine of Wait before that returns, also when the call gives up. Of several windows it
// is the one that opened last. A limiter that does not call [Tell] tells nothing.
func Listen(ctx context.Context, listen func(Window)) context.Context {
	return context.WithValue(ctx, listenerKey{}, listen)
}

// Tell is for limiters: it tells whoever listens on the context of a Wait which window the call was held back
// for. It travels in the context, as [net/http/httptrace] does, so that a limiter around another one hides nothing.
func Tell(ctx context.Context, w Window) {
	if listen, ok := ctx.Value(listenerKey{}).(func(Window)); ok {
		listen(w)
	}
}
