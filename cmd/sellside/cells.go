package main

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/table"
	"github.com/sellside-sdk/sellside-go/gen"
)

// printAll prints entries while they are read, up to a limit unless that is 0. It calls seen, which
// may be nil, with each.
func printAll[T any](
	s *service, columns []table.Column[T], entries iter.Seq2[T, error], limit int, what string, seen func(T),
) error {
	rows := table.New(s.out, columns)
	n := 0
	for entry, err := range entries {
		if err != nil {
			return errors.Join(rows.Flush(), err)
		}
		if seen != nil {
			seen(entry)
		}
		if err := rows.Write(entry); err != nil {
			return err
		}
		if n++; n == limit {
			break
		}
	}
	if n == 0 {
		fmt.Fprintf(s.stderr, "no %s\n", what)
	}
	return rows.Flush()
}

// printOne prints an entry with all its values.
func printOne[T any](s *service, columns []table.Column[T], entry T) error {
	rows := table.NewRecords(s.out, columns)
	return errors.Join(rows.Write(entry), rows.Flush())
}

// cents is how many digits after the point are shown if the others are zero.
const cents = 2

// price returns an amount with its currency as people write it, "" for none.
func price(a gen.Amount, currency string) string {
	text := amount(a)
	if text == "" || currency == "" {
		return text
	}
	return text + " " + currency
}

// amount returns an amount without the zeros that services add. It rounds nothing.
func amount(a gen.Amount) string {
	d, err := a.Decimal()
	if err != nil {
		return a.String()
	}
	return d.Trim(min(d.Scale(), cents)).String()
}

// stamp returns a time for programs.
func stamp(t gen.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// date returns the day of a time, in UTC.
func date(t gen.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// minute returns a time for people, in UTC as all times of the service.
func minute(t gen.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// sequence yields entries that are already read.
func sequence[T any](entries []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, entry := range entries {
			if !yield(entry, nil) {
				return
			}
		}
	}
}
