package selling

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

const poster = `{"category":"collectibles","productTitle":"Aurora Poster","brand":"Fjord","retailPrice":"40","releaseDate":"2026-03-01",
	"productImages":["https://images.example.com/poster.png"],"gtin":"4006381333931","variants":["One Size"]}`

func reviewer(t *testing.T, db *store.Store) *Service {
	t.Helper()
	products, err := catalog.Load()
	require.NoError(t, err)
	s := New(Config{Store: db, Catalog: products, Now: func() time.Time { return time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC) }})
	require.NoError(t, s.LoadCatalog(t.Context()))
	return s
}

func proposals(t *testing.T, db *store.Store, ingestion string) (all []store.Proposal) {
	t.Helper()
	require.NoError(t, db.View(t.Context(), func(tx *store.Tx) (err error) {
		all, err = tx.Ingestion(1, ingestion)
		return err
	}))
	return all
}

func TestReviews_EndEquallyAfterAFailedCommit(t *testing.T) {
	db, err := store.Open(t.Context(), "")
	require.NoError(t, err)
	defer db.Close()
	s := reviewer(t, db)
	id, err := s.Ingest(t.Context(), 1, [][]byte{[]byte(poster)})
	require.NoError(t, err)
	full := errors.New("the disk is full")
	err = s.write(t.Context(), func(c *change) error {
		require.NoError(t, c.workReviews())
		require.Equal(t, 1, c.worked)
		return full
	})
	require.ErrorIs(t, err, full)
	assert.Equal(t, store.InReview, proposals(t, db, id)[0].Status)

	_, next, err := s.Step(t.Context())
	require.NoError(t, err)
	assert.Zero(t, next, "no review is left")
	p := proposals(t, db, id)[0]
	assert.Equal(t, store.Accepted, p.Status, p.Reason)
	made, ok := s.Catalog.Product(p.ProductID)
	require.True(t, ok)
	again := reviewer(t, db)
	loaded, ok := again.Catalog.Product(p.ProductID)
	require.True(t, ok)
	assert.Equal(t, made, loaded, "a restart loads the same product")
}

func TestReviews_GiveUpUnreadableProposals(t *testing.T) {
	db, err := store.Open(t.Context(), "")
	require.NoError(t, err)
	defer db.Close()
	s := reviewer(t, db)
	var log bytes.Buffer
	s.Logger = slog.New(slog.NewTextHandler(&log, nil))
	id, err := s.Ingest(t.Context(), 1, [][]byte{[]byte(`{`), []byte(poster)})
	require.NoError(t, err)
	worked, _, err := s.Step(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 2, worked)
	all := proposals(t, db, id)
	assert.Equal(t, store.Rejected, all[0].Status)
	assert.Equal(t, internalFailure, all[0].Reason, "the cause is only logged")
	assert.Contains(t, log.String(), "read proposal (1)")
	assert.Equal(t, store.Accepted, all[1].Status)
}

func TestLoadCatalog_ReplacesAnOlderIndex(t *testing.T) {
	db, err := store.Open(t.Context(), "")
	require.NoError(t, err)
	defer db.Close()
	s := reviewer(t, db)
	searched := func() (ids []string) {
		require.NoError(t, db.View(t.Context(), func(tx *store.Tx) (err error) {
			ids, err = tx.SearchedProducts()
			return err
		}))
		return ids
	}
	want := searched()
	require.Len(t, want, len(s.Catalog.Products()))
	require.NoError(t, db.Update(t.Context(), func(tx *store.Tx) error {
		return tx.ReplaceProductTexts(store.ProductText{ProductID: "a former product", Text: " gone "})
	}))
	require.NoError(t, s.LoadCatalog(t.Context()))
	assert.Equal(t, want, searched())
}
