package gen_test

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestClient_SendsToTheRouteOfTheOperation(t *testing.T) {
	for _, op := range gen.Operations() {
		req := send(t, op, emptyParams, "sample")
		assert.Equal(t, op.Method, req.Method, op.ID)
		assert.Equal(t, fillRoute(op.Route, "sample"), escapedPath(req), op.ID)
	}
}

func TestClient_OmitsUnsetParameters(t *testing.T) {
	doc := spec(t)
	for _, op := range gen.Operations() {
		req := send(t, op, emptyParams, "sample")
		assert.ElementsMatch(t, queryNames(doc, op, true), slices.Collect(maps.Keys(req.URL.Query())), "%s: only required parameters", op.ID)
	}
}

// The service refuses pageNumber 0, and isExpired false is a filter.
func TestClient_SendsParametersThatAreSetToZero(t *testing.T) {
	doc, parameters := spec(t), 0
	for _, op := range gen.Operations() {
		req := send(t, op, zeroParams, "sample")
		assert.ElementsMatch(t, queryNames(doc, op, false), slices.Collect(maps.Keys(req.URL.Query())), op.ID)
		parameters += len(req.URL.Query())
	}
	assert.Greater(t, parameters, 30)
}

func TestClient_EscapesReservedCharactersInIDs(t *testing.T) {
	for _, op := range gen.Operations() {
		for _, id := range []string{"a/b", "../active", "a?b=c", "a#b", "a%2Fb", "a b", "ä"} {
			req := send(t, op, emptyParams, id)
			matched, ok := gen.MatchOperation(req.Method, escapedPath(req))
			require.True(t, ok, "%s with id %q: %s", op.ID, id, req.URL)
			assert.Equal(t, op.ID, matched.ID, "id %q: %s", id, req.URL)
		}
	}
}

func TestClient_HostileIDsDoNotTurnAWriteIntoAnother(t *testing.T) {
	for _, op := range gen.Operations() {
		if op.RetrySafe || !strings.Contains(op.Route, "{") {
			continue
		}
		require.Equal(t, 1, strings.Count(op.Route, "{"), "%s: try the ids in every combination", op.ID)
		for _, id := range []string{"", ".", ".."} {
			req := send(t, op, emptyParams, id)
			other, matched := gen.MatchOperation(req.Method, escapedPath(req))
			assert.False(t, matched, "%s with id %q reached %s", op.ID, id, other.ID)
		}
	}
}

// This is why package client refuses such ids before a request is built: the builder resolves dot
// segments, so that the request does not show them.
func TestClient_DotIDsTurnAReadIntoAnother(t *testing.T) {
	for _, tc := range []struct {
		called  gen.Operation
		ids     []string
		reached gen.OperationID
	}{
		{lookup(t, gen.OpListListingOperations), []string{"."}, gen.OpGetListing},
		{lookup(t, gen.OpListCreateListingsBatchItems), []string{"."}, gen.OpGetCreateListingsBatch},
		{lookup(t, gen.OpGetVariantMarketData), []string{"0c7b0a0e", ".."}, gen.OpListProductMarketData},
	} {
		req := send(t, tc.called, emptyParams, tc.ids...)
		other, ok := gen.MatchOperation(req.Method, escapedPath(req))
		assert.True(t, ok, tc.called.ID)
		assert.Equal(t, tc.reached, other.ID, "%s with ids %q", tc.called.ID, tc.ids)
	}
}

// recorder records the last request and responds without a body.
type recorder struct{ request *http.Request }

func (r *recorder) Do(req *http.Request) (*http.Response, error) {
	r.request = req
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
}

// send calls the generated method of an operation and returns the request that it sends. The last
// id is used for all further path parameters.
func send(t *testing.T, op gen.Operation, params func(reflect.Type) reflect.Value, ids ...string) *http.Request {
	t.Helper()
	sent := &recorder{}
	client, err := gen.NewClient("https://service.example.com/v2", gen.WithHTTPClient(sent))
	require.NoError(t, err)
	method := reflect.ValueOf(client).MethodByName(string(op.ID))
	require.True(t, method.IsValid(), "no generated method for %s", op.ID)

	arguments := []reflect.Value{reflect.ValueOf(t.Context())}
	for i := 1; i < method.Type().NumIn()-1; i++ { // the last are request editors
		switch typ := method.Type().In(i); typ.Kind() {
		case reflect.String:
			arguments = append(arguments, reflect.ValueOf(ids[0]).Convert(typ))
			ids = ids[min(1, len(ids)-1):]
		case reflect.Pointer:
			arguments = append(arguments, params(typ.Elem()))
		default:
			arguments = append(arguments, reflect.Zero(typ))
		}
	}
	results := method.Call(arguments)
	require.True(t, results[1].IsNil(), "%s: %v", op.ID, results[1])
	response, ok := reflect.TypeAssert[*http.Response](results[0])
	require.True(t, ok)
	require.NoError(t, response.Body.Close())
	return sent.request
}

func lookup(t *testing.T, id gen.OperationID) gen.Operation {
	t.Helper()
	op, ok := gen.LookupOperation(id)
	require.True(t, ok, id)
	return op
}

func emptyParams(typ reflect.Type) reflect.Value { return reflect.New(typ) }

// zeroParams sets every parameter to its zero value.
func zeroParams(typ reflect.Type) reflect.Value {
	params := reflect.New(typ)
	for i := range typ.NumField() {
		if field := params.Elem().Field(i); field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
		}
	}
	return params
}

// bodyType returns the type of an operation's body, nil without one.
func bodyType(t *testing.T, op gen.OperationID) reflect.Type {
	t.Helper()
	method, ok := reflect.TypeFor[*gen.Client]().MethodByName(string(op))
	require.True(t, ok, op)
	for typ := range method.Type.Ins() {
		if typ.Kind() == reflect.Struct {
			return typ
		}
	}
	return nil
}

// escapedPath returns the path below the base URL, escaped as it is sent.
func escapedPath(req *http.Request) string {
	return strings.TrimPrefix(req.URL.EscapedPath(), "/v2")
}

// queryNames returns the names of the query parameters in the spec, all or the required ones.
func queryNames(doc *openapi3.T, op gen.Operation, requiredOnly bool) []string {
	var names []string
	for _, ref := range doc.Paths.Value(op.Route).GetOperation(op.Method).Parameters {
		if ref.Value.In == openapi3.ParameterInQuery && (ref.Value.Required || !requiredOnly) {
			names = append(names, ref.Value.Name)
		}
	}
	return names
}

// fillRoute puts id into every parameter of a route.
func fillRoute(route, id string) string {
	segments := strings.Split(route, "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, "{") {
			segments[i] = id
		}
	}
	return strings.Join(segments, "/")
}
