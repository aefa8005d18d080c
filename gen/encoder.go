package gen

import (
	"encoding/json"
	"strings"

	"github.com/go-faster/jx"
)

// encoder encodes one body. The first error is kept.
type encoder struct {
	json jx.Writer
	err  error
}

// encodable is a schema with a generated encoder.
type encodable interface{ encodeJSON(e *encoder) }

// encode returns the JSON of a body, which is what encoding/json returns for its fields.
func encode(v encodable) ([]byte, error) {
	var e encoder
	v.encodeJSON(&e)
	if e.err != nil {
		return nil, e.err
	}
	return e.json.Buf, nil
}

// fail keeps the first error.
func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// member begins a member of an object.
func (e *encoder) member(name string) {
	if e.json.Buf[len(e.json.Buf)-1] != '{' {
		e.json.Comma()
	}
	e.json.FieldStart(name)
}

func encodeArray[T any](e *encoder, elements []T, encode func(*T)) {
	if elements == nil {
		e.json.Null()
		return
	}
	e.json.ArrStart()
	for i := range elements {
		if i > 0 {
			e.json.Comma()
		}
		encode(&elements[i])
	}
	e.json.ArrEnd()
}

func encodeObjects[T any, P interface {
	*T
	encodable
}](e *encoder, objects []T,
) {
	encodeArray(e, objects, func(object *T) { P(object).encodeJSON(e) })
}

func (e *encoder) encodeStrings(texts []string) {
	encodeArray(e, texts, func(text *string) { e.encodeString(*text) })
}

func (e *encoder) encodeString(text string) {
	if !strings.ContainsAny(text, "\b\f") {
		e.json.StrEscape(text)
		return
	}
	data, err := json.Marshal(text) // jx writes \u0008 for \b
	if err != nil {
		e.fail(err)
	}
	e.json.Raw(data)
}

func (e *encoder) encodeBool(v bool) { e.json.Bool(v) }

func (e *encoder) encodeInt(i Int) { e.json.Int(int(i)) }

func (e *encoder) encodeAmount(a Amount) {
	if a == "" {
		e.json.Null()
		return
	}
	e.encodeString(string(a))
}

func (e *encoder) encodeTime(t Time) {
	data, err := t.MarshalJSON()
	if err != nil {
		e.fail(err)
	}
	e.json.Raw(data)
}
