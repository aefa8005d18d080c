package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"

	"github.com/sellside-sdk/sellside-go/gen"
)

// pdf is the smallest text that readers take for a document; a spec cannot hold an example of one.
const pdf = "%PDF-1.7\n%%EOF\n"

// ExampleOf returns the spec's own example of an operation's success answer: JSON for every operation but
// [gen.OpGetShippingDocument], whose answer is a PDF. It is a start for a test that needs a valid answer of
// many fields: unmarshal it into its type of package gen, change what matters and give it to
// [Expectation.Respond]. The caller may change the bytes. It panics for an operation that the spec lacks.
func ExampleOf(op gen.OperationID) []byte {
	_, response := success(routeOf(op))
	return example(response.Content)
}

// RequestExampleOf returns the spec's own example of an operation's request body, and nil for an operation
// that takes none. The caller may change the bytes. It panics for an operation that the spec lacks.
func RequestExampleOf(op gen.OperationID) []byte {
	body := routeOf(op).Operation.RequestBody
	if body == nil {
		return nil
	}
	return example(body.Value.Content)
}

func routeOf(op gen.OperationID) *routers.Route {
	c, err := loadContract()
	if err != nil {
		panic("clienttest: " + err.Error())
	}
	route := c.routes[op]
	if route == nil {
		panic(fmt.Sprintf("clienttest: the spec has no operation %q", op))
	}
	return route
}

// success returns the one 2xx answer that the operation declares.
func success(route *routers.Route) (status int, response *openapi3.Response) {
	for status = http.StatusOK; status < http.StatusMultipleChoices; status++ {
		if ref := route.Operation.Responses.Status(status); ref != nil {
			return status, ref.Value
		}
	}
	panic(fmt.Sprintf("clienttest: the spec declares no success answer for %s", route.Operation.OperationID))
}

// example returns the example of a body. Only schemas carry examples; that of a bare list is its element's.
func example(content openapi3.Content) []byte {
	if content["application/pdf"] != nil {
		return []byte(pdf)
	}
	schema := content["application/json"].Schema.Value
	value := schema.Example
	if schema.Type.Is(openapi3.TypeArray) {
		value = []any{schema.Items.Value.Example}
	}
	data, err := json.Marshal(value)
	if err != nil {
		panic("clienttest: marshal example: " + err.Error())
	}
	return data
}

// exampleAnswer is the operation's success answer with its example.
func (c *contract) exampleAnswer(op gen.OperationID) (answer, error) {
	route := c.routes[op]
	if route == nil {
		return answer{}, fmt.Errorf("the spec has no operation %q", op)
	}
	status, response := success(route)
	a, err := c.checkAnswer(op, status, example(response.Content))
	a.isExample = true
	return a, err
}

// about returns the example with the ids of a request's path in the place of its own.
func (a answer) about(ids map[string]string) answer {
	var object map[string]json.RawMessage
	if !a.isExample || json.Unmarshal(a.body, &object) != nil {
		return a
	}
	for name, id := range ids {
		if _, has := object[name]; has {
			text, err := json.Marshal(id)
			if err != nil {
				panic(err) // a text always marshals
			}
			object[name] = text
		}
	}
	body, err := json.Marshal(object)
	if err != nil {
		panic(err) // it was JSON before
	}
	a.body = body
	return a
}
