// Package client sells on a bid/ask resale marketplace: listings, batches of listings, orders, the
// product catalog and market data.
//
//	c, err := client.New(
//		client.WithBaseURL("https://api.example.com/v2"),
//		client.WithAPIKey(os.Getenv("SELLSIDE_API_KEY")),
//		client.WithToken(os.Getenv("SELLSIDE_TOKEN")))
//	batch, err := c.Batches.Create(ctx, []gen.CreateItem{{VariantID: id, Amount: "162", Quantity: 2}})
//	save(batch.ID()) // before waiting: a batch whose id is lost is hard to find
//	items, err := batch.Wait(ctx)
//
// [FromEnv] takes the service and the credentials from the environment.
//
// Every method takes a context, returns (T, error), and checks its input before any I/O. Lists are
// iterators that request a page when the loop reaches it, and whose memory does not grow with the
// list. Writes are asynchronous in the service: they return a handle, and the handle's Wait returns
// when the service has finished. The source of each rule (documented, public or assumed) is recorded
// as x-provenance in api/openapi.yaml.
//
// # One call
//
// What is different for one call is in its context. The functions can be combined, and a context can
// be used for several calls; those of a list or a wait count as well.
//
//	context.WithTimeout                   the whole call
//	WithAttemptTimeout, WithoutRetry      its attempts
//	WithHeader                            another header; never credentials
//	WithNotAfter, WithSendCheck           not sent, and why
//	WithItemCount                         the size of a batch through Raw
//	WithResponseInfo                      request id, headers, attempts and quota, also of a success
//
// [OperationFromContext] returns the operation of a call: in middleware, in the transport, and in the
// function of [WithObserver]. [WithDump] shows what is sent and received.
//
// # Fewest requests
//
// At one request a second, loops over many things need care. These state what they cost:
//
//	Orders.Watch        new and changed orders and labels, resumed from a saved mark: 2 a round and more
//	Catalog.ListPrices  the market of many variants: 1 for each product, own asks marked
//	WaitBatches         several batches: the polls of one wait, and 1 for each batch
//
// # Retries
//
// A write is repeated only when the service cannot have applied it. There is no idempotency key: a
// POST that timed out has often been applied, and sending it again creates a second listing.
//
//	what happened                                     read (GET)            write (POST, PUT, PATCH, DELETE)
//	dial or TLS failed, or proof that it was not sent retry                 retry
//	reset, EOF, GOAWAY, timeout after it may be sent  retry                 no: ErrOutcomeUnknown
//	429                                               retry, twice          the same: it was refused
//	408, 5xx (but 501, 505)                           retry                 no: APIError, also ErrOutcomeUnknown
//	401                                               once, with a token that is new, if the source has one
//	3xx to the same scheme, host and port             followed, 5 at most   no: APIError, also ErrOutcomeUnknown
//	any other 3xx                                     no                    no: APIError, also ErrOutcomeUnknown
//	other 4xx                                         no                    no
//	2xx with an incomplete body                       retry                 no: DecodeError, also ErrOutcomeUnknown
//	2xx whose body is not the response                no: DecodeError       no: DecodeError, also ErrOutcomeUnknown
//	ctx ended before writing                          ctx's error           ctx's error
//	ctx ended after writing                           ctx's error           ctx's error, also ErrOutcomeUnknown
//
// A request was provably not sent if it got no connection or, over HTTP/1, if its headers were not
// written. net/http repeats some requests without being asked; this client prevents that by ending
// the attempt when net/http gets a second connection for it, so every request is counted and only
// this table retries.
//
// Pauses grow exponentially with jitter, or are as long as Retry-After requests. If a pause would
// outlast [RetryPolicy].MaxRetryAfter or ctx's deadline, the call returns the response at once. A
// 429 starts a cooldown for every goroutine of the client: for as long as the service requested, up
// to a day, and without a Retry-After longer with each consecutive 429. Without a deadline a call
// spends at most 30 minutes on attempts, pauses and cooldowns; waiting for its own quota is not
// counted.
//
// A client has a budget of 20 retries, one of which is restored every second. A call that ends with
// a final response returns the retries it used. When the budget is spent, a call returns its last
// error. If the next attempt cannot be sent, because ctx ends, the cooldown or the quota outlasts
// ctx's deadline, or there is no token, the call returns its last error joined with that reason.
//
// A write of unknown outcome is settled by reading, with package recovery: a create batch by its
// listings, if it was made as a Submission and saved before it was sent, and other writes by the
// operations that they leave on the listing. A listing that [Listings.Create] may have created has
// no id to look up; create it as a Submission of one item.
//
// # Rate limits
//
// Every request acquires a place in the quota before it is sent: [quota.Public], unless [WithQuota]
// or [WithLimiter] sets another. A service counts requests when they arrive, so a place is occupied
// until the first byte of the response, or for 2 s after the request was written if none comes, and
// counts for one more window. A window's places are therefore available once per window plus one
// round trip: with 1 request per second and a round trip of 100 ms, one every 1.1 s. A request that
// takes longer than 2 s to arrive may be rate limited. A request that was not sent is not charged;
// a request that was refused with 429 is not charged for its items.
//
// A quota belongs to an account: clients that are given one [quota.Limiter] share it, and nothing
// is shared otherwise. A call waits for its place as long as its ctx allows; no other limit of the
// client applies. [EventWait] reports the wait when it begins and every minute;
// [Client.RemainingQuota] reports how much is left.
//
// # Responses
//
// A status of 200 alone proves nothing: gateways use it for throttling and block pages. A body that
// does not satisfy these rules is a [DecodeError]:
//
//	page of a list, items of a batch or an ingestion  has its array; its elements may lack any member
//	end of a list                                     hasNextPage is a boolean, null or missing; nextCursor, a string
//	                                                  or null, is missing only on an empty page
//	listing, order, product, variant, batch           has its id, and it is the requested one, ignoring case
//	operation                                         has its own id and that of its listing
//	market data, addresses of shipping documents      has one known member; a variantId is the requested one
//	shipping document                                 is a PDF
//	every body                                        16 MiB, 50,000 elements in its arrays
//
// Other members that are missing, null or of the wrong kind are left zero. Members of the wrong
// kind are reported as [EventDecodeWarning].
//
// A broken response does not lose the id of what a write started: if the received part contains the
// complete id, [Batches.Create], [Batches.Update], [Batches.Delete], the writes of [Listings] and
// [Catalog.Ingest] return both the handle and the error. Save the id, and wait on the handle to
// learn the outcome of the write.
//
// [Batch.Wait] and [Operation.Wait] succeed only if everything that was submitted did.
// [ErrPagingStuck] ends a list that promises more pages but sends the same page again, or three
// pages in a row without a new entry.
//
// # Errors
//
//	ErrBadRequest, ErrUnauthorized, ErrForbidden,     the status of an *APIError
//	ErrNotFound, ErrConflict, ErrRateLimited, ErrServer
//	ErrOutcomeUnknown                                 a write that may have been applied; never resend it blindly
//	ErrInvalidArgument, ErrTooManyItems               an *ArgumentError: refused before any I/O
//	ErrPagingStuck                                    a list that promises more but has nothing new
//	*TransportError                                   no response, or not sent; Is the ctx's error if that is why
//	*DecodeError                                      a success whose body is not the response; part of it is kept
//	*token.Error, *quota.Error, *ThrottledError       not sent; for a retry, joined with the last attempt's error
//	*SendCheckError                                   the same, because of WithNotAfter or WithSendCheck
//	token.ErrExpired, ErrRefused, ErrReauthRequired   a *token.Error that a later call gets too: see each of them
//	ErrClosed                                         not sent, or not again, because the client is closed
//	*WaitError                                        a wait ended early; the last snapshot is kept
//	*OperationError, *BatchError                      it is done, and it failed, or items failed or are not known
//
// No error, log line or event contains the API key or a token.
//
// # Concurrency
//
// A [Client], its services and the handles [Batch] and [Operation] are safe for concurrent use. No
// goroutine outlives the call that started it, with two exceptions: the refresh of a token source
// of package token, which its Close waits for, and the goroutine that asks a token source without
// contexts, which ends when the source returns. [Client.Close] ends the client.
package client
