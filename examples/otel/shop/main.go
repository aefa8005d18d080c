// Command shop keeps the asks of an account one below the market, above a floor, and saves the labels
// of its sales until it is interrupted. It logs, and writes its traces to the standard error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"github.com/govalues/decimal"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/examples/otel/telemetry"
	"github.com/sellside-sdk/sellside-go/gen"
)

type shop struct {
	c     *client.Client
	log   *slog.Logger
	floor gen.Amount // In USD.
	dir   string     // Of the labels, and of the mark.
}

func main() {
	floor := flag.String("floor", "100", "lowest ask in USD")
	dir := flag.String("dir", ".", "directory of the labels")
	flag.Parse()
	s := &shop{log: slog.Default(), floor: gen.Amount(*floor), dir: *dir}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.run(ctx, os.Stderr); err != nil && ctx.Err() == nil {
		s.log.Error("shop", "error", err)
		os.Exit(1)
	}
}

func (s *shop) run(ctx context.Context, traces io.Writer, opts ...client.Option) (err error) {
	exporter, err := stdouttrace.New(stdouttrace.WithWriter(traces))
	if err != nil {
		return err
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter))
	defer func() { err = errors.Join(err, provider.Shutdown(context.WithoutCancel(ctx))) }()
	opts = append(opts, client.WithUserAgent("shop/1.0"), client.WithLogger(s.log))
	s.c, err = client.FromEnv(append(opts, telemetry.New(provider, nil).Options()...)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.c.Close()) }()
	if err := s.reprice(ctx); err != nil {
		return err
	}
	return s.watch(ctx)
}

// reprice costs a request for each product and for each hundred listings, and a batch.
func (s *shop) reprice(ctx context.Context) error {
	var changes []gen.UpdateItem
	for price, err := range s.c.Catalog.ListPrices(ctx, client.PriceQuery{Own: true, Currency: gen.CurrencyCodeUSD}) {
		if err != nil {
			return err
		}
		if price.Market == nil || price.Market.LowestAskAmount == "" || price.LowestIsOwn {
			continue // nothing to follow, or nothing to undercut but oneself
		}
		amount, err := s.target(price.Market.LowestAskAmount)
		if err != nil {
			return err
		}
		for _, l := range price.Own {
			if l.CurrencyCode == gen.CurrencyCodeUSD && !l.Amount.Equal(amount) {
				item := gen.UpdateItem{ListingID: l.ListingID, Amount: amount, CurrencyCode: l.CurrencyCode}
				if l.Ask != nil {
					item.ExpiresAt = l.Ask.AskExpiresAt // left out, it may become the default
				}
				changes = append(changes, item)
			}
		}
	}
	var batches []*client.Batch[gen.UpdateBatchItem]
	for items := range slices.Chunk(changes, 100) {
		batch, err := s.c.Batches.Update(ctx, items)
		if err != nil {
			return err // also of unknown outcome: the next run reads the listings again
		}
		batches = append(batches, batch)
	}
	for done, err := range client.WaitBatches(ctx, batches) {
		if err != nil {
			return err
		}
		s.log.Info("repriced", "batch", done.Batch.ID(), "listings", len(done.Items))
	}
	return nil
}

// target returns the lowest ask less 1, and at least the floor.
func (s *shop) target(lowest gen.Amount) (gen.Amount, error) {
	market, err := lowest.Decimal()
	floor, errFloor := s.floor.Decimal()
	less, errLess := market.Sub(decimal.One)
	if err := errors.Join(err, errFloor, errLess); err != nil {
		return "", err
	}
	return gen.AmountOf(less.Max(floor)).Floor(gen.CurrencyCodeUSD)
}

func (s *shop) watch(ctx context.Context) error {
	path := filepath.Join(s.dir, "mark.json")
	mark, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for change, err := range s.c.Orders.Watch(ctx, client.OrderWatch{Labels: true, Mark: mark}) {
		if client.IsTransient(err) {
			s.log.Warn("orders", "error", err)
			continue
		}
		if err != nil {
			return err
		}
		s.log.Info("order", "change", change.Kind, "number", change.Order.OrderNumber, "status", change.Order.Status)
		if change.LabelReady {
			if err := s.save(ctx, &change.Order); err != nil {
				return err
			}
		}
		if err := os.WriteFile(path, change.Mark(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (s *shop) save(ctx context.Context, order *gen.Order) error {
	labels, err := s.c.Orders.DownloadLabels(ctx, order)
	for i, l := range labels {
		if l.Document == nil {
			s.log.Warn("label elsewhere", "url", l.URL)
			continue
		}
		data, readErr := io.ReadAll(l.Document)
		if err = errors.Join(err, readErr, l.Document.Close()); err == nil {
			name := fmt.Sprintf("%s-%d.pdf", filepath.Base(order.OrderNumber), i+1)
			err = os.WriteFile(filepath.Join(s.dir, name), data, 0o600)
		}
	}
	s.log.Info("labels", "number", order.OrderNumber, "count", len(labels))
	return err
}
