package gen

import (
	"encoding/json"
	"fmt"
)

// Reason says in words why an operation or a batch item failed. It is localised prose without a code: show
// it, never match on it. The empty Reason means that there was no error.
//
// It reads a JSON string, null, or an object with a message, which some answers hold instead.
type Reason string

// UnmarshalJSON implements [json.Unmarshaler].
func (r *Reason) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil { // null leaves text empty
		*r = Reason(text)
		return nil
	}
	var object struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return fmt.Errorf("reason: want a string or an object with a message: %w", err)
	}
	*r = Reason(object.Message)
	return nil
}
