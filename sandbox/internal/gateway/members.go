package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
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
	return m.check(media.Schema)
}

// members reads a body token by token.
type members struct{ json *json.Decoder }

// memberError says which member is not what the document has. Its path is put
// together on the way out: most bodies are right, and nested ones may be deep.
type memberError struct {
	path   []string // the innermost name first
	reason string
}

func (e *memberError) Error() string {
	var pointer strings.Builder
	for _, name := range slices.Backward(e.path) {
		pointer.WriteString("/" + escapePointer.Replace(name))
	}
	return fmt.Sprintf("%.200s: %s", pointer.String(), e.reason)
}

// under notes that an error is one of a member of this name.
func under(name string, err error) error {
	if e, ok := errors.AsType[*memberError](err); ok {
		e.path = append(e.path, name)
	}
	return err
}

// check reads a value. s is nil if the document says nothing about it.
func (m members) check(s *openapi3.SchemaRef) error {
	token, err := m.json.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		err = m.object(s)
	case json.Delim('['):
		for i := 0; err == nil && m.json.More(); i++ {
			err = under(strconv.Itoa(i), m.check(itemsOf(s)))
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

func (m members) object(s *openapi3.SchemaRef) error {
	seen := map[string]bool{}
	for m.json.More() {
		token, err := m.json.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		declared, of := property(s, name)
		switch {
		case seen[name]:
			err = &memberError{reason: "it is there twice"}
		case declared != name && declared != "":
			err = &memberError{reason: fmt.Sprintf("there is no such member, only %q", declared)}
		default:
			err = m.check(of)
		}
		if err != nil {
			return under(name, err)
		}
		seen[name] = true
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
