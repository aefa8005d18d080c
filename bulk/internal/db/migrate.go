package db

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"
)

// migrate brings all schemas up to date. The caller makes sure that no other process does.
func migrate[TTx any](
	ctx context.Context, dialect goose.Dialect, pool *sql.DB, driver riverdriver.Driver[TTx],
	schemas []Migrations, log *slog.Logger,
) error {
	for _, schema := range schemas {
		p, err := goose.NewProvider(dialect, pool, schema.Files,
			goose.WithDisableGlobalRegistry(true), goose.WithTableName("schema_"+schema.Name))
		if err != nil {
			return fmt.Errorf("schema %s: %w", schema.Name, err)
		}
		current, newest, err := p.GetVersions(ctx)
		if err != nil {
			return fmt.Errorf("schema %s: %w", schema.Name, err)
		}
		if current > newest {
			return fmt.Errorf("%w (%s has version %d, this program knows %d): use a newer program, or another database",
				ErrNewerSchema, schema.Name, current, newest)
		}
		if _, err := p.Up(ctx); err != nil {
			return fmt.Errorf("schema %s: %w", schema.Name, err)
		}
	}
	m, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: log})
	if err != nil {
		return fmt.Errorf("schema of jobs: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("schema of jobs: %w", err)
	}
	return nil
}
