package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"

	"github.com/sellside-sdk/sellside-go/gen"
)

// pdf is a minimal PDF document, which the spec cannot have as an example.
const pdf = "%PDF-1.7\n%%EOF\n"

// ExampleOf returns the spec's example of the body of an operation's success response: JSON, but a
// PDF for [gen.OpGetShippingDocument]. A test that needs a response with many fields can unmarshal
// it into its type of package gen, change some fields and pass it to [Expectation.Respond]. The
// caller may change the bytes. It panics if the spec does not have the operation.
func ExampleOf(op gen.OperationID) []byte {
	_, declared := success(routeOf(op))
	return example(declared.Content)
}

// RequestExampleOf returns the spec's example of an operation's request body, nil if the operation
// has none. The caller may change the bytes. It panics if the spec does not have the operation.
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

// success returns the one 2xx response that the operation declares.
func success(route *routers.Route) (status int, declared *openapi3.Response) {
	for status = http.StatusOK; status < http.StatusMultipleChoices; status++ {
		if ref := route.Operation.Responses.Status(status); ref != nil {
			return status, ref.Value
		}
	}
	panic(fmt.Sprintf("clienttest: the spec declares no success response for %s", route.Operation.OperationID))
}

// example returns the example of a body. Only schemas have examples; the example of a bare list has
// that of its element.
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

// exampleResponse returns the operation's success response with its example.
func (c *contract) exampleResponse(op gen.OperationID) (response, error) {
	route := c.routes[op]
	if route == nil {
		return response{}, fmt.Errorf("the spec has no operation %q", op)
	}
	status, declared := success(route)
	resp, err := c.checkResponse(op, status, example(declared.Content))
	resp.isExample = true
	return resp, err
}

// withIDs returns the response; in an example it replaces ids by those of a request's path.
func (resp response) withIDs(ids map[string]string) response {
	var object map[string]json.RawMessage
	if !resp.isExample || json.Unmarshal(resp.body, &object) != nil {
		return resp
	}
	for name, id := range ids {
		if _, has := object[name]; has {
			text, err := json.Marshal(id)
			if err != nil {
				panic(err) // a string can always be marshalled
			}
			object[name] = text
		}
	}
	body, err := json.Marshal(object)
	if err != nil {
		panic(err) // the members were valid JSON
	}
	resp.body = body
	return resp
}
