package store

import (
	"fmt"
	"time"
)

// In Go the zero value of an optional column means that it is NULL. These types
// carry it both ways; non-NULL columns use them as well, for one rule is enough.

// at writes a time as milliseconds, and the zero time as NULL.
func at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// opt writes a text, and the empty text as NULL.
func opt(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// timeColumn reads what at writes.
type timeColumn struct{ into *time.Time }

// Scan implements [database/sql.Scanner].
func (c timeColumn) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*c.into = time.Time{}
	case int64:
		*c.into = time.UnixMilli(v).UTC()
	default:
		return fmt.Errorf("a time is stored as milliseconds, not as %T", value)
	}
	return nil
}

// textColumn reads what opt writes.
type textColumn struct{ into *string }

// Scan implements [database/sql.Scanner].
func (c textColumn) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*c.into = ""
	case string:
		*c.into = v
	default:
		return fmt.Errorf("a text is stored as text, not as %T", value)
	}
	return nil
}
