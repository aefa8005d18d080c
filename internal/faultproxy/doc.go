// Package faultproxy is a network that breaks on purpose: a proxy on a loopback socket that decides for each
// request whether it is delivered and what arrives of its answer.
//
//	p, err := faultproxy.Start(target, func(r *http.Request) faultproxy.Fault {
//		return faultproxy.Fault{Kind: faultproxy.LostAnswer}
//	})
//	...
//	defer p.Close()
//
// What matters about a fault is whether the target has seen the request, because that is what a client cannot
// know when an answer is missing:
//
//	kind                the target sees it   the caller gets
//	None                yes                  the answer
//	Latency             yes                  the answer, Delay later
//	LostAnswer          yes                  a reset connection, before the first byte
//	ResetAfterHeaders   yes                  status and headers, then a reset connection
//	CutMidBody          yes                  status, headers and half of the body, then an orderly end
//	Stall               yes                  nothing, until it goes away
//	Reset               no                   a reset connection, before the first byte
//
// An answer that is whole, but not the one that was due, such as a 503, is no fault of a network: the sandbox
// gives these when it is asked to fail.
//
// A client on net/http sends a GET once more by itself when a connection that it has used before is reset
// before the first byte. The proxy counts, and decides on, both of them.
package faultproxy
