// Package client sells on a bid/ask resale marketplace: listings, batches of them, orders, the product
// catalog and market data.
//
//	c, err := client.New(
//		client.WithBaseURL("https://api.example.com/v2"),
//		client.WithAPIKey(os.Getenv("SELLSIDE_API_KEY")),
//		client.WithToken(os.Getenv("SELLSIDE_TOKEN")))
//	batch, err := c.Batches.Create(ctx, []gen.CreateItem{{VariantID: id, Amount: "162", Quantity: 2}})
//	save(batch.ID()) // before waiting: a batch whose id is lost is hard to find
//	items, err := batch.Wait(ctx)
//
// Every method takes a context, returns (T, error), and checks its input before any I/O. Lists are iterators
// that ask for a page when the loop reaches it. Writes are asynchronous on the service's side: they return a
// handle whose Wait follows them to their end. Where a rule comes from, the documentation says: documented,
// public or assumed, as in the x-provenance of api/openapi.yaml.
//
// # Retries
//
// A write is repeated only when the service cannot have applied it. There is no idempotency key: a POST that
// timed out has often landed, and sending it again makes a second listing.
//
//	what happened                                     read (GET)            write (POST, PUT, PATCH, DELETE)
//	dial or TLS failed, or proof that it was not sent retry                 retry
//	reset, EOF, GOAWAY or attempt timeout after that  retry                 no: ErrOutcomeUnknown
//	429                                               retry, twice          the same: it was refused
//	408, 5xx (but 501, 505)                           retry                 no: APIError, also ErrOutcomeUnknown
//	401                                               once, with a token that is new, if the source has one
//	3xx to the same scheme, host and port             followed, 5 at most   no: APIError, also ErrOutcomeUnknown
//	any other 3xx                                     no                    no: APIError, also ErrOutcomeUnknown
//	other 4xx                                         no                    no
//	2xx whose body broke off                          retry                 no: DecodeError, also ErrOutcomeUnknown
//	2xx whose body is not the response                no: DecodeError       no: DecodeError, also ErrOutcomeUnknown
//	ctx ended before writing                          ctx's error           ctx's error
//	ctx ended after writing                           ctx's error           ctx's error, also ErrOutcomeUnknown
//
// Proof that a request was not sent is that no connection was got for it, or, over HTTP/1, that its headers were not
// written. net/http repeats some requests by itself; here it does not: an attempt ends when net/http wants another
// connection for it, so that every request is counted and is retried by this table only.
//
// Pauses grow exponentially with jitter, or are what Retry-After asks for; one that would outlast
// [RetryPolicy].MaxRetryAfter or ctx's deadline is not waited for, and the response is returned at once. A 429
// starts a cooldown for every goroutine of the client: for as long as the service asked, up to a day, or for longer with
// every one in a row. Without a deadline a call spends at most 30 minutes on attempts, pauses and cooldowns; waiting for
// its own quota is not counted. A
// client has a budget of 20 retries: a call that ends with an answer that nobody would repeat gives back what it took,
// and one comes back a second; when it is spent, the last answer is returned. So it is, joined with the reason, when
// the next attempt is not sent: ctx ends, or a 429 or the quota holds it back beyond ctx's deadline, or it has no token.
//
// A write of unknown outcome is settled by reading, with package recovery: a create batch by its
// listings, if it was made as an attempt and saved before it was sent, and every write to listings
// by the operations that it leaves on them. A listing that [Listings.Create] may have created has
// no id to ask by; create it as an attempt of one item.
//
// # Rate limits
//
// Every request gets a place in the quota before it is sent: [PublicQuota], unless [WithQuota] or [WithLimiter] says
// otherwise. A service counts requests when they arrive, so a place is held until the first byte of the response, or for
// 2 s after the request was written if none comes, and counts for one window more. A window therefore passes its places
// once in its length plus one round trip: with 1 request per second and a round trip of 100 ms, one every 1.1 s. A
// request that takes longer than 2 s to arrive may earn one 429. What was not sent is not charged, and what was refused
// with 429 is not charged for its items.
//
// A quota is an account's: clients that are given one [Limiter] share it, and nothing is shared otherwise. A call waits
// for its place as long as its ctx allows, which no other bound of the client limits. [EventWait] reports the wait when
// it begins and every minute; [Client.RemainingQuota] says how much is left.
//
// # Responses
//
// A status of 200 alone proves nothing: gateways throttle and block under it. Every body is held to this, and all else
// is a [DecodeError]:
//
//	page of a list, items of a batch or an ingestion  has its array; its elements may lack anything
//	end of a list                                     hasNextPage is a boolean, null or missing; nextCursor, a string
//	                                                  or null, is missing only on an empty page
//	listing, order, product, variant, batch           has its id, which is the one that was asked for, whatever its case
//	operation                                         has its own id and that of its listing
//	market data, addresses of shipping documents      has one known member; a variantId is the one that was asked for
//	shipping document                                 is a PDF
//	every body                                        16 MiB, 50,000 elements in its arrays
//
// Other members that are missing, null or of the wrong kind are left zero; the latter are reported as [EventDecodeWarning].
//
// The id of what a write started is not lost with a response that is broken: if the part that came still shows it whole,
// [Batches.Create], [Batches.Update], [Batches.Delete], the writes of [Listings] and [Catalog.Ingest] return the handle
// and the error, both. Save the id, and wait for the handle to see what became of the write.
//
// [Batch.Wait] and [Operation.Wait] succeed only if all that was submitted did. [ErrPagingStuck] ends a list that sends
// the same page again, or three pages in a row without anything new, while it promises more.
//
// # Errors
//
//	ErrBadRequest, ErrUnauthorized, ErrForbidden,     the status of an *APIError
//	ErrNotFound, ErrConflict, ErrRateLimited, ErrServer
//	ErrOutcomeUnknown                                 a write that may have been applied; never resend it blindly
//	ErrInvalidArgument, ErrTooManyItems               an *ArgumentError: refused before any I/O
//	ErrPagingStuck                                    a list that promises more but has nothing new
//	*TransportError                                   no response came, or not sent; Is the ctx's error if that is why
//	*DecodeError                                      it succeeded, but the body is not the response; a part of it is kept
//	*TokenError, *QuotaError, *ThrottledError         not sent; if not again, the last answer's error is there too
//	ErrTokenExpired, ErrTokenRefused, ErrReauthRequired  a *TokenError that no time cures: see each of them
//	ErrClosed                                         not sent, or not again, because the client is closed
//	*WaitError                                        a wait ended first; the last snapshot is kept
//	*OperationError, *BatchError                      it is done, and it failed, or items failed or are not known
//
// No error, log line or event holds the API key or a token.
//
// # Concurrency
//
// A [Client], its services and the handles [Batch] and [Operation] are safe for concurrent use. No goroutine
// outlives the call that started it, but for the refresh of a [RefreshTokenSource], which its Close waits for, and for
// one that asks a token source which takes no context; it ends when the source returns. [Client.Close] ends the client.
package client
