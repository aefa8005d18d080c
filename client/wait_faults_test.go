package client_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestAWaitOutlivesWhatMayPass(t *testing.T) {
	tests := map[string]struct {
		fault pollAnswer
		ends  error // The wait ends with it; nil if it goes on.
	}{
		"a gateway that fails":           {pollAnswer{status: 503, body: "<html>"}, nil},
		"a service that fails":           {pollAnswer{status: 500}, nil},
		"a connection that breaks":       {pollAnswer{}, nil},
		"an answer that is none":         {pollAnswer{status: 200, body: "<html>"}, nil},
		"an answer that says nothing":    {pollAnswer{status: 200, body: "{}"}, nil},
		"too many requests":              {pollAnswer{status: 429}, nil},
		"a request that took too long":   {pollAnswer{status: 408}, nil},
		"a gateway's own failure":        {pollAnswer{status: 524}, nil},
		"a service that lacks it":        {pollAnswer{status: 501}, client.ErrServer},
		"a protocol that it lacks":       {pollAnswer{status: 505}, client.ErrServer},
		"an answer beyond 16 MiB":        {pollAnswer{status: 200, body: strings.Repeat(" ", 16<<20+1)}, client.ErrBodyTooLarge},
		"an id that nobody knows":        {pollAnswer{status: 404}, client.ErrNotFound},
		"a token that has expired":       {pollAnswer{status: 401}, client.ErrUnauthorized},
		"an account that may not":        {pollAnswer{status: 403}, client.ErrForbidden},
		"a request that makes no sense ": {pollAnswer{status: 400}, client.ErrBadRequest},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			answer := func(w waitable, poll int) pollAnswer {
				if poll == 2 || poll == 3 {
					return test.fault
				}
				return pollAnswer{status: 200, body: map[int]string{1: w.pending, 4: w.done}[poll]}
			}
			for _, w := range waitables() {
				t.Run(w.kind, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						service, c := w.serve(t, answer)
						err := w.wait(t.Context(), c)

						if test.ends == nil {
							require.NoError(t, err)
							assert.Len(t, service.times, 4)
							return
						}
						ended := &client.WaitError{}
						require.ErrorAs(t, err, &ended)
						require.ErrorIs(t, err, test.ends)
						require.NotErrorIs(t, err, context.DeadlineExceeded)
						assert.Len(t, service.times, 2, "it is not asked again")
						assert.NotEmpty(t, w.last(ended), "the last snapshot is kept")
					})
				})
			}
		})
	}
}

func TestAWaitPollsNoEarlierThanItIsAskedTo(t *testing.T) {
	for name, status := range map[string]int{"on an answer": 200, "on a refusal": 429, "on a failure": 503} {
		t.Run(name, func(t *testing.T) {
			answer := func(w waitable, poll int) pollAnswer {
				if poll == 1 {
					return pollAnswer{status: status, retryAfter: "20", body: w.pending}
				}
				return pollAnswer{status: 200, body: w.done}
			}
			for _, w := range waitables() {
				t.Run(w.kind, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						service, c := w.serve(t, answer)
						require.NoError(t, w.wait(t.Context(), c))

						require.Len(t, service.times, 2)
						assert.GreaterOrEqual(t, service.times[1], 20*time.Second)
						assert.Less(t, service.times[1], 30*time.Second)
					})
				})
			}
		})
	}
}

func TestAWaitThatWasEndedCanBeTakenUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpGetCreateListingsBatch).Times(2).Respond(200, batchAnswer("IN_PROGRESS", false, 2, `{"completed":1}`))
		b := srv.Client().Batches.ResumeCreate(batchID)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(1500*time.Millisecond, cancel)

		_, err := b.Wait(ctx)

		require.ErrorIs(t, err, context.Canceled)
		assert.Contains(t, err.Error(), "IN_PROGRESS, 1 of 2 items done")
		srv.Expect(gen.OpGetCreateListingsBatch).Respond(200, batchAnswer("COMPLETED", true, 2, `{"completed":2}`))
		srv.Expect(gen.OpListCreateListingsBatchItems).Respond(200, itemAnswer("COMPLETED", "COMPLETED"))
		require.NoError(t, failure(b.Wait(t.Context())))
	})
}

func TestABatchEndsWhenItIsCompletedByEitherSign(t *testing.T) {
	for name, last := range map[string]string{
		"completedAt, whatever the status is called": batchAnswer("WRAPPED_UP", true, 1, `{}`),
		"the status, when completedAt is missing":    batchAnswer("COMPLETED", false, 1, `{}`),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				srv.Expect(gen.OpGetCreateListingsBatch).Respond(200, last)
				srv.Expect(gen.OpListCreateListingsBatchItems).Respond(200, itemAnswer("COMPLETED"))

				require.NoError(t, failure(srv.Client().Batches.ResumeCreate(batchID).Wait(t.Context())))
			})
		})
	}
}

