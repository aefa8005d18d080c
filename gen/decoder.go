package gen

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-faster/jx"
)

// decodable is a schema with a generated decoder. decodeJSON sets all fields and needs an object.
type decodable interface{ decodeJSON(d *decoder) }

// decodableOf is a pointer to a schema with a generated decoder.
type decodableOf[T any] interface {
	*T
	decodable
}

// decoder decodes one document. The first error is kept, and ends the loops over members and
// elements; what is decoded after it has no meaning.
type decoder struct {
	json     jx.Decoder
	body     []byte
	isPlain  bool         // No string has an escape or an invalid byte.
	ctxErr   func() error // nil for a body that is not large.
	err      error
	isLimit  bool // err is not about the syntax.
	depth    int
	elements int // Of all arrays so far.

	members  Members // Of the object at the top.
	warnings []string
	path     []step
	pathBuf  [8]step

	strings  []string // A table of strings that occurred, by their hash.
	time     Time     // The last time, and its text in the body.
	timeText []byte

	offset int // About where the last name of a member begins.
	nested int // The length of the last array that is not at the top.
}

// step is a step of the path to a value: a member, and an element if its value is an array.
type step struct {
	name  string
	index int // -1 outside of arrays.
}

func newDecoder(body []byte) *decoder {
	d := &decoder{body: body, isPlain: bytes.IndexByte(body, '\\') < 0 && utf8.Valid(body)}
	d.path = d.pathBuf[:0]
	d.json.ResetBytes(body)
	return d
}

// end returns the error of the document, and of text after it.
func (d *decoder) end() error {
	if d.err == nil {
		// The tokenizer returns io.EOF for an incomplete second value too.
		if d.json.Next() == jx.Invalid && errors.Is(d.json.Skip(), io.EOF) {
			return nil
		}
		return syntaxError(d.body, errors.New("text after the value"))
	}
	if d.isLimit {
		return d.err
	}
	return syntaxError(d.body, d.err)
}

// fail keeps the first error.
func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// failLimit keeps an error about a document that may be valid JSON.
func (d *decoder) failLimit(err error) {
	if d.err == nil {
		d.err, d.isLimit = err, true
	}
}

// kinds are the kinds by the types of the tokenizer.
var kinds = [...]Kind{
	jx.Invalid: "", jx.String: KindString, jx.Number: KindNumber, jx.Null: KindNull,
	jx.Bool: KindBoolean, jx.Array: KindArray, jx.Object: KindObject,
}

// next returns the type of the value of a member, or of an element, whose name is "".
func (d *decoder) next(name string) jx.Type {
	typ := d.json.Next()
	if d.depth == 1 && name != "" {
		d.members = d.members.set(name, kinds[typ])
	}
	return typ
}

// open enters an array or an object.
func (d *decoder) open() {
	if d.depth++; d.depth > maxDepth {
		d.failLimit(fmt.Errorf("arrays and objects nested deeper than %d", maxDepth))
	}
}

// countElement counts an element of an array.
func (d *decoder) countElement() {
	if d.elements++; d.elements > maxElements {
		d.failElements()
	}
	if d.ctxErr != nil {
		if err := d.ctxErr(); err != nil {
			d.failLimit(err)
		}
	}
}

func (d *decoder) failElements() { d.failLimit(fmt.Errorf("more than %d elements", maxElements)) }

// objectMembers iterates over the members of an object.
type objectMembers struct {
	d    *decoder
	json jx.ObjIter
	n    int
}

// object enters an object.
func (d *decoder) object() objectMembers {
	d.open()
	iter, err := d.json.ObjIter()
	if err != nil {
		d.fail(err)
	}
	return objectMembers{d: d, json: iter}
}

// next moves to the value of the next member.
func (m *objectMembers) next() bool {
	d := m.d
	if d.err != nil {
		return false
	}
	if !m.json.Next() {
		d.depth--
		if err := m.json.Err(); err != nil {
			d.fail(err)
		}
		return false
	}
	if m.n++; m.n > maxElements {
		d.failElements()
	}
	d.offset = cap(d.body) - cap(m.json.Key())
	return d.err == nil
}

// name returns the name of the member, valid until next.
func (m *objectMembers) name() []byte { return m.json.Key() }

