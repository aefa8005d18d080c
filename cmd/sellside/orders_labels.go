package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/labels"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/table"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/values"
	"github.com/sellside-sdk/sellside-go/gen"
)

const labelsHelp = `Download the shipping documents of the active orders into a directory, those of each order
once: the label is ORDER.pdf, further documents are ORDER.2.pdf and so on.

The command can be stopped and run again at any time. A file is complete or is not there,
and none is ever overwritten: remove ORDER.pdf to download it again. An order that has no
documents yet is asked for again by the next run.

A run costs a request for each 100 active orders, one for each order without a file, and
one for each document. The status of an order is one of

  SAVED       its documents are in the directory now
  PRESENT     they were before
  NONE        the service has none yet
  ELSEWHERE   they are on another host, which gets no request: open them in a browser
  FAILED      they could not be saved: run the command again`

// ordersLabels is one call of orders labels.
type ordersLabels struct {
	*service
	orderFlags
	dir string
}

func newOrdersLabels(getenv func(string) string) *cobra.Command {
	l := &ordersLabels{service: newService(getenv)}
	cmd := l.command(&cobra.Command{
		Use:     "labels --dir DIRECTORY",
		Short:   "Download the labels of all active orders",
		Long:    labelsHelp,
		Example: "  sellside orders labels --dir labels\n  sellside orders labels --dir labels --status CREATED",
		Args:    exactly(0, "sellside orders labels --dir DIRECTORY"),
	}, l.run, gen.OpListActiveOrders, gen.OpGetOrder, gen.OpGetShippingDocuments, gen.OpGetShippingDocument)
	cmd.Flags().StringVar(&l.dir, "dir", "", "directory for the files, made if it does not exist; required")
	l.addFilters(l.service, cmd, values.OrderStatuses())
	_ = cmd.MarkFlagDirname("dir") // the flag exists
	return cmd
}

func (l *ordersLabels) run(ctx context.Context, _ []string) error {
	if l.dir == "" {
		return invalidf("--dir is missing: name a directory for the labels")
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return invalidf("make the directory for the labels: %w", err)
	}
	rows := table.New(l.out, labelColumns())
	counts := map[labels.Status]int{}
	saver := labels.Saver{Orders: l.sdk.Orders, Dir: l.dir}
	err := l.save(ctx, saver, func(r labels.Result) error {
		counts[r.Status]++
		return rows.Write(r)
	})
	if err := errors.Join(rows.Flush(), err); err != nil {
		return err
	}
	l.log.print("%d saved, %d present, %d without a document", counts[labels.Saved], counts[labels.Present], counts[labels.None])
	if n := counts[labels.Failed] + counts[labels.Elsewhere]; n > 0 {
		return fmt.Errorf("the labels of %s were not saved", report.Count(n, "order"))
	}
	return nil
}

// save saves the documents of all orders.
func (l *ordersLabels) save(ctx context.Context, saver labels.Saver, done func(labels.Result) error) error {
	for order, err := range l.sdk.Orders.ListActive(ctx, l.active(l.service)) {
		if err != nil {
			return err
		}
		l.rememberOrder(order)
		result, err := saver.Save(ctx, order)
		if err := errors.Join(done(result), err); err != nil {
			return err
		}
	}
	return nil
}

func labelColumns() []table.Column[labels.Result] {
	type result = labels.Result
	return []table.Column[result]{
		{Name: "order_number", Value: func(r result) string { return r.OrderNumber }},
		{Name: "status", Value: func(r result) string { return string(r.Status) }},
		{Name: "files", Wrap: true, Value: func(r result) string { return strings.Join(r.Files, " ") }},
		{Name: "urls", CSV: true, Value: func(r result) string { return strings.Join(r.URLs, " ") }},
		{Name: "note", Wrap: true, Text: true, Value: func(r result) string { return strings.Join(r.URLs, " ") + " " + r.Error }},
		{Name: "error", CSV: true, Value: func(r result) string { return r.Error }},
	}
}
