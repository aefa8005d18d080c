package gen_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

// recordingInvoker records its last call and fails it with err.
type recordingInvoker struct {
	op   gen.Operation
	ids  []string
	req  *http.Request
	into any
	err  error
}

// Invoke implements [gen.Invoker].
func (i *recordingInvoker) Invoke(
	_ context.Context, op gen.Operation, ids []string, build func(server string) (*http.Request, error), into any,
) error {
	req, err := build("https://api.example.com/v2/")
	i.op, i.ids, i.req, i.into = op, ids, req, into
	return errors.Join(err, i.err)
}

// TestCalls_AreOperationsThatRespondWithJSON calls each method of Calls with arguments that differ.
func TestCalls_AreOperationsThatRespondWithJSON(t *testing.T) {
	invoker := &recordingInvoker{}
	calls := reflect.ValueOf(gen.Calls{Invoker: invoker})
	for _, op := range gen.Operations() {
		method := calls.MethodByName(string(op.ID))
		if op.ID == gen.OpGetShippingDocument {
			assert.False(t, method.IsValid(), "responds with a PDF")
			continue
		}
		require.True(t, method.IsValid(), op.ID)
		args, ids := []reflect.Value{reflect.ValueOf(t.Context())}, []string(nil)
		for i := 1; i < method.Type().NumIn(); i++ {
			arg := reflect.New(method.Type().In(i)).Elem()
			if arg.Kind() == reflect.String {
				arg.SetString(strings.Repeat("x", i))
				ids = append(ids, arg.String())
			}
			args = append(args, arg)
		}

		invoker.err = nil
		results := method.Call(args)
		require.True(t, results[1].IsNil(), op.ID)
		assert.Equal(t, op, invoker.op)
		assert.Equal(t, ids, invoker.ids, op.ID)
		assert.Equal(t, results[0].Interface(), invoker.into, "%s returns what the invoker decoded", op.ID)
		got, ok := gen.MatchOperation(invoker.req.Method, strings.TrimPrefix(invoker.req.URL.Path, "/v2"))
		assert.True(t, ok, op.ID)
		assert.Equal(t, op.ID, got.ID, "the request is the operation's")
		for _, id := range ids {
			assert.Contains(t, strings.Split(invoker.req.URL.Path, "/"), id, op.ID)
		}

		invoker.err = errors.ErrUnsupported
		results = method.Call(args)
		assert.True(t, results[0].IsNil(), "%s returns a value or an error", op.ID)
		assert.ErrorIs(t, results[1].Interface().(error), errors.ErrUnsupported, op.ID)
	}
}
