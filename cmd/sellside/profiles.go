package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/profile"
	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/table"
	"github.com/sellside-sdk/sellside-go/gen"
)

func newLogout(getenv func(string) string) *cobra.Command {
	var name string
	var forget bool
	cmd := &cobra.Command{
		Use: "logout", Short: "Delete the tokens of a profile",
		Long: `Delete the tokens of a profile from this machine. The profile stays, for the next
sellside login; --forget deletes it too, with its API key and the secret of its client.
Access tokens that were issued are valid until they expire.`,
		Args: exactly(0, "sellside logout [--profile NAME] [--forget]"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := profiles(getenv, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			p, err := store.Get(cmp.Or(name, getenv("SELLSIDE_PROFILE")))
			if err != nil {
				return invalidError{err}
			}
			if forget {
				err = store.Remove(cmd.Context(), p.Name)
			} else {
				err = store.SetTokens(cmd.Context(), p.Name, token.Tokens{})
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Signed out of profile %s.\n", p.Name)
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "profile", "", "profile to sign out of (default the current one)")
	cmd.Flags().BoolVar(&forget, "forget", false, "delete the profile and its secrets too")
	return cmd
}

func newProfiles(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "profiles", Short: "List the profiles, or choose one",
		Long: "List the profiles. The current one, which commands use if none is named, has a star.",
		Args: exactly(0, "sellside profiles"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := profiles(getenv, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			names, current, err := store.Names()
			if err != nil {
				return err
			}
			for _, name := range names {
				p, err := store.Get(name)
				if err != nil {
					return err
				}
				star := " "
				if name == current {
					star = "*"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s %s  %s\n", star, name, p.BaseURL)
			}
			return nil
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use: "use NAME", Short: "Choose the profile that commands use",
		Args: exactly(1, "sellside profiles use NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := profiles(getenv, cmd.ErrOrStderr())
			if err == nil {
				err = store.Use(cmd.Context(), args[0])
			}
			if errors.Is(err, profile.ErrNoProfile) {
				return invalidError{err}
			}
			return err
		},
	})
	return cmd
}

// identity is who is signed in.
type identity struct {
	Service  string    `json:"service"`
	Profile  string    `json:"profile,omitempty"`
	Account  string    `json:"account,omitempty"` // As the access token names it; it is not verified.
	Expires  time.Time `json:"tokenExpires,omitzero"`
	Listings int       `json:"listings"`
}

func newWhoami(getenv func(string) string) *cobra.Command {
	s := newService(getenv)
	return s.command(&cobra.Command{
		Use: "whoami", Short: "Show who is signed in, and ask the service whether it accepts the credentials",
		Args: exactly(0, "sellside whoami"),
	}, func(ctx context.Context, _ []string) error {
		page, err := s.sdk.Listings.ListPage(ctx, client.ListingFilter{PageSize: 1})
		if err != nil {
			return err
		}
		access, err := s.accessToken(ctx)
		if err != nil {
			return err
		}
		return printOne(s, []table.Column[identity]{
			{Name: "service", Value: func(i identity) string { return i.Service }},
			{Name: "profile", Value: func(i identity) string { return i.Profile }},
			{Name: "account", Value: func(i identity) string { return cmp.Or(i.Account, "not named in the access token") }},
			{Name: "token expires", Value: func(i identity) string { return stamp(gen.TimeOf(i.Expires)) }},
			{Name: "listings", Value: func(i identity) string { return fmt.Sprint(i.Listings) }},
		}, identity{s.baseURL, s.profile, subjectOf(access.AccessToken), access.Expiry.UTC(), int(page.Count)})
	}, gen.OpListListings)
}
