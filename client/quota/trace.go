package quota

import "context"

// Trace is a set of functions that are called while a call waits for its quota. Any of them may be nil. It travels
// in the context, as that of [net/http/httptrace] does, so that a limiter around another one hides nothing.
type Trace struct {
	// WaitStart is called when a call begins to wait, from the goroutine of [Limiter].Acquire, with the window that
	// is expected to make it wait longest. A limiter calls it once for a call that waits, and not for others.
	WaitStart func(Window)
}

type traceKey struct{}

// WithTrace returns a context whose calls are traced: the context of one Acquire, or that of a client's call. A trace
// that ctx already has is called too, after this one.
func WithTrace(ctx context.Context, trace *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, trace.before(ContextTrace(ctx)))
}

// ContextTrace is for limiters: it returns the trace of the context of an Acquire. Neither it nor any of its functions
// is nil, so that they can be called without a check.
func ContextTrace(ctx context.Context) *Trace {
	if trace, ok := ctx.Value(traceKey{}).(*Trace); ok {
		return trace
	}
	return &Trace{WaitStart: func(Window) {}}
}

// before puts a trace, any of whose functions may be nil, before one that has them all.
func (t *Trace) before(outer *Trace) *Trace {
	if t == nil || t.WaitStart == nil {
		return outer
	}
	return &Trace{WaitStart: func(w Window) { t.WaitStart(w); outer.WaitStart(w) }}
}
