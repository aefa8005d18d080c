package client_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestIngestReturnsTheIDToAskWith(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpIngestProducts).BodyJSON(clienttest.RequestExampleOf(gen.OpIngestProducts)).RespondExample()
	srv.Expect(gen.OpGetIngestion).Path("ingestionId", "3f1f5d0e-0f6e-4d53-9a35-0a7f3d4a8a11").NoQuery().RespondExample()
	srv.Expect(gen.OpGetIngestion).Query("status", "In Review").Respond(200, `{"items":[]}`)
	c := srv.Client()

	ingestion, err := c.Catalog.Ingest(t.Context(), requestOf[gen.IngestProductsRequest](t, gen.OpIngestProducts).Items)
	require.NoError(t, err)
	all, err := c.Catalog.GetIngestion(t.Context(), ingestion.IngestionID, "")
	require.NoError(t, err)
	waiting, err := c.Catalog.GetIngestion(t.Context(), ingestion.IngestionID, gen.IngestionStatusInReview)
	require.NoError(t, err)

	assert.Equal(t, gen.IngestionStatusCompleted, all[0].Status)
	assert.Empty(t, waiting)
}

func TestIngestWithoutAnIDCannotBeFollowed(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpIngestProducts).Raw(201, nil, []byte(`{"ingestionId":null}`), "the id is missing")

	_, err := srv.Client().Catalog.Ingest(t.Context(), requestOf[gen.IngestProductsRequest](t, gen.OpIngestProducts).Items)

	var unreadable *client.DecodeError
	require.ErrorAs(t, err, &unreadable)
	require.ErrorIs(t, err, client.ErrOutcomeUnknown)
	assert.Contains(t, err.Error(), "ingestionId")
}