// skip skips a value.
func (d *decoder) skip() {
	switch d.json.Next() {
	case jx.Object:
		for m := d.object(); m.next(); {
			d.skip()
		}
	case jx.Array:
		d.open()
		iter, err := d.json.ArrIter()
		if err != nil {
			d.fail(err)
		}
		for d.err == nil && iter.Next() {
			d.countElement()
			d.skip()
		}
		d.depth--
		if err := iter.Err(); err != nil {
			d.fail(err)
		}
	default:
		if err := d.json.Skip(); err != nil {
			d.fail(err)
		}
	}
}

// raw returns the text of a value, a part of the body.
func (d *decoder) raw() []byte {
	if typ := d.json.Next(); typ == jx.Object || typ == jx.Array {
		_ = d.json.Capture(func(*jx.Decoder) error { d.skip(); return nil }) // checks the bounds
	}
	if d.err != nil {
		return nil
	}
	raw, err := d.json.Raw()
	if err != nil {
		d.fail(err)
	}
	return raw
}

// mismatch skips a value that does not fit its field; want is a pointer of the field's type. Only
// null is no reason for a warning.
func (d *decoder) mismatch(name string, got jx.Type, want any) {
	if got != jx.Null {
		d.warn(name, got, want)
	}
	d.skip()
}

// warn names a member by its JSON pointer. It does not quote the value, which may be a secret.
func (d *decoder) warn(name string, got jx.Type, want any) {
	if len(d.warnings) >= maxWarnings {
		return
	}
	var path strings.Builder
	for _, step := range append(d.path, step{name: name, index: -1}) {
		if step.name != "" {
			path.WriteString("/" + step.name)
		}
		if step.index >= 0 {
			fmt.Fprintf(&path, "/%d", step.index)
		}
	}
	d.warnings = append(d.warnings, fmt.Sprintf("%s: %s, want %s", path.String(), kinds[got], fmt.Sprintf("%T", want)[1:]))
}

// decodeObject decodes a member that is an object, or an element if name is "".
func decodeObject[T any, P decodableOf[T]](d *decoder, name string, v *T) {
	if typ := d.next(name); typ != jx.Object {
		*v = *new(T)
		d.mismatch(name, typ, v)
		return
	}
	d.decodeBelow(name, P(v))
}

func (d *decoder) decodeBelow(name string, v decodable) {
	d.path = append(d.path, step{name: name, index: -1})
	v.decodeJSON(d)
	d.path = d.path[:len(d.path)-1]
}

// decodePointer decodes a member that is an object; nil if the value is not.
func decodePointer[T any, P decodableOf[T]](d *decoder, name string, v **T) {
	*v = nil
	typ := d.next(name)
	if typ != jx.Object {
		d.mismatch(name, typ, *v)
		return
	}
	*v = new(T)
	d.decodeBelow(name, P(*v))
}

// decodeObjects decodes an array of objects; nil if the value is not an array.
func decodeObjects[T any, P decodableOf[T]](d *decoder, name string, v *[]T) {
	decodeArray(d, name, v, func(element *T) { decodeObject[T, P](d, "", element) })
}

// decodeStrings decodes an array of strings; nil if the value is not an array.
func (d *decoder) decodeStrings(name string, v *[]string) {
	decodeArray(d, name, v, func(element *string) { d.decodeString("", element) })
}

func decodeArray[T any](d *decoder, name string, v *[]T, decode func(element *T)) {
	*v = nil
	if typ := d.next(name); typ != jx.Array {
		d.mismatch(name, typ, v)
		return
	}
	top := d.depth < 2
	elements, begin := []T{}, d.offset
	if !top && d.nested > 0 {
		elements = make([]T, 0, d.nested)
	}
	d.open()
	iter, err := d.json.ArrIter()
	if err != nil {
		d.fail(err)
	}
	d.path = append(d.path, step{name: name})
	for i := 0; d.err == nil && iter.Next(); i++ {
		d.countElement()
		if i == 1 && top {
			elements = slices.Grow(elements, d.remaining(begin))
		}
		d.path[len(d.path)-1].index = i
		elements = append(elements, *new(T))
		decode(&elements[i])
	}
	d.path = d.path[:len(d.path)-1]
	d.depth--
	if err := iter.Err(); err != nil {
		d.fail(err)
	}
	if !top {
		d.nested = min(len(elements), 64)
	}
	*v = elements
}

