package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/resolve"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
)

const sellHelp = `List an inventory on the marketplace, and learn what became of every item.

The inventory is a CSV file whose first line names its columns, in any order:

  style_id     the manufacturer's style id, exactly as in the catalog: DZ5485-612
  size         as in the catalog: 10.5, 8W, XL, One Size
  price        digits and a point: 162 or 162.50
  currency     AUD, CAD, CHF, EUR, GBP, HKD, JPY, KRW, MXN, NZD, SGD or USD
  quantity     listings to make at that price
  variant_id   optional: the item itself, instead of style_id and size
  active       optional: false makes a listing without an ask
  expires_at   optional: when the ask ends, 2026-12-31 or 2026-12-31T18:00:00Z

All mistakes of the file are shown at once, and a file with mistakes is not sent,
unless --skip-invalid says to send the other rows.

The results go to a CSV file with a line per listing: line, nth, listing_id, status,
error. Nothing is ever sent twice: a listing of status UNKNOWN may have been made, so
look for it before you sell it again. Ctrl-C stops, and keeps what is known.

` + connectionHelp

const sellExample = `  sellside sell inventory.csv
  sellside sell inventory.csv --skip-invalid --result today.csv`

// seller is one call of sell.
type seller struct {
	connection
	result      string
	skipInvalid bool

	out, log io.Writer
	look     report.Look
}

func newSell(getenv func(string) string) *cobra.Command {
	s := &seller{}
	cmd := &cobra.Command{
		Use:     "sell INVENTORY.csv",
		Short:   "List an inventory on the marketplace",
		Long:    sellHelp,
		Example: sellExample,
		Args:    exactly(1, "sellside sell INVENTORY.csv"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.out, s.log, s.look = cmd.OutOrStdout(), cmd.ErrOrStderr(), report.LookOf(cmd.OutOrStdout(), getenv)
			if err := s.complete(getenv); err != nil {
				return err
			}
			return s.run(cmd.Context(), args[0], cmd.InOrStdin())
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&s.result, "result", "", "file for the results (default beside the inventory: stock.csv has stock.result.csv)")
	cmd.Flags().BoolVar(&s.skipInvalid, "skip-invalid", false, "send the rows that are right even if others are not")
	return cmd
}

func (s *seller) run(ctx context.Context, name string, stdin io.Reader) error {
	sdk, pace, err := s.client()
	if err != nil {
		return err
	}
	file, err := parse(name, stdin)
	if err != nil {
		return err
	}
	progress := report.NewProgress(s.log)
	if err := resolve.Variants(ctx, sdk.Catalog, file, progress.LookedUp); err != nil {
		return fmt.Errorf("nothing was sent: %w", err)
	}
	if err := s.judge(file); err != nil {
		return err
	}
	if name == "-" {
		name = "inventory.csv"
	}
	path := cmp.Or(s.result, report.FreePath(name))
	if err := report.Save(path, nil); err != nil {
		return invalidf("nothing was sent: %w", err)
	}
	run := sell.Run{Batches: sdk.Batches, Watch: progress, Poll: pace, Save: func(results []sell.Result) error {
		return report.Save(path, results)
	}}
	results, err := run.Sell(ctx, file.Valid())
	report.Summary(s.out, s.look, results)
	fmt.Fprintf(s.out, "\nresults: %s\n", path)
	return verdict(results, len(file.WrongLines()), err)
}

func parse(name string, stdin io.Reader) (*inventory.File, error) {
	if name == "-" {
		return inventory.Parse(stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, invalidf("read inventory: %w", err)
	}
	defer f.Close()
	file, err := inventory.Parse(f)
	if err != nil {
		return nil, invalidError{err}
	}
	return file, nil
}
