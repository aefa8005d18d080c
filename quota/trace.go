package quota

import "context"

// Trace is a set of functions that are called while a call waits for its quota. Any of them may be nil. It travels
// in the context, as that of [net/http/httptrace] does, so that a limiter around another one hides nothing.
type Trace struct {
	// Held is called with the window that a call was held back for: once, from the goroutine of [Limiter].Wait before
	// that returns, also when the call gives up. Of several windows it is the one that opened last. A limiter that
	// does not know, or was not asked to wait, does not call it.
	Held func(Window)
}

type traceKey struct{}

// WithTrace returns a context whose calls are traced, be it that of one Wait or that of a client's call. A trace that
// ctx already has is called too, after this one.
func WithTrace(ctx context.Context, trace *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, trace.before(ContextTrace(ctx)))
}

// ContextTrace is for limiters: it returns the trace of the context of a Wait. Neither it nor any of its functions is
// nil, so that they can just be called.
func ContextTrace(ctx context.Context) *Trace {
	if trace, ok := ctx.Value(traceKey{}).(*Trace); ok {
		return trace
	}
	return &Trace{Held: func(Window) {}}
}

// before puts a trace, any of whose functions may be nil, before one that has them all.
func (t *Trace) before(outer *Trace) *Trace {
	if t == nil || t.Held == nil {
		return outer
	}
	return &Trace{Held: func(w Window) { t.Held(w); outer.Held(w) }}
}
