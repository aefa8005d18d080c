package clienttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// encode takes bytes and text as they are and marshals everything else.
func encode(body any) ([]byte, error) {
	switch b := body.(type) {
	case []byte:
		return slices.Clone(b), nil
	case json.RawMessage:
		return slices.Clone(b), nil
	case string:
		return []byte(b), nil
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("marshal answer: %w", err)
	}
	return data, nil
}

// canonical writes JSON in the one form that equal values share: no spaces, members sorted, numbers untouched.
func canonical(data []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("read %q as JSON: %w", data, err)
	}
	return json.Marshal(value)
}
