package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/demo"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/examples"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

const demoHelp = `Show a day of a seller, in a few seconds and without an account: a marketplace is
started inside this process, 250 rows of stock are listed on it (some of them invalid
on purpose), a price is lowered below the lowest ask, listings are deactivated and
deleted, and a buyer comes.

With --quirks the marketplace responds in ways that its document does not show, as a
live service may, and everything ends the same.

The exit code is 1 if any step ends otherwise than expected.`

func newDemo(getenv func(string) string) *cobra.Command {
	var quirks bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show everything in a few seconds",
		Long:  demoHelp,
		Args:  exactly(0, "sellside demo"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts := sandbox.Options{Quirks: quirks}
			return runDemo(cmd, opts, report.LookOf(cmd.OutOrStdout(), getenv), examples.Inventory)
		},
	}
	cmd.Flags().BoolVar(&quirks, "quirks", false, "make responses look like those of a live service")
	return cmd
}

func runDemo(cmd *cobra.Command, opts sandbox.Options, look report.Look, inventory string) (err error) {
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	market, err := sandbox.New(opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, market.Close()) }()
	l, err := listen(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- market.Serve(ctx, l) }()
	defer func() { stop(); err = errors.Join(err, <-served) }()
	here := connection{baseURL: originOf(l) + sandbox.BasePath, apiKey: market.APIKey(), token: market.Token()}
	sdk, err := here.client()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sellside-demo-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b, err := bulk.Open(ctx, bulk.Config{
		Ledger: filepath.Join(dir, "ledger.db"), Quota: quota.Unlimited,
		Connect: func(limiter quota.Limiter) (*client.Client, error) {
			return client.New(append(here.options(), client.WithLimiter(limiter))...)
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	d := &demo.Demo{
		Client: sdk, Bulk: b, Buy: market.Buy, Inventory: inventory, Out: cmd.OutOrStdout(), Look: look,
	}
	return d.Run(ctx)
}
