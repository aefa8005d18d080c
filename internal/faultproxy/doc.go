// Package faultproxy breaks HTTP on purpose: a proxy on a loopback socket that decides for each request whether
// it is delivered and what arrives of its answer.
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
//	Replaced            yes                  Status instead of the answer, with Retry-After if one is set
//	Reset               no                   a reset connection, before the first byte
//	Answer              no                   Status, with Retry-After if one is set
//
// A client on net/http sends a GET once more by itself when a connection that it has used before is reset
// before the first byte. The proxy counts, and decides on, both of them.
package faultproxy
