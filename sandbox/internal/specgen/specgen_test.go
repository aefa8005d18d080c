package specgen

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const document = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{
	"/things/{thingId}/parts/{partId}":{"patch":{"operationId":"ChangePart","tags":["Things"],
		"parameters":[
			{"name":"thingId","in":"path","required":true,"schema":{"type":"string"},"example":"t0"},
			{"name":"partId","in":"path","required":true,"schema":{"type":"string"}},
			{"name":"thingIds","in":"query","required":true,"schema":{"type":"string"}}],
		"requestBody":{"content":{"application/json":{"schema":{"type":"object","required":["size","color"],"properties":{
			"size":{"type":"integer","minimum":3},"color":{"type":"string","enum":["red","green"]},"note":{"type":"string"}}}}}},
		"responses":{"404":{"description":"d"},"200":{"description":"d"},"default":{"description":"d"}}}}}}`

func load(t *testing.T) (*Generator, Operation) {
	t.Helper()
	s, err := Load([]byte(document))
	require.NoError(t, err)
	require.Len(t, s.Operations(), 1)
	return &Generator{Known: NewKnown(s, "/v1"), Choices: Plain{}, Base: "/v1"}, s.Operations()[0]
}

func TestLoad_ReadsOperations(t *testing.T) {
	_, op := load(t)
	assert.Equal(t, "ChangePart", op.ID)
	assert.Equal(t, http.MethodPatch, op.Method)
	assert.Equal(t, "Things", op.Tag)
	assert.Equal(t, []int{200, 404}, op.Statuses)
	_, err := Load([]byte(`{`))
	require.ErrorContains(t, err, "read document")
}

func TestGenerator_PlainRequestsHaveRequiredMembersOnly(t *testing.T) {
	g, op := load(t)
	r := g.Request(op)
	assert.Equal(t, "/v1/things/t0/parts/x", r.Path, "the example of the document")
	assert.JSONEq(t, `{"size":3,"color":"red"}`, string(r.Body))
	assert.True(t, r.Valid)
}

func TestKnown_IDsGoIntoRequests(t *testing.T) {
	for why, response := range map[string]any{
		"members": map[string]any{"list": []any{map[string]any{"thingId": "t 1", "partId": "p/1"}}},
		"a link":  map[string]any{"url": "https://example.com/v1/things/t%201/parts/p%2F1"},
	} {
		g, op := load(t)
		g.Known.Learn(map[string]any{"thingId": "alone"})
		before := g.Known.Clone()
		g.Known.Learn(response)
		assert.Equal(t, "/v1/things/t%201/parts/p%2F1", g.Request(op).Path,
			"%s: ids that go together", why)
		g.Known = before
		assert.Equal(t, "/v1/things/t0/parts/x", g.Request(op).Path,
			"%s: a clone is independent", why)
		assert.Equal(t, "thingIds=alone", g.Request(op).Query,
			"%s: a plural takes ids of the singular", why)
	}
}

func TestGenerator_DependsOnChoicesOnly(t *testing.T) {
	g, op := load(t)
	different := map[string]bool{}
	for seed := range uint64(200) {
		g.Choices = rand.New(rand.NewPCG(seed, seed))
		first := g.Request(op).String()
		g.Choices = rand.New(rand.NewPCG(seed, seed))
		assert.Equal(t, first, g.Request(op).String())
		different[first] = true
	}
	assert.Greater(t, len(different), 100)
}

func TestBytes_ReachEveryChoiceAndEndPlain(t *testing.T) {
	b := NewBytes([]byte{7, 1, 44, 9})
	assert.Equal(t, 0, b.IntN(1), "a single choice consumes nothing")
	assert.Equal(t, 7, b.IntN(10))
	assert.Equal(t, 300, b.IntN(1000), "two bytes")
	assert.True(t, b.More())
	assert.Equal(t, 1, b.IntN(4))
	assert.False(t, b.More())
	assert.Equal(t, 0, b.IntN(10))
}

func TestGenerator_RequestsCanBeSent(t *testing.T) {
	g, op := load(t)
	g.Choices = rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		r := g.Request(op)
		h, err := r.HTTP(t.Context(), http.Header{"X-Api-Key": {"k"}})
		require.NoError(t, err, "%s", r)
		assert.Equal(t, r.Omit != "x-api-key", h.Header.Get("x-api-key") == "k")
		assert.Equal(t, r.Path, h.URL.EscapedPath(), "no escape is lost on the way")
	}
}

func TestGenerator_WrongRequestsChangeTheCaseOfNames(t *testing.T) {
	g, op := load(t)
	g.Choices = rand.New(rand.NewPCG(1, 1))
	named := map[string]bool{}
	for range 2000 {
		r := g.Request(op)
		for _, name := range []string{"Size", "Color", "Note"} {
			if bytes.Contains(r.Body, []byte(`"`+name+`":`)) {
				named[name] = true
				assert.False(t, r.Valid, "%s", r)
			}
		}
	}
	assert.Len(t, named, 3)
}