// remaining estimates how many elements of an array follow, by the size of the first, which began
// at an offset. An estimate of a hostile body is bounded.
func (d *decoder) remaining(begin int) int {
	const most = 1024
	size := max(d.offset-begin, 1)
	return min(max(len(d.body)-d.offset, 0)/size+1, most)
}

// text returns the contents of the next value, a string. They are valid until the next call.
func (d *decoder) text() []byte {
	if d.isPlain {
		text, err := d.json.StrBytes()
		if err != nil {
			d.fail(err)
		}
		return text
	}
	// encoding/json and the tokenizer differ in what they replace: invalid bytes, and surrogates.
	literal := d.literal()
	if d.err != nil {
		return nil
	}
	if text := literal[1 : len(literal)-1]; bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return text
	}
	var text string
	d.fail(json.Unmarshal(literal, &text))
	return []byte(text)
}

// literal returns the literal of the next value.
func (d *decoder) literal() []byte {
	raw, err := d.json.Raw()
	if err != nil {
		d.fail(err)
	}
	return raw
}

// maxShared is the length in bytes of the longest strings that are shared. Names of products are
// shorter.
const maxShared = 64

// share returns a string of its own, or one that was returned before. The strings that it remembers
// are bounded, and forgotten with the decoder.
func (d *decoder) share(text []byte) string {
	if len(text) == 0 || len(text) > maxShared {
		return string(text)
	}
	if d.strings == nil {
		d.strings = make([]string, 1<<bits.Len(uint(min(len(d.body)/64, 511))))
	}
	slot := &d.strings[hashOf(text)&uint64(len(d.strings)-1)]
	if *slot != string(text) {
		*slot = string(text)
	}
	return *slot
}

// hashOf returns a hash of the last bytes of a text, which differ most. Collisions cost no more than
// an allocation.
func hashOf(text []byte) uint64 {
	const multiplier = 0x9E3779B97F4A7C15 // of Fibonacci hashing
	var tail uint64
	if len(text) >= 8 {
		tail = binary.LittleEndian.Uint64(text[len(text)-8:])
	} else {
		for _, b := range text {
			tail = tail<<8 | uint64(b)
		}
	}
	return (tail + uint64(len(text))) * multiplier >> 48
}

func (d *decoder) decodeString(name string, v *string) {
	*v = ""
	if typ := d.next(name); typ != jx.String {
		d.mismatch(name, typ, v)
		return
	}
	*v = d.share(d.text())
}

// decodeEnum returns the text of a member of an open string type, nil if the value is not a string.
func (d *decoder) decodeEnum(name string, want any) []byte {
	if typ := d.next(name); typ != jx.String {
		d.mismatch(name, typ, want)
		return nil
	}
	return d.text()
}

func (d *decoder) decodeBool(name string, v *bool) {
	*v = false
	if typ := d.next(name); typ != jx.Bool {
		d.mismatch(name, typ, v)
		return
	}
	value, err := d.json.Bool()
	if err != nil {
		d.fail(err)
	}
	*v = value
}

// decodeOptionalBool decodes true or false; nil if the value is neither.
func (d *decoder) decodeOptionalBool(name string, v **bool) {
	*v = nil
	typ := d.next(name)
	if typ != jx.Bool {
		d.mismatch(name, typ, *v)
		return
	}
	value, err := d.json.Bool()
	if err != nil {
		d.fail(err)
	}
	*v = &value
}

// decodeInt decodes a whole number, or a string that holds one.
func (d *decoder) decodeInt(name string, v *Int) {
	var text []byte
	typ := d.next(name)
	*v = 0
	switch typ {
	case jx.Number:
		text = d.literal()
	case jx.String:
		text = d.text()
	default:
		d.mismatch(name, typ, v)
		return
	}
	n, ok := wholeNumber(string(text))
	if !ok {
		d.warn(name, typ, v)
	}
	*v = Int(n)
}

// decodeAmount decodes a string or a number.
func (d *decoder) decodeAmount(name string, v *Amount) {
	*v = ""
	switch typ := d.next(name); typ {
	case jx.Number:
		*v = Amount(d.share(d.literal()))
	case jx.String:
		*v = Amount(d.share(d.text()))
	default:
		d.mismatch(name, typ, v)
	}
}

