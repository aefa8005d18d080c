package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/doctor"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/table"
	"github.com/sellside-sdk/sellside-go/gen"
)

const doctorHelp = `Check the settings, the host of the service, the connection, the clock of this machine, the
access token, the credentials and the quota, in this order, and print what is wrong and what
to do about it. The first failure is usually the cause of the others.

Two requests are sent, one of them without credentials. No live service is known to tell how
much of a quota is left; what a service says of it in headers is shown. The exit code is 1
if a check has failed.`

// examination is one call of doctor.
type examination struct{ *service }

func newDoctor(getenv func(string) string) *cobra.Command {
	e := &examination{newService(getenv)}
	cmd := e.command(&cobra.Command{
		Use:     "doctor",
		Short:   "Find out why something does not work",
		Long:    doctorHelp,
		Example: "  sellside doctor --json",
		Args:    exactly(0, "sellside doctor"),
	}, nil, gen.OpListListings)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := e.prepare(cmd); err != nil {
			return err
		}
		return e.outcome(cmd.Context(), e.run(cmd.Context()))
	}
	return cmd
}

func (e *examination) run(ctx context.Context) error {
	rows := table.New(e.out, []table.Column[doctor.Finding]{
		{Name: "check", Value: func(f doctor.Finding) string { return f.Check }},
		{Name: "status", Value: func(f doctor.Finding) string { return string(f.Status) }},
		{Name: "found", Wrap: true, Value: func(f doctor.Finding) string { return f.Found }},
		{Name: "advice", Wrap: true, Value: func(f doctor.Finding) string { return f.Advice }},
	})
	failed := 0
	err := e.signedIn(ctx)
	if err != nil {
		return err
	}
	err = doctor.Doctor{
		BaseURL: cmp.Or(e.baseURL, e.getenv("SELLSIDE_BASE_URL")), APIKey: cmp.Or(e.apiKey, e.getenv("SELLSIDE_API_KEY")),
		Token: cmp.Or(e.token, e.getenv("SELLSIDE_TOKEN")),
		NewClient: func(opts ...client.Option) (*client.Client, error) {
			if err := e.complete(e.getenv); err != nil {
				return nil, err
			}
			return e.client(opts...)
		},
	}.Run(ctx, func(f doctor.Finding) error {
		if f.Status == doctor.Failed {
			failed++
		}
		return rows.Write(f)
	})
	if flushed := rows.Flush(); err == nil {
		err = flushed
	}
	if err == nil && failed > 0 {
		err = fmt.Errorf("%s failed", report.Count(failed, "check"))
	}
	return err
}

// signedIn takes the connection from a profile if no access token is set.
func (e *examination) signedIn(ctx context.Context) error {
	_ = e.complete(e.getenv) // a check reports what is missing
	if e.source == nil {
		return nil
	}
	access, err := e.accessToken(ctx)
	if err = errors.Join(err, e.end()); err != nil {
		return e.explain(err)
	}
	e.token, e.source = access.AccessToken, nil
	return nil
}
