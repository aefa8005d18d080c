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

// fileOfVictim is the variable that tells a process that it is the one to be
// killed, and which file it serves until then.
const fileOfVictim = "SANDBOX_TEST_FILE_OF_VICTIM"

// What falls due is up to the test, however fast the machine is.
const (
	delayOfVictim   = time.Hour
	controlOfVictim = "control"
)

func TestEveryItemIsDoneOnceHoweverOftenTheProcessIsKilled(t *testing.T) {
	if file := os.Getenv(fileOfVictim); file != "" {
		serveUntilKilled(t, file)
		return
	}
	const batches, each = 100, 100
	file := tempFile(t)
	v := startVictim(t, file)
	var ids []string
	for n := range batches {
		ids = append(ids, v.submit(n, each))
		if n == batches/3 || n == batches/2 { // what was answered is to be done, and nothing was lost that was not
			v = v.killAndStart(file)
		}
	}
	const portion = batches * each / 10 // falls due at a time
	within := 0
	for n, advance := range append([]time.Duration{2 * delayOfVictim}, slices.Repeat([]time.Duration{delayOfVictim / 10}, 9)...) {
		var advancing sync.WaitGroup
		advancing.Go(func() { v.advance(advance) })
		if v.progress(n*portion+1) < (n+1)*portion {
			within++
		}
		v.kill()
		advancing.Wait()
		v = startVictim(t, file)
		v.progress((n + 1) * portion)
	}

	listings := map[string]bool{}
	for _, id := range ids {
		b := v.completed(id)
		assert.Equal(t, map[string]int{"queued": 0, "in_progress": 0, "completed": each, "failed": 0}, b.ItemStatuses)
		for _, item := range v.items(id) {
			assert.Equal(t, "COMPLETED", item.Status)
			assert.False(t, listings[item.Result.ListingID], "listing %s was made by two items", item.Result.ListingID)
			listings[item.Result.ListingID] = true
		}
	}
	assert.Len(t, listings, batches*each, "every item made a listing")
	found := v.listings()
	assert.Len(t, found, batches*each, "and nothing else did")
	for _, id := range found {
		assert.True(t, listings[id], "listing %s belongs to no item", id)
		delete(listings, id)
	}
	assert.Empty(t, listings, "no listing is listed twice")
	t.Logf("killed 12 times, %d of them in the middle of a portion", within)
}

// serveUntilKilled is what the other process does. It also ends with the test
// that started it, which holds its standard input open.
func serveUntilKilled(t *testing.T, file string) {
	s, err := sandbox.New(sandbox.Options{DB: file, Delay: delayOfVictim, ControlKey: controlOfVictim})
	require.NoError(t, err)
	defer s.Close()
	srv := httptest.NewServer(s)
	defer srv.Close()
	fmt.Println(addressIs + srv.URL)
	_, err = io.Copy(io.Discard, os.Stdin)
	require.NoError(t, err)
}

// addressIs comes before the address of a victim.
const addressIs = "victim: "

// victim is a process that serves a sandbox and will be killed.
type victim struct {
	t    *testing.T
	url  string
	http *http.Client
	kill func()
}

func startVictim(t *testing.T, file string) *victim {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	c := exec.CommandContext(context.WithoutCancel(t.Context()), program, "-test.run", "^"+t.Name()+"$", "-test.timeout", "5m")
	c.Env = append(os.Environ(), fileOfVictim+"="+file)
	c.Stderr = os.Stderr
	_, err = c.StdinPipe() // closed when it is dead, or this process is
	require.NoError(t, err)
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	v := &victim{t: t, http: &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}}
	dead := false
	v.kill = func() {
		if dead {
			return
		}
		dead = true
		assert.NoError(t, c.Process.Kill())
		assert.Error(t, c.Wait(), "it was killed")
		v.http.CloseIdleConnections()
	}
	t.Cleanup(v.kill)
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), addressIs); ok {
			v.url = address + sandbox.BasePath
			return v
		}
	}
	require.Fail(t, "the other process does not serve")
	return nil
}

func (v *victim) killAndStart(file string) *victim {
	v.t.Helper()
	v.kill()
	return startVictim(v.t, file)
}

// call makes a request and reads its answer.
func (v *victim) call(method, path, body string, into any) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.url+path, strings.NewReader(body))
	require.NoError(v.t, err)
	r.Header.Set("Authorization", "Bearer "+sandbox.DefaultToken)
	r.Header.Set("x-api-key", sandbox.DefaultAPIKey)
	r.Header.Set("Content-Type", "application/json")
	answer, err := v.http.Do(r)
	require.NoError(v.t, err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	require.NoError(v.t, err)
	require.Equal(v.t, http.StatusOK, answer.StatusCode, "%s", content)
	require.NoError(v.t, json.Unmarshal(content, into))
}

func (v *victim) submit(n, items int) (batchID string) {
	v.t.Helper()
	var b struct{ BatchID string }
	v.call(http.MethodPost, "/selling/batch/create-listing",
		fmt.Sprintf(`{"items":[{"variantId":%q,"amount":"%d","quantity":%d}]}`, chicago(v.t), 100+n, items), &b)
	return b.BatchID
}

// advance moves the clock of a victim on, which may be killed while it does what
// has fallen due.
func (v *victim) advance(d time.Duration) {
	url := strings.TrimSuffix(v.url, sandbox.BasePath) + sandbox.ControlPath + "/clock"
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, url, strings.NewReader(fmt.Sprintf(`{"advance":%q}`, d)))
	assert.NoError(v.t, err)
	r.Header.Set("x-sandbox-key", controlOfVictim)
	if answer, err := v.http.Do(r); err == nil {
		assert.Equal(v.t, http.StatusOK, answer.StatusCode)
		_ = answer.Body.Close()
	}
}

// progress asks until there are that many listings.
func (v *victim) progress(listings int) int {
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

// completed asks until a batch is completed.
func (v *victim) completed(id string) (b batchProgress) {
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

func (v *victim) items(id string) []batchItem {
	v.t.Helper()
	var answer struct{ Items []batchItem }
	v.call(http.MethodGet, "/selling/batch/create-listing/"+id+"/items", "", &answer)
	return answer.Items
}

// listings reads the ids of all listings, page by page.
func (v *victim) listings() (ids []string) {
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
