package sandbox_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestManyClientsAtOnceLoseNothing(t *testing.T) {
	for name, file := range map[string]string{"in memory": "", "in a file": tempFile(t)} {
		t.Run(name, func(t *testing.T) {
			m := open(t, inBackground, inFile(file), func(o *sandbox.Options) { o.Delay = -1 })
			const clients, each = 8, 10
			var wg sync.WaitGroup
			for range clients {
				wg.Go(func() {
					for range each {
						a := m.call(http.MethodPost, "/selling/listings", map[string]any{"variantId": chicago(t), "amount": "200"})
						assert.Equal(t, http.StatusCreated, a.status)
						assert.Equal(t, http.StatusOK, m.call(http.MethodGet, "/selling/listings?pageSize=5", nil).status)
					}
				})
			}
			wg.Wait()
			require.NoError(t, m.Work(t.Context()))
			a := m.get("/selling/listings?listingStatuses=ACTIVE&pageSize=100")
			assert.Equal(t, clients*each, a.len("listings"))
		})
	}
}