// decodeFigure decodes a number, or a string that holds one.
func (d *decoder) decodeFigure(name string, v *Figure) {
	*v = ""
	switch typ := d.next(name); typ {
	case jx.Number:
		*v = Figure(d.share(d.literal()))
	case jx.String:
		text := d.share(d.text())
		if !isNumber(text) {
			d.warn(name, typ, v)
			return
		}
		*v = Figure(text)
	default:
		d.mismatch(name, typ, v)
	}
}

// decodeTime decodes a string in one of the forms that [Time] lists.
func (d *decoder) decodeTime(name string, v *Time) {
	*v = Time{}
	typ := d.next(name)
	if typ != jx.String {
		d.mismatch(name, typ, v)
		return
	}
	text := d.text()
	if len(text) > 0 && bytes.Equal(text, d.timeText) { // times of an entry are often the same
		*v = d.time
		return
	}
	if err := v.UnmarshalText(text); err != nil {
		d.warn(name, typ, v)
		return
	}
	d.time, d.timeText = *v, text
}

// decodeReason decodes a string, or an object with a message.
func (d *decoder) decodeReason(name string, v *Reason) { //nolint:unparam // generated code names the member
	*v = ""
	switch typ := d.next(name); typ {
	case jx.String:
		*v = Reason(d.share(d.text()))
	case jx.Object:
		if raw := d.raw(); d.err == nil && v.UnmarshalJSON(raw) != nil {
			*v = ""
			d.warn(name, typ, v)
		}
	default:
		d.mismatch(name, typ, v)
	}
}

// decodeCounts decodes an object of whole numbers. It keeps those that are counts.
func (d *decoder) decodeCounts(name string, v *Counts) {
	*v = nil
	typ := d.next(name)
	if typ != jx.Object {
		d.mismatch(name, typ, v)
		return
	}
	if raw := d.raw(); d.err == nil && v.UnmarshalJSON(raw) != nil {
		d.warn(name, typ, v)
	}
}

// decodeDocumentLinks decodes an object of strings. It keeps the members that are strings.
func (d *decoder) decodeDocumentLinks(name string, v *DocumentLinks) {
	*v = nil
	typ := d.next(name)
	if typ != jx.Object {
		d.mismatch(name, typ, v)
		return
	}
	var members map[string]json.RawMessage
	if raw := d.raw(); d.err == nil {
		d.fail(json.Unmarshal(raw, &members))
	}
	links, invalid := make(DocumentLinks, len(members)), false
	for member, value := range members {
		var link string
		if json.Unmarshal(value, &link) != nil {
			invalid = true
			continue
		}
		links[member] = link
	}
	if *v = links; invalid {
		d.warn(name, typ, v)
	}
}

// decodeOpenMembers decodes an object as raw JSON.
func (d *decoder) decodeOpenMembers(name string, v *OpenMembers) {
	*v = nil
	if typ := d.next(name); typ != jx.Object {
		d.mismatch(name, typ, v)
		return
	}
	*v = d.openMembers()
}

// openMembers returns the members of an object as raw JSON. They share one copy of its text.
func (d *decoder) openMembers() OpenMembers {
	members := OpenMembers{}
	object := bytes.Clone(d.raw())
	if d.err != nil {
		return members
	}
	if bytes.Contains(object, []byte(`\u`)) || !utf8.Valid(object) {
		d.fail(json.Unmarshal(object, &members)) // a name may need U+FFFD, as in encoding/json
		return members
	}
	outer := d.suspend(object)
	iter, err := d.json.ObjIter()
	if err != nil {
		d.fail(err)
	}
	for iter.Next() {
		d.json.Next() // after white space
		value, err := d.json.Raw()
		if err != nil {
			d.fail(err)
			break
		}
		members[string(iter.Key())] = json.RawMessage(slices.Clip(value))
	}
	d.resume(outer)
	return members
}

// suspended is the state of a decoder while it decodes text that was counted before.
type suspended struct {
	json     jx.Decoder
	elements int
}

// suspend lets the decoder read another text, until resume.
func (d *decoder) suspend(text []byte) suspended {
	outer := suspended{json: d.json, elements: d.elements}
	d.json.ResetBytes(text)
	return outer
}

func (d *decoder) resume(outer suspended) { d.json, d.elements = outer.json, outer.elements }
