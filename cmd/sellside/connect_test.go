package main

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

func TestConnection_KeepsToTheChosenQuota(t *testing.T) {
	const here, far = "http://127.0.0.1:1/v2", "https://api.example.com/v2"
	for _, row := range []struct {
		url, quota string
		limited    bool
		why        string
	}{
		{far, "", true, "a live service"},
		{far, "public", true, "a live service, said twice"},
		{far, "none", false, "a service without a quota"},
		{here, "", false, "a sandbox"},
		{here, "public", true, "a sandbox that is used like a live service"},
		{here, "none", false, "a sandbox, said twice"},
	} {
		c, err := (&connection{baseURL: row.url, apiKey: "k", token: "t", quota: row.quota}).client()
		require.NoError(t, err)
		windows, err := c.RemainingQuota(t.Context())
		require.NoError(t, err)
		assert.Equal(t, row.limited, len(windows) > 0, row.why)
	}
}

func TestSell_PrintsHowLongTheQuotaLetsItTake(t *testing.T) {
	env, _, _ := market(t)
	ctx, stop := context.WithCancel(t.Context())
	path := stockFile(t, "variant_id,price,currency,quantity", variant(0)+",389,USD,501")
	log := watch("this take 5m0s or longer\n")
	code := make(chan int)
	go func() {
		code <- run(ctx, []string{"sell", path, "--quota", "public"}, strings.NewReader(""), watch("never"), log, env.get)
	}()
	<-log.seen
	stop()
	assert.Equal(t, 130, <-code)

	got := sellside(t.Context(), env, "sell", path)
	assert.NotContains(t, got.errors, "quota", "a service on this machine has none")
}

func TestSilence_IsPrintedAfterTenSeconds(t *testing.T) {
	for _, row := range []struct {
		fault sandbox.Fault
		want  string
		why   string
	}{
		{sandbox.Fault{Kind: sandbox.FaultDelay, Delay: 9 * time.Second}, "", "slow"},
		{
			sandbox.Fault{Kind: sandbox.FaultDelay, Delay: 15 * time.Second},
			"no response from the service for 10s: waiting for it, stop with Ctrl-C\nthe service responds again\n", "silent for a while",
		},
		{
			sandbox.Fault{Kind: sandbox.FaultDelay, Delay: time.Hour, Times: 3},
			"no response from the service for 10s: waiting for it, stop with Ctrl-C\n" +
				"no response from the service for 1m10s: waiting for it, stop with Ctrl-C\nthe service responds again\n",
			"silent for three attempts",
		},
		{sandbox.Fault{Kind: sandbox.FaultStatus, Status: http.StatusServiceUnavailable, RetryAfter: 30 * time.Second}, "", "a pause that the service requested"},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				s := &silence{print: (&meter{w: &out}).print}
				defer s.stop()
				m := sandboxtest.NewInProcess(t)
				row.fault.Operation = "SearchProducts"
				require.NoError(t, m.Fail(row.fault))
				c := m.Client(client.WithMiddleware(s.watch), client.WithQuota(quota.Quota{RequestsPerSecond: 1}))
				_, err := c.Catalog.SearchPage(t.Context(), client.ProductQuery{Query: "x"})
				require.NoError(t, err)
				<-time.After(time.Hour)
				assert.Equal(t, row.want, out.String())
			})
		})
	}
}

func TestSell_NamesFailuresOfTheConnection(t *testing.T) {
	env, c, m := market(t)
	origin := strings.TrimSuffix(m.URL, sandbox.BasePath)
	for _, row := range []struct {
		baseURL, token, item string
		code                 int
		says                 string
		why                  string
	}{
		{origin, "", ",DZ5485-612,10.5", 2, "no service at the base URL (" + origin + "): give it with its version", "no version"},
		{origin + "/v1", "", ",DZ5485-612,10.5", 2, "no service at the base URL", "another version"},
		{origin, "", "8f4d,,", 2, "no service at the base URL", "no version, and nothing to look up"},
		{"http://127.0.0.1:1/v2", "", ",DZ5485-612,10.5", 1, "cannot reach the service (http://127.0.0.1:1/v2)", "nothing listens"},
		{m.URL, "wrong", ",DZ5485-612,10.5", 1, "the service refuses the credentials", "a wrong token"},
		{m.URL, "wrong", "8f4d,,", 1, "the service refuses the credentials", "a wrong token, and nothing to look up"},
	} {
		env := settings{"SELLSIDE_BASE_URL": row.baseURL, "SELLSIDE_API_KEY": m.APIKey(), "SELLSIDE_TOKEN": env["SELLSIDE_TOKEN"], "XDG_STATE_HOME": t.TempDir()}
		if row.token != "" {
			env["SELLSIDE_TOKEN"] = row.token
		}
		path := stockFile(t, "variant_id,style_id,size,price,currency,quantity", row.item+",389,USD,1")
		got := sellside(t.Context(), env, "sell", path)
		assert.Equal(t, row.code, got.code, "%s: %s", row.why, got.errors)
		assert.Contains(t, got.errors, row.says, row.why)
		assert.NotContains(t, got.errors, "line 2", "%s: it is no mistake of the inventory", row.why)
		assert.NotContains(t, got.errors, "style_id", row.why)
	}
	assert.Empty(t, listings(t, c))
}
