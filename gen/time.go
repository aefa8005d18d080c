package gen

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Time is an instant in UTC, with all methods of [time.Time]; make one with [TimeOf]. The zero
// value means absent: omitzero drops it and it marshals as null.
//
// It marshals as RFC 3339 in UTC with milliseconds, or with up to nanoseconds if it has a finer
// part. It unmarshals from RFC 3339 with any fraction of a second, from the same without a zone and
// with a T or a space before the time of day (taken as UTC), and from a date alone (midnight UTC).
type Time struct {
	// The generator's runtime converts a struct of nothing but a time.Time to its date type, which
	// drops the time of day in a query.
	_ struct{}

	time.Time
}

const (
	timeWithoutZone = "2006-01-02T15:04:05"
	timeMillis      = "2006-01-02T15:04:05.000Z07:00"
)

var errTimeYear = errors.New("the year is outside 0 to 9999")

// TimeOf returns t in UTC, without a monotonic clock reading.
func TimeOf(t time.Time) Time { return Time{Time: t.UTC()} }

// AppendText appends the text that [Time.MarshalText] returns.
func (t Time) AppendText(b []byte) ([]byte, error) {
	if t.IsZero() {
		return b, nil
	}
	utc := t.UTC()
	if !writableYear(utc) {
		return b, fmt.Errorf("encode time: %w", errTimeYear)
	}
	layout := timeMillis
	if utc.Nanosecond()%int(time.Millisecond) != 0 {
		layout = time.RFC3339Nano
	}
	return utc.AppendFormat(b, layout), nil
}

// MarshalText returns the time in the form of a query parameter, "" for the zero time. A year
// outside 0 to 9999 is an error.
func (t Time) MarshalText() ([]byte, error) { return t.AppendText(nil) }

// UnmarshalText reads the forms that [Time] lists; "" is the zero time. On an error the time is
// zero.
func (t *Time) UnmarshalText(text []byte) error {
	*t = Time{}
	if len(text) == 0 {
		return nil
	}
	var strict time.Time
	if strict.UnmarshalText(text) == nil && writableYear(strict.UTC()) {
		*t = TimeOf(strict)
		return nil
	}
	for _, layout := range []string{time.RFC3339, timeWithoutZone, time.DateTime, time.DateOnly} {
		parsed, err := time.Parse(layout, string(text))
		if err != nil {
			continue
		}
		if !writableYear(parsed.UTC()) {
			return fmt.Errorf("decode time (%s): %w", excerpt(string(text)), errTimeYear)
		}
		*t = TimeOf(parsed)
		return nil
	}
	return fmt.Errorf("decode time: neither RFC 3339 nor a date (%s)", excerpt(string(text)))
}

// MarshalJSON returns a JSON string, or null for the zero time.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	b, err := t.AppendText([]byte{'"'})
	if err != nil {
		return nil, err
	}
	return append(b, '"'), nil
}

// UnmarshalJSON reads a JSON string in one of the forms that [Time] lists; "" and null are the zero
// time. On an error the time is zero.
func (t *Time) UnmarshalJSON(data []byte) error {
	*t = Time{}
	if string(data) == "null" {
		return nil
	}
	if len(data) == 0 || data[0] != '"' {
		return fmt.Errorf("decode time: want a string, got %s", kindOf(data))
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("decode time: %w", err)
	}
	return t.UnmarshalText([]byte(text))
}

// writableYear reports whether RFC 3339 has a form for the time: an offset can move a time that was
// read out of the range.
func writableYear(utc time.Time) bool { return utc.Year() >= 0 && utc.Year() <= 9999 }
