package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// checkMembers refuses bodies that do not say to handlers what they say to the
// document, which takes names to the letter and allows members that it does not
// declare: encoding/json takes "Amount" for "amount", and the last of several.
func checkMembers(r *http.Request, o *openapi3.Operation) error {
	if o.RequestBody == nil {
		return nil
	}
	media := o.RequestBody.Value.Content.Get("application/json")
	if media == nil {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	m := members{json.NewDecoder(bytes.NewReader(body))}
	m.json.UseNumber() // there are some that no float64 can hold
	return m.check("", media.Schema)
}

// members reads a body token by token.
type members struct{ json *json.Decoder }

// check reads a value. pointer leads to it, and s is nil if the document says
// nothing about it.
func (m members) check(pointer string, s *openapi3.SchemaRef) error {
	token, err := m.json.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		err = m.object(pointer, s)
	case json.Delim('['):
		for i := 0; err == nil && m.json.More(); i++ {
			err = m.check(fmt.Sprintf("%s/%d", pointer, i), itemsOf(s))
		}
	default:
		return nil
	}
	if err != nil {
		return err
	}
	_, err = m.json.Token() // its end
	return err
}

func (m members) object(pointer string, s *openapi3.SchemaRef) error {
	seen := map[string]bool{}
	for m.json.More() {
		token, err := m.json.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		at := pointer + "/" + escapePointer.Replace(name)
		if seen[name] {
			return fmt.Errorf("%.200s: it is there twice", at)
		}
		seen[name] = true
		declared, of := property(s, name)
		if declared != name && declared != "" {
			return fmt.Errorf("%.200s: there is no such member, only %q", at, declared)
		}
		if err := m.check(at, of); err != nil {
			return err
		}
	}
	return nil
}

// property finds the declared member that a name is taken for.
func property(s *openapi3.SchemaRef, name string) (declared string, of *openapi3.SchemaRef) {
	if s == nil {
		return "", nil
	}
	if of, ok := s.Value.Properties[name]; ok {
		return name, of
	}
	for known := range s.Value.Properties {
		if strings.EqualFold(known, name) {
			return known, nil
		}
	}
	for _, part := range s.Value.AllOf {
		if declared, of = property(part, name); declared != "" {
			return declared, of
		}
	}
	return "", nil
}

// itemsOf finds what the document says about the elements of an array.
func itemsOf(s *openapi3.SchemaRef) *openapi3.SchemaRef {
	if s == nil {
		return nil
	}
	for _, part := range s.Value.AllOf {
		if of := itemsOf(part); of != nil {
			return of
		}
	}
	return s.Value.Items
}
