package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/recent"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/values"
)

// completeFlag completes a flag with values, each after a comma too.
func completeFlag[T ~string](cmd *cobra.Command, flag string, all []T) {
	register(cmd, flag, func(*cobra.Command, []string, string) []string { return values.Texts(all) })
}

// recentFlag completes a flag with ids that were printed lately.
func (s *service) recentFlag(cmd *cobra.Command, flag string, kind recent.Kind) {
	register(cmd, flag, func(*cobra.Command, []string, string) []string { return s.lately(kind) })
}

// recentArgs completes arguments, up to a number of them, with ids that were printed lately. The
// first skip arguments are something else.
func (s *service) recentArgs(kind recent.Kind, skip, limit int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) < skip || len(args) >= limit {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ids := slices.DeleteFunc(s.lately(kind), func(id string) bool { return slices.Contains(args, id) })
		return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// lately returns the ids of a kind that commands have printed. It sends no request.
func (s *service) lately(kind recent.Kind) []string {
	return recent.Open(cacheHome(s.getenv), cmp.Or(s.baseURL, s.getenv("SELLSIDE_BASE_URL"))).List(kind)
}

// register makes a function complete the last value of a flag, which may be a list.
func register(cmd *cobra.Command, flag string, complete func(*cobra.Command, []string, string) []string) {
	// It fails only if the command does not have the flag.
	_ = cmd.RegisterFlagCompletionFunc(flag, func(
		cmd *cobra.Command, args []string, text string,
	) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := text[:strings.LastIndex(text, ",")+1]
		var found []string
		for _, value := range complete(cmd, args, text) {
			found = append(found, before+value)
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	})
}
