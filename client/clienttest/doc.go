// Package clienttest plays the service in tests, by a script that the test writes: which requests are to come,
// and what each is answered.
//
//	func TestRepricerFollowsTheMarket(t *testing.T) {
//		srv := clienttest.New(t)
//		srv.Expect(gen.OpGetVariantMarketData).
//			Path("variantId", "8f4d2c4e").
//			Query("currencyCode", "USD").
//			Answer(200, gen.MarketData{LowestAskAmount: "171"})
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
//   - a request that no expectation is left for; it is answered 501
//   - an expectation that is left over when the test ends, named with its line
//   - a request that breaks the spec: a missing credential, a parameter that is unknown, sent twice or out of
//     bounds, a body that does not fit
//   - an answer that breaks the spec, at the line that scripts it: a status that the operation does not
//     declare (its default error covers every status from 400 on), a body that does not fit its schema
//   - a demand of the expectation that does not hold: Query, NoQuery, BodyJSON, or what Check reports
//
// So a test that passes has talked the service's language in both directions. How a program takes answers
// that the service should never send is tested with [Expectation.Raw], which skips the check and wants a
// reason, and with [Expectation.Disconnect].
//
// # Order
//
// Requests are answered in the script's order within one operation, and within one resource where
// [Expectation.Path] names it. Between operations there is no order, so concurrent calls can be tested.
// [Server.Requests] returns what came, for assertions afterwards.
//
// # Time
//
// A test of waiting and retrying runs in a testing/synctest bubble, where [Expectation.Delay] and backoff take
// no real time. Sockets do not work there: make the server inside the bubble with [InProcess].
package clienttest