func TestManyWhoWaitForABatchPollNoMoreThanOne(t *testing.T) {
	tests := map[string]struct {
		answers []pollAnswer // Before the last one.
		least   time.Duration
	}{
		"while it goes on":                {[]pollAnswer{{status: 200}, {status: 200}, {status: 200}, {status: 200}}, 7300 * time.Millisecond},
		"while the service fails":         {[]pollAnswer{{status: 503}, {}, {status: 503}, {status: 503}}, 7300 * time.Millisecond},
		"while they are asked to be slow": {[]pollAnswer{{status: 200, retryAfter: "30"}, {status: 200, retryAfter: "30"}}, time.Minute},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &polling{start: time.Now(), answer: func(poll int) pollAnswer {
					if poll > len(test.answers) {
						return pollAnswer{status: 200, body: batchAnswer("COMPLETED", true, 1, `{}`)}
					}
					a := test.answers[poll-1]
					a.body = batchAnswer("IN_PROGRESS", false, 1, `{}`)
					return a
				}}
				b := service.client(t).Batches.ResumeCreate(batchID)
				var all sync.WaitGroup
				for range 20 {
					all.Go(func() { assert.NoError(t, failure(b.Wait(t.Context()))) })
				}
				all.Wait()

				require.Len(t, service.times, len(test.answers)+1)
				assert.GreaterOrEqual(t, service.times[len(test.answers)], test.least, "one alone would not have asked sooner")
			})
		})
	}
}

func TestAWaitOutlivesATokenEndpointThatFails(t *testing.T) {
	for name, test := range map[string]struct {
		why  error
		ends bool
	}{
		"that is down":                         {errors.New("the token endpoint answered 503"), false},
		"that answers with a failure":          {&oauth2.RetrieveError{ErrorCode: "temporarily_unavailable"}, false},
		"but not a refresh token that it bars": {&oauth2.RetrieveError{ErrorCode: "invalid_grant"}, true},
		"nor a client that it bars":            {&oauth2.RetrieveError{ErrorCode: "invalid_client"}, true},
		"but not a static token that ends":     {token.ErrExpired, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, w := range waitables() {
				t.Run(w.kind, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						service, _ := w.serve(t, func(w waitable, poll int) pollAnswer {
							return pollAnswer{status: 200, body: map[bool]string{true: w.pending, false: w.done}[poll == 1]}
						})
						asked := 0
						c := service.client(t, client.WithTokenSource(sourceFunc(func() (*oauth2.Token, error) {
							if asked++; asked == 2 || asked == 3 {
								return nil, test.why
							}
							return &oauth2.Token{AccessToken: "token"}, nil
						})))

						err := w.wait(t.Context(), c)

						if !test.ends {
							require.NoError(t, err)
							assert.Len(t, service.times, 2, "nothing was sent meanwhile")
							return
						}
						require.True(t, isA[*client.WaitError](err))
						require.True(t, isA[*token.Error](err))
						assert.Equal(t, 2, asked, "no time helps")
					})
				})
			}
		})
	}
}

func TestANewWaitKnowsNothingOfAFailureBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &polling{start: time.Now(), answer: func(poll int) pollAnswer {
			if poll == 1 {
				return pollAnswer{status: 503, retryAfter: "600"}
			}
			return pollAnswer{status: 200, body: batchAnswer("COMPLETED", true, 1, `{}`)}
		}}
		b := service.client(t).Batches.ResumeCreate(batchID)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		require.ErrorIs(t, failure(b.Wait(ctx)), context.Canceled)

		hurried, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		require.NoError(t, failure(b.Wait(hurried)), "it asks for itself")
		assert.Equal(t, []time.Duration{0, time.Second}, service.times, "and at once")
	})
}

func TestWhoWaitsSharesTheFailuresOfOthersSinceItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &polling{start: time.Now(), answer: func(poll int) pollAnswer {
			if poll <= 2 {
				return pollAnswer{status: 503, retryAfter: "20"}
			}
			return pollAnswer{status: 200, body: batchAnswer("COMPLETED", true, 1, `{}`)}
		}}
		b := service.client(t).Batches.ResumeCreate(batchID)
		var all sync.WaitGroup
		all.Go(func() { assert.NoError(t, failure(b.Wait(t.Context()))) })
		<-time.After(5 * time.Second)
		all.Go(func() { assert.NoError(t, failure(b.Wait(t.Context()))) }) // which asks at 5 s and is told to wait as well
		all.Wait()
		require.Len(t, service.times, 3)
		assert.Equal(t, []time.Duration{0, 5 * time.Second}, service.times[:2])
	})
}
