package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

const sandboxHelp = `Run a marketplace on this machine to practise on, with a catalog of real products
and an order book for each of their sizes.

When it is ready it prints one line on standard output, and its log on standard error:

  {"baseURL":"http://127.0.0.1:41357/v2","apiKey":"…","token":"…",
   "tokenURL":"…/oauth/token","refreshToken":"…","controlURL":"…/_sandbox","controlKey":"…"}

The control API is for tests: with the control key in the header x-sandbox-key it
buys, bids, moves the clock and the orders on, and makes calls fail. A GET of
controlURL lists all of it. GET /healthz answers 200 while the sandbox works.

It runs until it gets SIGINT (Ctrl-C) or SIGTERM, and then finishes what it has begun
to answer. Without --db it forgets everything when it stops.`

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
	cmd.Flags().StringVar(&opts.ControlKey, "control-key", "", "key of the control API (default a random one)")
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
	l, err := listen(ctx, address)
	if err != nil {
		return invalidf("sandbox: %w: choose another --addr", err)
	}
	origin := originOf(l)
	ready := struct {
		BaseURL      string `json:"baseURL"`
		APIKey       string `json:"apiKey"`
		Token        string `json:"token"`
		TokenURL     string `json:"tokenURL"`
		RefreshToken string `json:"refreshToken"`
		ControlURL   string `json:"controlURL"`
		ControlKey   string `json:"controlKey"`
	}{
		origin + sandbox.BasePath, market.APIKey(), market.Token(), origin + sandbox.TokenPath, market.RefreshToken(),
		origin + sandbox.ControlPath, market.ControlKey(),
	}
	// Who connects from here on waits until Serve takes the connection.
	if err := json.NewEncoder(cmd.OutOrStdout()).Encode(ready); err != nil {
		return errors.Join(fmt.Errorf("sandbox: say where it is: %w", err), l.Close())
	}
	return market.Serve(ctx, l)
}
