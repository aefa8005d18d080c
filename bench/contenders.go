package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/bytedance/sonic"
	jsonexperiment "github.com/go-json-experiment/json"

	"github.com/sellside-sdk/sellside-go/bench/rival"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// The credentials of all contenders.
const (
	apiKey      = "bench-key"
	accessToken = "bench-token"
)

// The names of contenders.
const (
	rawRead      = "raw read"
	oapiCodegen  = "oapi-codegen"
	encodingJSON = "encoding/json"
	sdk          = "sellside-go"
)

// contender is a way to make the calls.
type contender struct {
	name string
	call caller
	// decode decodes the body of a call; nil if the contender does not decode.
	decode func(c call) run
}

// caller returns the run that makes a call at the base URL, with the HTTP client.
type caller func(baseURL string, hc *http.Client, c call) (run, error)

// run makes a call or decodes a body, and returns the result.
type run func(context.Context) (any, error)

// contenders returns all contenders, the raw read first and the SDK last.
func contenders() []contender {
	return []contender{
		{name: rawRead, call: readRaw},
		{name: oapiCodegen, call: callOAPI, decode: decodeOAPI},
		netHTTP(encodingJSON, json.Unmarshal),
		netHTTP("bytedance/sonic", sonic.Unmarshal),
		netHTTP("go-json-experiment/json", func(body []byte, v any) error { return jsonexperiment.Unmarshal(body, v) }),
		{name: sdk, call: callSDK, decode: func(c call) run {
			return func(ctx context.Context) (any, error) { return c.decode(ctx, c.body) }
		}},
	}
}

// readRaw reads the response of a call into memory, as all contenders do, and decodes nothing.
func readRaw(baseURL string, hc *http.Client, c call) (run, error) {
	return func(ctx context.Context) (any, error) { return get(ctx, hc, baseURL+c.path+c.query) }, nil
}

// netHTTP makes calls with net/http, and decodes their bodies into the models of the SDK.
func netHTTP(name string, unmarshal func([]byte, any) error) contender {
	return contender{
		name: name,
		call: func(baseURL string, hc *http.Client, c call) (run, error) {
			return func(ctx context.Context) (any, error) {
				body, err := get(ctx, hc, baseURL+c.path+c.query)
				if err != nil {
					return nil, err
				}
				v := c.target()
				return v, unmarshal(body, v)
			}, nil
		},
		decode: func(c call) run {
			return func(context.Context) (any, error) {
				v := c.target()
				return v, unmarshal(c.body, v)
			}
		},
	}
}

// get makes a request with the credentials, and returns the body of its response.
func get(ctx context.Context, hc *http.Client, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	if err := authorize(ctx, r); err != nil {
		return nil, err
	}
	resp, err := hc.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("get %s: %s", url, resp.Status)
	}
	return io.ReadAll(resp.Body)
}

// authorize adds the headers that the SDK sends too.
func authorize(_ context.Context, r *http.Request) error {
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Authorization", "Bearer "+accessToken)
	r.Header.Set("X-Api-Key", apiKey)
	return nil
}

// newSDK returns a client of the SDK with its default settings, except that it has no quota.
func newSDK(baseURL string, hc *http.Client) (*client.Client, error) {
	return client.New(
		client.WithBaseURL(baseURL), client.WithAPIKey(apiKey), client.WithToken(accessToken),
		client.WithQuota(quota.Unlimited), client.WithHTTPClient(hc),
	)
}

func callSDK(baseURL string, hc *http.Client, c call) (run, error) {
	s, err := newSDK(baseURL, hc)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (any, error) { return c.sdk(ctx, s) }, nil
}

func callOAPI(baseURL string, hc *http.Client, c call) (run, error) {
	o, err := rival.NewClientWithResponses(baseURL, rival.WithHTTPClient(hc), rival.WithRequestEditorFn(authorize))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (any, error) { return c.oapi(ctx, o) }, nil
}

// decodeOAPI decodes a body as the generated client does, into its models.
func decodeOAPI(c call) run {
	return func(context.Context) (any, error) {
		v := c.oapiTarget()
		return v, json.Unmarshal(c.body, v)
	}
}
