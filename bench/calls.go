package main

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/sellside-sdk/sellside-go/bench/rival"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// bodies holds the responses of the calls, which the command in the directory record has written.
//
//go:embed bodies
var bodies embed.FS

// batchID is the id of the batch that has made the listings of the bodies.
const batchID = "9e370000-0002-82eb-8a2e-262ed53d884f"

// prefix is the path of the base URL.
const prefix = "/v2"

// call is a call that every contender makes.
type call struct {
	name, title string
	path, query string // Of the request, without the prefix.
	body        []byte // Of the response.
	// target returns a new value of the model that the SDK decodes the body into, and oapiTarget of
	// the one of oapi-codegen.
	target, oapiTarget func() any
	// decode decodes a body as the SDK does.
	decode func(context.Context, []byte) (any, error)
	// sdk makes the call with the SDK, and oapi with the default client of oapi-codegen.
	sdk  func(context.Context, *client.Client) (any, error)
	oapi func(context.Context, *rival.ClientWithResponses) (any, error)
}

// loadCalls returns the calls.
func loadCalls() (calls []call, err error) {
	for _, load := range []struct {
		file string
		call func(body []byte) (call, error)
	}{
		{"page.json", pageCall}, {"items.json", itemsCall}, {"market.json", marketCall}, {"listing.json", listingCall},
	} {
		body, err := bodies.ReadFile("bodies/" + load.file)
		if err != nil {
			return nil, err
		}
		c, err := load.call(body)
		if err != nil {
			return nil, fmt.Errorf("load call (%s): %w", load.file, err)
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// The names of the calls that the figures are of.
const (
	page   = "page"
	items  = "items"
	market = "market"
)

func pageCall(body []byte) (call, error) {
	return call{
		name: page, title: "page of 100 listings",
		path: "/selling/listings", query: "?pageSize=100", body: body,
		target:     func() any { return new(gen.ListingPage) },
		oapiTarget: func() any { return new(rival.ListingPage) },
		decode:     decode[gen.ListingPage],
		sdk: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Listings.ListPage(ctx, client.ListingFilter{})
		},
		oapi: func(ctx context.Context, c *rival.ClientWithResponses) (any, error) {
			resp, err := c.ListListingsWithResponse(ctx, &rival.ListListingsParams{PageSize: new(100)})
			if err != nil {
				return nil, err
			}
			return success(resp.JSON200, resp.HTTPResponse)
		},
	}, nil
}

func itemsCall(body []byte) (call, error) {
	return call{
		name: items, title: "500 batch items",
		path: "/selling/batch/create-listing/" + batchID + "/items", body: body,
		target:     func() any { return new(gen.CreateBatchItemList) },
		oapiTarget: func() any { return new(rival.CreateBatchItemList) },
		decode:     decode[gen.CreateBatchItemList],
		sdk: func(ctx context.Context, c *client.Client) (any, error) {
			items, err := c.Batches.ResumeCreate(batchID).Results(ctx, "")
			return &gen.CreateBatchItemList{Items: items}, err
		},
		oapi: func(ctx context.Context, c *rival.ClientWithResponses) (any, error) {
			resp, err := c.ListCreateListingsBatchItemsWithResponse(ctx, batchID, nil)
			if err != nil {
				return nil, err
			}
			return success(resp.JSON200, resp.HTTPResponse)
		},
	}, nil
}

func marketCall(body []byte) (call, error) {
	var data gen.MarketData
	if err := json.Unmarshal(body, &data); err != nil {
		return call{}, err
	}
	product, variant := data.ProductID, data.VariantID
	return call{
		name: market, title: "market data of a variant",
		path:  "/catalog/products/" + product + "/variants/" + variant + "/market-data",
		query: "?currencyCode=USD", body: body,
		target:     func() any { return new(gen.MarketData) },
		oapiTarget: func() any { return new(rival.MarketData) },
		decode:     decode[gen.MarketData],
		sdk: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Catalog.GetMarketData(ctx, product, variant, gen.CurrencyCodeUSD)
		},
		oapi: func(ctx context.Context, c *rival.ClientWithResponses) (any, error) {
			params := &rival.GetVariantMarketDataParams{CurrencyCode: new(rival.USD)}
			resp, err := c.GetVariantMarketDataWithResponse(ctx, product, variant, params)
			if err != nil {
				return nil, err
			}
			return success(resp.JSON200, resp.HTTPResponse)
		},
	}, nil
}

func listingCall(body []byte) (call, error) {
	var listing gen.Listing
	if err := json.Unmarshal(body, &listing); err != nil {
		return call{}, err
	}
	id := listing.ListingID
	return call{
		name: "listing", title: "one sold listing",
		path: "/selling/listings/" + id, body: body,
		target:     func() any { return new(gen.Listing) },
		oapiTarget: func() any { return new(rival.Listing) },
		decode:     decode[gen.Listing],
		sdk: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Listings.Get(ctx, id)
		},
		oapi: func(ctx context.Context, c *rival.ClientWithResponses) (any, error) {
			resp, err := c.GetListingWithResponse(ctx, id)
			if err != nil {
				return nil, err
			}
			return success(resp.JSON200, resp.HTTPResponse)
		},
	}, nil
}

// success returns the model of a response of oapi-codegen, or an error if it has none.
func success[T any](v *T, resp *http.Response) (any, error) {
	if v == nil {
		return nil, fmt.Errorf("read response: %s without the model", resp.Status)
	}
	return v, nil
}

// decode decodes a body as the SDK does.
func decode[T any](ctx context.Context, body []byte) (any, error) {
	v := new(T)
	_, err := gen.Decode(ctx, body, v)
	return v, err
}

// service responds to the calls.
type service map[string][]byte

func newService(calls []call) service {
	s := service{}
	for _, c := range calls {
		s[prefix+c.path] = c.body
	}
	return s
}

// ServeHTTP implements [http.Handler].
func (s service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := s[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // if the client is gone, its call fails
}

// RoundTrip implements [http.RoundTripper] without a connection and with few allocations, so that
// those of a call are the caller's.
func (s service) RoundTrip(r *http.Request) (*http.Response, error) {
	body, ok := s[r.URL.Path]
	if !ok {
		return nil, fmt.Errorf("find response: no call has the path %s", cmp.Or(r.URL.Path, "/"))
	}
	return response(r, body), nil
}

// response returns the response to a request that did not use a connection.
func response(r *http.Request, body []byte) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		ContentLength: int64(len(body)), Body: &content{*bytes.NewReader(body)}, Request: r,
	}
}

// content is the body of a response.
type content struct{ bytes.Reader }

// Close implements [io.Closer].
func (*content) Close() error { return nil }
