package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/serve"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

const sandboxHelp = `Run a marketplace on this machine to practise on, with a catalog of real products
and an order book for each of their sizes.

When it is ready it prints one line on standard output, and its log on standard error:

  {"baseURL":"http://127.0.0.1:41357/v2","apiKey":"…","token":"…"}

It runs until it gets SIGINT (Ctrl-C) or SIGTERM. Without --db it forgets everything
when it stops.`

func newSandbox() *cobra.Command {
	var address string
	var opts sandbox.Options
	cmd := &cobra.Command{
		Use:     "sandbox",
		Short:   "Run a marketplace on this machine",
		Long:    sandboxHelp,
		Example: "  sellside sandbox --addr 127.0.0.1:8080 --db market.db",
		Args:    exactly(0, "sellside sandbox [--addr HOST:PORT] [--db FILE]"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.Logger = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			return runSandbox(cmd, address, opts)
		},
	}
	cmd.Flags().StringVar(&address, "addr", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	cmd.Flags().StringVar(&opts.DB, "db", "", "file to keep everything in; made if it does not exist (default in memory)")
	cmd.Flags().StringVar(&opts.APIKey, "api-key", sandbox.DefaultAPIKey, "API key to accept")
	cmd.Flags().StringVar(&opts.Token, "token", sandbox.DefaultToken, "access token to accept")
	return cmd
}

func runSandbox(cmd *cobra.Command, address string, opts sandbox.Options) (err error) {
	ctx := cmd.Context()
	market, err := sandbox.New(opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, market.Close()) }()
	server, err := serve.Start(ctx, address, market, opts.Logger)
	if err != nil {
		return invalidf("sandbox: %w: choose another --addr", err)
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	return serveUntilDone(ctx, cmd, server, market)
}

func serveUntilDone(ctx context.Context, cmd *cobra.Command, server *serve.Server, market *sandbox.Sandbox) error {
	ready := struct {
		BaseURL string `json:"baseURL"`
		APIKey  string `json:"apiKey"`
		Token   string `json:"token"`
	}{server.URL() + sandbox.BasePath, market.APIKey(), market.Token()}
	if err := json.NewEncoder(cmd.OutOrStdout()).Encode(ready); err != nil {
		return fmt.Errorf("sandbox: say where it is: %w", err)
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-server.Failed():
		return fmt.Errorf("sandbox: %w", err)
	}
}
