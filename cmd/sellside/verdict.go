package main

import (
	"errors"
	"fmt"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
)

// judge shows the mistakes of a file, and is nil if what is right of it may be sent.
func (s *seller) judge(file *inventory.File) error {
	for _, m := range file.Mistakes() {
		fmt.Fprintln(s.log, report.Plain(m.String()))
	}
	wrong := len(file.WrongLines())
	switch {
	case wrong == 0, s.skipInvalid && !file.Unreadable:
		return nil
	case file.Unreadable:
		return invalidf("nothing was sent: the header is wrong, correct it")
	default:
		return invalidf("nothing was sent: %d of the lines are wrong; correct them, or send the others with --skip-invalid", wrong)
	}
}

// verdict says in one line why not everything went well.
func verdict(results []sell.Result, leftOut int, err error) error {
	missing := 0
	for _, r := range results {
		if !r.Completed() {
			missing++
		}
	}
	switch {
	case errors.Is(err, client.ErrOutcomeUnknown):
		return fmt.Errorf("stopped, because a batch may have been taken or not: %w", err)
	case err != nil:
		return fmt.Errorf("stopped early: %w", err)
	case missing > 0:
		return fmt.Errorf("%d of %d listings were not made: the result file says why", missing, len(results))
	case leftOut > 0:
		return fmt.Errorf("%d wrong lines were left out: correct them, and sell them in a file of their own", leftOut)
	}
	return nil
}
