package gen

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Time is an instant in UTC. The zero value means absent: omitzero drops it and
// it marshals as null. All methods of [time.Time] are there; make one with
// [TimeOf].
//
// It reads RFC 3339 with any fraction of a second; the same without a zone, with
// a T or a space before the time of day (taken as UTC); and a date alone
// (midnight UTC). It is written as RFC 3339 in UTC with milliseconds, or with up to
// nanoseconds when it has a finer part.
type Time struct {
	// A struct of nothing but a time.Time converts to the date type of the
	// generator's runtime, which then drops the time of day in a query.
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

// AppendText appends what [Time.MarshalText] returns.
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

// MarshalText returns the time as it stands in a query, "" for the zero time.
func (t Time) MarshalText() ([]byte, error) { return t.AppendText(nil) }

// UnmarshalText reads the forms that [Time] names; "" is the zero time. On an
// error the time is zero.
func (t *Time) UnmarshalText(text []byte) error {
	*t = Time{}
	if len(text) == 0 {
		return nil
	}
	for _, layout := range []string{time.RFC3339, timeWithoutZone, time.DateTime, time.DateOnly} {
		parsed, err := time.Parse(layout, string(text))
		if err != nil {
			continue
		}
		if !writableYear(parsed.UTC()) {
			return fmt.Errorf("decode time %s: %w", excerpt(string(text)), errTimeYear)
		}
		*t = TimeOf(parsed)
		return nil
	}
	return fmt.Errorf("decode time: %s is neither RFC 3339 nor a date", excerpt(string(text)))
}

// MarshalJSON writes a JSON string, or null for the zero time.
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

// UnmarshalJSON reads a JSON string in one of the forms that [Time] names; ""
// and null are the zero time. On an error the time is zero.
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

// writableYear holds a time to the years RFC 3339 can write: an offset can move
// one that was read beyond them.
func writableYear(utc time.Time) bool { return utc.Year() >= 0 && utc.Year() <= 9999 }
