package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/client"
)

const rootHelp = `Sellside sells an inventory on a resale marketplace.

  sellside demo                 see all of it in a few seconds; needs nothing
  sellside sandbox              run a marketplace on this machine to practise on
  sellside sell INVENTORY.csv   list an inventory, and learn what became of every item

Exit codes:

  0  all went well
  1  something failed, or was left out
  2  the command line or the inventory is wrong, and nothing was sent`

func newRoot(getenv func(string) string) *cobra.Command {
	root := &cobra.Command{
		Use:     "sellside",
		Short:   "Sell an inventory on a resale marketplace",
		Long:    rootHelp,
		Version: client.Version,
		Args:    cobra.ArbitraryArgs, // so that RunE says what is unknown
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.SilenceErrors, root.SilenceUsage = true, true // run prints them
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetVersionTemplate("sellside {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return invalidf("%w: see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(newDemo(getenv), newSandbox(getenv), newSell(getenv))
	return root
}

func unknownCommand(root *cobra.Command, name string) error {
	hint := "see sellside --help"
	if similar := root.SuggestionsFor(name); len(similar) > 0 {
		hint = fmt.Sprintf("did you mean %s?", strings.Join(similar, " or "))
	}
	return invalidf("unknown command %q: %s", name, hint)
}
