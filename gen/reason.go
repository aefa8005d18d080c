package gen

import (
	"encoding/json"
	"fmt"
	"strings"
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

// ErrorMessage finds the words in the body of an error answer, which may be {message}, {errorMessage}, {error}
// or {errors: []}, each of them text or an object with a message. It returns "" when there are none, as in the
// HTML page of a gateway.
func ErrorMessage(body []byte) string {
	var fields struct {
		Message      json.RawMessage   `json:"message"`
		ErrorMessage json.RawMessage   `json:"errorMessage"`
		Error        json.RawMessage   `json:"error"`
		Errors       []json.RawMessage `json:"errors"`
	}
	_ = json.Unmarshal(body, &fields) // what could be read stays
	var words []string
	for _, raw := range append([]json.RawMessage{fields.Message, fields.ErrorMessage, fields.Error}, fields.Errors...) {
		var reason Reason
		if len(raw) > 0 && reason.UnmarshalJSON(raw) == nil && reason != "" {
			words = append(words, string(reason))
		}
	}
	return strings.Join(words, "; ")
}
