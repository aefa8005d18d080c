package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// serverFile is an environment variable. It makes this program the server that is killed, and is
// the file of its database.
const serverFile = "SANDBOX_TEST_SERVER_FILE"

// The test decides what falls due, whatever the speed of the machine.
const (
	serverDelay = time.Hour
	serverKey   = "control"
)

func TestKill_EveryItemIsDoneOnce(t *testing.T) {
	if file := os.Getenv(serverFile); file != "" {
		serveUntilKilled(t, file)
		return
	}
	const batches, each = 100, 100
	file := tempFile(t)
	v := startServer(t, file)
	var ids []string
	for n := range batches {
		ids = append(ids, v.submit(n, each))
		if n == batches/3 || n == batches/2 { // while batches are submitted
			v = v.killAndStart(file)
		}
	}
	const portion = batches * each / 10 // falls due at once
	within := 0
	for n, advance := range append([]time.Duration{2 * serverDelay}, slices.Repeat([]time.Duration{serverDelay / 10}, 9)...) {
		var advancing sync.WaitGroup
		advancing.Go(func() { v.advance(advance) })
		if v.progress(n*portion+1) < (n+1)*portion {
			within++
		}
		v.kill()
		advancing.Wait()
		v = startServer(t, file)
		v.progress((n + 1) * portion)
	}

	listings := map[string]bool{}
	for _, id := range ids {
		b := v.completed(id)
		assert.Equal(t, map[string]int{"queued": 0, "in_progress": 0, "completed": each, "failed": 0}, b.ItemStatuses)
		for _, item := range v.items(id) {
			assert.Equal(t, "COMPLETED", item.Status)
			assert.False(t, listings[item.Result.ListingID],
				"listing %s was made by two items", item.Result.ListingID)
			listings[item.Result.ListingID] = true
		}
	}
	assert.Len(t, listings, batches*each, "every item made a listing")
	found := v.listings()
	assert.Len(t, found, batches*each, "no other listing was made")
	for _, id := range found {
		assert.True(t, listings[id], "listing %s belongs to no item", id)
		delete(listings, id)
	}
	assert.Empty(t, listings, "no listing is listed twice")
	t.Logf("killed 12 times, %d of them in the middle of a portion", within)
}

// serveUntilKilled runs in the other process. It ends, too, when this one does, which closes its
// standard input.
func serveUntilKilled(t *testing.T, file string) {
	s, err := sandbox.New(sandbox.Options{DB: file, Delay: serverDelay, ControlKey: serverKey})
	require.NoError(t, err)
	defer s.Close()
	srv := httptest.NewServer(s)
	defer srv.Close()
	fmt.Println(addressPrefix + srv.URL)
	_, err = io.Copy(io.Discard, os.Stdin)
	require.NoError(t, err)
}

// addressPrefix precedes the address of the server in its output.
const addressPrefix = "address: "

// server is a process that serves a sandbox until it is killed.
type server struct {
	t    *testing.T
	url  string
	http *http.Client
	kill func()
}

func startServer(t *testing.T, file string) *server {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	c := exec.CommandContext(context.WithoutCancel(t.Context()), program, "-test.run", "^"+t.Name()+"$", "-test.timeout", "5m")
	c.Env = append(os.Environ(), serverFile+"="+file)
	c.Stderr = os.Stderr
	_, err = c.StdinPipe() // closed when one of the processes ends
	require.NoError(t, err)
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	v := &server{t: t, http: &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}}
	killed := false
	v.kill = func() {
		if killed {
			return
		}
		killed = true
		assert.NoError(t, c.Process.Kill())
		assert.Error(t, c.Wait(), "it was killed")
		v.http.CloseIdleConnections()
	}
	t.Cleanup(v.kill)
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), addressPrefix); ok {
			v.url = address + sandbox.BasePath
			return v
		}
	}
	require.Fail(t, "the other process did not start")
	return nil
}

func (v *server) killAndStart(file string) *server {
	v.t.Helper()
	v.kill()
	return startServer(v.t, file)
}

// call makes a request that must succeed.
func (v *server) call(method, path, body string, into any) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.url+path, strings.NewReader(body))
	require.NoError(v.t, err)
	r.Header.Set("Authorization", "Bearer "+sandbox.DefaultToken)
	r.Header.Set("x-api-key", sandbox.DefaultAPIKey)
	r.Header.Set("Content-Type", "application/json")
	resp, err := v.http.Do(r)
	require.NoError(v.t, err)
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	require.NoError(v.t, err)
	require.Equal(v.t, http.StatusOK, resp.StatusCode, "%s", content)
	require.NoError(v.t, json.Unmarshal(content, into))
}

func (v *server) submit(n, items int) (batchID string) {
	v.t.Helper()
	var b struct{ BatchID string }
	v.call(http.MethodPost, "/selling/batch/create-listing",
		fmt.Sprintf(`{"items":[{"variantId":%q,"amount":"%d","quantity":%d}]}`, chicago(v.t), 100+n, items), &b)
	return b.BatchID
}

// advance moves the clock of a server, which may be killed before it responds.
func (v *server) advance(d time.Duration) {
	url := strings.TrimSuffix(v.url, sandbox.BasePath) + sandbox.ControlPath + "/clock"
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, url, strings.NewReader(fmt.Sprintf(`{"advance":%q}`, d)))
	assert.NoError(v.t, err)
	r.Header.Set("x-sandbox-key", serverKey)
	if resp, err := v.http.Do(r); err == nil {
		assert.Equal(v.t, http.StatusOK, resp.StatusCode)
		_ = resp.Body.Close()
	}
}

// progress polls until there are that many listings.
func (v *server) progress(listings int) int {
	v.t.Helper()
	var page struct{ Count int }
	for page.Count < listings {
		v.call(http.MethodGet, "/selling/listings?pageSize=1", "", &page)
	}
	return page.Count
}

type batchProgress struct {
	Status       string
	CompletedAt  *time.Time
	ItemStatuses map[string]int `json:"itemStatuses"`
}

// completed polls until a batch is completed.
func (v *server) completed(id string) (b batchProgress) {
	v.t.Helper()
	for b.CompletedAt == nil {
		v.call(http.MethodGet, "/selling/batch/create-listing/"+id, "", &b)
	}
	assert.Equal(v.t, "COMPLETED", b.Status)
	return b
}

type batchItem struct {
	Status string
	Result struct{ ListingID string }
}

func (v *server) items(id string) []batchItem {
	v.t.Helper()
	var resp struct{ Items []batchItem }
	v.call(http.MethodGet, "/selling/batch/create-listing/"+id+"/items", "", &resp)
	return resp.Items
}

// listings reads the ids of all listings, page by page.
func (v *server) listings() (ids []string) {
	v.t.Helper()
	for number, more := 1, true; more; number++ {
		var page struct {
			Listings    []struct{ ListingID string }
			HasNextPage bool
		}
		v.call(http.MethodGet, fmt.Sprintf("/selling/listings?pageSize=100&pageNumber=%d", number), "", &page)
		for _, l := range page.Listings {
			ids = append(ids, l.ListingID)
		}
		more = page.HasNextPage
	}
	return ids
}
