package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// proposal is a product that the sandbox accepts for review.
const proposal = `[{"brand":"Jordan","category":"sneakers","colorway":"Red","countryOfOrigin":"CN","gender":"men",
"gtin":"0195866137516","productImages":["https://images.example.com/1.png"],"productTitle":"Jordan 1 Prompt",
"releaseDate":"2026-11-19","retailPrice":"180","styleCode":"PR0MPT-001","variants":["10","10.5"]}]`

func proposalFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "products.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestProducts_ReadAtAPrompt(t *testing.T) {
	s := newShop(t)
	product := sandbox.Catalog()[0]
	s.run("products", "search", "chicago", "lost", "--limit", "3")
	s.run("products", "search", product.StyleID, "--limit", "1", "--csv")
	s.run("products", "get", product.ID)
	s.run("products", "get", product.ID, "--variant", product.Variants[0].ID)
	got := sellside(t.Context(), s.env, "products", "get", product.ID, "--json")
	var read productSizes
	require.NoError(t, json.Unmarshal([]byte(got.out), &read))
	assert.Equal(t, product.ID, read.ProductID)
	require.Len(t, read.Variants, len(product.Variants))
	s.run("products", "get", "--gtin", read.Variants[0].GTINs[0].Identifier)
	s.run("products", "get")
	s.run("products", "search", "chicago", "--page-size", "51")
	s.golden("products_read")
}

func TestProducts_ProposeAtAPrompt(t *testing.T) {
	s := newShop(t)
	t.Chdir(filepath.Dir(proposalFile(t, proposal)))
	s.run("products", "ingest", "products.json", "--dry-run")
	proposed := s.run("products", "ingest", "products.json")
	id := strings.Fields(proposed.out)[2]
	s.run("products", "ingestion", id)
	s.run("products", "ingestion", id, "--status", "rejected")
	s.golden("products_propose")
}

func TestProducts_RefuseWhatIsInvalid(t *testing.T) {
	s := newShop(t)
	for why, text := range map[string]string{
		"a misspelt member": strings.Replace(proposal, "brand", "brnad", 1),
		"no JSON":           "brand,category",
		"two arrays":        proposal + proposal,
		"no products":       "[]",
		"no brand":          strings.Replace(proposal, `"Jordan"`, `""`, 1),
	} {
		got := s.run("products", "ingest", proposalFile(t, text))
		assert.Equal(t, exitInvalid, got.code, "%s: %s", why, got.errors)
	}
	assert.Zero(t, s.market.Counters().Of(string(gen.OpIngestProducts)))
}

func TestProducts_ReportAnUnknownProposal(t *testing.T) {
	s := newShop(t)
	lost := sandbox.Fault{Operation: string(gen.OpIngestProducts), Kind: sandbox.FaultStatus, Status: http.StatusGatewayTimeout, Applied: true}
	require.NoError(t, s.market.Fail(lost))
	got := s.run("products", "ingest", proposalFile(t, proposal))
	assert.Equal(t, exitFailed, got.code)
	assert.Contains(t, got.errors, "may have been proposed")
	assert.Equal(t, 1, s.market.Counters().Of(string(gen.OpIngestProducts)), "sent once")
}
