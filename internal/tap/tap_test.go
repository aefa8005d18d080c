package tap_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/internal/tap"
)

func TestShow_PassesSuccessesToTheFunctionOfTheContext(t *testing.T) {
	var seen []int
	ctx := tap.With(t.Context(), func(r *http.Response) { seen = append(seen, r.StatusCode) })
	for _, status := range []int{200, 201, 304, 404, 503} {
		tap.Show(ctx, &http.Response{StatusCode: status})
		tap.Show(context.Background(), &http.Response{StatusCode: status})
	}
	assert.Equal(t, []int{200, 201}, seen)
}
