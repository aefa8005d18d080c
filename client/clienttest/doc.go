// Package clienttest is a scripted server for tests of programs that use package client. A test
// writes down which requests the program must send and how the service responds to each.
//
//	func TestRepricer_FollowsTheMarket(t *testing.T) {
//		srv := clienttest.New(t)
//		srv.Expect(gen.OpGetVariantMarketData).
//			Path("variantId", "8f4d2c4e").
//			Query("currencyCode", "USD").
//			Respond(200, gen.MarketData{LowestAskAmount: "171"})
//		srv.Expect(gen.OpUpdateListing).
//			BodyJSON(`{"amount":"170"}`).
//			RespondExample()
//
//		err := repricer.New(srv.Client()).Run(t.Context())
//
//		require.NoError(t, err)
//	}
//
// # What fails the test
//
//   - a request without an expectation; the response is 501
//   - an expectation without its request when the test ends; the error has the line of the Expect
//   - a request that breaks the spec: a missing credential, a body that does not match its schema,
//     or a parameter that is unknown, out of bounds or sent twice
//   - a response that breaks the spec, when it is scripted: a status that the operation does not
//     declare (its default error covers every status from 400 on), or a body that does not match
//     its schema
//   - a request that does not meet its expectation: Query, NoQuery, BodyJSON or Check
//
// Both directions are checked, so a test that passes has used the service as it is documented. Use
// [Expectation.Raw] for responses that the service should never send, and [Expectation.Disconnect]
// for broken connections; both need a reason.
//
// # Order
//
// Expectations of one operation are met in the order of the script, or in the order for each
// resource if they have a [Expectation.Path]. There is no order between operations, so concurrent
// calls can be tested. [Server.Requests] returns the requests so far, for assertions afterwards.
//
// # Time
//
// Test waiting and retrying in a bubble of testing/synctest, where [Expectation.Delay] and the
// pauses between retries take no real time. A bubble cannot wait for a socket: make the server
// inside the bubble with [InProcess].
package clienttest
